/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Viewers. Each way holds one buffer of bytes: a view is read when its WebSocket has room, a WebSocket when there is room for what its view has
 * not taken yet. So the kernel's back-pressure goes through, and one that does not read costs what it costs when it is opened.
 */
#include "session/front/viewers.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "session/base/co.h"
#include "session/base/json.h"
#include "session/base/limits.h"
#include "session/base/log.h"
#include "session/base/util.h"
#include "session/front/audit.h"
#include "session/front/conn.h"
#include "session/front/describe.h"
#include "session/front/front.h"
#include "session/front/websocket.h"

#define IN_BYTES (16 * 1024)

struct viewer {
	struct front *front;
	struct viewer *next, **place;
	struct session *session;
	struct identity who;
	uint32_t number;
	bool controls;
	char request_id[20];
	int64_t since_ms; /* wall clock */
	struct conn *conn;
	struct MHD_UpgradeResponseHandle *handle;
	struct websocket *websocket;
	int view;         /* -1 once that has ended */
	struct loop_source *source;
	uint32_t events;
	char in[IN_BYTES]; /* of the viewer: in[in_start..in_start + in_len) the view has not taken yet */
	size_t in_start, in_len;
	uint64_t n_in, n_out;
	struct loop_timer *expiry;
	const char *why;  /* of its end, when it is known before that */
};

void viewers_name(uint32_t number, char out[VIEWER_NAME_SIZE])
{
	(void)snprintf(out, VIEWER_NAME_SIZE, "v%u", number);
}

/* --- the record --- */

static json_t *describe_who(const struct viewer *viewer)
{
	char name[VIEWER_NAME_SIZE];
	json_t *fields = audit_who(&viewer->who, viewer->request_id);

	viewers_name(viewer->number, name);
	(void)json_object_set_new(fields, "session", json_string(viewer->session->id));
	(void)json_object_set_new(fields, "viewer", json_string(name));
	return fields;
}

static void note_opened(const struct viewer *viewer)
{
	json_t *fields = describe_who(viewer);

	(void)json_object_set_new(fields, "controls", json_boolean(viewer->controls));
	if (*viewer->who.share)
		(void)json_object_set_new(fields, "share", json_string(viewer->who.share));
	log_info("session %s: viewer v%u is there, with a token of role %s", viewer->session->id, viewer->number, role_name(viewer->who.role));
	audit_note(viewer->front->audit, "view_opened", fields);
}

static void note_closed(const struct viewer *viewer, const char *why)
{
	json_t *fields = describe_who(viewer);

	(void)json_object_set_new(fields, "why", json_string(why));
	(void)json_object_set_new(fields, "watched_s", json_integer((store_now_ms() - viewer->since_ms) / 1000));
	log_info("session %s: viewer v%u is gone: %s", viewer->session->id, viewer->number, why);
	audit_note(viewer->front->audit, "view_closed", fields);
}

/* --- its end --- */

static void end_view(struct viewer *viewer)
{
	loop_remove(viewer->source);
	viewer->source = NULL;
	util_close_fd(&viewer->view);
}

static void viewer_close(struct viewer *viewer, enum websocket_code code, const char *why)
{
	viewer->why = viewer->why ? viewer->why : why;
	end_view(viewer);
	websocket_close(viewer->websocket, code, why);
}

static const char *why_closed(const struct viewer *viewer)
{
	if (viewer->why)
		return viewer->why;
	return websocket_code_of_peer(viewer->websocket) ? "left" : "lost";
}

static void on_closed(void *arg)
{
	struct viewer *viewer = arg;
	struct viewers *all = &viewer->front->viewers;

	note_closed(viewer, why_closed(viewer));
	all->n--;
	all->n_in += viewer->n_in;
	all->n_out += viewer->n_out;
	all->n_lost += !viewer->why && !websocket_code_of_peer(viewer->websocket);
	*viewer->place = viewer->next;
	if (viewer->next)
		viewer->next->place = viewer->place;
	loop_cancel(viewer->expiry);
	websocket_destroy(viewer->websocket);
	end_view(viewer);
	conn_give_back(viewer->conn, viewer->handle);
	session_unref(viewer->session);
	explicit_bzero(viewer->in, sizeof(viewer->in));
	free(viewer);
}

/* The view has ended: with its session, or alone. */
static void on_view_ended(struct viewer *viewer)
{
	if (viewer->session->state == SESSION_READY || viewer->session->state == SESSION_PAUSED)
		viewer_close(viewer, WEBSOCKET_FAILED, "the view has ended");
	else
		viewer_close(viewer, WEBSOCKET_AWAY, "the session has ended");
}

/* --- bytes --- */

static void watch(struct viewer *viewer)
{
	uint32_t events = (websocket_room(viewer->websocket) > 0 ? EPOLLIN : 0U) | (viewer->in_len > 0 ? EPOLLOUT : 0U);

	if (!viewer->source || events == viewer->events)
		return;
	viewer->events = events;
	loop_modify(viewer->source, events);
}

/* False when the view takes nothing any more. */
static bool give_to_view(struct viewer *viewer)
{
	while (viewer->in_len > 0) {
		ssize_t n = send(viewer->view, viewer->in + viewer->in_start, viewer->in_len, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0)
			return errno == EAGAIN;
		explicit_bzero(viewer->in + viewer->in_start, (size_t)n); /* a person types and pastes passwords */
		viewer->in_start += (size_t)n;
		viewer->in_len -= (size_t)n;
	}
	viewer->in_start = 0;
	return true;
}

/* False at its end. */
static bool take_from_view(struct viewer *viewer)
{
	char data[LIMIT_WEBSOCKET_TURN_BYTES];
	size_t room = websocket_room(viewer->websocket);
	ssize_t n = room > 0 ? recv(viewer->view, data, room < sizeof(data) ? room : sizeof(data), MSG_DONTWAIT) : -1;

	if (n > 0) {
		viewer->n_out += (uint64_t)n;
		websocket_send(viewer->websocket, data, (size_t)n);
	}
	return n > 0 || room == 0 || (n < 0 && errno == EAGAIN);
}

static void on_view(void *arg, uint32_t events)
{
	struct viewer *viewer = arg;
	bool goes_on = give_to_view(viewer);

	/* What it said last goes out first. */
	if (!take_from_view(viewer) || (!goes_on && !(events & EPOLLIN))) {
		on_view_ended(viewer);
		return;
	}
	if (viewer->in_len == 0)
		websocket_go_on(viewer->websocket);
	watch(viewer);
}

static size_t on_room(void *arg)
{
	const struct viewer *viewer = arg;

	return viewer->in_len == 0 ? IN_BYTES : IN_BYTES - viewer->in_start - viewer->in_len;
}

static void on_data(void *arg, const uint8_t *data, size_t len)
{
	struct viewer *viewer = arg;

	if (viewer->view < 0)
		return;
	memcpy(viewer->in + viewer->in_start + viewer->in_len, data, len);
	viewer->in_len += len;
	viewer->n_in += len;
	if (give_to_view(viewer))
		watch(viewer);
	else
		on_view_ended(viewer);
}

static void on_writable(void *arg)
{
	watch(arg);
}

/* --- signs of life --- */

/* Tells the stage to let go of what a viewer holds down, who may be gone: keys that repeat do harm while nobody knows. */
struct silence {
	struct session *session;
	uint32_t number;
};

static void tell_silence(void *arg)
{
	struct silence *silence = arg;
	struct session *session = silence->session;
	char body[32];
	struct stage_call call = {.name = "viewer_silent", .role = "server", .body = body};
	struct err e;

	call.body_len = (size_t)snprintf(body, sizeof(body), "{\"viewer\":%u}", silence->number);
	if (session_serves(session) && stage_ask(session->stage, &call, util_now_ms() + LIMIT_STATE_MS, NULL, &e) < 0)
		log_err(LOG_WARN, &e, "session %s does not hear that viewer v%u is silent", session->id, silence->number);
	session_unref(session);
	free(silence);
}

static void on_silent(void *arg)
{
	struct viewer *viewer = arg;
	struct silence *silence = util_zalloc(sizeof(*silence));

	viewer->front->viewers.n_silent++;
	*silence = (struct silence){.session = session_ref(viewer->session), .number = viewer->number};
	(void)co_start(viewer->front->loop, tell_silence, silence);
}

static void on_expiry(void *arg)
{
	struct viewer *viewer = arg;

	viewer->expiry = NULL;
	viewer_close(viewer, WEBSOCKET_REFUSED, "the token has expired");
}

/* --- for the front --- */

int viewers_check_room(const struct viewers *viewers, const struct identity *who, struct err *e)
{
	size_t n = 0;

	for (const struct viewer *viewer = viewers->first; viewer; viewer = viewer->next)
		n += strcmp(viewer->who.name, who->name) == 0;
	if (n >= LIMIT_WEBSOCKETS_OF_TOKEN)
		return err_set(e, ERR_LIMIT, NULL, "this token has %zu views open, which is the most", n);
	if (viewers->n >= LIMIT_WEBSOCKETS)
		return err_set(e, ERR_LIMIT, NULL, "%zu views are open, which is the most of this server", viewers->n);
	return 0;
}

static struct viewer *add(struct front *front, const struct viewer_start *start)
{
	struct viewer *viewer = util_zalloc(sizeof(*viewer));

	viewer->front = front;
	viewer->session = session_ref(start->session);
	viewer->who = start->ticket->who;
	viewer->number = start->ticket->viewer;
	viewer->controls = start->ticket->controls;
	viewer->since_ms = store_now_ms();
	viewer->conn = start->conn;
	viewer->handle = start->handle;
	viewer->view = start->view;
	(void)snprintf(viewer->request_id, sizeof(viewer->request_id), "%s", start->request_id);
	viewer->place = &front->viewers.first;
	viewer->next = front->viewers.first;
	if (viewer->next)
		viewer->next->place = &viewer->next;
	front->viewers.first = viewer;
	front->viewers.n++;
	front->viewers.n_opened++;
	return viewer;
}

void viewers_open(struct front *front, const struct viewer_start *start)
{
	static const struct websocket_ops ops = {
		.room = on_room, .data = on_data, .writable = on_writable, .silent = on_silent, .closed = on_closed};
	static const struct websocket_pace looks = {.ping_ms = LIMIT_WEBSOCKET_PING_MS, .dead_ms = LIMIT_WEBSOCKET_DEAD_MS};
	static const struct websocket_pace acts = {
		.ping_ms = LIMIT_VIEWER_PING_MS, .silent_ms = LIMIT_VIEWER_SILENT_MS, .dead_ms = LIMIT_WEBSOCKET_DEAD_MS};
	struct viewer *viewer = add(front, start);

	if (viewer->who.expires_ms > 0)
		viewer->expiry = loop_at(front->loop, util_now_ms() + viewer->who.expires_ms - store_now_ms(), on_expiry, viewer);
	viewer->websocket = websocket_create(front->loop, start->socket, start->early, start->early_len, viewer->controls ? &acts : &looks, &ops, viewer);
	viewer->events = EPOLLIN;
	viewer->source = loop_add(front->loop, viewer->view, viewer->events, on_view, viewer);
	note_opened(viewer);
}

json_t *viewers_describe(const struct viewers *viewers, const struct session *session)
{
	json_t *list = json_array();
	char name[VIEWER_NAME_SIZE];

	for (const struct viewer *viewer = viewers->first; viewer; viewer = viewer->next) {
		if (viewer->session != session)
			continue;
		viewers_name(viewer->number, name);
		(void)json_array_insert_new(list, 0,
		                            json_pack("{s:s,s:s,s:s,s:b,s:o,s:s?}", "viewer", name, "role", role_name(viewer->who.role), "token",
		                                      viewer->who.name, "controls", viewer->controls, "since", describe_time(viewer->since_ms), "share",
		                                      *viewer->who.share ? viewer->who.share : NULL));
	}
	return json_pack("{s:o}", "viewers", list);
}

int viewers_throw_out(struct viewers *viewers, const struct session *session, const char *name, struct err *e)
{
	char its_name[VIEWER_NAME_SIZE], shown[80];

	for (struct viewer *viewer = viewers->first; viewer; viewer = viewer->next) {
		viewers_name(viewer->number, its_name);
		if (viewer->session != session || strcmp(its_name, name) != 0 || viewer->why)
			continue;
		viewer_close(viewer, WEBSOCKET_REFUSED, "thrown out");
		return 0;
	}
	return err_set(e, ERR_NOT_FOUND, NULL, "nobody watches the session as %s", err_quote(shown, sizeof(shown), name, strlen(name)));
}

void viewers_revoke(struct viewers *viewers, const char *session, const char *token_id)
{
	for (struct viewer *viewer = viewers->first; viewer; viewer = viewer->next)
		if (strcmp(viewer->session->id, session) == 0 && strcmp(viewer->who.name, token_id) == 0)
			viewer_close(viewer, WEBSOCKET_REFUSED, "the token was revoked");
}

void viewers_say_goodbye(struct viewers *viewers)
{
	for (struct viewer *viewer = viewers->first; viewer; viewer = viewer->next)
		viewer_close(viewer, WEBSOCKET_AWAY, "the server stops");
}

void viewers_count_bytes(const struct viewers *viewers, uint64_t *in, uint64_t *out)
{
	*in = viewers->n_in;
	*out = viewers->n_out;
	for (const struct viewer *viewer = viewers->first; viewer; viewer = viewer->next) {
		*in += viewer->n_in;
		*out += viewer->n_out;
	}
}
