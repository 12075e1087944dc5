/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Running acts. */
#include "session/stage/act.h"

#include <string.h>
#include <sys/param.h>

#include "session/base/limits.h"
#include "session/base/log.h"
#include "session/base/problem.h"
#include "session/base/space.h"
#include "session/base/util.h"
#include "session/stage/batch.h"
#include "session/stage/keyed.h"

#define QUIET_MS 200
#define SETTLE_MS 3000

/* One act on its way. */
struct act {
	struct stage *stage;
	const struct call *call;
	const struct batch *batch;
	int64_t deadline_ms;
	json_t *results;
	size_t result_bytes; /* of them so far, as JSON */
	bool ok;
	struct err e;        /* of what failed */
	uint64_t seen;       /* the frame of the observation's picture, or 0 */
};

/* What every line of an act says: who, which request, where in it. */
static json_t *line_fields(const struct act *act, size_t index)
{
	const struct stage *stage = act->stage;

	return json_pack("{s:{s:s,s:s},s:s,s:I,s:I,s:I,s:I}", "actor", "role", act->call->role_name, "token", act->call->token, "request",
	                 act->call->request_id, "epoch", (json_int_t)stage->epoch, "episode", (json_int_t)stage->episode, "frame",
	                 (json_int_t)display_frame(stage->display), "index", (json_int_t)index);
}

static int write_intent(struct act *act, size_t index)
{
	const struct batch_step *step = &act->batch->steps[index];
	json_t *fields = line_fields(act, index);
	json_t *kept = journal_action(step->asked, act->stage->keep_text);
	json_t *action = json_pack("{s:s}", "action", step->row->name);

	json_object_update_missing(action, kept);
	json_decref(kept);
	json_object_set_new(fields, "space", space_json(act->batch->space));
	json_object_set_new(fields, "action", action);
	return journal_add(act->stage->journal, "intent", fields, &act->e);
}

/* Of a result the journal keeps numbers, truths and the error: no text of the session and no picture. */
static void write_result(struct act *act, size_t index, const json_t *result)
{
	json_t *fields = line_fields(act, index);
	const char *key;
	json_t *value;
	struct err e;

	json_object_foreach((json_t *)(uintptr_t)result, key, value)
		if (json_is_number(value) || json_is_boolean(value))
			json_object_set(fields, key, value);
	value = json_object_get(json_object_get(result, "error"), "code");
	if (value)
		json_object_set(fields, "error", value);
	/* The events have happened: the reply must not be lost for the line's sake. The next intent will be refused. */
	if (journal_add(act->stage->journal, "result", fields, &e) < 0)
		log_err(LOG_ERROR, &e, "journal");
}

/* What goes into one reply is bounded, however many pictures and outputs a list asks for. */
static int check_size(struct act *act, const json_t *result)
{
	act->result_bytes += json_dumpb(result, NULL, 0, JSON_COMPACT);
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
		.space = act->batch->space,
		.native = act->stage->ends.native,
	};

	if (co_cancelled(co_self()))
		return err_set(&act->e, ERR_CANCELLED, NULL, "the call was cancelled before this action");
	if (util_now_ms() >= act->deadline_ms)
		return err_set(&act->e, ERR_TIMEOUT, NULL, "the time limit of the call was reached before this action");
	return step->row->run(&run, &act->e);
}

static json_t *error_of(struct act *act, size_t index)
{
	char prefix[32];

	(void)snprintf(prefix, sizeof(prefix), "/actions/%zu", index);
	err_prefix(&act->e, prefix);
	return problem_create(&act->e, act->call->request_id);
}

/* Who cancelled: a caller, or the end of the session. */
static void explain_cancel(struct act *act)
{
	if (act->e.code == ERR_CANCELLED && act->stage->state != STAGE_IS_READY)
		(void)stage_check_ready(act->stage, &act->e);
}

/* One action: intent, events, result. */
static bool run_step(struct act *act, size_t index)
{
	const struct batch_step *step = &act->batch->steps[index];
	json_t *result = json_pack("{s:b,s:i}", "ok", 1, "elapsed_ms", 0);
	int64_t start_ms = util_now_ms();
	int rc = write_intent(act, index);

	if (rc == 0) {
		rc = run_row(act, step, result);
		if (rc == 0 && check_size(act, result) < 0) {
			rc = -1;
			json_decref(result);
			result = json_pack("{s:b,s:i}", "ok", 0, "elapsed_ms", 0);
		}
		json_object_set_new(result, "elapsed_ms", json_integer(util_now_ms() - start_ms));
	}
	if (rc < 0) {
		explain_cancel(act);
		json_object_set_new(result, "ok", json_false());
		json_object_set_new(result, "error", error_of(act, index));
	}
	write_result(act, index, result);
	json_array_append_new(act->results, result);
	return rc == 0;
}

static int add_picture(struct act *act, json_t *observation)
{
	const struct stage *stage = act->stage;
	struct display_request request = display_request_read(act->batch->observe, act->batch->space, stage->ends.native);
	struct display_picture picture;

	if (display_picture(stage->display, &request, &picture, &act->e) < 0)
		return -1;
	act->seen = picture.frame;
	json_object_set_new(observation, "picture", display_picture_json(&picture));
	free(picture.bytes);
	return 0;
}

/* Waits for quiet and looks. What was done is done: a failure to look is said in the observation. */
static json_t *observe(struct act *act)
{
	const json_t *wanted = act->batch->observe;
	json_t *observation = json_pack("{s:b,s:i,s:o,s:o}", "settled", 0, "elapsed_ms", 0, "native",
	                                space_json(act->stage->ends.native), "space", space_json(act->batch->space));
	int64_t start_ms = util_now_ms();
	int64_t until_ms = MIN(act->deadline_ms, start_ms + form_int(wanted, "timeout_ms", SETTLE_MS));
	bool settled = false;
	const struct display_quiet quiet = {.quiet_ms = (int)form_int(wanted, "quiet_ms", QUIET_MS)};
	int rc = display_settle(act->stage->display, &quiet, until_ms, &settled, &act->e);

	json_object_set_new(observation, "settled", json_boolean(settled));
	json_object_set_new(observation, "elapsed_ms", json_integer(util_now_ms() - start_ms));
	if (rc == 0 && strcmp(form_string(wanted, "picture", "inline"), "inline") == 0)
		rc = add_picture(act, observation);
	if (rc < 0) {
		act->ok = false;
		json_object_set_new(observation, "error", problem_create(&act->e, act->call->request_id));
	}
	json_object_set_new(observation, "at", stage_at(act->stage, act->seen));
	return observation;
}

static bool can_look(const struct act *act)
{
	return act->batch->observe && !co_cancelled(co_self()) && act->stage->state == STAGE_IS_READY;
}

/* The whole list; the reply's object. */
static json_t *run(struct act *act)
{
	json_t *reply = json_object(), *observation = NULL;
	size_t done = 0;

	act->results = json_array();
	while (act->ok && done < act->batch->n_steps) {
		act->ok = run_step(act, done);
		done += act->ok;
	}
	/* What a list that went well holds down stays down for the next call. */
	if (!act->ok)
		input_release(act->stage->input);
	if (can_look(act))
		observation = observe(act);
	json_object_set_new(reply, "ok", json_boolean(act->ok));
	json_object_set_new(reply, "done", json_integer((json_int_t)done));
	json_object_set_new(reply, "results", act->results);
	if (observation)
		json_object_set_new(reply, "observation", observation);
	json_object_set_new(reply, "at", stage_at(act->stage, act->seen));
	return reply;
}

/* How many actions of each name went well and failed, for the front. */
static json_t *count_results(const struct act *act)
{
	json_t *actions = json_object();
	const json_t *result;
	size_t i;

	json_array_foreach(act->results, i, result) {
		const char *name = act->batch->steps[i].row->name;
		bool ok = json_is_true(json_object_get(result, "ok"));
		const json_t *so_far = json_object_get(actions, name);

		json_object_set_new(actions, name, json_pack("[I,I]", json_integer_value(json_array_get(so_far, 0)) + ok,
		                                             json_integer_value(json_array_get(so_far, 1)) + !ok));
	}
	return json_pack("{s:b,s:o}", "ok", act->ok, "actions", actions);
}

/* A cancel that found nothing to fail, as in a list without actions, still lets go. */
static void act_run(struct stage *stage, struct call *call, const struct batch *batch, int64_t deadline_ms)
{
	struct act act = {.stage = stage, .call = call, .batch = batch, .deadline_ms = deadline_ms, .ok = true};
	json_t *reply = run(&act);

	if (co_cancelled(co_self()))
		input_release(stage->input);
	keyed_keep(stage, call, reply);
	call->counts = count_results(&act);
	call_reply_json(call, 200, reply);
	json_decref(reply);
}

static void answer_check(const struct stage *stage, struct call *call)
{
	json_t *reply = json_pack("{s:b,s:i,s:[],s:o}", "ok", 1, "done", 0, "results", "at", stage_at(stage, 0));

	call_reply_json(call, 200, reply);
	json_decref(reply);
}

static int check_start(const struct stage *stage, const struct batch *batch, struct err *e)
{
	if (stage_check_ready(stage, e) < 0)
		return -1;
	if (batch->n_steps > 0 && journal_is_full(stage->journal))
		return err_set(e, ERR_JOURNAL_FULL, NULL, "the journal has its %d MiB: this session can be looked at, but acts on nothing any more",
		               LIMIT_JOURNAL_BYTES / (1024 * 1024));
	return 0;
}

static void act_checked(struct stage *stage, struct call *call, const struct batch *batch)
{
	int64_t deadline_ms = util_now_ms() + batch->timeout_ms;
	struct err e;

	if (batch->check_only) {
		answer_check(stage, call);
		return;
	}
	if (turns_take(&stage->turns, deadline_ms, &e) < 0) {
		call_refuse(call, &e);
		return;
	}
	if (check_start(stage, batch, &e) < 0)
		call_refuse(call, &e);
	else
		act_run(stage, call, batch, deadline_ms);
	turns_pass(&stage->turns);
}

void act_call(struct stage *stage, struct call *call)
{
	struct batch *batch = util_zalloc(sizeof(*batch));
	struct err list[LIMIT_FAULTS];
	struct faults faults = {.list = list, .max = LIMIT_FAULTS};

	if (batch_read(batch, call->body, call->body_len, stage->sets, stage->n_sets, stage->space, stage->ends.native, &faults) < 0) {
		call_refuse_all(call, &faults);
	} else {
		act_checked(stage, call, batch);
		batch_free(batch);
	}
	free(batch);
}

bool act_cancel(struct stage *stage)
{
	if (!stage->turns.running)
		return false;
	co_cancel(stage->turns.running);
	return true;
}
