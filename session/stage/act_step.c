/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One action of an act. */
#include "session/stage/act_step.h"

#include <signal.h>

#include "session/base/json_text.h"
#include "session/base/limits.h"
#include "session/base/problem.h"
#include "session/base/space.h"
#include "session/base/util.h"
#include "session/stage/pieces.h"
#include "session/stage/record.h"

/* What goes into one reply is bounded, however many pictures and outputs a list asks for. */
static int check_size(struct act *act, const json_t *result)
{
	act->result_bytes += json_text_len(result);
	if (act->result_bytes <= LIMIT_ACT_REPLY_BYTES)
		return 0;
	return err_set(&act->e, ERR_TOO_LARGE, NULL, "the results of one call may have %d bytes together: ask for fewer pictures in it",
	               LIMIT_ACT_REPLY_BYTES);
}

static int run_row(struct act *act, const struct batch_step *step, json_t *result)
{
	struct action_run run = {
		.home = step->home,
		.args = step->args,
		.asked = step->asked,
		.result = result,
		.deadline_ms = act->deadline_ms,
		.acted_ms = act->stage->acted_ms,
		.space = step->place.space,
		.native = step->place.native,
	};
	bool may_move = !(step->row->flags & (ACTION_WAITS | ACTION_LOOKS | ACTION_MOVES));
	int rc;

	if (may_move)
		spots_stir(act->stage);
	act->stage->acting = act->call;
	act->stage->acting_row = step->row;
	rc = pieces_are_apart(act->stage, step) ? pieces_run(act->stage, step, &run, &act->e) : step->row->run(&run, &act->e);
	act->stage->acting_row = NULL;
	act->stage->acting = NULL;
	if (may_move)
		spots_stir(act->stage);
	if (!(step->row->flags & ACTION_WAITS))
		act->stage->acted_ms = util_now_ms();
	/* Also when it failed: it may have come to that after the display had its size. */
	if (step->row->flags & ACTION_RESIZES)
		act->batch->place = batch_resize(act->batch->place, act->stage->native);
	return rc;
}

/* Asked also before what is folded: the action that makes it needless would not be done. */
static int check_going(struct act *act, const struct action_row *row)
{
	if (co_cancelled(co_self()))
		return err_set(&act->e, ERR_CANCELLED, NULL, "the call was cancelled before this action");
	if (util_now_ms() >= act->deadline_ms)
		return err_set(&act->e, ERR_TIMEOUT, NULL, "the time limit of the call was reached before this action");
	return lease_check_act(act->stage, act->call, row->flags & ACTION_LOOKS, &act->e);
}

bool act_step_is_lost(const struct act *act)
{
	return act->call->epoch != act->stage->epoch || lease_is_private(act->stage);
}

/* What was stopped says how far it came, and nothing of what it saw. A command that stood still meanwhile saw nothing of the hold. */
static void lose(struct act *act, const struct action_row *row, json_t *result, int *rc)
{
	if (row->lease == ACTION_ASKS || !act_step_is_lost(act) || (row->lease == ACTION_STANDS && *rc == 0 && !lease_is_private(act->stage)))
		return;
	lease_bare(result);
	*rc = err_set(&act->e, ERR_LEASE_LOST, NULL, "a person got the controls during this action, which was stopped");
}

/* Its own limit ended it, or the session's did? */
static bool ran_too_long(const struct act *act, const struct batch_step *step, const json_t *result)
{
	long most_ms = form_int(json_object_get(act->stage->spec, "limits"), "exec_ms", LIMIT_EXEC_MS);

	return json_is_true(json_object_get(result, "timed_out")) && form_int(step->args, "timeout_ms", most_ms) >= most_ms;
}

/* What failed may have met a limit: of a command, that is its output's word alone unless it is said. */
static void explain_limits(struct act *act, const struct batch_step *step, const struct meters_mark *before, json_t *result, bool failed)
{
	const json_t *code = json_object_get(result, "exit_code");
	json_t *met;

	if (json_integer_value(json_object_get(result, "signal")) == SIGSYS)
		alarms_add(act->stage, ALARM_SIGSYS, 1);
	if (!failed && (!code || (json_is_integer(code) && json_integer_value(code) == 0)))
		return;
	if (ran_too_long(act, step, result))
		meters_hit(act->stage, METER_EXEC, (double)form_int(json_object_get(act->stage->spec, "limits"), "exec_ms", LIMIT_EXEC_MS),
		           (double)form_int(result, "elapsed_ms", 0));
	met = meters_since(act->stage, before);
	if (met && json_object_get(result, "error"))
		json_object_set(json_object_get(result, "error"), "limits", met);
	if (met)
		json_object_set_new(result, "limits", met);
}

static json_t *error_of(struct act *act, size_t index)
{
	char prefix[32];

	(void)snprintf(prefix, sizeof(prefix), "/actions/%zu", index);
	err_prefix(&act->e, prefix);
	return problem_create(&act->e, act->call->request_id);
}

void act_step_explain_cancel(struct act *act)
{
	if (act->e.code == ERR_CANCELLED && act->stage->state != STAGE_IS_READY)
		(void)stage_check_ready(act->stage, &act->e);
}

static bool jumps(const struct batch_step *step)
{
	return form_int(step->args, "duration_ms", 0) == 0;
}

/* The action after this one makes it needless: the same picture again, or a jump of the pointer before
 * another, while no button is down. */
static bool is_folded(const struct act *act, size_t index)
{
	const struct batch_step *step = &act->batch->steps[index], *next = step + 1;

	if (index + 1 == act->batch->n_steps || next->row != step->row)
		return false;
	if (step->row->flags & ACTION_MOVES)
		return jumps(step) && jumps(next) && !input_holds_button(act->stage->input);
	return step->row->flags & ACTION_LOOKS && json_equal(step->asked, next->asked);
}

/* The part of the screen that a picture is of, in native pixels: that of a window is in the result. */
static struct rect seen_by(const struct batch_step *step, const json_t *result)
{
	struct rect rect = space_rect(json_object_get(result, "region"));

	if (rect.width == 0)
		return space_rect(json_object_get(step->args, "region"));
	space_map_rect(step->place.space, step->place.native, &rect.x, &rect.y, &rect.width, &rect.height);
	return rect;
}

/* What the caller will have seen last. */
static void note_picture(struct act *act, const struct batch_step *step, const json_t *result)
{
	if (!json_object_get(result, "picture"))
		return;
	act->frame = (uint64_t)form_int(result, "frame", 0);
	if (!json_object_get(step->args, "window"))
		lease_looked_at(act->stage, act->call, seen_by(step, result), result);
	guard_note(act->stage, act->call, act->frame, seen_by(step, result));
}

/* Why a wait before the action failed; -1. */
static int explain_lost(struct act *act)
{
	if (act_step_is_lost(act))
		(void)err_set(&act->e, ERR_LEASE_LOST, NULL, "a person got the controls while this waited, and it was not done");
	return -1;
}

int act_step_settle(struct act *act, size_t index)
{
	const struct batch_step *step = &act->batch->steps[index];
	/* Where the pointer is, which a move before may be about to bring there. */
	bool has_moved = !json_object_get(step->args, "x") && !json_object_get(step->args, "path") && index > 0 && step[-1].row->flags & ACTION_MOVES;
	const json_t *place = has_moved ? step[-1].args : step->args;

	if (!(step->row->flags & ACTION_AIMS) || step->row->flags & ACTION_MOVES || input_settle_at(act->stage->input, place, &act->e) == 0)
		return 0;
	return explain_lost(act);
}

int act_step_gate(struct act *act, size_t index)
{
	const struct approvals_ask ask = {.call = act->call, .batch = act->batch, .index = index, .deadline_ms = act->deadline_ms};

	if (approvals_gate(act->stage, &ask, &act->has_turn, &act->text, &act->verdict, &act->e) == 0)
		return 0;
	return explain_lost(act);
}

/* One that is not let through has no intent: nothing of it happens. */
static bool stop_at_gate(struct act *act, size_t index)
{
	act_step_explain_cancel(act);
	if (act->has_turn)
		nodes_drop(act->stage);
	json_array_append_new(act->results, json_pack("{s:b,s:i,s:o}", "ok", 0, "elapsed_ms", 0, "error", error_of(act, index)));
	return false;
}

bool act_step_run(struct act *act, size_t index)
{
	const struct batch_step *step = &act->batch->steps[index];
	const struct meters_mark before = meters_mark(act->stage);
	json_t *result;
	int64_t start_ms;
	int rc;

	if (index > 0 && (act_step_settle(act, index) < 0 || act_step_gate(act, index) < 0))
		return stop_at_gate(act, index);
	result = json_pack("{s:b,s:i}", "ok", 1, "elapsed_ms", 0);
	start_ms = util_now_ms();
	rc = record_intent(act->stage, act->call, act->batch, index, act->text, &act->verdict, &act->e);
	if (rc == 0)
		rc = check_going(act, step->row);
	if (rc == 0 && is_folded(act, index)) {
		json_object_set_new(result, "folded", json_true());
	} else if (rc == 0) {
		rc = run_row(act, step, result);
		if (rc == 0 && check_size(act, result) < 0) {
			rc = -1;
			json_decref(result);
			result = json_pack("{s:b,s:i}", "ok", 0, "elapsed_ms", 0);
		}
		json_object_set_new(result, "elapsed_ms", json_integer(step->row->flags & ACTION_UNTIMED ? LIMIT_SECRET_TYPED_MS : util_now_ms() - start_ms));
		lose(act, step->row, result, &rc);
	}
	if (rc < 0) {
		act_step_explain_cancel(act);
		json_object_set_new(result, "ok", json_false());
		json_object_set_new(result, "error", error_of(act, index));
	}
	if (!act_step_is_lost(act))
		explain_limits(act, step, &before, result, rc < 0);
	typed_note(act->stage, step);
	if (!act_step_is_lost(act))
		nodes_tell(act->stage, act->batch, step, result);
	else
		nodes_drop(act->stage);
	record_result(act->stage, act->call, index, result);
	note_picture(act, step, result);
	json_array_append_new(act->results, result);
	return rc == 0;
}
