/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Readers of streams. */
#include "session/stage/readers.h"

#include <string.h>
#include <sys/param.h>

#include "session/base/limits.h"
#include "session/base/util.h"

static const char heartbeat[] = ": nothing new\n\n";

int reader_begin(struct readers *all, struct call *call, struct reader *reader, struct err *e)
{
	if (all->n >= LIMIT_STREAMS)
		return err_set(e, ERR_LIMIT, NULL, "%d callers read streams of this session already", LIMIT_STREAMS);
	all->n++;
	*reader = (struct reader){.all = all, .call = call, .sent_ms = util_now_ms()};
	call_stream_begin(call, "text/event-stream");
	return 0;
}

void reader_end(struct reader *reader, bool whole)
{
	call_stream_end(reader->call, whole);
	reader->all->n--;
	co_signal(&reader->all->left);
}

int reader_wait_room(struct reader *reader, struct err *e)
{
	return call_stream_wait(reader->call, util_now_ms() + reader->all->patience_ms, e);
}

int reader_wait_taken(struct reader *reader, struct err *e)
{
	return call_stream_wait_taken(reader->call, reader->all->patience_ms, e);
}

static int send_pieces(struct reader *reader, const char *text, size_t len, struct err *e)
{
	for (size_t at = 0, n; at < len; at += n) {
		n = MIN(len - at, (size_t)LIMIT_STREAM_QUEUED_BYTES);
		if (reader_wait_room(reader, e) < 0)
			return -1;
		call_stream_send(reader->call, text + at, n);
	}
	reader->sent_ms = util_now_ms();
	return 0;
}

/* Small ones do not count: there are LIMIT_STREAMS of them at most, and who is slow to take one must not keep the large ones away. */
static bool is_large(size_t len)
{
	return len > LIMIT_STREAM_SMALL_BYTES;
}

bool reader_has_room(struct reader *reader, size_t len)
{
	struct readers *all = reader->all;

	if (!is_large(len) || all->held == 0 || all->held + len <= LIMIT_STREAM_FRAMES_BYTES)
		return true;
	all->starved = true;
	return false;
}

void reader_hold(struct reader *reader, size_t len)
{
	if (is_large(len))
		reader->all->held += len;
}

void reader_let_go(struct reader *reader, size_t len)
{
	if (!is_large(len))
		return;
	reader->all->held -= len;
	if (!reader->all->starved)
		return;
	reader->all->starved = false;
	co_signal(&reader->all->news);
}

int reader_send(struct reader *reader, const char *text, size_t len, struct err *e)
{
	int rc;

	reader_hold(reader, len);
	rc = send_pieces(reader, text, len, e);
	reader_let_go(reader, len);
	return rc;
}

int reader_wait_news(struct reader *reader, int64_t until_ms, struct err *e)
{
	int64_t due_ms = reader->sent_ms + reader->all->heartbeat_ms;
	struct err wait;

	if (co_wait_event(&reader->all->news, MIN(until_ms, due_ms), &wait) < 0 && wait.code != ERR_TIMEOUT) {
		*e = wait;
		return -1;
	}
	return util_now_ms() >= due_ms ? reader_send(reader, heartbeat, strlen(heartbeat), e) : 0;
}

void readers_finish(struct readers *all, int64_t deadline_ms)
{
	all->finished = true;
	co_signal(&all->news);
	while (all->n > 0)
		if (co_wait_event(&all->left, deadline_ms, NULL) < 0)
			break;
}
