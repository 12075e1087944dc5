/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The operations of questions to people. */
#include "session/base/util.h"
#include "session/front/operation.h"

#define EXAMPLE_CARD \
	"{\"id\":\"s4v6kq2mzx7hw3pd.3\",\"session\":\"s4v6kq2mzx7hw3pd\",\"state\":\"waiting\",\"rule\":\"payment\",\"why\":\"this looks like a payment\"," \
	"\"unclear\":false,\"action\":{\"action\":\"click\",\"x\":590,\"y\":405},\"space\":{\"width\":1280,\"height\":800},\"caller\":{\"role\":\"agent\"," \
	"\"token\":\"t4k2\"},\"app\":\"firefox\",\"window\":{\"title\":\"Checkout\",\"class\":\"firefox-esr\"},\"url\":\"https://shop.example/checkout\"," \
	"\"target\":{\"x\":566,\"y\":381,\"width\":49,\"height\":49},\"native\":{\"width\":1280,\"height\":800},\"crop\":\"/v1/approvals/s4v6kq2mzx7hw3pd.3/crop\"," \
	"\"crop_region\":{\"x\":350,\"y\":245,\"width\":480,\"height\":320},\"at\":{\"frame\":14,\"epoch\":1,\"episode\":1},\"waits\":true," \
	"\"asked_at\":\"2026-11-30T12:00:00Z\",\"expires_at\":\"2026-11-30T12:10:00Z\",\"session_words\":\"whatever the rule payment asks about for firefox, until the " \
	"session ends\",\"not_session_why\":null}"

static const struct parameter approvals_query[] = {
	{"session", "string", "of this one alone", "s4v6kq2mzx7hw3pd"},
	{"wait", "count", "while there is none, wait for one for so many ms", "1000"},
};
static const struct said approvals_said[] = {
	{200, "application/json", "Approvals", NULL, "what waits, or has a yes that is not used yet",
	 "{\"approvals\":[" EXAMPLE_CARD "],\"counts\":[{\"session\":\"s4v6kq2mzx7hw3pd\",\"waiting\":1,\"asked\":3,\"answered\":2,\"once\":2,\"for_session\":0,"
	 "\"denied\":0,\"expired\":0,\"withdrawn\":0,\"median_ms\":4200,\"yes_share\":1.0}]}"},
};
const struct operation op_approvals = {
	.id = "listApprovals",
	.tag = "approvals",
	.query = approvals_query,
	.n_query = ARRAY_LEN(approvals_query),
	.said = approvals_said,
	.n_said = ARRAY_LEN(approvals_said),
	.errors = "not_found cancelled",
};

static const struct said approval_said[] = {{200, "application/json", "Approval", NULL, "the card", EXAMPLE_CARD}};
const struct operation op_approval = {
	.id = "getApproval",
	.tag = "approvals",
	.said = approval_said,
	.n_said = ARRAY_LEN(approval_said),
	.errors = OPERATION_STAGE_ERRORS " not_found",
};

const struct operation op_answer_approval = {
	.id = "answerApproval",
	.tag = "approvals",
	.body = "ApprovalAnswer",
	.request = "{\"answer\":\"deny\",\"reason\":\"not this shop\"}",
	.said = approval_said,
	.n_said = ARRAY_LEN(approval_said),
	.errors = OPERATION_STAGE_ERRORS " not_found conflict limit_reached",
};

static const struct said crop_said[] = {{200, "image/png", NULL, NULL, "the picture, as it was when it was asked", NULL}};
const struct operation op_approval_crop = {
	.id = "getApprovalCrop",
	.tag = "approvals",
	.said = crop_said,
	.n_said = ARRAY_LEN(crop_said),
	.errors = OPERATION_STAGE_ERRORS " not_found",
};

static const struct said rules_said[] = {
	{200, "application/json", "ApprovalRules", NULL, "the rules",
	 "{\"modes\":{\"never\":[],\"boundary\":[],\"sensitive\":[{\"name\":\"password-field\",\"verdict\":\"deny\",\"into\":[\"password\"]}],\"always\":[]},"
	 "\"places\":[{\"kind\":\"login\",\"url\":[\"*://login.*\"]}],\"operator\":[]}"},
};
const struct operation op_approval_rules = {
	.id = "getApprovalRules",
	.tag = "approvals",
	.said = rules_said,
	.n_said = ARRAY_LEN(rules_said),
};
