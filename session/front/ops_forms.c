/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What callers send to routes of the front, by the names that the rows of operations have for it. */
#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/front/operation.h"
#include "session/front/spec.h"
#include "session/front/tickets.h"
#include "session/policy/policy.h"

static const struct field code_fields[] = {
	{"code", FIELD_STRING, true, 1, 32, NULL, NULL, NULL, NULL, "the code that the server printed or that belongs to a share link, XXXX-XXXX, or a ticket"},
	{"share", FIELD_STRING, false, 1, SHARE_ID_SIZE - 1, NULL, NULL, NULL, NULL, "id of the share link that the code belongs to"},
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

static const struct field view_fields[] = {
	{"controls", FIELD_BOOL, false, 0, 0, NULL, NULL, NULL, NULL, "with keys and pointer, which reach the session while its person holds the lease; absent: if the role may"},
	{"password", FIELD_STRING, false, VIEWER_PASSWORD_SIZE - 1, VIEWER_PASSWORD_SIZE - 1, NULL, NULL, NULL, NULL, "8 printable ASCII characters, that RFB asks for; for programs that insist on one: it protects nothing that the ticket does not"},
};
const struct form form_view = {view_fields, ARRAY_LEN(view_fields), NULL};

static const struct field share_fields[] = {
	{"role", FIELD_ENUM, true, 0, 0, "viewer controller", NULL, NULL, NULL, "of the token that its code is traded for"},
	{"ttl_s", FIELD_INT, false, 1, LIMIT_CONSOLE_TOKEN_MS / 1000, NULL, NULL, "s", "3600", "life of the link, of its code, and of that token"},
	{"label", FIELD_STRING, false, 1, LIMIT_TOKEN_NAME_BYTES, NULL, NULL, NULL, NULL, "what lists call it"},
};
const struct form form_share = {share_fields, ARRAY_LEN(share_fields), NULL};

const struct named_form operation_forms[] = {
	{"SpecChange", &spec_change_form},
	{"Code", &form_code},
	{"TokenWish", &form_token},
	{"TicketWish", &form_ticket},
	{"ViewWish", &form_view},
	{"ShareWish", &form_share},
	{"ApprovalAnswer", &policy_answer_form},
};
const size_t operation_n_forms = ARRAY_LEN(operation_forms);
