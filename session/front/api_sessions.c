/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The routes of sessions: life, calls, looks. */
#include <string.h>
#include <time.h>

#include "session/base/json.h"
#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/front/api.h"
#include "session/front/birth.h"
#include "session/front/request.h"
#include "session/front/spec.h"

/* After the limit of a call itself: its stage answers, or is stuck. */
#define CALL_GRACE_MS 10000

static json_t *time_text(int64_t wall_ms)
{
	time_t seconds = (time_t)(wall_ms / 1000);
	struct tm utc;
	char text[32];

	if (!gmtime_r(&seconds, &utc) || strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
		return json_null();
	return json_string(text);
}

static void set(json_t *object, const char *name, json_t *value)
{
	if (json_object_set_new(object, name, value) < 0)
		DIE("no memory for %s", name);
}

/* Which layers and limits are in force, and which the host could not give. */
static json_t *isolation_report(uint32_t bits)
{
	static const struct {
		enum warden_isolation bit;
		const char *name;
	} layers[] = {
		{ISOLATION_MEMORY, "memory"}, {ISOLATION_PIDS, "pids"},         {ISOLATION_CPU, "cpu"},         {ISOLATION_DISK, "disk"},
		{ISOLATION_SWAP_OFF, "swap_off"}, {ISOLATION_FREEZE, "freeze"}, {ISOLATION_SECCOMP, "seccomp"},
	};
	json_t *in_force = json_array(), *missing = json_array();

	for (size_t i = 0; i < ARRAY_LEN(layers); i++)
		(void)json_array_append_new(bits & layers[i].bit ? in_force : missing, json_string(layers[i].name));
	return json_pack("{s:s, s:o, s:o}", "tier", "jail", "in_force", in_force, "missing", missing);
}

static json_t *links(const struct session *session)
{
	return json_pack("{s:o, s:o, s:o, s:o}", "self", json_sprintf("/v1/sessions/%s", session->id), "act",
	                 json_sprintf("/v1/sessions/%s/act", session->id), "cancel", json_sprintf("/v1/sessions/%s/cancel", session->id),
	                 "screenshot", json_sprintf("/v1/sessions/%s/screenshot", session->id));
}

/* The apps that were asked for, in the form in which a stage tells the ones that it started. */
static json_t *apps_asked(const json_t *spec)
{
	json_t *list = json_array(), *app;
	size_t i;

	json_array_foreach(json_object_get(spec, "apps"), i, app)
		(void)json_array_append_new(list, json_pack("{s:O}", "app", app));
	return list;
}

/* The session as callers see it; `state` is what its stage says of itself, or NULL. */
static json_t *describe(const struct session *session, const json_t *state)
{
	static const char *const from_stage[] = {"space", "at", "held", "apps"};
	json_t *spec = session->spec, *display = json_copy(json_object_get(spec, "display"));
	json_t *out = json_pack("{s:s, s:s, s:O, s:o, s:O, s:{s:s, s:I}, s:o}", "id", session->id, "state",
	                        session_state_name(session->state), "image", json_object_get(spec, "image"), "display", display, "space",
	                        json_object_get(spec, "space"), "lease", "holder", "agent", "epoch", (json_int_t)session->hello.epoch, "apps",
	                        apps_asked(spec));

	(void)json_object_update(display, json_object_get(state, "display"));
	for (size_t i = 0; state && i < ARRAY_LEN(from_stage); i++)
		if (json_object_get(state, from_stage[i]))
			set(out, from_stage[i], json_incref(json_object_get(state, from_stage[i])));
	set(out, "owner", json_string(session->owner));
	set(out, "labels", json_incref(json_object_get(spec, "labels")));
	set(out, "isolation_report", isolation_report(session->isolation));
	set(out, "not_in_force", spec_not_in_force(spec));
	set(out, "links", links(session));
	set(out, "created_at", time_text(session->created_ms));
	set(out, "expires_at", time_text(session->expires_ms));
	if (*session->reason)
		set(out, "reason", json_string(session->reason));
	if (session->ended_ms > 0)
		set(out, "ended_at", time_text(session->ended_ms));
	return out;
}

static int make_tokens(struct front *front, const struct session *session, json_t *tokens, struct err *e)
{
	static const enum role roles[] = {ROLE_AGENT, ROLE_VIEWER, ROLE_CONTROLLER};

	for (size_t i = 0; i < ARRAY_LEN(roles); i++) {
		char *token;

		if (tokens_make(front->tokens, roles[i], session->id, 0, &token, e) < 0)
			return -1;
		set(tokens, role_name(roles[i]), json_string(token));
		tokens_wipe(token);
	}
	return 0;
}

int api_create(struct request *request, struct err *e)
{
	json_auto_t *asked = NULL, *state = NULL;
	json_t *tokens = json_object(), *answer;
	struct session *session = NULL;
	auto_free char *location = NULL;

	if (request_json(request, &asked, e) < 0 ||
	    birth_create(request->front, asked, role_name(request->who.role), request->id, &session, &state, e) < 0 ||
	    make_tokens(request->front, session, tokens, e) < 0) {
		json_decref(tokens);
		if (session)
			session_end(session, "create_failed");
		session_unref(session);
		return -1;
	}
	answer = describe(session, state);
	set(answer, "tokens", tokens);
	reply_json(&request->reply, 201, answer);
	location = util_printf("/v1/sessions/%s", session->id);
	reply_header(&request->reply, "Location", location);
	request->born = session;
	return 0;
}

int api_list(struct request *request, struct err *e)
{
	json_t *list = json_array();

	(void)e;
	for (const struct session *session = request->front->sessions.first; session; session = session->next)
		if (request->who.role == ROLE_OPERATOR || strcmp(session->id, request->who.session) == 0)
			(void)json_array_append_new(list, describe(session, NULL));
	reply_json(&request->reply, 200, json_pack("{s:o}", "sessions", list));
	return 0;
}

static int refuse_ended(const struct session *session, struct err *e)
{
	return err_set(e, ERR_GONE, NULL, "the session is %s: %s", session_state_name(session->state), session->reason);
}

/* A stage that goes is noticed before the warden says why its session ended: that is worth waiting for. */
static int explain_end(struct session *session, struct err *e)
{
	struct err ignored;

	if (e->code == ERR_GONE && session_wait_end(session, util_now_ms() + LIMIT_STATE_MS, &ignored) == 0)
		return refuse_ended(session, e);
	return -1;
}

/* A call that the session must be there for. */
static int call_stage(struct request *request, const char *name, int64_t limit_ms, struct stage_reply **reply, struct err *e)
{
	struct session *session = request->session;
	struct stage_call call = {
		.name = name, .role = role_name(request->who.role), .token = request->who.name, .request_id = request->id,
		.query = request->target.query, .body = request->route->flags & ROUTE_BODY ? request->body : NULL, .body_len = request->body_len,
	};

	if (session->state == SESSION_STARTING)
		return err_set(e, ERR_NOT_READY, NULL, "the session is still starting");
	if (session->state != SESSION_READY)
		return refuse_ended(session, e);
	if (stage_call(session->stage, &call, util_now_ms() + limit_ms, reply, e) < 0)
		return explain_end(session, e);
	return 0;
}

/* The stage's answer, passed on unread. A call of the agent keeps the session from being idle. */
static int relay(struct request *request, const char *name, int64_t limit_ms, struct err *e)
{
	bool is_agent = request->who.role == ROLE_AGENT || request->route->flags & ROUTE_BODY;
	struct stage_reply *reply;
	int rc;

	if (is_agent)
		session_begin_call(request->session);
	rc = call_stage(request, name, limit_ms, &reply, e);
	if (is_agent)
		session_finish_call(request->session);
	if (rc == 0)
		reply_relay(&request->reply, reply);
	return rc;
}

int api_show(struct request *request, struct err *e)
{
	struct session *session = request->session;
	struct stage_call call = {
		.name = "state", .role = role_name(request->who.role), .token = request->who.name, .request_id = request->id};
	json_auto_t *state = NULL;

	if (session->state == SESSION_READY && stage_ask(session->stage, &call, util_now_ms() + LIMIT_STATE_MS, &state, e) < 0) {
		(void)explain_end(session, e);
		if (session->state == SESSION_READY)
			return -1;
	}
	reply_json(&request->reply, 200, describe(session, state));
	return 0;
}

int api_delete(struct request *request, struct err *e)
{
	session_end(request->session, "deleted");
	if (session_wait_end(request->session, util_now_ms() + LIMIT_START_MS, e) < 0)
		return -1;
	reply_empty(&request->reply, 204);
	return 0;
}

int api_act(struct request *request, struct err *e)
{
	if (request->body_len == 0)
		return err_set(e, ERR_BAD_JSON, NULL, "the body is empty; it must be an object with actions");
	return relay(request, "act", LIMIT_CALL_MS + CALL_GRACE_MS, e);
}

int api_cancel(struct request *request, struct err *e)
{
	return relay(request, "cancel", LIMIT_STATE_MS, e);
}

int api_screenshot(struct request *request, struct err *e)
{
	return relay(request, "screenshot", LIMIT_START_MS, e);
}
