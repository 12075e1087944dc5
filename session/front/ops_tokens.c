/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The operations of a session's tokens. */
#include "session/base/util.h"
#include "session/front/operation.h"

static const struct said make_token_said[] = {
	{201, "application/json", "NewToken", NULL, "the token, with its text",
	 "{\"id\":\"t8f2c41d\",\"role\":\"agent\",\"name\":\"run 7\",\"created_at\":\"2026-11-30T12:00:00Z\",\"expires_at\":\"2026-11-30T13:00:00Z\","
	 "\"token\":\"gba_1c9e…\"}"},
};
const struct operation op_make_token = {
	.id = "createToken",
	.tag = "tokens",
	.body = "TokenWish",
	.request = "{\"role\":\"agent\",\"ttl_s\":3600,\"name\":\"run 7\"}",
	.said = make_token_said,
	.n_said = ARRAY_LEN(make_token_said),
	.errors = "limit_reached session_gone",
};

static const struct said make_ticket_said[] = {
	{201, "application/json", "Ticket", NULL, "the link",
	 "{\"ticket\":\"AAAAA-BBBBB-CCCCC-DDDDD\",\"for\":\"console\",\"role\":\"agent\",\"link\":\"/#code=AAAAA-BBBBB-CCCCC-DDDDD\","
	 "\"expires_at\":\"2026-11-30T12:05:00Z\"}"},
};
const struct operation op_make_ticket = {
	.id = "createTicket",
	.tag = "tokens",
	.body = "TicketWish",
	.request = "{\"role\":\"agent\",\"ttl_s\":3600}",
	.said = make_ticket_said,
	.n_said = ARRAY_LEN(make_ticket_said),
	.errors = "limit_reached session_gone",
};

static const struct said list_tokens_said[] = {
	{200, "application/json", "Tokens", NULL, "the tokens",
	 "{\"tokens\":[{\"id\":\"t8f2c41d\",\"role\":\"agent\",\"name\":\"run 7\",\"created_at\":\"2026-11-30T12:00:00Z\",\"expires_at\":\"2026-11-30T13:00:00Z\"}"
	 "]}"},
};
const struct operation op_list_tokens = {
	.id = "listTokens",
	.tag = "tokens",
	.said = list_tokens_said,
	.n_said = ARRAY_LEN(list_tokens_said),
};

static const struct said revoke_token_said[] = {
	{204, NULL, NULL, NULL, "it opens nothing any more",
	 NULL},
};
const struct operation op_revoke_token = {
	.id = "revokeToken",
	.tag = "tokens",
	.said = revoke_token_said,
	.n_said = ARRAY_LEN(revoke_token_said),
};
