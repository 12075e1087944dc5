/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The action request_human. Without a time limit it returns at once, and the agent waits by the call `lease`; with one it waits for the controls to come
 * back, and takes its request back when nobody has come until then.
 */
#include <sys/param.h>

#include "session/base/action.h"
#include "session/base/util.h"
#include "session/stage/lease.h"
#include "session/stage/stage.h"

static void withdraw(struct stage *stage, const struct call *call)
{
	const struct lease_by by = {.call = call};

	if (stage->lease.holder != LEASE_NOBODY || stage->lease.has_come || lease_move(stage, LEASE_WITHDRAW, &by, NULL) < 0)
		return;
	lease_wait_cleared(stage);
}

static void put_result(const struct stage *stage, bool has_come, bool has_returned, json_t *result)
{
	json_object_set_new(result, "holder", json_string(lease_holder_name(stage->lease.holder)));
	json_object_set_new(result, "epoch", json_integer(stage->epoch));
	json_object_set_new(result, "came", json_boolean(has_come));
	json_object_set_new(result, "returned", json_boolean(has_returned));
	if (has_returned && *stage->lease.note)
		json_object_set_new(result, "note", json_string(stage->lease.note));
}

/* -1 when the caller has left, or the session ends. */
static int wait_return(struct stage *stage, int64_t deadline_ms, bool *has_come, struct err *e)
{
	struct lease *lease = &stage->lease;

	while (lease_is_private(stage)) {
		*has_come |= lease->has_come;
		if (co_wait_event(&lease->changed, deadline_ms, e) < 0)
			return e->code == ERR_TIMEOUT ? 0 : -1;
	}
	return 0;
}

int lease_ask(void *arg, struct action_run *run, struct err *e)
{
	struct stage *stage = arg;
	struct call *call = stage->acting;
	long timeout_ms = form_int(run->args, "timeout_ms", 0);
	bool has_come = false, has_returned;
	int rc = 0;

	if (call->role != ROLE_AGENT)
		return err_set(e, ERR_FORBIDDEN, NULL, "the role %s asks nobody for help: it can take the controls itself", call->role_name);
	if (lease_request(stage, lease_kind_of(form_string(run->args, "kind", "other")), form_string(run->args, "reason", ""), call, e) < 0)
		return -1;
	if (timeout_ms > 0)
		rc = wait_return(stage, MIN(util_now_ms() + timeout_ms, run->deadline_ms), &has_come, e);
	has_returned = !lease_is_private(stage);
	has_come |= has_returned; /* it may have been too short to be seen */
	if (rc < 0 || timeout_ms > 0)
		withdraw(stage, call);
	put_result(stage, has_come, has_returned, run->result);
	/* What follows is done under the lease as it is now. */
	if (!lease_is_private(stage))
		call->epoch = stage->epoch;
	return rc;
}
