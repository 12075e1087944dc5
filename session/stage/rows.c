/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stage's own rows. */
#include "session/stage/rows.h"

#include <sys/param.h>

#include "session/base/co.h"
#include "session/base/limits.h"
#include "session/base/util.h"

static const struct field wait_fields[] = {
	{"duration_ms", FIELD_INT, true, 0, LIMIT_WAIT_MS, NULL, NULL, "ms", NULL, "how long"},
};

static int run_wait(struct action_run *run, struct err *e)
{
	int64_t until_ms = util_now_ms() + form_int(run->args, "duration_ms", 0);

	if (co_wait_until(MIN(until_ms, run->deadline_ms), e) < 0)
		return -1;
	return until_ms > run->deadline_ms ? err_set(e, ERR_TIMEOUT, NULL, "the time limit of the call was reached while waiting") : 0;
}

static const struct field request_fields[] = {
	{"reason", FIELD_STRING, true, 1, LIMIT_REASON_BYTES, NULL, NULL, NULL, NULL, "what the person is needed for, in your words; 300 characters are shown"},
	{"kind", FIELD_ENUM, false, 0, 0, "login approve captcha other", NULL, NULL, "\"other\"",
	 "login: your own programs are ended, and nobody but the person sees the screen"},
	{"timeout_ms", FIELD_INT, false, 0, LIMIT_CALL_MS, NULL, NULL, "ms", "0",
	 "wait so long for the controls to come back, and do without when nobody has come; 0: answer at once"},
};
static const struct member request_told[] = {
	{"holder", "=agent human nobody", "who holds the controls now"},
	{"epoch", "count", "number of this state of the lease: for GET lease?wait_epoch="},
	{"came", "boolean", "did a person take the controls?"},
	{"returned", "boolean", "and has given them back: now look"},
	{"note?", "string", "what the person says"},
};

static int run_request_human(struct action_run *run, struct err *e)
{
	const struct rows_home *home = run->home;

	return home->request_human(home->arg, run, e);
}

const struct action_row rows_own[] = {
	{
		.name = "wait",
		.doc = "Does nothing for a while. observe and wait_settled wait for quiet, which is usually what is wanted.",
		.form = {wait_fields, ARRAY_LEN(wait_fields), NULL},
		.run = run_wait,
		.lease = ACTION_ACTS,
		.flags = ACTION_WAITS,
		.example = "{\"action\":\"wait\",\"duration_ms\":100}",
	},
	{
		.name = "request_human",
		.doc = "Gives the controls to a person: for a login, a captcha, a decision. Nothing else can be done until they come back.",
		.form = {request_fields, ARRAY_LEN(request_fields), NULL},
		.run = run_request_human,
		.lease = ACTION_ASKS,
		.flags = ACTION_WAITS,
		.result = MEMBERS(request_told),
		.example = "{\"action\":\"request_human\",\"reason\":\"Please sign in to the shop\",\"kind\":\"login\",\"timeout_ms\":1}",
		.example_result = "{\"holder\":\"agent\",\"epoch\":3,\"came\":true,\"returned\":true,\"note\":\"I am signed in\"}",
	},
};
const size_t rows_n_own = ARRAY_LEN(rows_own);
