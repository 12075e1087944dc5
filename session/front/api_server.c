/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The routes of the server itself: health, what it offers, the console. */
#include <string.h>

#include "session/base/json.h"
#include "session/base/limits.h"
#include "session/base/secret.h"
#include "session/base/util.h"
#include "session/front/api.h"
#include "session/front/assets.h"
#include "session/front/audit.h"
#include "session/front/calls.h"
#include "session/front/images.h"
#include "session/front/metrics.h"
#include "session/front/openapi.h"
#include "session/front/operation.h"
#include "session/front/request.h"
#include "session/front/spec.h"

int api_live(struct request *request, struct err *e)
{
	(void)e;
	reply_json(&request->reply, 200, json_pack("{s:b}", "live", 1));
	return 0;
}

/* The front ends with the warden: that it answers means that both are there. */
int api_ready(struct request *request, struct err *e)
{
	(void)e;
	reply_json(&request->reply, 200, json_pack("{s:b}", "ready", 1));
	return 0;
}

/* What the warden does not tell in time is told as it was last known. */
int api_metrics(struct request *request, struct err *e)
{
	struct front *front = request->front;
	int64_t since_ms = 0;
	size_t len;
	char *text;

	(void)e;
	for (const struct session *session = front->sessions.first; session; session = session->next)
		if (session->ready_ms > since_ms)
			since_ms = session->ready_ms;
	(void)usage_refresh(&front->usage, since_ms);
	text = metrics_text(front, &len);
	reply_text_taken(&request->reply, "text/plain; version=0.0.4; charset=utf-8", text, len);
	return 0;
}

static json_t *errors_document(void)
{
	json_t *list = json_array();

	for (int code = ERR_NONE + 1; code < ERR_N_CODES; code++) {
		const struct err_info *info = err_info((enum err_code)code);

		(void)json_array_append_new(list, json_pack("{s:s, s:i, s:s, s:s}", "code", info->wire, "status", info->status, "fix", info->fix,
		                                            "title", info->title));
	}
	return list;
}

static json_t *limits_document(const struct front *front)
{
	return json_pack("{s:I, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i}", "sessions",
	                 (json_int_t)front->sessions.max_live, "body_bytes", LIMIT_BODY_BYTES, "act_body_bytes", LIMIT_ACT_BODY_BYTES, "json_depth", LIMIT_JSON_DEPTH, "actions", LIMIT_ACTIONS, "text_chars",
	                 LIMIT_TEXT_CHARS, "waiting_calls", LIMIT_WAITING_CALLS, "call_ms", LIMIT_CALL_MS, "request_ms", LIMIT_REQUEST_MS,
	                 "side_min_px", LIMIT_SIDE_MIN_PX, "side_max_px", LIMIT_SIDE_MAX_PX, "picture_bytes", LIMIT_PICTURE_BYTES,
	                 "picture_inline_bytes", LIMIT_PICTURE_INLINE_BYTES, "picture_usual_bytes", LIMIT_PICTURE_USUAL_BYTES,
	                 "model_side_px", LIMIT_MODEL_SIDE_PX);
}

int api_about(struct request *request, struct err *e)
{
	(void)e;
	reply_json(&request->reply, 200,
	           json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:s, s:o}", "name", "glovebox", "version", GLOVEBOX_VERSION, "api", "v1", "limits",
	                     limits_document(request->front), "spec", spec_create_schema(), "change", form_schema(&spec_change_form),
	                     "errors", errors_document(), "routes", routes_document(), "openapi", OPENAPI_PATH, "key",
	                     config_describe_key(config_find_key(&request->front->config, request->who.owner))));
	return 0;
}

int api_images(struct request *request, struct err *e)
{
	(void)e;
	reply_json(&request->reply, 200, json_pack("{s:o}", "images", images_list(request->front->images)));
	return 0;
}

/* What a code was traded for. */
struct trade {
	enum role role;
	const char *session; /* "" for none */
	char *token;         /* to be wiped */
	int64_t expires_ms;
};

/* A token of a session that its ticket or share link has named. */
static int make_console_token(struct front *front, struct trade *trade, const char *share, struct err *e)
{
	struct token_info info = {.role = trade->role, .session = trade->session, .name = "console", .share = share, .expires_ms = trade->expires_ms};
	const struct session *session = sessions_find(&front->sessions, trade->session);

	if (!session)
		return err_set(e, ERR_GONE, NULL, "the session of this link has ended");
	if (calls_check_ended(session, e) < 0)
		return -1;
	return tokens_make(front->tokens, &info, &trade->token, e);
}

static int trade_share(struct front *front, const char *id, const char *code, struct share *share, struct trade *trade, struct err *e)
{
	if (shares_trade(front->shares, id, code, share, e) < 0)
		return -1;
	*trade = (struct trade){.role = share->role, .session = share->session, .expires_ms = share->expires_ms};
	return make_console_token(front, trade, share->id, e);
}

/* A wrong ticket is not slowed down: it cannot be guessed. What is no ticket may be the one-use code of the server. */
static int trade_code(struct front *front, const char *code, struct ticket *ticket, struct trade *trade, struct err *e)
{
	if (!tickets_take(front->tickets, TICKET_CONSOLE, code, store_now_ms(), ticket)) {
		*trade = (struct trade){.role = ROLE_OPERATOR, .session = ""};
		return tokens_trade(front->tokens, code, &trade->token, &trade->expires_ms, e);
	}
	*trade = (struct trade){.role = ticket->role, .session = ticket->session, .expires_ms = store_now_ms() + ticket->ttl_s * 1000};
	return make_console_token(front, trade, NULL, e);
}

int api_trade_code(struct request *request, struct err *e)
{
	struct front *front = request->front;
	json_auto_t *body = NULL;
	const char *share_id, *code;
	struct ticket ticket;
	struct share share;
	struct trade trade;

	if (request_form(request, &form_code, &body, e) < 0)
		return -1;
	share_id = form_string(body, "share", NULL);
	code = form_string(body, "code", "");
	if ((share_id ? trade_share(front, share_id, code, &share, &trade, e) : trade_code(front, code, &ticket, &trade, e)) < 0) {
		audit_count(front->audit, AUDIT_WRONG_CODES);
		metrics_wrong_code(front->metrics);
		return -1;
	}
	audit_note(front->audit, "code_traded", json_pack("{s:s,s:s,s:s,s:s*}", "role", role_name(trade.role), "session", trade.session, "request",
	                                                  request->id, "share", share_id));
	reply_json(&request->reply, 200,
	           json_pack("{s:s, s:s, s:I, s:s?}", "token", trade.token, "role", role_name(trade.role), "expires_in_s",
	                     (json_int_t)((trade.expires_ms - store_now_ms() + 999) / 1000), "session", *trade.session ? trade.session : NULL));
	secret_wipe(trade.token);
	return 0;
}

/* A text that stays, under a tag of its own: 304 to whom has it. */
static void send_tagged(struct request *request, const char *type, const char *tag, const char *text, size_t len)
{
	const char *known = request->head.if_none_match;

	if (known && (strcmp(known, "*") == 0 || strstr(known, tag)))
		reply_empty(&request->reply, 304);
	else
		reply_text(&request->reply, type, text, len);
	reply_header(&request->reply, "ETag", tag);
}

int api_actions(struct request *request, struct err *e)
{
	const struct asset *asset = assets_find(request->route->path);

	(void)e;
	reply_text(&request->reply, asset->type, asset->start, (size_t)(asset->end - asset->start));
	return 0;
}

int api_page(struct request *request, struct err *e)
{
	auto_free char *path = target_path(&request->target);
	const struct asset *asset = assets_find(path);

	if (!asset || !asset->tag)
		return err_set(e, ERR_NOT_FOUND, NULL, "the console has no such file");
	send_tagged(request, asset->type, asset->tag, asset->start, (size_t)(asset->end - asset->start));
	request->reply.is_page = true;
	return 0;
}

int api_openapi(struct request *request, struct err *e)
{
	const struct openapi *document = &request->front->openapi;

	(void)e;
	send_tagged(request, "application/json", document->tag, document->text, document->len);
	return 0;
}
