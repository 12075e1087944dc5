/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The routes of a session's share links. */
#include <stdio.h>
#include <string.h>

#include "session/base/json.h"
#include "session/base/limits.h"
#include "session/base/log.h"
#include "session/base/secret.h"
#include "session/base/util.h"
#include "session/front/api.h"
#include "session/front/audit.h"
#include "session/front/calls.h"
#include "session/front/describe.h"
#include "session/front/operation.h"
#include "session/front/request.h"
#include "session/front/revoke.h"

/* Where a path of "/v1/sessions/{id}/shares/{share}" has its link. */
#define SHARE_SEGMENT 4

static json_t *describe_share(const struct share *share)
{
	return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:i}", "id", share->id, "role", role_name(share->role), "label",
	                 *share->label ? json_string(share->label) : json_null(), "link", json_sprintf("/#share=%s", share->id), "created_at",
	                 describe_time(share->created_ms), "expires_at", describe_time(share->expires_ms), "used_at",
	                 share->used_ms > 0 ? describe_time(share->used_ms) : json_null(), "tries", (int)share->tries);
}

static void note(const struct request *request, const char *event, const char *share, const char *role)
{
	json_t *fields = audit_who(&request->who, request->id);

	(void)json_object_set_new(fields, "session", json_string(request->session->id));
	(void)json_object_set_new(fields, "subject", json_pack("{s:s, s:s*}", "share", share, "role", role));
	audit_note(request->front->audit, event, fields);
}

int api_make_share(struct request *request, struct err *e)
{
	json_auto_t *body = NULL;
	struct share share = {.role = ROLE_VIEWER};
	json_t *answer;
	char *code;

	if (request_form(request, &form_share, &body, e) < 0 || calls_check_ended(request->session, e) < 0)
		return -1;
	memcpy(share.session, request->session->id, sizeof(share.session));
	share.role = role_from_name(form_string(body, "role", ""));
	share.expires_ms = store_now_ms() + form_int(body, "ttl_s", LIMIT_SHARE_DEFAULT_S) * INT64_C(1000);
	(void)snprintf(share.label, sizeof(share.label), "%s", form_string(body, "label", ""));
	if (shares_make(request->front->shares, &share, &code, e) < 0)
		return -1;
	log_info("session %s: the share link %s of role %s was made", share.session, share.id, role_name(share.role));
	note(request, "share_made", share.id, role_name(share.role));
	answer = describe_share(&share);
	(void)json_object_set_new(answer, "code", json_string(code));
	secret_wipe(code);
	reply_json(&request->reply, 201, answer);
	return 0;
}

static void add_share(void *list, const struct share *share)
{
	(void)json_array_append_new(list, describe_share(share));
}

int api_list_shares(struct request *request, struct err *e)
{
	json_t *list = json_array();

	(void)e;
	shares_each(request->front->shares, request->session->id, add_share, list);
	reply_json(&request->reply, 200, json_pack("{s:o}", "shares", list));
	return 0;
}

/* The tokens that came by a link. */
struct by_share {
	const char *share;
	char ids[LIMIT_TOKENS][TOKEN_ID_SIZE];
	size_t n;
};

static void collect(void *arg, const struct token_info *info)
{
	struct by_share *found = arg;

	if (strcmp(info->share, found->share) == 0 && found->n < LIMIT_TOKENS)
		memcpy(found->ids[found->n++], info->id, TOKEN_ID_SIZE);
}

int api_revoke_share(struct request *request, struct err *e)
{
	const char *session = request->session->id, *id = request->target.segment[SHARE_SEGMENT];
	struct by_share found = {.share = id};
	struct err ignored;

	if (shares_revoke(request->front->shares, session, id, e) < 0)
		return -1;
	log_info("session %s: the share link %s was revoked", session, id);
	note(request, "share_revoked", id, NULL);
	tokens_each(request->front->tokens, session, collect, &found);
	/* One that has gone meanwhile needs nothing. */
	for (size_t i = 0; i < found.n; i++)
		if (revoke_token(request, found.ids[i], &ignored) < 0 && ignored.code != ERR_NOT_FOUND) {
			*e = ignored;
			return -1;
		}
	reply_empty(&request->reply, 204);
	return 0;
}
