/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines of an act. */
#include "session/stage/record.h"

#include "session/base/log.h"
#include "session/base/space.h"
#include "session/base/util.h"

/* Whose call, and at what. */
static json_t *who(const struct stage *stage, const struct call *call)
{
	return json_pack("{s:{s:s,s:s},s:s,s:I,s:I,s:I}", "actor", "role", call->role_name, "token", call->token, "request", call->request_id,
	                 "epoch", (json_int_t)stage->epoch, "episode", (json_int_t)stage->episode, "frame",
	                 (json_int_t)lease_frame(stage));
}

/* And where in it. */
static json_t *who_and_where(const struct stage *stage, const struct call *call, size_t index)
{
	json_t *fields = who(stage, call);

	json_object_set_new(fields, "index", json_integer((json_int_t)index));
	return fields;
}

/* Names a picture, if there is one. */
static void set_picture(json_t *fields, const char *name, int64_t number)
{
	if (number > 0)
		json_object_set_new(fields, name, json_integer(number));
}

static void note(struct stage *stage, const char *event, json_t *fields)
{
	struct err e;

	if (journal_add(stage->journal, event, fields, &e) < 0)
		log_err(LOG_ERROR, &e, "journal");
}

int record_call(struct stage *stage, const struct call *call, const struct batch *batch, struct err *e)
{
	bool only_looks = batch->n_steps == 0;
	int64_t before;
	json_t *fields;

	if (only_looks && journal_is_full(stage->journal))
		return 0;
	recording_begin_call(stage);
	before = recording_take(stage);
	fields = who(stage, call);
	json_object_set_new(fields, "actions", json_integer((json_int_t)batch->n_steps));
	if (batch->observe)
		json_object_set(fields, "observe", (json_t *)(uintptr_t)batch->observe);
	json_object_set_new(fields, "space", space_json(batch->place.space));
	json_object_set_new(fields, "timeout_ms", json_integer(batch->timeout_ms));
	if (call->dialect)
		json_object_set_new(fields, "dialect", json_string(call->dialect));
	set_picture(fields, "before", before);
	if (!only_looks)
		return journal_add(stage->journal, "call", fields, e);
	note(stage, "call", fields);
	return 0;
}

/* Which rule let it through, and by whose answer. */
static json_t *verdict_json(const struct approvals_verdict *verdict)
{
	if (!verdict->rule[0])
		return NULL;
	return json_pack("{s:s,s:s*,s:b}", "rule", verdict->rule, "approval", verdict->approval[0] ? verdict->approval : NULL, "for_session",
	                 verdict->for_session);
}

int record_intent(struct stage *stage, const struct call *call, const struct batch *batch, size_t index, enum journal_text text,
                  const struct approvals_verdict *verdict, struct err *e)
{
	const struct batch_step *step = &batch->steps[index];
	json_t *fields = who_and_where(stage, call, index);
	json_t *kept = journal_action(step->asked, text);
	json_t *action = json_pack("{s:s}", "action", step->row->name);

	json_object_update_missing(action, kept);
	json_decref(kept);
	json_object_set_new(fields, "space", space_json(step->place.space));
	json_object_set_new(fields, "action", action);
	json_object_set_new(fields, "verdict", verdict_json(verdict)); /* without one: no rule has a word for it */
	/* Nothing was done since the last look. */
	set_picture(fields, "before", stage->recording.now);
	return journal_add(stage->journal, "intent", fields, e);
}

static void copy_nodes(json_t *fields, const json_t *result)
{
	static const char *const names[] = {"node", "node_to", "node_reason"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (json_object_get(result, names[i]))
			json_object_set(fields, names[i], json_object_get(result, names[i]));
}

/* Of a result the journal keeps numbers, truths, the error and what it met: no other text of the session and no picture. */
void record_result(struct stage *stage, const struct call *call, size_t index, const json_t *result)
{
	int64_t after = recording_take(stage);
	json_t *fields = who_and_where(stage, call, index);
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)result, key, value)
		if (json_is_number(value) || json_is_boolean(value))
			json_object_set(fields, key, value);
	value = json_object_get(json_object_get(result, "error"), "code");
	if (value)
		json_object_set(fields, "error", value);
	if (stage->keep_nodes)
		copy_nodes(fields, result);
	set_picture(fields, "after", after);
	/* The events have happened: the reply must not be lost for the line's sake. The next intent will be refused. */
	note(stage, "result", fields);
}

void record_observation(struct stage *stage, const struct call *call, const struct batch *batch, const json_t *observation)
{
	int64_t after;
	json_t *fields;

	if (batch->n_steps == 0 && journal_is_full(stage->journal))
		return;
	after = recording_take(stage);
	fields = who(stage, call);
	json_object_set(fields, "settled", json_object_get(observation, "settled"));
	json_object_set(fields, "elapsed_ms", json_object_get(observation, "elapsed_ms"));
	if (json_object_get(observation, "error"))
		json_object_set(fields, "error", json_object_get(json_object_get(observation, "error"), "code"));
	set_picture(fields, "after", after);
	note(stage, "observation", fields);
}
