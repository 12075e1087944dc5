/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The routes of a session's tokens. */
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

/* Where a path of "/v1/sessions/{id}/tokens/{token}" has its token. */
#define TOKEN_SEGMENT 4

/* All but the text of the token. */
static json_t *describe_token(const struct token_info *info)
{
	return json_pack("{s:s, s:s, s:o, s:o, s:o}", "id", info->id, "role", role_name(info->role), "name",
	                 *info->name ? json_string(info->name) : json_null(), "created_at", describe_time(info->created_ms), "expires_at",
	                 info->expires_ms > 0 ? describe_time(info->expires_ms) : json_null());
}

static void note(struct request *request, const char *event, const char *id, const char *role)
{
	json_t *fields = audit_who(&request->who, request->id);

	(void)json_object_set_new(fields, "session", json_string(request->session->id));
	(void)json_object_set_new(fields, "subject", json_pack("{s:s*, s:s*}", "token", id, "role", role));
	audit_note(request->front->audit, event, fields);
}

int api_make_token(struct request *request, struct err *e)
{
	json_auto_t *body = NULL;
	struct token_info info = {.session = request->session->id};
	json_t *answer;
	char *token;
	long ttl_s;

	if (request_form(request, &form_token, &body, e) < 0 || calls_check_ended(request->session, e) < 0)
		return -1;
	ttl_s = form_int(body, "ttl_s", 0);
	info.role = role_from_name(form_string(body, "role", ""));
	info.name = form_string(body, "name", "");
	info.expires_ms = ttl_s > 0 ? store_now_ms() + ttl_s * INT64_C(1000) : 0;
	if (tokens_make(request->front->tokens, &info, &token, e) < 0)
		return -1;
	log_info("session %s: token %s of role %s was made", info.session, info.id, role_name(info.role));
	note(request, "token_made", info.id, role_name(info.role));
	answer = describe_token(&info);
	(void)json_object_set_new(answer, "token", json_string(token));
	secret_wipe(token);
	reply_json(&request->reply, 201, answer);
	return 0;
}

int api_make_ticket(struct request *request, struct err *e)
{
	json_auto_t *body = NULL;
	struct ticket ticket;
	char *text;

	if (request_form(request, &form_ticket, &body, e) < 0 || calls_check_ended(request->session, e) < 0)
		return -1;
	ticket = (struct ticket){.role = role_from_name(form_string(body, "role", "")),
	                         .ttl_s = form_int(body, "ttl_s", LIMIT_CONSOLE_TOKEN_MS / 1000)};
	memcpy(ticket.session, request->session->id, sizeof(ticket.session));
	if (tickets_make(request->front->tickets, &ticket, store_now_ms(), &text, e) < 0)
		return -1;
	log_info("session %s: a link of role %s was made", ticket.session, role_name(ticket.role));
	note(request, "link_made", NULL, role_name(ticket.role));
	reply_json(&request->reply, 201,
	           json_pack("{s:s, s:s, s:s, s:o, s:o}", "ticket", text, "for", "console", "role", role_name(ticket.role), "link",
	                     json_sprintf("/#code=%s", text), "expires_at", describe_time(ticket.expires_ms)));
	secret_wipe(text);
	return 0;
}

static void add_token(void *list, const struct token_info *info)
{
	(void)json_array_append_new(list, describe_token(info));
}

int api_list_tokens(struct request *request, struct err *e)
{
	json_t *list = json_array();

	(void)e;
	tokens_each(request->front->tokens, request->session->id, add_token, list);
	reply_json(&request->reply, 200, json_pack("{s:o}", "tokens", list));
	return 0;
}

int api_revoke_token(struct request *request, struct err *e)
{
	const char *id = request->target.segment[TOKEN_SEGMENT];

	if (revoke_token(request, id, e) < 0)
		return -1;
	note(request, "token_revoked", id, NULL);
	reply_empty(&request->reply, 204);
	return 0;
}
