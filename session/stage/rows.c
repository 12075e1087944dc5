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

const struct action_row rows_own[] = {
	{
		.name = "wait",
		.doc = "Does nothing for a while. observe and wait_settled wait for quiet, which is usually what is wanted.",
		.form = {wait_fields, ARRAY_LEN(wait_fields), NULL},
		.run = run_wait,
		.flags = ACTION_WAITS,
		.example = "{\"action\":\"wait\",\"duration_ms\":100}",
	},
};
const size_t rows_n_own = ARRAY_LEN(rows_own);
