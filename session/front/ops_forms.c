/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What callers send to routes of the front, by the names that the rows of operations have for it. */
#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/front/operation.h"
#include "session/front/spec.h"

static const struct field code_fields[] = {
	{"code", FIELD_STRING, true, 1, 32, NULL, NULL, NULL, NULL, "the code that the server printed, XXXX-XXXX, or a ticket"},
};
const struct form form_code = {code_fields, ARRAY_LEN(code_fields), NULL};

static const struct field token_fields[] = {
	{"role", FIELD_ENUM, true, 0, 0, "agent viewer controller", NULL, NULL, NULL, "what it may do"},
	{"ttl_s", FIELD_INT, false, 1, LIMIT_TTL_S, NULL, NULL, "s", NULL, "it expires after this time; with the session if absent"},
	{"name", FIELD_STRING, false, 1, LIMIT_TOKEN_NAME_BYTES, NULL, NULL, NULL, NULL, "what lists call it"},
};
const struct form form_token = {token_fields, ARRAY_LEN(token_fields), NULL};

static const struct field ticket_fields[] = {
	{"for", FIELD_ENUM, false, 0, 0, "console", NULL, NULL, "\"console\"", "where it is used: the page at /"},
	{"role", FIELD_ENUM, true, 0, 0, "agent viewer controller", NULL, NULL, NULL, "of the token that it is traded for"},
	{"ttl_s", FIELD_INT, false, 1, LIMIT_CONSOLE_TOKEN_MS / 1000, NULL, NULL, "s", "43200", "life of that token"},
};
const struct form form_ticket = {ticket_fields, ARRAY_LEN(ticket_fields), NULL};

const struct named_form operation_forms[] = {
	{"SpecChange", &spec_change_form},
	{"Code", &form_code},
	{"TokenWish", &form_token},
	{"TicketWish", &form_ticket},
};
const size_t operation_n_forms = ARRAY_LEN(operation_forms);
