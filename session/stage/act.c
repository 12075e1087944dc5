/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Running acts. */
#include "session/stage/act.h"

#include <string.h>
#include <sys/param.h>

#include "session/base/json_text.h"
#include "session/base/limits.h"
#include "session/base/space.h"
#include "session/base/util.h"
#include "session/stage/act_step.h"
#include "session/stage/keyed.h"
#include "session/stage/observe.h"
#include "session/stage/record.h"

/* The part of the screen that its picture is of, in native pixels; width 0: all of it. */
static struct rect observed_region(const struct act *act)
{
	const struct display_request request = display_request_read(act->batch->observe, act->batch->place.space, act->stage->native);

	return display_request_region(&request);
}

/* Waits for quiet and looks. What was done is done: a failure to look is said in the observation. */
static json_t *observe(struct act *act)
{
	const struct observe ask = {.call = act->call, .wanted = act->batch->observe, .space = act->batch->place.space, .since = act->since,
	                            .deadline_ms = act->deadline_ms};
	json_t *observation;

	if (observe_run(act->stage, &ask, &observation, &act->frame, &act->e) < 0)
		act->ok = false;
	if (!act_step_is_lost(act)) {
		lease_looked_at(act->stage, act->call, observed_region(act), observation);
		record_observation(act->stage, act->call, act->batch, observation);
		return observation;
	}
	act->ok = false;
	json_decref(observation);
	return NULL;
}

/* A command stood still while a person had the controls: what follows is done under the lease that the agent has now. */
static void renew(struct act *act)
{
	if (!lease_is_private(act->stage) && !co_cancelled(co_self()))
		act->call->epoch = act->stage->epoch;
}

static bool can_look(const struct act *act)
{
	return act->batch->observe && !co_cancelled(co_self()) && act->stage->state == STAGE_IS_READY && !act_step_is_lost(act);
}

/* Of results that leave in a hold, whatever they are of. */
static void bare_results(const struct act *act)
{
	json_t *result;
	size_t i;

	act->call->is_bare = true;
	if (!lease_is_private(act->stage))
		return;
	json_array_foreach(act->results, i, result)
		if (i >= act->batch->n_steps || act->batch->steps[i].row->lease != ACTION_ASKS)
			lease_bare(result);
}

/* What coordinates and pictures of the reply mean, and when they were true. `frame` 0 is the newest. */
static void add_place(const struct act *act, json_t *reply, uint64_t frame)
{
	json_object_set_new(reply, "at", stage_at(act->stage, frame));
	json_object_set_new(reply, "space", space_json(act->batch->place.space));
	json_object_set_new(reply, "native", space_json(act->stage->native));
}

/* A list in a dialect may end in a fault: what stands before it has been done. */
static void add_fault(struct act *act)
{
	act->ok = false;
	json_array_append(act->results, (json_t *)(uintptr_t)act->call->fault);
}

/* The whole list; the reply's object. */
static json_t *run(struct act *act)
{
	json_t *reply = json_object(), *observation = NULL;
	size_t done = 0;

	act->results = json_array();
	while (act->ok && done < act->batch->n_steps) {
		call_progress(act->call, done, act->batch->n_steps);
		act->ok = act_step_run(act, done);
		done += act->ok;
	}
	if (act->ok && act->call->fault)
		add_fault(act);
	/* What a list that went well holds down stays down for the next call. */
	if (!act->ok)
		input_release(act->stage->input);
	if (act->ok)
		renew(act);
	if (can_look(act))
		observation = observe(act);
	json_object_set_new(reply, "ok", json_boolean(act->ok));
	json_object_set_new(reply, "done", json_integer((json_int_t)done));
	json_object_set_new(reply, "results", act->results);
	if (observation)
		json_object_set_new(reply, "observation", observation);
	add_place(act, reply, act->frame);
	return reply;
}

/* How many actions of each name went well and failed, for the front. */
static json_t *count_results(const struct act *act)
{
	json_t *actions = json_object();
	const json_t *result;
	size_t i;

	json_array_foreach(act->results, i, result) {
		if (i == act->batch->n_steps) /* no action, but the fault behind them */
			break;
		const char *name = act->batch->steps[i].row->name;
		bool ok = json_is_true(json_object_get(result, "ok"));
		const json_t *so_far = json_object_get(actions, name);

		json_object_set_new(actions, name, json_pack("[I,I]", json_integer_value(json_array_get(so_far, 0)) + ok,
		                                             json_integer_value(json_array_get(so_far, 1)) + !ok));
	}
	return json_pack("{s:b,s:o,s:o*}", "ok", act->ok, "actions", actions, "approvals", approvals_take_counts(act->stage));
}

/* A cancel that found nothing to fail, as in a list without actions, still lets go. */
static void act_run(struct act *act)
{
	json_t *reply = run(act);

	if (co_cancelled(co_self()))
		input_release(act->stage->input);
	if (act_step_is_lost(act))
		bare_results(act);
	keyed_keep(act->stage, act->call, reply);
	act->call->counts = count_results(act);
	call_reply_json(act->call, 200, NULL, reply);
	json_decref(reply);
}

static void answer_check(const struct act *act)
{
	json_t *reply = json_pack("{s:b,s:i,s:[],s:o}", "ok", 1, "done", 0, "results", "verdicts", approvals_preview(act->stage, act->batch));

	add_place(act, reply, 0);
	call_reply_json(act->call, 200, NULL, reply);
	json_decref(reply);
}

static int check_start(const struct stage *stage, const struct call *call, const struct batch *batch, struct err *e)
{
	if (stage_check_ready(stage, e) < 0 || approvals_check_begin(stage, call, batch, e) < 0)
		return -1;
	if (batch->n_steps > 0 && journal_is_full(stage->journal))
		return err_set(e, ERR_JOURNAL_FULL, NULL, "the journal has its %d MiB: this session can be looked at, but acts on nothing any more",
		               LIMIT_JOURNAL_BYTES / (1024 * 1024));
	return 0;
}

/* Who acts on a picture that is not true any more gets the new one, to decide again: of all of the screen, so that the target is on it. */
static void refuse(struct act *act)
{
	json_auto_t *wanted = act->batch->observe ? json_copy((json_t *)(uintptr_t)act->batch->observe) : NULL;
	const struct observe ask = {.call = act->call, .wanted = wanted, .space = act->batch->place.space, .since = act->picture.frame,
	                            .deadline_ms = act->deadline_ms, .with_picture = true};
	json_t *observation;
	struct err ignored;

	if (act->e.code != ERR_STALE_TARGET) {
		call_refuse(act->call, &act->e);
		return;
	}
	json_object_del(wanted, "region");
	(void)observe_run(act->stage, &ask, &observation, &act->frame, &ignored);
	call_refuse_with(act->call, &act->e, "observation", observation);
}

/* A list that does nothing but look. */
static bool only_looks(const struct batch *batch)
{
	for (size_t i = 0; i < batch->n_steps; i++)
		if (!(batch->steps[i].row->flags & ACTION_LOOKS))
			return false;
	return true;
}

/* It may have waited for its turn while the controls were elsewhere. */
static int check_lease(struct act *act)
{
	if (lease_check_act(act->stage, act->call, only_looks(act->batch), &act->e) < 0)
		return -1;
	act->call->epoch = act->stage->epoch;
	return 0;
}

/* Moves to a place change nothing there: what they lead to is waited for before the guard looks, not between its look and the press. */
static size_t first_press(const struct batch *batch)
{
	size_t i = 0;

	while (i + 1 < batch->n_steps && batch->steps[i].row->flags & ACTION_MOVES)
		i++;
	return i;
}

/* What must be so right before the first event; and where the observation begins. */
static int begin(struct act *act)
{
	struct display *display = act->stage->display;
	bool updated;

	if (check_start(act->stage, act->call, act->batch, &act->e) < 0 || check_lease(act) < 0)
		return -1;
	if (act->batch->n_steps > 0 && !act->batch->check_only) {
		if (act_step_settle(act, first_press(act->batch)) < 0) {
			act_step_explain_cancel(act);
			return -1;
		}
		nodes_ask(act->stage, &act->batch->steps[0]);
	}
	if (guard_check(act->stage, act->batch, &act->picture, &updated, &act->e) < 0)
		return -1;
	act->since = act->picture.frame;
	if (!act->batch->observe || act->batch->seen)
		return 0;
	if (!updated && display_update(display, &act->e) < 0)
		return -1;
	act->since = display_frame(display);
	return 0;
}

static int read_batch(const struct stage *stage, const struct call *call, struct batch *batch, struct faults *faults)
{
	const struct batch_place place = stage_place(stage);

	return batch_read(batch, call->body, call->body_len, stage->sets, stage->n_sets, &place, faults);
}

/* A list takes many times the memory of its text: while a call waits it has the text alone, and is read again when its turn comes. */
static int take_turn(struct act *act)
{
	struct turns *turns = &act->stage->turns;
	struct faults faults = {.list = &act->e, .max = 1};

	if (turns->running)
		batch_free(act->batch);
	if (turns_take(turns, act->deadline_ms, &act->e) < 0)
		return -1;
	if (act->batch->body || read_batch(act->stage, act->call, act->batch, &faults) == 0)
		return 0;
	turns_pass(turns);
	return -1;
}

/* While nothing was done the whole call can still be refused. */
static int gate_first(struct act *act)
{
	if (act->batch->n_steps == 0 || act_step_gate(act, 0) == 0)
		return 0;
	act_step_explain_cancel(act);
	err_prefix(&act->e, "/actions/0");
	return -1;
}

static void act_in_turn(struct act *act)
{
	if (take_turn(act) < 0) {
		call_refuse(act->call, &act->e);
		return;
	}
	act->has_turn = true;
	if (begin(act) < 0 || gate_first(act) < 0 || record_call(act->stage, act->call, act->batch, &act->e) < 0) {
		if (act->has_turn)
			nodes_drop(act->stage);
		refuse(act);
	} else {
		act_run(act);
	}
	if (act->has_turn)
		turns_pass(&act->stage->turns);
}

/* A check has no turn: it says what is so now. */
static void act_checked(struct stage *stage, struct call *call, struct batch *batch)
{
	struct act act = {.stage = stage, .call = call, .batch = batch, .deadline_ms = util_now_ms() + batch->timeout_ms, .ok = true};

	if (lease_check_act(stage, call, only_looks(batch), &act.e) < 0 || guard_begin(stage, call, batch, &act.picture, &act.e) < 0 ||
	    approvals_check_begin(stage, call, batch, &act.e) < 0 ||
	    (batch->check_only && begin(&act) < 0))
		refuse(&act);
	else if (batch->check_only)
		answer_check(&act);
	else
		act_in_turn(&act);
}

/* A coordinate that is not on the screen: of a picture that was larger? */
static bool is_off_screen(const struct err *fault)
{
	static const char *const ends[] = {"/x", "/y"};
	size_t len = strlen(fault->path);

	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		if (len > 2 && strcmp(fault->path + len - 2, ends[i]) == 0)
			return fault->code == ERR_BAD_FIELD;
	return fault->code == ERR_BAD_FIELD && (strstr(fault->path, "/path/") || strstr(fault->path, "/region"));
}

/* Who clicks where the display has ended since it was resized is told that, and gets the new picture. */
static bool refuse_resized(struct stage *stage, struct call *call, struct batch *batch, const struct err *fault)
{
	json_auto_t *body = NULL;
	struct act act = {.stage = stage, .call = call, .batch = batch};

	if (!stage->display || display_resized(stage->display) == 0 || !is_off_screen(fault) || json_parse(call->body, call->body_len, &body, NULL) < 0)
		return false;
	*batch = (struct batch){.place = stage_place(stage), .seen = json_object_get(body, "seen")};
	if (guard_begin(stage, call, batch, &act.picture, &act.e) < 0 || !act.picture.given || guard_check_size(stage, act.picture.frame, fault->path, &act.e) == 0)
		return false;
	act.deadline_ms = util_now_ms() + LIMIT_CALL_DEFAULT_MS;
	refuse(&act);
	return true;
}

void act_call(struct stage *stage, struct call *call)
{
	struct batch *batch = util_zalloc(sizeof(*batch));
	struct err list[LIMIT_FAULTS];
	struct faults faults = {.list = list, .max = LIMIT_FAULTS};

	if (read_batch(stage, call, batch, &faults) < 0) {
		if (!refuse_resized(stage, call, batch, &list[0]))
			call_refuse_all(call, &faults);
	} else {
		act_checked(stage, call, batch);
		batch_free(batch);
	}
	free(batch);
}

bool act_cancel(struct stage *stage)
{
	const struct call *parked = stage->approvals.parked;

	if (parked)
		co_cancel(parked->co);
	if (stage->turns.running)
		co_cancel(stage->turns.running);
	return parked || stage->turns.running;
}
