/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One action of an act: what it asks first, that it is done, and what is said of it. Owner: session/stage/act.c, whose act this is. All of it runs in the
 * coroutine of the call.
 */
#ifndef STAGE_ACT_STEP_H
#define STAGE_ACT_STEP_H

#include "session/journal/journal.h"
#include "session/stage/approvals.h"
#include "session/stage/batch.h"
#include "session/stage/stage.h"

/* One act on its way. */
struct act {
	struct stage *stage;
	struct call *call;
	struct batch *batch;
	int64_t deadline_ms;
	json_t *results;
	size_t result_bytes; /* of them so far, as JSON */
	bool ok;
	struct err e;        /* of what failed */
	struct guard_picture picture; /* that it was decided on */
	uint64_t since;      /* the frame that the observation is compared with */
	uint64_t frame;      /* of the last picture in the reply, or 0 */
	bool has_turn;
	/* Of the action that is let through. */
	enum journal_text text;
	struct approvals_verdict verdict;
};

/* Intent, events, result, of the action `index`, as one more of `results`; false when it failed, with why in `e` of the act. The first one has been
 * let through when the call began. */
bool act_step_run(struct act *act, size_t index);

/* Before anything is asked of the action: a window that has just come, where a button is to go down, gets the time to take that (input_settle_at). Sets what
 * that does, and ERR_LEASE_LOST. */
int act_step_settle(struct act *act, size_t index);

/* Do the rules let it through, or a person? Sets what approvals_gate does, and ERR_LEASE_LOST. */
int act_step_gate(struct act *act, size_t index);

/* A hold has begun since the call was, and perhaps ended. */
bool act_step_is_lost(const struct act *act);

/* Who cancelled: a caller, or the end of the session; said in `e` of the act. */
void act_step_explain_cancel(struct act *act);

#endif
