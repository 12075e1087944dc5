/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls in a dialect. While such a call runs, its body is that of the act (so that turns, guard, journal and observation need not know), what was
 * sent is in `sent` (which an Idempotency-Key is for), and `tell` puts the answer into the dialect.
 */
#include "session/stage/computer.h"

#include <stdio.h>
#include <string.h>

#include "session/base/json_text.h"
#include "session/base/limits.h"
#include "session/base/problem.h"
#include "session/base/util.h"
#include "session/dialects/dialect.h"
#include "session/dialects/why.h"
#include "session/stage/batch.h"
#include "session/stage/keyed.h"
#include "session/stage/observe.h"

/* One such call; on the stack of its coroutine. */
struct computer {
	struct stage *stage;
	const struct dialect *dialect;
	struct dialect_place place;
	json_t *body;  /* as it was sent */
	json_t *act;
	json_t *warnings; /* of its actions, in a list: null, or a rule that asks a person */
	json_t *fault; /* a result, in the place where the list was cut; or NULL */
};

/* A reply without a picture, such as one that is sent again, or what is said of a model's fault, for a dialect that needs one. */
static bool lacks_picture(const struct computer *computer, const struct call *call, int status, const json_t *value)
{
	bool is_models = status == 200 || why_is_models(value);
	const json_t *observation = json_object_get(value, "observation");

	return computer->dialect->needs_picture && call->connection && !lease_is_private(computer->stage) && is_models && !json_is_object(json_object_get(observation, "picture")) &&
	       stage_check_ready(computer->stage, NULL) == 0;
}

/* The same with the screen as it is now, also for a call that was cancelled. A new reference. */
static json_t *with_picture(const struct computer *computer, const struct call *call, const json_t *value)
{
	json_auto_t *wanted = json_pack("{s:i}", "quiet_ms", 0);
	const struct observe ask = {.call = call, .wanted = wanted, .space = computer->stage->space, .since = display_frame(computer->stage->display),
	                            .deadline_ms = util_now_ms() + LIMIT_X_WAIT_MS, .with_picture = true};
	json_t *seen = json_copy((json_t *)(uintptr_t)value), *observation;
	struct err ignored;
	uint64_t frame;

	co_shield();
	if (observe_run(computer->stage, &ask, &observation, &frame, &ignored) == 0)
		lease_looked_at(computer->stage, call, (struct rect){.width = 0}, observation);
	co_unshield();
	json_object_set_new(seen, "observation", observation);
	return seen;
}

/* These models take no answer without a picture, and in a hold there is none. */
static json_t *lost(const struct call *call, int *status)
{
	struct err e;

	(void)err_set(&e, ERR_LEASE_LOST, NULL, "a person got the controls while this was done, and it was stopped: look once they are back");
	*status = err_info(e.code)->status;
	return problem_create(&e, call->request_id);
}

static json_t *tell(const struct call *call, int *status, const json_t *value)
{
	const struct computer *computer = call->tell_arg;
	const struct dialect *dialect = computer->dialect;
	json_auto_t *seen = lacks_picture(computer, call, *status, value) ? with_picture(computer, call, value) : NULL;
	json_t *told = NULL;

	if (*status == 200 && dialect->needs_picture && lease_is_private(computer->stage))
		return lost(call, status);
	if (*status == 200)
		return dialect->answer(dialect, computer->body, &computer->place, seen ? seen : value);
	if (dialect->refuse)
		told = dialect->refuse(dialect, computer->body, &computer->place, seen ? seen : value);
	if (told) {
		*status = 200;
		return told;
	}
	/* Its pointers are into the act, which the caller has not written. */
	told = json_copy((json_t *)(uintptr_t)value);
	(void)json_object_del(told, "pointer");
	(void)json_object_del(told, "errors");
	return told;
}

/* The action that a fault is of, or the list's length when it is of none of them. */
static size_t index_of(const struct err *e, size_t n)
{
	static const char LIST[] = "/actions/";
	size_t i = n;

	if (strncmp(e->path, LIST, strlen(LIST)) == 0)
		i = strtoul(e->path + strlen(LIST), NULL, 10);
	return i < n ? i : n;
}

/* The dialect's own fault, put into the list. False when there is none. */
static bool find_marked(const json_t *actions, struct err *e)
{
	const json_t *action;
	size_t i;

	json_array_foreach(actions, i, action) {
		const json_t *fault = dialect_fault_of(action);
		char path[32];

		if (!fault)
			continue;
		(void)snprintf(path, sizeof(path), "/actions/%zu", i);
		(void)err_set(e, err_from_wire(form_string(fault, "code", "")), path, "%s", form_string(fault, "detail", ""));
		return true;
	}
	return false;
}

static void cut(json_t *actions, size_t n)
{
	while (json_array_size(actions) > n)
		(void)json_array_remove(actions, json_array_size(actions) - 1);
}

/* What the rows of the actions find in the list. */
static int check_act(const struct stage *stage, json_t *act, struct err *e)
{
	struct batch *batch = util_zalloc(sizeof(*batch));
	struct faults faults = {.list = e, .max = 1};
	const struct batch_place place = stage_place(stage);
	int rc = batch_take(batch, json_incref(act), stage->sets, stage->n_sets, &place, &faults);

	if (rc == 0)
		batch_free(batch);
	free(batch);
	return rc;
}

/* The act is what it would be without them. */
static json_t *take_warnings(const json_t *act)
{
	json_t *warnings = json_array(), *action;
	size_t i;

	json_array_foreach(json_object_get(act, "actions"), i, action) {
		json_t *warning = dialect_take_warning(action);

		json_array_append_new(warnings, warning ? json_pack("{s:s,s:s,s:o}", "verdict", "ask", "name", "model", "why", warning) : json_null());
	}
	return warnings;
}

/* The model's fault that comes first; the list ends before it. False when there is none. */
static bool cut_at_fault(const struct stage *stage, json_t *act, size_t *at, struct err *e)
{
	json_t *actions = json_object_get(act, "actions");
	struct err found;
	bool is_marked = find_marked(actions, e);

	*at = json_array_size(actions);
	if (is_marked) {
		*at = index_of(e, *at);
		cut(actions, *at);
	}
	if (check_act(stage, act, &found) == 0)
		return is_marked;
	*e = found;
	*at = index_of(e, *at);
	cut(actions, *at);
	return true;
}

static json_t *result_of(const struct call *call, const struct err *e)
{
	return json_pack("{s:b,s:i,s:o}", "ok", 0, "elapsed_ms", 0, "error", problem_create(e, call->request_id));
}

/* Nothing of the list is good: there is nothing to wait for and nothing to do. */
static void answer_fault(const struct stage *stage, struct call *call, struct computer *computer)
{
	json_auto_t *reply = json_pack("{s:b,s:i,s:[O],s:o,s:o,s:o}", "ok", 0, "done", 0, "results", computer->fault, "at", stage_at(stage, 0), "space",
	                               space_json(stage->space), "native", space_json(stage->native));

	call->counts = json_pack("{s:b,s:{}}", "ok", 0, "actions");
	call_reply_json(call, 200, NULL, reply);
}

static void run_act(struct stage *stage, struct call *call, struct computer *computer)
{
	char *sent = call->body;
	size_t sent_len = call->body_len;

	call->sent = sent;
	call->sent_len = sent_len;
	call->fault = computer->fault;
	call->warnings = computer->warnings;
	call->body = json_text(computer->act, &call->body_len);
	keyed_act(stage, call);
	free(call->body);
	call->body = sent;
	call->body_len = sent_len;
	call->fault = NULL;
	call->warnings = NULL;
	call->sent = NULL;
}

static void run(struct stage *stage, struct call *call, struct computer *computer)
{
	struct err e;
	size_t at;

	/* One that passes on what was sent is refused by the act itself, with all of its faults. */
	if (computer->dialect->passes || !cut_at_fault(stage, computer->act, &at, &e)) {
		run_act(stage, call, computer);
		return;
	}
	if (!computer->dialect->runs_until_fault) {
		call_refuse(call, &e);
		return;
	}
	computer->fault = result_of(call, &e);
	if (at == 0)
		answer_fault(stage, call, computer);
	else
		run_act(stage, call, computer);
}

static int begin(const struct call *call, struct computer *computer, struct err *e)
{
	const json_t *name = json_object_get(call->query, "dialect");

	if (json_parse_few(call->body ? call->body : "", call->body_len, LIMIT_ACT_VALUES, &computer->body, e) < 0)
		return -1;
	computer->dialect = dialect_find(json_string_value(name), computer->body, e);
	return computer->dialect ? computer->dialect->ask(computer->dialect, computer->body, &computer->place, &computer->act, e) : -1;
}

void computer_call(struct stage *stage, struct call *call)
{
	struct computer computer = {.stage = stage, .place = {stage->space, stage->native, approvals_asks(stage)}};
	struct err e;

	if (begin(call, &computer, &e) < 0) {
		call_refuse(call, &e);
	} else {
		call->tell = tell;
		call->tell_arg = &computer;
		call->dialect = computer.dialect->name;
		computer.warnings = take_warnings(computer.act);
		run(stage, call, &computer);
		call->tell = NULL;
		call->dialect = NULL;
	}
	json_decref(computer.fault);
	json_decref(computer.warnings);
	json_decref(computer.act);
	json_decref(computer.body);
}
