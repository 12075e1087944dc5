/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A long poll of the front. */
#include "session/stage/watch.h"

#include <stdlib.h>

#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/stage/stage.h"

void watch_note(struct stage *stage)
{
	stage->watch.n++;
	co_signal(&stage->watch.changed);
}

void watch_call(struct stage *stage, struct call *call)
{
	const char *seen = json_string_value(json_object_get(call->query, "seen"));
	int64_t deadline_ms = util_now_ms() + LIMIT_WATCH_MS;
	json_t *answer;
	struct err e;
	int rc = 0;

	/* A number of another life of the stage is none of ours: then there is news at once. */
	while (rc == 0 && seen && strtoll(seen, NULL, 10) == stage->watch.n)
		rc = co_wait_event(&stage->watch.changed, deadline_ms, &e);
	answer = json_pack("{s:I,s:o,s:o,s:o*,s:o,s:o}", "seen", stage->watch.n, "lease", lease_json(stage, NULL), "approvals", approvals_brief(stage), "egress",
	                   egress_describe(stage), "limits", meters_hits(stage), "security", alarms_json(stage));
	call_reply_json(call, 200, NULL, answer);
	json_decref(answer);
}
