/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From the first header to the last byte of the reply. A refusal found in the head is answered when the body has been read (so that
 * the client gets to see it and the connection stays in step), or at once with Connection: close when the framing is in doubt or the
 * body is not worth reading.
 */
#include "session/front/request_inner.h"

#include <string.h>

#include "session/base/limits.h"
#include "session/base/log.h"
#include "session/base/util.h"
#include "session/front/access.h"
#include "session/front/check.h"
#include "session/front/viewers.h"

/* --- those whose tokens may be revoked --- */

static void join_known(struct request *request)
{
	request->place = &request->front->requests;
	request->next = *request->place;
	if (request->next)
		request->next->place = &request->next;
	*request->place = request;
}

static void leave_known(struct request *request)
{
	if (!request->place)
		return;
	*request->place = request->next;
	if (request->next)
		request->next->place = request->place;
}

/* --- the reply --- */

static void on_more(void *arg)
{
	struct request *request = arg;

	reply_watch(&request->reply, NULL, NULL);
	if (conn_suspended(request->conn))
		conn_resume(request->conn);
}

static void on_gone(void *arg)
{
	struct request *request = arg;

	request->gone = true;
	if (request->co)
		co_cancel(request->co);
	else
		on_more(request);
}

static void note_sent(struct request *request, size_t n_bytes)
{
	request->n_sent += n_bytes;
	conn_sent(request->conn, n_bytes);
}

static ssize_t read_stream(void *cls, uint64_t pos, char *out, size_t max)
{
	struct request *request = cls;
	size_t n = 0;

	(void)pos;
	if (request->gone)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	switch (reply_read(&request->reply, out, max, &n)) {
	case STAGE_READ_SOME:
		note_sent(request, n);
		return (ssize_t)n;
	case STAGE_READ_WAIT:
		reply_watch(&request->reply, on_more, request);
		conn_suspend(request->conn, on_gone, request);
		return 0;
	case STAGE_READ_END:
		return MHD_CONTENT_READER_END_OF_STREAM;
	case STAGE_READ_BROKEN:
		break;
	}
	return MHD_CONTENT_READER_END_WITH_ERROR;
}

/* It is in memory, whether there is room for it or not. */
static void on_waiting(void *arg, size_t n_bytes)
{
	struct request *request = arg;

	(void)conn_hold(request->conn, n_bytes);
}

static void refuse(struct request *request)
{
	const struct faults one = {.list = &request->refusal, .max = 1, .n = 1};

	if (request->refusal.code == ERR_INTERNAL)
		log_err(LOG_ERROR, &request->refusal, "request %s", request->id);
	reply_refusal(&request->reply, request->faults.n > 0 ? &request->faults : &one, request->id);
}

/* Its token opens nothing any more. */
static void end_with_token(struct request *request)
{
	request->revoked = true;
	if (request->co)
		co_cancel(request->co);
	else if (request->phase == REQUEST_ANSWERED && reply_comes(&request->reply))
		on_gone(request);
}

static void on_expiry(void *arg)
{
	struct request *request = arg;

	request->expiry = NULL;
	end_with_token(request);
}

/* What runs, and a reply that has no end, end with their token. */
static void watch_expiry(struct request *request)
{
	if (request->who.expires_ms > 0 && !request->expiry)
		request->expiry = loop_at(request->front->loop, util_now_ms() + request->who.expires_ms - store_now_ms(), on_expiry, request);
}

static enum MHD_Result answer(struct request *request, struct MHD_Connection *mhd)
{
	struct MHD_Response *response;
	enum MHD_Result result;

	/* What was done is answered, but a stream does not begin. */
	if (request->revoked && (request->refused || request->reply.is_endless || request->reply.upgrade)) {
		request->refused = true;
		request->faults.n = 0;
		(void)err_set(&request->refusal, ERR_UNAUTHORIZED, NULL, "this token was revoked, or has expired, meanwhile");
	}
	if (request->refused)
		refuse(request);
	request->phase = REQUEST_ANSWERED;
	access_answered(request);
	request_free_body(request);
	response = reply_build(&request->reply, request->id, read_stream, request);
	if (request->reply.is_endless) {
		conn_streaming(request->conn);
		watch_expiry(request);
	} else {
		conn_sending(request->conn);
	}
	/* What a stage sends waits in parts. A reply that is more than there is room for goes out all the same: it is made. */
	(void)conn_hold(request->conn, request->reply.stream && !request->reply.is_endless ? LIMIT_LINK_BYTES : request->reply.len);
	if (request->reply.flow)
		flow_count(request->reply.flow, on_waiting, request);
	note_sent(request, request->reply.len);
	result = MHD_queue_response(mhd, (unsigned int)request->reply.status, response);
	MHD_destroy_response(response);
	return result;
}

void request_on_upgrade(void *cls, struct MHD_Connection *mhd, void *context, const char *early, size_t early_len, MHD_socket socket,
                        struct MHD_UpgradeResponseHandle *handle)
{
	struct request *request = cls;
	const struct viewer_start start = {.session = request->session, .ticket = &request->ticket, .request_id = request->id, .conn = request->conn,
	                                   .handle = handle, .socket = socket, .view = steal_fd(&request->reply.upgrade_fd), .early = early,
	                                   .early_len = early_len};

	(void)mhd;
	(void)context;
	conn_upgraded(request->conn);
	viewers_open(request->front, &start);
}

/* --- the route --- */

static void run_route(struct request *request)
{
	request->refused = request->route->run(request, &request->refusal) < 0;
}

static void run_in_coroutine(void *arg)
{
	struct request *request = arg;

	run_route(request);
	request->co = NULL;
	/* It may have left since the loop last looked: a session that it made must not stay. */
	request->gone = request->gone || (request->n_born > 0 && conn_peer_left(request->conn));
	conn_resume(request->conn);
}

void request_revoke(struct front *front, const char *session, const char *token_id)
{
	for (struct request *request = front->requests; request; request = request->next)
		if (strcmp(request->who.session, session) == 0 && strcmp(request->who.name, token_id) == 0)
			end_with_token(request);
}

static enum MHD_Result work(struct request *request, struct MHD_Connection *mhd)
{
	request->phase = REQUEST_WORKING;
	conn_working(request->conn);
	/* While its body came. */
	request->refused = request->refused || request->revoked;
	if (!request->refused && (request->route->flags & ROUTE_WAITS)) {
		watch_expiry(request);
		request->co = co_start(request->front->loop, run_in_coroutine, request);
		conn_suspend(request->conn, on_gone, request);
		return MHD_YES;
	}
	if (!request->refused)
		run_route(request);
	return answer(request, mhd);
}

/* --- a body that is taken as it comes, by a route that runs beside it --- */

static void request_free(struct request *request);

/* Who sends no more of a body that was refused does not ask for the answer either. */
static void on_silence(void *arg)
{
	struct request *request = arg;

	request->silence = NULL;
	conn_refuse(request->conn, &request->refusal);
}

static void watch_silence(struct request *request)
{
	loop_cancel(request->silence);
	request->silence = loop_at(request->front->loop, util_now_ms() + LIMIT_REFUSED_BODY_MS, on_silence, request);
}

static void run_upload(void *arg)
{
	struct request *request = arg;

	run_route(request);
	request->co = NULL;
	if (request->closed)
		request_free(request);
	else if (conn_suspended(request->conn))
		conn_resume(request->conn);
	else if (request->refused)
		watch_silence(request);
}

/* Room for what comes, and the route. */
static void begin_upload(struct request *request)
{
	if (!conn_hold(request->conn, LIMIT_COMING_BYTES)) {
		request_refuse_body(request);
		return;
	}
	request->coming = util_alloc(LIMIT_COMING_BYTES);
	watch_expiry(request);
	request->co = co_start(request->front->loop, run_upload, request);
}

static enum MHD_Result end_upload(struct request *request, struct MHD_Connection *mhd)
{
	loop_cancel(request->silence);
	request->silence = NULL;
	request->phase = REQUEST_WORKING;
	conn_working(request->conn);
	request->came = true;
	co_signal(&request->body_changed);
	if (!request->co)
		return answer(request, mhd);
	conn_suspend(request->conn, on_gone, request);
	return MHD_YES;
}

/* What comes behind a refusal is read, so that the client gets to see it, up to a limit. */
static enum MHD_Result step_upload(struct request *request, struct MHD_Connection *mhd, const char *data, size_t *len)
{
	if (request->gone)
		return MHD_NO;
	if (*len == 0)
		return end_upload(request, mhd);
	if (request->co) {
		request_take_coming(request, data, len);
		if (*len > 0)
			conn_suspend(request->conn, on_gone, request);
		return *len == 0 && conn_at_end(request->conn) ? MHD_NO : MHD_YES;
	}
	request->drained += *len;
	*len = 0;
	if (request->silence)
		watch_silence(request);
	if (request->drained <= LIMIT_DRAIN_BYTES)
		return MHD_YES;
	conn_refuse(request->conn, &request->refusal);
	return MHD_NO;
}

/* --- libmicrohttpd's callbacks --- */

static void *on_open(void *arg, const char *raw_target, struct MHD_Connection *mhd)
{
	struct request *request = util_zalloc(sizeof(*request));
	uint8_t random[8];
	struct err e;

	request->front = arg;
	request->started_us = util_now_us();
	request->conn = conn_of(mhd);
	request->raw_target = util_strdup(raw_target);
	util_random(random, sizeof(random));
	request->id[0] = 'r';
	util_hex(request->id + 1, random, sizeof(random));
	conn_receiving(request->conn);
	if (target_check_size(raw_target, &e) < 0)
		conn_refuse(request->conn, &e);
	return request;
}

/* Is the refusal to go out now, with the body unread? */
static bool is_hopeless(const struct request *request)
{
	const struct head *head = &request->head;

	return request->reply.must_close || (head->has_body && (head->expect || head->length > LIMIT_DRAIN_BYTES));
}

static enum MHD_Result on_step(void *arg, struct MHD_Connection *mhd, const char *url, const char *method, const char *version,
                               const char *data, size_t *len, void **context)
{
	struct request *request = *context;
	bool taken;

	(void)arg;
	(void)url;
	switch (request->phase) {
	case REQUEST_HEAD:
		request->phase = REQUEST_BODY;
		conn_has_head(request->conn);
		request->is_http_11 = strcmp(version, MHD_HTTP_VERSION_1_1) == 0;
		request->refused = check_head(request, mhd, method, &request->refusal) < 0;
		if (*request->who.name)
			join_known(request);
		if (!request->refused && request->route->flags & ROUTE_UPLOAD)
			begin_upload(request);
		if (!request->refused || !is_hopeless(request))
			return MHD_YES;
		request->reply.must_close = true;
		return answer(request, mhd);
	case REQUEST_BODY:
		if (request->coming)
			return step_upload(request, mhd, data, len);
		if (*len == 0)
			return work(request, mhd);
		taken = request_take_body(request, data, *len);
		/* Also what came to a wrong place. */
		if (request->refused || request->route->flags & ROUTE_BYTES)
			explicit_bzero((void *)(uintptr_t)data, *len);
		*len = 0;
		return taken ? MHD_YES : MHD_NO;
	case REQUEST_WORKING:
		return request->gone ? MHD_NO : answer(request, mhd);
	case REQUEST_ANSWERED:
		break;
	}
	return MHD_NO;
}

static void request_free(struct request *request)
{
	loop_cancel(request->silence);
	reply_finish(&request->reply);
	session_unref(request->session);
	free(request->born);
	target_finish(&request->target);
	free(request->raw_target);
	request_free_body(request);
	free(request->coming);
	free(request->faults.list);
	free(request);
}

static void on_close(void *arg, struct MHD_Connection *mhd, void **context, enum MHD_RequestTerminationCode code)
{
	struct request *request = *context;

	(void)arg;
	(void)mhd;
	if (!request)
		return;
	for (size_t i = 0; i < request->n_born; i++) {
		if (code != MHD_REQUEST_TERMINATED_COMPLETED_OK)
			session_end(request->born[i].session, "caller_left");
		session_unref(request->born[i].session);
		json_decref(request->born[i].state);
	}
	leave_known(request);
	loop_cancel(request->expiry);
	access_closed(request);
	conn_idle(request->conn);
	*context = NULL;
	request->closed = true;
	if (request->co)
		co_cancel(request->co); /* it frees the request */
	else
		request_free(request);
}

struct conns_ops request_ops(struct front *front)
{
	return (struct conns_ops){.open = on_open, .step = on_step, .close = on_close, .arg = front};
}
