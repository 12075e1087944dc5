/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The routes that a session's stage answers. */
#include <string.h>

#include "session/base/json.h"
#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/front/api.h"
#include "session/front/calls.h"
#include "session/front/describe.h"
#include "session/front/metrics.h"
#include "session/front/request.h"

int calls_check_ended(const struct session *session, struct err *e)
{
	if (session->state == SESSION_STARTING || session_serves(session))
		return 0;
	return err_set(e, ERR_GONE, NULL, "the session is %s: %s", session_state_name(session->state), session->reason);
}

int calls_check_ready(const struct session *session, struct err *e)
{
	if (session->state == SESSION_STARTING)
		return err_set(e, ERR_NOT_READY, NULL, "the session is still starting");
	return calls_check_ended(session, e);
}

int calls_explain_end(struct session *session, struct err *e)
{
	struct err ignored, why;
	bool begun = e->begun;

	if (e->code == ERR_GONE && session_wait_end(session, util_now_ms() + LIMIT_STATE_MS, &ignored) == 0)
		(void)calls_check_ended(session, e);
	if (begun) {
		why = *e;
		(void)err_set(e, why.code, why.path, "%s; what was done of the call is not known", why.msg);
		e->begun = true;
	}
	return -1;
}

int calls_ask_state(const struct identity *who, const char *request_id, struct session *session, json_t **state, struct err *e)
{
	struct stage_call call = {.name = "state", .role = role_name(who->role), .token = who->name, .request_id = request_id};

	if (!session_serves(session) || stage_ask(session->stage, &call, util_now_ms() + LIMIT_STATE_MS, state, e) == 0)
		return 0;
	(void)calls_explain_end(session, e);
	return session_serves(session) ? -1 : 0;
}

int calls_check_end(const struct identity *who, const char *request_id, struct session *session, struct err *e)
{
	json_auto_t *state = NULL;

	/* One whose stage does not answer is of no use to a person either. */
	if (who->role != ROLE_AGENT || calls_ask_state(who, request_id, session, &state, e) < 0)
		return 0;
	if (!state || strcmp(form_string(json_object_get(state, "lease"), "holder", "agent"), "agent") == 0)
		return 0;
	return err_set(e, ERR_LEASE_HELD, NULL, "a person holds the controls of this session, or is waited for: it is not the agent's to end now");
}

int calls_ask_stage(struct session *session, const struct stage_call *call, bool by_agent, int64_t limit_ms, struct stage_reply **reply, struct err *e)
{
	int rc;

	if (calls_check_ready(session, e) < 0)
		return -1;
	if (by_agent)
		session_begin_call(session);
	rc = stage_call(session->stage, call, util_now_ms() + limit_ms, reply, e);
	if (by_agent)
		session_finish_call(session);
	return rc < 0 ? calls_explain_end(session, e) : 0;
}

/* The stage's answer, passed on unread. A call of the agent keeps the session from being idle. */
static int relay(struct request *request, const char *name, int64_t limit_ms, struct err *e)
{
	bool is_agent = request->who.role == ROLE_AGENT || request->route->flags & ROUTE_BODY;
	const struct stage_call call = {
		.name = name, .role = role_name(request->who.role), .token = request->who.name, .request_id = request->id,
		.key = *request->key ? request->key : NULL, .query = request->target.query, .is_stream = request->route->flags & ROUTE_STREAM,
		.body = request->route->flags & ROUTE_BODY ? request->body : NULL, .body_len = request->body_len,
	};
	struct stage_reply *reply;
	int rc = calls_ask_stage(request->session, &call, is_agent, limit_ms, &reply, e);

	if (rc < 0 && e->code == ERR_CANCELLED && *request->key)
		session_call_goes_on(request->session);
	if (rc < 0)
		return -1;
	metrics_of_stage(request->front->metrics, stage_reply_counts(reply));
	reply_relay(&request->reply, reply);
	request->reply.is_endless = request->route->flags & ROUTE_STREAM;
	return 0;
}

int api_act(struct request *request, struct err *e)
{
	if (request->body_len == 0)
		return err_set(e, ERR_BAD_JSON, NULL, "the body is empty; it must be an object with actions");
	return relay(request, "act", CALLS_ACT_MS, e);
}

int api_computer(struct request *request, struct err *e)
{
	if (request->body_len == 0)
		return err_set(e, ERR_BAD_JSON, NULL, "the body is empty; it must be what the model sends");
	return relay(request, "computer", CALLS_ACT_MS, e);
}

int api_cancel(struct request *request, struct err *e)
{
	return relay(request, "cancel", LIMIT_STATE_MS, e);
}

static int check_streams(const struct sessions *all, struct err *e)
{
	size_t n = 0;

	for (const struct session *session = all->first; session; session = session->next)
		n += session->stage ? stage_count_streams(session->stage) : 0;
	if (n < LIMIT_STREAMS_IN_ALL)
		return 0;
	return err_set(e, ERR_LIMIT, NULL, "%d callers read streams of this server already", LIMIT_STREAMS_IN_ALL);
}

/* A stream, begun. */
static int relay_stream(struct request *request, const char *name, struct err *e)
{
	if (check_streams(&request->front->sessions, e) < 0 || relay(request, name, LIMIT_STATE_MS, e) < 0)
		return -1;
	/* A proxy that collects replies would keep the events. */
	if (request->reply.status == 200)
		reply_header(&request->reply, "X-Accel-Buffering", "no");
	return 0;
}

int api_events(struct request *request, struct err *e)
{
	const char *last = request->head.last_event_id;

	if (last && json_object_set_new(request->target.query, "last_event_id", json_string(last)) < 0)
		return err_set(e, ERR_BAD_REQUEST, NULL, "the Last-Event-ID is refused: it is not UTF-8");
	return relay_stream(request, "events", e);
}

int api_stream(struct request *request, struct err *e)
{
	return relay_stream(request, "stream", e);
}

/* A picture, unless the caller has it. */
static int relay_picture(struct request *request, const char *name, struct err *e)
{
	const char *known = request->head.if_none_match;

	/* One that is no text is none that the stage has given. */
	if (known)
		(void)json_object_set_new(request->target.query, "if_none_match", json_string(known));
	return relay(request, name, LIMIT_START_MS, e);
}

int api_screenshot(struct request *request, struct err *e)
{
	return relay_picture(request, "screenshot", e);
}

int api_thumbnail(struct request *request, struct err *e)
{
	return relay_picture(request, "thumbnail", e);
}

/*
 * Whoever asks to pause or resume may leave: what the stage then did is known all the same. Where several ask at once, the last of them to be answered
 * asks the stage how it stands.
 */
static int switch_session(struct request *request, const char *name, struct err *e)
{
	struct session *session = request->session;
	struct stage_call call = {
		.name = name, .role = role_name(request->who.role), .token = request->who.name, .request_id = request->id};
	json_auto_t *state = NULL, *now = NULL;
	struct err ignored;
	int rc;

	if (calls_check_ready(session, e) < 0)
		return -1;
	co_shield();
	session->switches_met |= session->n_switching++ > 0;
	rc = stage_ask(session->stage, &call, util_now_ms() + LIMIT_PAUSE_MS + LIMIT_FREEZE_MS + LIMIT_STATE_MS, &state, e);
	if (rc == 0)
		session_take_state(session, form_string(state, "state", ""));
	if (--session->n_switching == 0 && session->switches_met) {
		session->switches_met = false;
		if (calls_ask_state(&request->who, request->id, session, &now, &ignored) == 0)
			session_take_state(session, form_string(now, "state", ""));
	}
	co_unshield();
	if (rc < 0)
		return calls_explain_end(session, e);
	reply_json(&request->reply, 200, describe_session(session, now ? now : state));
	return 0;
}

int api_lease(struct request *request, struct err *e)
{
	return relay(request, "lease", LIMIT_CALL_MS + LIMIT_STATE_MS, e);
}

int api_change_lease(struct request *request, struct err *e)
{
	if (request->body_len == 0)
		return err_set(e, ERR_BAD_JSON, NULL, "the body is empty; it must be an object with an action");
	return relay(request, "lease", LIMIT_FREEZE_MS + LIMIT_STATE_MS + LIMIT_X_DEAD_MS, e);
}

int api_pause(struct request *request, struct err *e)
{
	return switch_session(request, "pause", e);
}

int api_resume(struct request *request, struct err *e)
{
	return switch_session(request, "resume", e);
}
