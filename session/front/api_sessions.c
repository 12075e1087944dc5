/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The routes of a session's life: made, listed, shown, ended. */
#include <string.h>

#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/front/api.h"
#include "session/front/birth.h"
#include "session/front/quota.h"
#include "session/front/calls.h"
#include "session/front/describe.h"
#include "session/front/request.h"
#include "session/front/spec.h"

static int make_tokens(struct front *front, const struct session *session, json_t *tokens, struct err *e)
{
	static const enum role roles[] = {ROLE_AGENT, ROLE_VIEWER, ROLE_CONTROLLER};

	for (size_t i = 0; i < ARRAY_LEN(roles); i++) {
		struct token_info info = {.role = roles[i], .session = session->id};
		char *token;

		if (tokens_make(front->tokens, &info, &token, e) < 0)
			return -1;
		(void)json_object_set_new(tokens, role_name(roles[i]), json_string(token));
		tokens_wipe(token);
	}
	return 0;
}

/* The body as a whole spec, or all of its faults. */
static int read_spec(struct request *request, json_t **spec, struct err *e)
{
	json_auto_t *asked = NULL;
	const struct config *config = &request->front->config;
	const struct config_key *key = config_find_key(config, request->who.owner);
	struct faults *faults = request_faults(request);

	if (request_json(request, &asked, e) < 0)
		return -1;
	if (spec_complete_all(asked, key ? key->usual : config->defaults, spec, faults) == 0 && quota_check_spec(key, *spec, faults) == 0)
		return 0;
	*e = faults->list[0];
	return -1;
}

int api_create(struct request *request, struct err *e)
{
	json_auto_t *spec = NULL, *state = NULL;
	json_t *tokens = json_object(), *answer;
	struct session *session = NULL;
	auto_free char *location = NULL;

	if (read_spec(request, &spec, e) < 0 ||
	    birth_create(request->front, spec, request->who.owner, request->id, &session, &state, e) < 0 ||
	    make_tokens(request->front, session, tokens, e) < 0) {
		json_decref(tokens);
		if (session)
			session_end(session, "create_failed");
		session_unref(session);
		return -1;
	}
	answer = describe_session(session, state);
	(void)json_object_set_new(answer, "tokens", tokens);
	reply_json(&request->reply, 201, answer);
	location = util_printf("/v1/sessions/%s", session->id);
	reply_header(&request->reply, "Location", location);
	request->born = session;
	return 0;
}

int api_show(struct request *request, struct err *e)
{
	const struct session *session = request->session;
	json_auto_t *state = NULL;
	json_t *answer;

	if (calls_ask_state(request, &state, e) < 0)
		return -1;
	answer = describe_session(session, state);
	if (session->state == SESSION_READY && usage_refresh(&request->front->usage, session->ready_ms) == 0)
		(void)json_object_set_new(answer, "usage", describe_usage(&session->usage));
	reply_json(&request->reply, 200, answer);
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
