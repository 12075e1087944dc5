/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The routes of a session's life: made, listed, shown, ended. */
#include <string.h>

#include "session/base/limits.h"
#include "session/base/secret.h"
#include "session/base/util.h"
#include "session/front/api.h"
#include "session/front/audit.h"
#include "session/front/birth.h"
#include "session/front/quota.h"
#include "session/front/calls.h"
#include "session/front/creates.h"
#include "session/front/describe.h"
#include "session/front/request.h"
#include "session/front/spec.h"

/* The session as its maker gets to see it: with its tokens. NULL with *e. */
static json_t *present(struct front *front, const struct birth *birth, struct err *e)
{
	static const enum role roles[] = {ROLE_AGENT, ROLE_VIEWER, ROLE_CONTROLLER};
	json_auto_t *tokens = json_object();
	bool has_ended = birth->session->ended_ms > 0;
	json_t *answer;

	for (size_t i = 0; i < ARRAY_LEN(roles) && !has_ended; i++) {
		struct token_info info = {.role = roles[i], .session = birth->session->id};
		char *token;

		if (tokens_make(front->tokens, &info, &token, e) < 0)
			return NULL;
		(void)json_object_set_new(tokens, role_name(roles[i]), json_string(token));
		secret_wipe(token);
	}
	answer = describe_session(birth->session, birth->state);
	if (!has_ended)
		(void)json_object_set(answer, "tokens", tokens);
	return answer;
}

/* The body as a whole spec and how many are wanted, or all of its faults. */
static int read_spec(struct request *request, json_t **spec, size_t *count, struct err *e)
{
	json_auto_t *asked = NULL;
	struct faults *faults = request_faults(request);
	bool good;

	if (request_json(request, &asked, e) < 0)
		return -1;
	good = spec_take_count(asked, count, faults) == 0;
	if (quota_complete_spec(&request->front->config, request->who.owner, asked, spec, faults) == 0 && good)
		return 0;
	*e = faults->list[0];
	return -1;
}

/* The sessions in the order in which they were asked for; -1 when one cannot be presented. */
static int present_all(struct front *front, const struct birth *births, size_t n, json_t *list, struct err *e)
{
	for (size_t i = 0; i < n; i++) {
		json_t *answer = present(front, &births[i], e);

		if (!answer)
			return -1;
		(void)json_array_append_new(list, answer);
	}
	return 0;
}

/* Answers with one session, or with a list if a count was asked for. */
static void reply_born(struct request *request, const struct birth *births, json_t *list, bool is_list)
{
	auto_free char *location = util_printf("/v1/sessions/%s", births[0].session->id);

	if (is_list) {
		reply_json(&request->reply, 201, json_pack("{s:O}", "sessions", list));
		return;
	}
	reply_json(&request->reply, 201, json_incref(json_array_get(list, 0)));
	reply_header(&request->reply, "Location", location);
}

static int find_one(const struct request *request, const char *id, struct birth *out, struct err *e)
{
	struct session *session = sessions_find(&request->front->sessions, id);

	if (!session)
		return err_set(e, ERR_ALREADY_DONE, NULL, "this create was done before; its session %s has ended and is not listed any more", id);
	out->session = session_ref(session);
	return calls_ask_state(&request->who, request->id, session, &out->state, e);
}

/* The sessions of these ids, as births: ERR_ALREADY_DONE when one of them is not listed any more. */
static int find_made(const struct request *request, const char *ids, struct birth **births, size_t *n, struct err *e)
{
	size_t n_ids = (strlen(ids) + 1) / SESSION_ID_SIZE;
	struct birth *found = util_zalloc(n_ids * sizeof(*found));

	for (size_t i = 0; i < n_ids; i++) {
		char id[SESSION_ID_SIZE];

		(void)snprintf(id, sizeof(id), "%s", ids + i * SESSION_ID_SIZE);
		if (find_one(request, id, &found[i], e) < 0) {
			births_free(found, n_ids);
			return -1;
		}
	}
	*births = found;
	*n = n_ids;
	return 0;
}

/* Was a list asked for? Of a body that was found good. */
static bool has_count(const struct request *request)
{
	json_auto_t *body = NULL;
	struct err e;

	return request_json(request, &body, &e) == 0 && json_object_get(body, "count");
}

/* A create that is new begins, one that runs is joined. *is_new: this request is the first; *is_list: a list was asked for. */
static int make_keyed(struct request *request, struct birth **births, size_t *n, bool *is_new, bool *is_list, struct err *e)
{
	struct create_call call = {.owner = request->who.owner, .key = request->key, .request_id = request->id,
	                           .body = request->body ? request->body : "", .body_len = request->body_len};
	json_auto_t *spec = NULL;
	auto_free char *ids = NULL;
	struct create_job *job = NULL;
	enum create_found found;
	size_t count = 0;

	if (creates_find(request->front, &call, &found, &job, &ids, e) < 0)
		return -1;
	*is_new = found == CREATE_NEW;
	*is_list = !*is_new && has_count(request);
	if (found == CREATE_MADE)
		return find_made(request, ids, births, n, e);
	if (*is_new && (read_spec(request, &spec, &count, e) < 0 ||
	                creates_begin(request->front, &call, spec, count > 0 ? count : 1, &job, e) < 0))
		return -1;
	*is_list = *is_list || count > 0;
	return creates_wait(job, births, n, e);
}

/* Tokens are known by their hashes alone: whoever sends a create again gets new ones. The sessions do not end if the reply is lost. */
static int create_keyed(struct request *request, struct err *e)
{
	json_auto_t *list = json_array();
	struct birth *births = NULL;
	bool is_new = false, is_list = false;
	size_t n = 0;
	int rc = make_keyed(request, &births, &n, &is_new, &is_list, e);

	if (rc == 0)
		rc = present_all(request->front, births, n, list, e);
	if (rc == 0) {
		reply_born(request, births, list, is_list);
		if (!is_new)
			reply_header(&request->reply, "Idempotency-Replayed", "true");
	}
	births_free(births, n);
	return rc;
}

static int create(struct request *request, struct err *e)
{
	struct front *front = request->front;
	json_auto_t *spec = NULL, *list = json_array();
	auto_free struct birth *births = NULL;
	size_t count, n;

	if (*request->key)
		return create_keyed(request, e);
	if (read_spec(request, &spec, &count, e) < 0)
		return -1;
	n = count > 0 ? count : 1;
	births = util_zalloc(n * sizeof(*births));
	if (birth_create_all(front, spec, request->who.owner, request->id, n, births, e) < 0)
		return -1;
	if (present_all(front, births, n, list, e) < 0) {
		birth_undo_all(births, n);
		return -1;
	}
	request->born = steal_ptr(&births);
	request->n_born = n;
	reply_born(request, request->born, list, count > 0);
	return 0;
}

int api_create(struct request *request, struct err *e)
{
	if (create(request, e) == 0)
		return 0;
	audit_refusal(request->front->audit, &request->who, request->id, e);
	return -1;
}

/* In a hold numbers that move tell what the person does: they are for the person's own kind. */
static bool may_see_usage(const struct identity *who, const json_t *state)
{
	bool is_held = strcmp(form_string(json_object_get(state, "lease"), "holder", "agent"), "agent") != 0;

	return !is_held || (who->role != ROLE_AGENT && who->role != ROLE_VIEWER);
}

int api_show(struct request *request, struct err *e)
{
	const struct session *session = request->session;
	json_auto_t *state = NULL;
	json_t *answer;

	if (calls_ask_state(&request->who, request->id, request->session, &state, e) < 0)
		return -1;
	answer = describe_session(session, state);
	if (session_serves(session) && may_see_usage(&request->who, state) && usage_refresh(&request->front->usage, session->ready_ms) == 0)
		(void)json_object_set_new(answer, "usage", describe_usage(&session->usage, state));
	reply_json(&request->reply, 200, answer);
	return 0;
}

int api_delete(struct request *request, struct err *e)
{
	if (calls_check_end(&request->who, request->id, request->session, e) < 0)
		return -1;
	session_end(request->session, "deleted");
	if (session_wait_end(request->session, util_now_ms() + LIMIT_START_MS, e) < 0)
		return -1;
	reply_empty(&request->reply, 204);
	return 0;
}
