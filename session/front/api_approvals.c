/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The routes of questions to people. A question's id begins with its session's. */
#include <string.h>
#include <sys/param.h>

#include "session/base/limits.h"
#include "session/base/log.h"
#include "session/base/util.h"
#include "session/front/api.h"
#include "session/front/audit.h"
#include "session/front/calls.h"
#include "session/front/metrics.h"
#include "session/front/request.h"
#include "session/policy/policy.h"

/* Where a path of "/v1/approvals/{approval}" has it. */
#define APPROVAL_SEGMENT 2
/* Between two looks at several sessions. */
#define LOOK_EVERY_MS 250

int api_approval_rules(struct request *request, struct err *e)
{
	(void)e;
	reply_json(&request->reply, 200, policy_document(request->front->config.approval));
	return 0;
}

/* --- the list --- */

static int read_wait(const struct request *request, int64_t *wait_ms, struct err *e)
{
	const char *text = json_string_value(json_object_get(request->target.query, "wait"));
	int64_t n = 0;
	char shown[40];

	for (const char *at = text ? text : ""; *at; at++) {
		if (*at < '0' || *at > '9' || n > LIMIT_APPROVAL_WAIT_MS)
			return err_set(e, ERR_BAD_FIELD, "/wait", "%s is refused: it is a number of milliseconds, 0..%d",
			               err_quote(shown, sizeof(shown), text, strlen(text)), LIMIT_APPROVAL_WAIT_MS);
		n = n * 10 + (*at - '0');
	}
	if (n > LIMIT_APPROVAL_WAIT_MS)
		return err_set(e, ERR_BAD_FIELD, "/wait", "%lld is refused: it is a number of milliseconds, 0..%d", (long long)n, LIMIT_APPROVAL_WAIT_MS);
	*wait_ms = n;
	return 0;
}

/* Adds those of one session, which waits for one if it has none. One that ends or does not answer meanwhile has none. */
static void add_session(const struct request *request, struct session *session, int64_t wait_ms, json_t *approvals, json_t *counts)
{
	json_auto_t *query = json_pack("{s:o}", "wait", json_sprintf("%lld", (long long)wait_ms)), *answer = NULL;
	const struct stage_call call = {
		.name = "approvals", .role = role_name(request->who.role), .token = request->who.name, .request_id = request->id, .query = query};
	struct err e;

	if (stage_ask(session->stage, &call, util_now_ms() + wait_ms + LIMIT_STATE_MS, &answer, &e) < 0) {
		log_err(LOG_DEBUG, &e, "questions of session %s", session->id);
		return;
	}
	(void)json_array_extend(approvals, json_object_get(answer, "approvals"));
	(void)json_array_extend(counts, json_object_get(answer, "counts"));
}

/* The ids of the sessions that are asked: the list of sessions may change while they are. */
static json_t *find_ids(const struct request *request, const char *wanted)
{
	json_t *ids = json_array();

	for (const struct session *session = request->front->sessions.first; session; session = session->next)
		if (session_serves(session) && session_is_shown_to(session, &request->who) && (!wanted || strcmp(session->id, wanted) == 0))
			(void)json_array_append_new(ids, json_string(session->id));
	return ids;
}

/* Of all sessions nobody waits in them. */
static json_t *collect(const struct request *request, const char *wanted, int64_t wait_ms)
{
	json_auto_t *ids = find_ids(request, wanted);
	json_t *list = json_pack("{s:[],s:[]}", "approvals", "counts");
	const json_t *id;
	size_t i;

	json_array_foreach(ids, i, id) {
		struct session *session = sessions_find(&request->front->sessions, json_string_value(id));

		if (!session || !session_serves(session))
			continue;
		(void)session_ref(session);
		add_session(request, session, wanted ? wait_ms : 0, json_object_get(list, "approvals"), json_object_get(list, "counts"));
		session_unref(session);
	}
	return list;
}

static int check_session(const struct request *request, const char *wanted, struct err *e)
{
	const struct session *session = wanted ? sessions_find(&request->front->sessions, wanted) : NULL;
	char shown[80];

	if (!wanted || (session && session_is_shown_to(session, &request->who)))
		return 0;
	return err_set(e, ERR_NOT_FOUND, "/session", "there is no session %s", err_quote(shown, sizeof(shown), wanted, strlen(wanted)));
}

int api_approvals(struct request *request, struct err *e)
{
	const char *wanted = json_string_value(json_object_get(request->target.query, "session"));
	int64_t wait_ms, deadline_ms;
	json_t *list;

	if (read_wait(request, &wait_ms, e) < 0 || check_session(request, wanted, e) < 0)
		return -1;
	deadline_ms = util_now_ms() + wait_ms;
	while (json_array_size(json_object_get(list = collect(request, wanted, wait_ms), "approvals")) == 0 && util_now_ms() < deadline_ms) {
		json_decref(list);
		if (co_wait_until(MIN(util_now_ms() + LOOK_EVERY_MS, deadline_ms), e) < 0)
			return -1;
	}
	reply_json(&request->reply, 200, list);
	return 0;
}

/* --- one of them --- */

static int find_session(struct request *request, struct err *e)
{
	const char *approval = request->target.segment[APPROVAL_SEGMENT];
	auto_free char *id = util_strdup(approval);
	struct session *session;
	char shown[80];

	id[strcspn(id, ".")] = '\0';
	session = sessions_find(&request->front->sessions, id);
	if (!session || !session_is_shown_to(session, &request->who))
		return err_set(e, ERR_NOT_FOUND, NULL, "there is no question %s", err_quote(shown, sizeof(shown), approval, strlen(approval)));
	request->session = session_ref(session);
	return 0;
}

/* The stage's answer, passed on unread. */
static int relay(struct request *request, const char *name, struct err *e)
{
	json_auto_t *query = json_pack("{s:s}", "id", request->target.segment[APPROVAL_SEGMENT]);
	const struct stage_call call = {.name = name, .role = role_name(request->who.role), .token = request->who.name, .request_id = request->id,
	                                .query = query, .body = request->route->flags & ROUTE_BODY ? request->body : NULL, .body_len = request->body_len};
	struct stage_reply *reply;

	if (find_session(request, e) < 0 || calls_ask_stage(request->session, &call, false, LIMIT_STATE_MS, &reply, e) < 0)
		return -1;
	metrics_of_stage(request->front->metrics, stage_reply_counts(reply));
	reply_relay(&request->reply, reply);
	return 0;
}

int api_approval(struct request *request, struct err *e)
{
	return relay(request, "approval", e);
}

int api_approval_crop(struct request *request, struct err *e)
{
	return relay(request, "crop", e);
}

int api_answer_approval(struct request *request, struct err *e)
{
	json_auto_t *body = NULL;
	json_t *fields;

	if (request_form(request, &policy_answer_form, &body, e) < 0 || relay(request, "answer", e) < 0)
		return -1;
	if (request->reply.status != 200)
		return 0;
	fields = audit_who(&request->who, request->id);
	(void)json_object_set_new(fields, "session", json_string(request->session->id));
	(void)json_object_set_new(fields, "subject", json_pack("{s:s, s:O}", "approval", request->target.segment[APPROVAL_SEGMENT], "answer",
	                                                       json_object_get(body, "answer")));
	audit_note(request->front->audit, "approval", fields);
	return 0;
}
