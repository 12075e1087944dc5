/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A call on its connection: its body as it comes, and its answer, whole or in pieces. */
#include <string.h>

#include "session/base/json_text.h"
#include "session/base/limits.h"
#include "session/base/log.h"
#include "session/base/problem.h"
#include "session/base/util.h"
#include "session/stage/connection_inner.h"
#include "session/stage/link.h"

void call_free(struct call *call)
{
	json_decref(call->envelope);
	json_decref(call->counts);
	free(call->coming);
	if (call->in_all)
		*call->in_all -= call->body_len;
	free(call->body);
	free(call);
}

int call_body_read(struct call *call, char *out, size_t max, int64_t deadline_ms, size_t *n, struct err *e)
{
	while (call->connection && call->n_coming == 0 && !call->came)
		if (co_wait_event(&call->body_changed, deadline_ms, e) < 0)
			return -1;
	if (call->n_coming == 0 && !call->came)
		return err_set(e, ERR_CANCELLED, NULL, "the caller has left");
	*n = call->n_coming < max ? call->n_coming : max;
	if (*n > 0)
		memcpy(out, call->coming + call->coming_at, *n);
	call->coming_at += *n;
	call->n_coming -= *n;
	if (call->connection && call->n_coming < LIMIT_COMING_BYTES / 2)
		ipc_stream_pause(call->connection->stream, false);
	return 0;
}

void call_progress(struct call *call, size_t done, size_t total)
{
	json_auto_t *told = NULL;

	if (!call->tells || call->answered || !call->connection)
		return;
	told = json_pack("{s:I,s:I}", "done", (json_int_t)done, "of", (json_int_t)total);
	connection_send(call->connection, LINK_PROGRESS, 0, told);
}

static void send_reply(struct call *call, int status, const char *media_type, const json_t *headers, const void *body, size_t len)
{
	json_auto_t *envelope = json_pack("{s:i,s:s,s:O*,s:O*}", "status", status, "type", media_type, "headers", headers,
	                                  "counts", call->counts);
	size_t head_len;
	auto_free char *head = json_text(envelope, &head_len);
	const struct ipc_message message = {.kind = LINK_REPLY, .body_kind = LINK_DATA, .more = LINK_MORE, .head = head,
	                                    .head_len = head_len, .body = len > 0 ? body : NULL, .body_len = len};

	if (call->answered)
		DIE("the call %s was answered twice", call->name);
	call->answered = true;
	call->status = status;
	if (call->connection)
		ipc_stream_send_message(call->connection->stream, &message);
}

/* JSON as it leaves: through the gate, in the call's dialect. Malloced. */
static char *text_of(struct call *call, int *status, const json_t *value, size_t *len)
{
	const struct connections_ops *ops = call->connection ? call->ops : NULL;
	bool is_checked = ops && ops->pass && call->role != ROLE_SERVER;
	json_auto_t *passed = is_checked ? ops->pass(ops->arg, call, value) : json_incref((json_t *)(uintptr_t)value);
	json_auto_t *told = call->tell ? call->tell(call, status, passed) : NULL;

	return json_text(told ? told : passed, len);
}

/* True when it may not leave: a refusal went in its stead. */
static bool is_kept_back(struct call *call);

void call_reply(struct call *call, int status, const char *media_type, const json_t *headers, const void *body, size_t len)
{
	if (!is_kept_back(call))
		send_reply(call, status, media_type, headers, body, len);
}

void call_reply_json(struct call *call, int status, const json_t *headers, const json_t *value)
{
	auto_free char *text = NULL;
	size_t len;

	if (is_kept_back(call))
		return;
	text = text_of(call, &status, value, &len);
	call_reply(call, status, status < 400 ? "application/json" : PROBLEM_MEDIA_TYPE, headers, text, len); /* telling may have taken its time */
}

static void send_refusal(struct call *call, enum err_code code, const json_t *problem)
{
	int status = err_info(code)->status;
	json_auto_t *headers = NULL;
	size_t len;
	auto_free char *text = text_of(call, &status, problem, &len);

	json_decref(call->counts);
	call->counts = json_pack("{s:s}", "refused", err_info(code)->wire);
	if (status != 200 && strcmp(err_info(code)->fix, "later") == 0)
		headers = json_pack("{s:s}", "Retry-After", PROBLEM_RETRY_AFTER_S);
	send_reply(call, status, status == 200 ? "application/json" : PROBLEM_MEDIA_TYPE, headers, text, len);
}

static bool is_kept_back(struct call *call)
{
	const struct connections_ops *ops = call->ops;
	json_auto_t *problem = NULL;
	struct err e;

	if (!ops || !ops->check_answer || ops->check_answer(ops->arg, call, &e) == 0)
		return false;
	call->is_bare = true;
	problem = problem_create(&e, call->request_id);
	send_refusal(call, e.code, problem);
	return true;
}

/* What is said of why may be as private as the answer. */
static void refuse(struct call *call, enum err_code code, const json_t *problem)
{
	if (code == ERR_LEASE_HELD || code == ERR_MUST_OBSERVE || !is_kept_back(call))
		send_refusal(call, code, problem);
}

void call_refuse(struct call *call, const struct err *e)
{
	json_auto_t *problem = problem_create(e, call->request_id);

	refuse(call, e->code, problem);
}

void call_refuse_with(struct call *call, const struct err *e, const char *name, json_t *value)
{
	json_auto_t *problem = problem_create(e, call->request_id);

	if (json_object_set_new(problem, name, value) < 0)
		DIE("no memory for a refusal");
	refuse(call, e->code, problem);
}

void call_refuse_all(struct call *call, const struct faults *faults)
{
	json_auto_t *problem = problem_of_faults(faults, call->request_id);

	refuse(call, faults->list[0].code, problem);
}

void call_stream_begin(struct call *call, const char *media_type)
{
	json_auto_t *envelope = json_pack("{s:i,s:s}", "status", 200, "type", media_type);

	call->answered = true;
	call->status = 200;
	if (call->connection)
		connection_send(call->connection, LINK_REPLY, LINK_MORE, envelope);
}

bool call_stream_open(struct call *call, int status, const char *media_type, const json_t *headers, int64_t length)
{
	json_auto_t *envelope = NULL;

	if (is_kept_back(call))
		return false;
	envelope = json_pack("{s:i,s:s,s:O*,s:O*}", "status", status, "type", media_type, "headers", headers, "counts", call->counts);
	if (length >= 0)
		(void)json_object_set_new(envelope, "length", json_integer(length));
	call->answered = true;
	call->status = status;
	if (call->connection)
		connection_send(call->connection, LINK_REPLY, LINK_MORE, envelope);
	return true;
}

static int left(struct err *e)
{
	return err_set(e, ERR_CANCELLED, NULL, "the caller has left");
}

int call_stream_wait(struct call *call, int64_t deadline_ms, struct err *e)
{
	while (call->connection && ipc_stream_queued(call->connection->stream) > LIMIT_STREAM_QUEUED_BYTES)
		if (co_wait_event(&call->drained, deadline_ms, e) < 0)
			return -1;
	return call->connection ? 0 : left(e);
}

int call_stream_wait_taken(struct call *call, int64_t patience_ms, struct err *e)
{
	while (call->connection && call->taken < call->streamed)
		if (co_wait_event(&call->drained, util_now_ms() + patience_ms, e) < 0)
			return -1;
	return call->connection ? 0 : left(e);
}

void call_stream_send(struct call *call, const void *data, size_t len)
{
	if (!call->connection)
		return;
	call->streamed += len;
	ipc_stream_send(call->connection->stream, LINK_DATA, LINK_MORE, data, len);
}

void call_stream_end(struct call *call, bool whole)
{
	struct connection *connection = call->connection;

	if (!connection)
		return;
	if (whole) {
		ipc_stream_send(connection->stream, LINK_DATA, 0, "", 0);
		return;
	}
	connection->call = NULL;
	call->connection = NULL;
	connection_close(connection);
}

static void write_line(const struct call *call)
{
	const struct log_field fields[] = {
		{.name = "request", .text = call->request_id},
		{.name = "call", .text = call->name},
		{.name = "status", .number = call->status},
		{.name = "ms", .number = util_now_ms() - call->started_ms},
		{.name = "role", .text = call->role_name},
		{.name = "token", .text = call->token},
	};

	log_event(LOG_DEBUG, "answered", fields, ARRAY_LEN(fields));
}

void call_finish(struct call *call)
{
	if (!call->answered) {
		struct err e;

		log_error("the call %s was not answered", call->name);
		(void)err_set(&e, ERR_INTERNAL, NULL, "the session's process did not answer this call");
		call_refuse(call, &e);
	}
	write_line(call);
	if (call->connection) {
		call->connection->call = NULL;
		ipc_stream_pause(call->connection->stream, false);
	}
	call_free(call);
}
