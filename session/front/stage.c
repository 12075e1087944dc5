/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls to a stage: its links, what comes on them, and what is sent. */
#include "session/front/stage_inner.h"

#include <errno.h>
#include <string.h>
#include <stdio.h>
#include <sys/socket.h>

#include "session/base/json.h"
#include "session/base/json_text.h"
#include "session/base/limits.h"
#include "session/base/log.h"
#include "session/base/util.h"
#include "session/front/safe.h"
#include "session/stage/link.h"

#define BODY_PIECE_BYTES (64 * 1024)

struct stage *stage_create(struct loop *loop, const char *path, struct stage_links *all)
{
	struct stage *stage = util_zalloc(sizeof(*stage));

	stage->loop = loop;
	stage->all = all;
	(void)snprintf(stage->path, sizeof(stage->path), "%s", path);
	return stage;
}

static void forget_reply(struct stage_reply *link)
{
	json_decref(link->headers);
	json_decref(link->counts);
	link->headers = link->counts = NULL;
	free(link->data);
	link->data = NULL;
	link->start = link->len = link->size = 0;
	link->total = 0;
	link->more = NULL;
	link->is_whole = link->is_long = link->unsent = false;
	link->length = -1;
	link->progress = NULL;
	link->state = LINK_FREE;
}

static void set_idle(struct stage_reply *link, bool idle)
{
	struct stage *stage = link->stage;

	if (link->idle == idle)
		return;
	link->idle = idle;
	stage->n_idle = idle ? stage->n_idle + 1 : stage->n_idle - 1;
	stage->all->n_idle = idle ? stage->all->n_idle + 1 : stage->all->n_idle - 1;
}

static void leave_stage(struct stage_reply *link)
{
	struct stage_reply **place = link->stage ? &link->stage->links : NULL;

	if (!place)
		return;
	while (*place != link)
		place = &(*place)->next;
	*place = link->next;
	set_idle(link, false);
	--*(link->is_stream ? &link->stage->n_streams : &link->stage->n_links);
	link->stage = NULL;
}

/* Frees a link that nobody holds. */
static void link_free(struct stage_reply *link)
{
	leave_stage(link);
	ipc_stream_destroy(link->stream);
	forget_reply(link);
	free(link);
}

static void tell(struct stage_reply *link)
{
	co_signal(&link->changed);
	if (link->wake && (!link->stream || link->state != LINK_CALLED)) {
		link->over = true;
		co_signal(link->wake);
	}
	if (link->more)
		link->more(link->more_arg);
}

static void link_close(struct stage_reply *link)
{
	ipc_stream_destroy(link->stream);
	link->stream = NULL;
	leave_stage(link);
	if (link->held)
		tell(link);
	else
		link_free(link);
}

void stage_destroy(struct stage *stage)
{
	if (!stage)
		return;
	while (stage->links)
		link_close(stage->links);
	free(stage);
}

/* One of its words. */
static const char *safe_holder(const char *name)
{
	static const char *const names[] = {"human", "nobody"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(names[i], name) == 0)
			return names[i];
	return "agent";
}

static int take_hello(struct stage_reply *link, const json_t *hello)
{
	struct stage_hello *out = &link->stage->hello;

	out->episode = form_int(hello, "episode", 0);
	out->epoch = form_int(hello, "epoch", 0);
	(void)snprintf(out->state, sizeof(out->state), "%s", form_string(hello, "state", ""));
	(void)snprintf(out->holder, sizeof(out->holder), "%s", safe_holder(form_string(hello, "holder", "")));
	out->n_running = json_array_size(json_object_get(hello, "running"));
	link->state = LINK_FREE;
	return 0;
}

static int take_reply(struct stage_reply *link, const json_t *reply, bool more)
{
	const char *name;
	const json_t *value;

	link->status = (int)form_int(reply, "status", 0);
	if (link->status < 200 || link->status > 599)
		return -1;
	link->type = safe_type(form_string(reply, "type", NULL));
	link->headers = json_object();
	json_object_foreach(json_object_get(reply, "headers"), name, value)
		if (safe_is_header(name, json_string_value(value)))
			(void)json_object_set_new(link->headers, name, json_string(json_string_value(value)));
	link->counts = json_incref(json_object_get(reply, "counts"));
	link->length = form_int(reply, "length", -1);
	link->state = more ? LINK_BODY : LINK_COMPLETE;
	return link->length < -1 ? -1 : 0;
}

static int take_envelope(struct stage_reply *link, uint16_t kind, bool more, const char *text, size_t len)
{
	json_t *envelope = NULL;
	struct err e;
	int rc = -1;

	if (json_parse(text, len, &envelope, &e) == 0 && json_is_object(envelope))
		rc = kind == LINK_HELLO ? take_hello(link, envelope) : take_reply(link, envelope, more);
	json_decref(envelope);
	return rc;
}

/* A stream is read as it comes, by many at a time, and what waits of it gets old. */
size_t stage_most_waiting(const struct stage_reply *link)
{
	if (link->is_whole)
		return LIMIT_MCP_REPLY_BYTES;
	return link->is_stream ? LIMIT_STREAM_QUEUED_BYTES : LIMIT_LINK_BYTES;
}

static int take_data(struct stage_reply *link, bool more, const char *data, size_t len)
{
	link->total += len;
	if (link->total > (link->is_whole ? LIMIT_MCP_REPLY_BYTES : LIMIT_REPLY_BYTES) && !link->is_stream && !link->is_long)
		return -1;
	if (link->length >= 0 && link->total > (uint64_t)link->length)
		return -1;
	if (link->start > 0 && link->start + link->len + len > link->size) {
		memmove(link->data, link->data + link->start, link->len);
		link->start = 0;
	}
	if (link->len + len > link->size) {
		link->size = link->len + len;
		link->data = util_realloc(link->data, link->size);
	}
	if (len > 0)
		memcpy(link->data + link->start + link->len, data, len);
	link->len += len;
	if (!more)
		link->state = LINK_COMPLETE;
	else if (link->len >= stage_most_waiting(link))
		ipc_stream_pause(link->stream, true);
	return 0;
}

/* How far the call is. One that nobody asked for does no harm. */
static int take_progress(struct stage_reply *link, const char *text, size_t len)
{
	json_t *told = NULL;
	struct err e;

	if (json_parse(text, len, &told, &e) < 0)
		return -1;
	if (link->progress)
		link->progress(link->progress_arg, form_int(told, "done", 0), form_int(told, "of", 0));
	json_decref(told);
	return 0;
}

static int on_frame(void *arg, uint16_t kind, uint16_t flags, const void *data, size_t len)
{
	struct stage_reply *link = arg;
	bool more = flags & LINK_MORE;
	int rc = -1;

	if (kind == LINK_PROGRESS && link->state == LINK_CALLED)
		return take_progress(link, data, len);
	if ((kind == LINK_HELLO && link->state == LINK_NEW) || (kind == LINK_REPLY && link->state == LINK_CALLED))
		rc = take_envelope(link, kind, more, data, len);
	else if (kind == LINK_DATA && link->state == LINK_BODY)
		rc = take_data(link, more, data, len);
	if (rc == 0)
		tell(link);
	return rc;
}

static void on_closed(void *arg, const char *why)
{
	struct stage_reply *link = arg;

	if (why)
		log_warn("a stage broke the form of the link: %s", why);
	link_close(link);
}

static void on_drained(void *arg)
{
	struct stage_reply *link = arg;

	co_signal(&link->changed);
}

static const struct ipc_stream_ops stream_ops = {.frame = on_frame, .closed = on_closed, .drained = on_drained};

static int gone(struct err *e)
{
	return err_set(e, ERR_GONE, NULL, "the session's process is gone");
}

static int check_room(const struct stage *stage, bool is_stream, struct err *e)
{
	if (is_stream && stage->n_streams >= LIMIT_STREAMS)
		return err_set(e, ERR_LIMIT, NULL, "%d callers read streams of this session already", LIMIT_STREAMS);
	if (!is_stream && stage->n_links >= LIMIT_STAGE_LINKS)
		return err_set(e, ERR_BUSY, NULL, "%d calls of this session are open already", LIMIT_STAGE_LINKS);
	return 0;
}

static int link_connect(struct stage *stage, bool is_stream, struct stage_reply **out, struct err *e)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	auto_fd fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct stage_reply *link;

	if (check_room(stage, is_stream, e) < 0)
		return -1;
	if (fd < 0)
		return err_sys(e, "socket");
	memcpy(address.sun_path, stage->path, sizeof(address.sun_path));
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return errno == EAGAIN ? err_set(e, ERR_BUSY, NULL, "the session does not take more calls now") : gone(e);
	link = util_zalloc(sizeof(*link));
	*link = (struct stage_reply){.stage = stage, .next = stage->links, .is_stream = is_stream, .held = true, .length = -1};
	link->stream = ipc_stream_create(stage->loop, steal_fd(&fd), &stream_ops, link);
	stage->links = link;
	++*(is_stream ? &stage->n_streams : &stage->n_links);
	*out = link;
	return 0;
}

/* Waits for something to happen on the link; a link that was closed is an error. */
static int link_wait(struct stage_reply *link, int64_t deadline_ms, struct err *e)
{
	if (link->stream && co_wait_event(&link->changed, deadline_ms, e) < 0)
		return -1;
	return link->stream ? 0 : gone(e);
}

int stage_fail(struct stage_reply *link)
{
	link->held = false;
	link->progress = NULL;
	link_close(link);
	return -1;
}

static int link_take(struct stage *stage, bool is_stream, int64_t deadline_ms, struct stage_reply **out, struct err *e)
{
	if (!stage)
		return gone(e);
	for (struct stage_reply *link = stage->links; link && !is_stream; link = link->next)
		if (link->idle) {
			set_idle(link, false);
			link->held = true;
			*out = link;
			return 0;
		}
	if (link_connect(stage, is_stream, out, e) < 0)
		return -1;
	while ((*out)->state == LINK_NEW)
		if (link_wait(*out, deadline_ms, e) < 0)
			return stage_fail(*out);
	return 0;
}

/* Is there room to keep one more? */
static bool has_room(const struct stage *stage)
{
	return stage->n_idle < LIMIT_STAGE_IDLE ||
	       (stage->n_idle < LIMIT_STAGE_IDLE_MAX && stage->all->n_idle < LIMIT_IDLE_IN_ALL);
}

void stage_give_back(struct stage_reply *link)
{
	forget_reply(link);
	link->held = false;
	if (!link->stream || link->is_stream || !has_room(link->stage)) {
		link_close(link);
		return;
	}
	set_idle(link, true);
	if (link->stage->n_idle > LIMIT_STAGE_IDLE)
		ipc_stream_trim(link->stream);
}

int stage_greet(struct stage *stage, int64_t deadline_ms, struct stage_hello *hello, struct err *e)
{
	struct stage_reply *link;

	if (link_take(stage, false, deadline_ms, &link, e) < 0)
		return -1;
	*hello = stage->hello;
	stage_give_back(link);
	return 0;
}

static void send_call(struct stage_reply *link, const struct stage_call *call)
{
	json_t *envelope = json_pack("{s:s, s:s, s:s*, s:s*, s:s*, s:O*, s:b}", "call", call->name, "role", call->role, "token", call->token,
	                             "request_id", call->request_id, "key", call->key, "query", call->query, "progress", call->progress != NULL);
	size_t len;
	auto_free char *text = json_text(envelope, &len);

	json_decref(envelope);
	link->state = LINK_CALLED;
	link->is_whole = call->is_whole;
	link->is_long = call->is_long;
	link->progress = call->progress;
	link->progress_arg = call->arg;
	if (call->read) {
		ipc_stream_send(link->stream, LINK_CALL, LINK_MORE, text, len);
		return;
	}
	ipc_stream_send_message(link->stream, &(struct ipc_message){.kind = LINK_CALL, .body_kind = LINK_DATA, .more = LINK_MORE, .head = text,
	                                                            .head_len = len, .body = call->body, .body_len = call->body_len});
}

/* The body as it comes, until its end or the answer. */
static int send_body(struct stage_reply *link, const struct stage_call *call, struct err *e)
{
	auto_free char *piece = util_alloc(BODY_PIECE_BYTES);
	size_t n = 1;
	int rc;

	link->unsent = true;
	while (n > 0) {
		link->over = !link->stream || link->state != LINK_CALLED;
		link->wake = call->wake;
		rc = call->read(call->arg, &link->over, piece, BODY_PIECE_BYTES, &n, e);
		link->wake = NULL;
		if (rc < 0)
			return -1;
		if (!link->stream)
			return gone(e);
		if (link->state != LINK_CALLED)
			return 0;
		ipc_stream_send(link->stream, LINK_DATA, n > 0 ? LINK_MORE : 0, piece, n);
		while (link->stream && link->state == LINK_CALLED && ipc_stream_queued(link->stream) > LIMIT_COMING_BYTES)
			if (link_wait(link, CO_FOREVER, e) < 0)
				return -1;
	}
	link->unsent = false;
	return 0;
}

int stage_call(struct stage *stage, const struct stage_call *call, int64_t deadline_ms, struct stage_reply **reply, struct err *e)
{
	struct stage_reply *link;

	if (link_take(stage, call->is_stream, deadline_ms, &link, e) < 0)
		return -1;
	send_call(link, call);
	if (call->read && send_body(link, call, e) < 0)
		return stage_fail(link);
	if (call->read)
		deadline_ms = util_now_ms() + call->last_ms;
	while (link->state == LINK_CALLED || (link->state == LINK_BODY && link->len < (link->is_stream ? 1 : stage_most_waiting(link))))
		if (link_wait(link, deadline_ms, e) < 0) {
			e->begun = call->body || call->read;
			return stage_fail(link);
		}
	link->progress = NULL;
	*reply = link;
	return 0;
}

size_t stage_count_streams(const struct stage *stage)
{
	return stage->n_streams;
}
