/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading a stage's reply, whose body may still be on its way. */
#include <string.h>

#include "session/base/util.h"
#include "session/front/stage_inner.h"
#include "session/stage/link.h"

int stage_reply_status(const struct stage_reply *reply)
{
	return reply->status;
}

const char *stage_reply_type(const struct stage_reply *reply)
{
	return reply->type;
}

const json_t *stage_reply_headers(const struct stage_reply *reply)
{
	return reply->headers;
}

int64_t stage_reply_length(const struct stage_reply *reply)
{
	return reply->length;
}

const json_t *stage_reply_counts(const struct stage_reply *reply)
{
	return reply->counts;
}

/* A stage that sends the newest only has to know when the last one has gone. */
static void tell_taken(struct stage_reply *reply)
{
	uint64_t taken = reply->total - reply->len;

	ipc_stream_send(reply->stream, LINK_TAKEN, 0, &taken, sizeof(taken));
}

enum stage_read stage_reply_read(struct stage_reply *reply, char *out, size_t max, size_t *n)
{
	if (reply->len == 0 && reply->state == LINK_COMPLETE)
		return STAGE_READ_END;
	if (reply->len == 0)
		return reply->stream ? STAGE_READ_WAIT : STAGE_READ_BROKEN;
	*n = reply->len < max ? reply->len : max;
	memcpy(out, reply->data + reply->start, *n);
	reply->start += *n;
	reply->len -= *n;
	if (reply->stream && reply->len < stage_most_waiting(reply) / 2)
		ipc_stream_pause(reply->stream, false);
	if (reply->stream && reply->is_stream)
		tell_taken(reply);
	return STAGE_READ_SOME;
}

char *stage_reply_take(struct stage_reply *reply)
{
	if (reply->start > 0)
		memmove(reply->data, reply->data + reply->start, reply->len);
	reply->start = reply->len = reply->size = 0;
	return steal_ptr(&reply->data);
}

void stage_reply_watch(struct stage_reply *reply, loop_timer_fn *fn, void *arg)
{
	reply->more = fn;
	reply->more_arg = arg;
}

int64_t stage_reply_left(const struct stage_reply *reply)
{
	return reply->state == LINK_COMPLETE ? (int64_t)reply->len : -1;
}

void stage_reply_finish(struct stage_reply *reply)
{
	if (!reply)
		return;
	if (reply->state == LINK_COMPLETE && reply->len == 0 && reply->stream && !reply->unsent)
		stage_give_back(reply);
	else
		(void)stage_fail(reply);
}
