/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Taking a token back, and what it has opened. */
#include "session/front/revoke.h"

#include "session/base/limits.h"
#include "session/base/log.h"
#include "session/base/util.h"
#include "session/front/request.h"

/* What runs under a key does not end with its connection: the stage must be told. */
static void stop_keyed_calls(struct request *request, const char *id)
{
	struct session *session = request->session;
	json_auto_t *query = json_pack("{s:s}", "token", id);
	struct stage_call call = {.name = "revoke", .role = "server", .request_id = request->id, .query = query};
	struct err e;

	if (!session_serves(session))
		return;
	co_shield();
	if (stage_ask(session->stage, &call, util_now_ms() + LIMIT_STATE_MS, NULL, &e) < 0)
		log_err(LOG_WARN, &e, "session %s does not hear that token %s was revoked", session->id, id);
	co_unshield();
}

int revoke_token(struct request *request, const char *id, struct err *e)
{
	struct front *front = request->front;
	const char *session = request->session->id;

	if (tokens_revoke(front->tokens, session, id, e) < 0)
		return -1;
	log_info("session %s: token %s was revoked", session, id);
	tickets_revoke(front->tickets, session, id);
	request_revoke(front, session, id);
	viewers_revoke(&front->viewers, session, id);
	stop_keyed_calls(request, id);
	return 0;
}
