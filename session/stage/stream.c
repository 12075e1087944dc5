/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What has changed on the screen, as events. */
#include "session/stage/stream.h"

#include <stdio.h>
#include <string.h>

#include "session/base/bytes.h"
#include "session/base/json_text.h"
#include "session/base/util.h"
#include "session/stage/looks.h"

#define MAX_FPS "30"
#define TILE_BYTES 128 /* of the text of one, without its data */
#define PIXEL_BYTES 4  /* of one, raw in Base64; no format has more */

struct following {
	struct stage *stage;
	struct reader reader;
	struct display_follower follower;
	struct space space;  /* in which its parts are said to be */
	uint64_t resized;    /* the frame in which the display got the size for which the query was read */
	long epoch;          /* of the lease, when the last frame was looked for */
	bool is_off;         /* the region that was asked for is not on the display any more */
	int64_t interval_ms; /* between two frames */
	int64_t next_ms;     /* not before */
	int64_t look_ms;     /* then also without news: where a program has set the pointer is told by nobody */
};

/* --- the query --- */

static int read_interval(const char *text, int64_t *interval_ms, struct err *e)
{
	size_t len = strlen(text);
	int fps = 0;
	char shown[40];

	for (size_t i = 0; i < len && fps >= 0; i++)
		fps = i < 2 && text[i] >= '0' && text[i] <= '9' ? fps * 10 + (text[i] - '0') : -1;
	if (fps < 1 || fps > LIMIT_FPS)
		return err_set(e, ERR_BAD_FIELD, "/max_fps", "%s is not allowed here: it must be a whole number from 1 to %d",
		               err_quote(shown, sizeof(shown), text, len), LIMIT_FPS);
	*interval_ms = (1000 + fps - 1) / fps;
	return 0;
}

static int read_query(const struct stage *stage, const json_t *query, struct display_request *request, int64_t *interval_ms, struct err *e)
{
	json_auto_t *rest = query ? json_copy((json_t *)(uintptr_t)query) : json_object();
	const struct bounds bounds = {stage->space, stage->native};
	json_auto_t *fields = NULL;

	json_object_del(rest, "max_fps");
	if (read_interval(form_string(query, "max_fps", MAX_FPS), interval_ms, e) < 0 || looks_read(rest, &bounds, &fields, e) < 0)
		return -1;
	*request = display_request_read(fields, stage->space, stage->native);
	return 0;
}

/* --- the events --- */

static char *head_of(const struct following *f, const struct display_parts *parts)
{
	json_auto_t *head = json_pack("{s:o,s:o,s:o,s:i,s:i,s:b}", "at", stage_at(f->stage, parts->frame), "space", space_json(f->space), "native",
	                              space_json(parts->native), "width", parts->width, "height", parts->height, "whole", parts->whole);
	size_t len;
	char *text = json_text(head, &len);

	text[len - 1] = '\0'; /* the tiles come in before the end */
	return text;
}

/* The text of an event: the data go in as they are, for they are long. */
static char *frame_text(const struct following *f, const struct display_parts *parts, size_t *len)
{
	auto_free char *head = head_of(f, parts);
	const char *format = display_format_name(f->follower.request.format), *data;
	size_t size = strlen(head) + TILE_BYTES, at, n;
	char *text;

	for (size_t i = 0; i < parts->n; i++) {
		(void)bytes_base64(parts->list[i].bytes, &n);
		size += TILE_BYTES + n;
	}
	text = util_alloc(size);
	at = (size_t)snprintf(text, size, "id: %llu\nevent: frame\ndata: %s,\"tiles\":[", (unsigned long long)parts->frame, head);
	for (size_t i = 0; i < parts->n; i++) {
		const struct rect *r = &parts->list[i].rect;

		data = bytes_base64(parts->list[i].bytes, &n);
		at += (size_t)snprintf(text + at, size - at, "%s{\"x\":%d,\"y\":%d,\"width\":%d,\"height\":%d,\"format\":\"%s\",\"data\":\"",
		                       i > 0 ? "," : "", r->x, r->y, r->width, r->height, format);
		memcpy(text + at, data, n);
		at += n;
		at += (size_t)snprintf(text + at, size - at, "\"}");
	}
	*len = at + (size_t)snprintf(text + at, size - at, "]}\n\n");
	return text;
}

/* Since the query was read. */
static bool is_resized(const struct following *f)
{
	return f->resized != display_resized(f->stage->display);
}

/* That a frame can have. */
static size_t most_bytes(const struct following *f)
{
	const struct display_request *request = &f->follower.request;

	return (size_t)request->out_width * (size_t)request->out_height * PIXEL_BYTES;
}

/* When the next frame is to be looked for. One that would take too much memory waits for news of others. */
static int64_t due_ms(struct following *f)
{
	if (f->stage->state != STAGE_IS_READY || lease_is_private(f->stage) || !reader_has_room(&f->reader, most_bytes(f)))
		return CO_FOREVER;
	return is_resized(f) || display_follow_has_news(f->stage->display, &f->follower) ? f->next_ms : f->look_ms;
}

/* The text of what has changed, malloced; NULL: nothing has, or the display does not say now. -1 when the call is over. */
static int make_frame(struct following *f, char **text, size_t *len, struct err *e)
{
	struct display_parts parts;
	long epoch = f->stage->epoch;

	*text = NULL;
	f->next_ms = util_now_ms() + f->interval_ms;
	f->look_ms = util_now_ms() + f->reader.all->heartbeat_ms;
	if (display_follow(f->stage->display, &f->follower, &parts, e) < 0) {
		/* A display that does not answer may do so again; one that is gone ends the session. */
		f->next_ms = f->look_ms = util_now_ms() + LIMIT_X_WAIT_MS;
		return e->code == ERR_CANCELLED ? -1 : 0;
	}
	/* What it has in the middle of a resize is no picture of its query. */
	if (parts.n > 0 && !is_resized(f) && epoch == f->stage->epoch)
		*text = frame_text(f, &parts, len);
	display_parts_finish(&parts);
	return 0;
}

/* The display has another size: what was asked for is read anew. A region that is off the screen ends the stream. */
static void read_again(struct following *f)
{
	struct stage *stage = f->stage;
	struct display_request request;

	if (!is_resized(f))
		return;
	f->is_off = read_query(stage, f->reader.call->query, &request, &f->interval_ms, NULL) < 0;
	if (f->is_off)
		return;
	f->space = stage->space;
	f->resized = display_resized(stage->display);
	display_follow_anew(stage->display, &f->follower, &request);
}

/* What changed in a hold is told by nothing: the picture begins anew. */
static void pass_hold(struct following *f)
{
	if (f->epoch == f->stage->epoch)
		return;
	f->epoch = f->stage->epoch;
	display_follow_anew(f->stage->display, &f->follower, NULL);
}

static int send_frame(struct following *f, struct err *e)
{
	auto_free char *text = NULL;
	size_t len = 0, held;
	int rc;

	/* Only when it has taken the last one: what it gets then is the newest. */
	if (f->follower.has.picture && reader_wait_taken(&f->reader, e) < 0)
		return -1;
	if (util_now_ms() < due_ms(f))
		return 0;
	read_again(f);
	if (f->is_off)
		return 0;
	pass_hold(f);
	held = most_bytes(f);
	reader_hold(&f->reader, held);
	rc = make_frame(f, &text, &len, e);
	reader_let_go(&f->reader, held);
	return rc == 0 && text ? reader_send(&f->reader, text, len, e) : rc;
}

static int send_end(struct following *f, struct err *e)
{
	const struct stage *stage = f->stage;
	bool has_failed = stage->state == STAGE_IS_FAILED, has_ended = !has_failed && stage->readers.finished;
	json_auto_t *data = json_pack("{s:s,s:s}", "state", has_failed ? "failed" : has_ended ? "ended" : "ready", "reason",
	                              has_failed ? stage->reason : has_ended ? stage->end_reason : "the region is not on the display any more");
	auto_free char *line = json_dumps(data, JSON_COMPACT);
	auto_free char *text = util_printf("event: end\ndata: %s\n\n", line ? line : "{}");

	return reader_send(&f->reader, text, strlen(text), e);
}

static bool is_over(const struct stage *stage)
{
	return stage->readers.finished || stage->state == STAGE_IS_FAILED;
}

static int run(struct following *f, struct err *e)
{
	static const char hello[] = "retry: 1000\n\n";
	int rc = reader_send(&f->reader, hello, strlen(hello), e);

	while (rc == 0 && !is_over(f->stage) && !f->is_off) {
		int64_t at_ms = due_ms(f);

		rc = util_now_ms() >= at_ms ? send_frame(f, e) : reader_wait_news(&f->reader, at_ms, e);
	}
	return rc == 0 ? send_end(f, e) : -1;
}

void stream_call(struct stage *stage, struct call *call)
{
	struct following f = {.stage = stage, .epoch = stage->epoch, .space = stage->space, .resized = stage->display ? display_resized(stage->display) : 0};
	struct display_request request;
	struct err e;
	int rc;

	if (read_query(stage, call->query, &request, &f.interval_ms, &e) < 0 || reader_begin(&stage->readers, call, &f.reader, &e) < 0) {
		call_refuse(call, &e);
		return;
	}
	display_follow_begin(stage->display, &request, &stage->readers.news, &f.follower);
	rc = run(&f, &e);
	display_follow_end(stage->display, &f.follower);
	reader_end(&f.reader, rc == 0);
}
