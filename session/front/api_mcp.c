/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * MCP over HTTP: one address, POST for messages, DELETE for the end of a legacy client's session. What the protocol says of a message is in
 * session/mcp; here is what it means for a request and its reply.
 */
#include <string.h>

#include "session/base/json_text.h"
#include "session/base/limits.h"
#include "session/base/problem.h"
#include "session/base/util.h"
#include "session/front/api.h"
#include "session/front/mcp.h"
#include "session/front/request.h"
#include "session/mcp/envelope.h"
#include "session/mcp/methods.h"
#include "session/mcp/more.h"

/* What becomes of one message. */
struct outcome {
	int status;
	char *text; /* of the answer, malloced; NULL: there is none */
	size_t len;
	struct mcp_run *run; /* which will answer; then nothing of the above */
};

/* One body on its way. */
struct post {
	struct request *request;
	struct mcp *mcp;
	const struct mcp_head *head;
	const struct revision *of_session; /* what its legacy session agreed on; NULL without one */
	json_t *caps;                      /* the same */
	bool knows_session;
	bool in_batch;
};

static void set_answer(struct outcome *out, int status, json_t *taken)
{
	out->status = status;
	out->text = json_text(taken, &out->len);
	json_decref(taken);
}

static void set_error(struct outcome *out, const json_t *id, struct mcp_error *e)
{
	set_answer(out, e->status, envelope_error(id, e));
	mcp_error_finish(e);
}

/* --- requests --- */

/* initialize: what was agreed on gets a name. */
static int begin_session(struct post *post, const struct mcp_call *call, const json_t *result, struct mcp_error *e)
{
	const json_t *caps = json_object_get(call->params, "capabilities");
	const struct mcp_session *session;

	if (post->in_batch)
		return mcp_refuse(e, MCP_INVALID, false, NULL, "initialize must be alone in its body");
	if (caps && (!json_is_object(caps) || json_text_len(caps) > LIMIT_MCP_CAPS_BYTES))
		return mcp_refuse(e, MCP_BAD_PARAMS, false, NULL, "capabilities must be an object of at most %d bytes", LIMIT_MCP_CAPS_BYTES);
	session = mcp_sessions_begin(post->mcp->sessions, post->request->who.name,
	                             revision_find(json_string_value(json_object_get(result, "protocolVersion"))), caps, util_now_ms());
	reply_header(&post->request->reply, "Mcp-Session-Id", session->id);
	return 0;
}

static int answer_plain(struct post *post, const struct method *method, const struct mcp_call *call, struct outcome *out, struct mcp_error *e)
{
	struct tools_view view = mcp_view(post->mcp, &post->request->who);
	json_auto_t *result = NULL, *members = NULL;

	if (methods_answer(method, call, &view, &result, e) < 0 ||
	    (method->kind == METHOD_BEGIN && begin_session(post, call, result, e) < 0))
		return -1;
	members = mcp_result_members(call);
	(void)json_object_update_missing(result, members);
	set_answer(out, 200, envelope_result(call->id, json_incref(result)));
	return 0;
}

static int check_room(const struct post *post, const struct mcp_call *call, struct mcp_error *e)
{
	if (post->mcp->n_runs >= LIMIT_MCP_RUNS)
		return mcp_refuse(e, MCP_BUSY, call->revision->modern, NULL, "%d requests are at work already; try again later", LIMIT_MCP_RUNS);
	if (!call->revision->modern &&
	    mcp_run_find(post->mcp, post->request->who.name, call->session ? call->session : "", call->id))
		return mcp_refuse(e, MCP_INVALID, false, NULL, "a request with this id is at work in this session");
	return 0;
}

static int start_run(struct post *post, const struct mcp_call *call, json_t *message, struct outcome *out, struct mcp_error *e)
{
	struct tools_view view = mcp_view(post->mcp, &post->request->who);
	bool is_more = mcp_more && mcp_more->takes(call);
	const struct tool *tool = NULL;
	const json_t *arguments = NULL;
	struct mcp_run *run;

	if (check_room(post, call, e) < 0)
		return -1;
	if (!is_more && !(tool = tools_find(&view, call, post->head, &arguments, e)))
		return -1;
	run = tool ? mcp_run_create_tool(post->mcp, call, tool, arguments) : mcp_run_create(post->mcp, call, message, post->caps);
	run->who = post->request->who;
	(void)snprintf(run->request_id, sizeof(run->request_id), "%s", post->request->id);
	run->takes_events = !post->in_batch && accept_events(&post->request->head.accept);
	run->takes_json = accept_json(&post->request->head.accept);
	run->is_whole = post->in_batch;
	mcp_run_start(run);
	out->run = run;
	return 0;
}

static int check_session(const struct post *post, const struct envelope *envelope, const struct revision *revision, struct mcp_error *e)
{
	bool begins = envelope->method && strcmp(envelope->method, "initialize") == 0;

	if (revision->modern || begins || !post->head->session || post->knows_session)
		return 0;
	return mcp_refuse(e, MCP_NO_SESSION, false, NULL, "this Mcp-Session-Id is not known (any more): begin again with initialize");
}

static int take_request(struct post *post, const struct envelope *envelope, json_t *message, struct outcome *out, struct mcp_error *e)
{
	struct mcp_call call = {.id = envelope->id, .method = envelope->method, .params = envelope->params};
	const struct method *method;

	if (revision_of(envelope, post->head, post->of_session, &call.revision, e) < 0 || check_session(post, envelope, call.revision, e) < 0)
		return -1;
	if (!call.params)
		call.params = post->mcp->no_params;
	call.session = call.revision->modern ? NULL : post->head->session;
	mcp_call_read(&call, post->caps);
	if (mcp_more && mcp_more->takes(&call))
		return start_run(post, &call, message, out, e);
	method = method_find(&call, e);
	if (!method)
		return -1;
	return method->kind == METHOD_TOOL ? start_run(post, &call, message, out, e) : answer_plain(post, method, &call, out, e);
}

/* --- the others --- */

/* Only who sent a request can take it back: its token, its session, its id. Modern clients close the request instead. */
static void take_notification(const struct post *post, const struct envelope *envelope, const struct revision *revision)
{
	const json_t *id = json_object_get(envelope->params, "requestId");
	struct mcp_run *run;

	if (revision->modern || strcmp(envelope->method, "notifications/cancelled") != 0 || !id)
		return;
	run = mcp_run_find(post->mcp, post->request->who.name, post->knows_session ? post->head->session : "", id);
	if (run)
		mcp_run_cancel(run);
}

static int take_other(struct post *post, const struct envelope *envelope, json_t *message, struct outcome *out, struct mcp_error *e)
{
	struct mcp_call call = {.id = envelope->id};

	if (revision_of(envelope, post->head, post->of_session, &call.revision, e) < 0 || check_session(post, envelope, call.revision, e) < 0)
		return -1;
	call.session = call.revision->modern ? NULL : post->head->session;
	if (envelope->kind == ENVELOPE_NOTIFICATION)
		take_notification(post, envelope, call.revision);
	else if (mcp_more && mcp_more->response)
		mcp_more->response(&call, message);
	out->status = 202;
	return 0;
}

static void take_message(struct post *post, json_t *message, struct outcome *out)
{
	struct envelope envelope;
	struct mcp_error e = {0};
	int rc = envelope_read(message, &envelope, &e);

	if (rc == 0 && envelope.kind == ENVELOPE_REQUEST)
		rc = take_request(post, &envelope, message, out, &e);
	else if (rc == 0)
		rc = take_other(post, &envelope, message, out, &e);
	if (rc < 0)
		set_error(out, envelope.id, &e);
}

/* --- the reply --- */

/* A text in a form that the client takes. Errors of the whole request are JSON, whatever that is. */
static void reply_answer(struct request *request, int status, char *text, size_t len)
{
	bool as_event = status == 200 && !accept_json(&request->head.accept);
	json_t *headers = json_incref(request->reply.headers);

	if (as_event) {
		char *event = util_printf("event: message\ndata: %s\n\n", text);

		free(text);
		text = event;
		len = strlen(event);
	}
	reply_text_taken(&request->reply, as_event ? MCP_EVENTS : "application/json", text, len);
	request->reply.status = status;
	request->reply.headers = headers;
	if (as_event)
		reply_header(&request->reply, "X-Accel-Buffering", "no");
	if (status == 429)
		reply_header(&request->reply, "Retry-After", PROBLEM_RETRY_AFTER_S);
}

/* Nothing answers a request that was taken back. */
static void reply_nothing(struct request *request)
{
	if (accept_events(&request->head.accept))
		reply_text(&request->reply, MCP_EVENTS, "", 0);
	else
		reply_empty(&request->reply, 202);
}

/* A session whose answer does not get through ends. */
static void keep_born(struct request *request, struct mcp_run *run)
{
	if (!run->born.session)
		return;
	request->born = util_realloc(request->born, (request->n_born + 1) * sizeof(*request->born));
	request->born[request->n_born++] = run->born;
	run->born = (struct birth){0};
}

static void reply_run(struct request *request, struct mcp_run *run)
{
	if (run->reader) {
		reply_flow(&request->reply, run->type, steal_ptr(&run->reader));
		if (strcmp(run->type, MCP_EVENTS) == 0)
			reply_header(&request->reply, "X-Accel-Buffering", "no");
	} else if (run->answer) {
		keep_born(request, run);
		reply_answer(request, run->status, steal_ptr(&run->answer), run->answer_len);
	} else {
		reply_nothing(request);
	}
}

/* Waits until it is done or has become a stream, which it does when it takes long. */
static int wait_run(struct mcp_run *run, struct err *e)
{
	int64_t until_ms = run->takes_events ? run->started_ms + LIMIT_MCP_QUIET_MS : CO_FOREVER;

	while (!run->done && !run->reader) {
		if (co_wait_event(&run->changed, until_ms, e) == 0)
			continue;
		if (e->code != ERR_TIMEOUT) {
			mcp_run_cancel(run);
			return -1;
		}
		mcp_run_open(run);
	}
	return 0;
}

/* The message is taken: what runs has kept what it needs of it. */
static int answer_one(struct post *post, json_t *message, struct err *e)
{
	struct request *request = post->request;
	struct outcome out = {0};
	int rc = 0;

	take_message(post, message, &out);
	json_decref(message);
	if (out.run) {
		rc = wait_run(out.run, e);
		if (rc == 0)
			reply_run(request, out.run);
		mcp_run_unref(out.run);
	} else if (out.text) {
		reply_answer(request, out.status, out.text, out.len);
	} else {
		reply_empty(&request->reply, out.status);
	}
	return rc;
}

/* --- batches --- */

struct answers {
	char *text; /* "[…,…" */
	size_t len;
};

static void add_answer(struct answers *all, const char *text, size_t len)
{
	all->text = util_realloc(all->text, all->len + len + 2);
	all->text[all->len] = all->len > 0 ? ',' : '[';
	memcpy(all->text + all->len + 1, text, len);
	all->len += len + 1;
	all->text[all->len] = '\0';
}

/* Takes the answer of a run, if it has any. */
static void add_run(struct post *post, struct mcp_run *run, struct answers *all)
{
	if (!run->answer)
		return;
	keep_born(post->request, run);
	add_answer(all, run->answer, run->answer_len);
}

/* One message of several, to its end: those that act do so in their order. It is taken as text, which is a fraction of what it is as a value. */
static int answer_next(struct post *post, const char *text, struct answers *all, struct err *e)
{
	json_auto_t *message = json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	struct outcome out = {0};
	int rc = 0;

	if (all->len > LIMIT_MCP_REPLY_BYTES) {
		struct mcp_error full = {0};

		(void)mcp_refuse(&full, MCP_INTERNAL, false, NULL, "not done: the answers before this one are too large for one body");
		set_error(&out, json_object_get(message, "id"), &full);
	} else {
		take_message(post, message, &out);
	}
	json_decref(message);
	message = NULL;
	if (out.run) {
		rc = wait_run(out.run, e);
		if (rc == 0)
			add_run(post, out.run, all);
		mcp_run_unref(out.run);
	} else if (out.text) {
		add_answer(all, out.text, out.len);
		free(out.text);
	}
	return rc;
}

static int check_batch(const struct post *post, const json_t *body, struct mcp_error *e)
{
	const struct revision *revision;

	if (revision_of_batch(post->head, post->of_session, &revision, e) < 0)
		return -1;
	if (json_array_size(body) == 0 || json_array_size(body) > LIMIT_MCP_BATCH)
		return mcp_refuse(e, MCP_INVALID, false, NULL, "a batch has 1 to %d messages", LIMIT_MCP_BATCH);
	if (post->mcp->n_batches >= LIMIT_MCP_BATCHES)
		return mcp_refuse(e, MCP_BUSY, false, NULL, "%d batches are at work already; try again later", LIMIT_MCP_BATCHES);
	return 0;
}

static void reply_answers(struct request *request, struct answers *all)
{
	if (all->len == 0) {
		reply_empty(&request->reply, 202);
		return;
	}
	all->text = util_realloc(all->text, all->len + 2);
	memcpy(all->text + all->len, "]", 2);
	reply_answer(request, 200, steal_ptr(&all->text), all->len + 1);
}

/* The body is taken. */
static int answer_all(struct post *post, json_t *body, struct err *e)
{
	size_t n = json_array_size(body);
	auto_free char **texts = util_zalloc(n * sizeof(*texts));
	struct answers all = {NULL, 0};
	int rc = 0;

	for (size_t i = 0; i < n; i++)
		texts[i] = json_text(json_array_get(body, i), NULL);
	json_decref(body);
	post->in_batch = true;
	post->mcp->n_batches++;
	for (size_t i = 0; i < n; i++) {
		if (rc == 0)
			rc = answer_next(post, texts[i], &all, e);
		free(texts[i]);
	}
	post->mcp->n_batches--;
	if (rc == 0)
		reply_answers(post->request, &all);
	free(all.text);
	return rc;
}

static int answer_batch(struct post *post, json_t *body, struct err *e)
{
	struct mcp_error refusal = {0};
	struct outcome out = {0};

	if (check_batch(post, body, &refusal) == 0)
		return answer_all(post, body, e);
	json_decref(body);
	set_error(&out, NULL, &refusal);
	reply_answer(post->request, out.status, out.text, out.len);
	return 0;
}

/* --- routes --- */

static void find_session(struct post *post)
{
	const struct request *request = post->request;
	const struct mcp_session *session =
		post->head->session ? mcp_sessions_find(post->mcp->sessions, request->who.name, post->head->session, util_now_ms()) : NULL;

	post->knows_session = session;
	if (!session)
		return;
	post->of_session = session->revision;
	post->caps = json_incref(session->caps);
}

static bool wants_answer(const json_t *body)
{
	const json_t *message;
	size_t i;

	json_array_foreach(body, i, message)
		if (wants_answer(message))
			return true;
	return json_object_get(body, "method") && json_object_get(body, "id");
}

/* A body that is no JSON is answered in the form of the protocol, too. */
static void refuse_body(struct request *request, const struct err *why)
{
	struct mcp_error e = {0};
	struct outcome out = {0};

	(void)mcp_refuse(&e, MCP_PARSE, false, NULL, "%s", why->msg);
	set_error(&out, NULL, &e);
	reply_answer(request, out.status, out.text, out.len);
}

int api_mcp(struct request *request, struct err *e)
{
	struct post post = {.request = request, .mcp = request->front->mcp, .head = &request->head.mcp};
	const struct accept *accept = &request->head.accept;
	json_t *body = NULL;
	int rc;

	if (request->body_len == 0)
		(void)err_set(e, ERR_BAD_JSON, NULL, "the body is empty; it must be a message of JSON-RPC");
	if (request->body_len == 0 || json_parse(request->body, request->body_len, &body, e) < 0) {
		refuse_body(request, e);
		return 0;
	}
	if (wants_answer(body) && !accept_json(accept) && !accept_events(accept)) {
		json_decref(body);
		return err_set(e, ERR_NOT_ACCEPTABLE, NULL, "the answer is application/json or text/event-stream, and Accept takes neither");
	}
	/* What runs keeps what it needs: once, not beside the text that it came as. */
	free(steal_ptr(&request->body));
	find_session(&post);
	rc = json_is_array(body) ? answer_batch(&post, body, e) : answer_one(&post, body, e);
	json_decref(post.caps);
	return rc;
}

int api_mcp_end(struct request *request, struct err *e)
{
	const struct mcp_head *head = &request->head.mcp;
	const struct revision *revision = revision_find(head->version);
	struct mcp *mcp = request->front->mcp;

	if (revision && revision->modern) {
		reply_header(&request->reply, "Allow", "POST");
		return err_set(e, ERR_METHOD, NULL, "revision %s has no sessions to end", revision->name);
	}
	if (!head->session)
		return err_set(e, ERR_BAD_REQUEST, NULL, "the header Mcp-Session-Id is missing");
	if (!mcp_sessions_end(mcp->sessions, request->who.name, head->session))
		return err_set(e, ERR_NOT_FOUND, NULL, "this Mcp-Session-Id is not known (any more)");
	for (struct mcp_run *run = mcp->runs; run; run = run->next)
		if (strcmp(run->who.name, request->who.name) == 0 && strcmp(run->session, head->session) == 0)
			mcp_run_cancel(run);
	reply_empty(&request->reply, 204);
	return 0;
}
