/* SPDX-License-Identifier: GPL-2.0-or-later */
/* First calls, calls that are sent again, and calls that are sent again while the first one runs. */
#include "session/stage/keyed.h"

#include <string.h>
#include <sys/param.h>

#include "session/base/json_text.h"
#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/stage/act.h"
#include "session/stage/batch.h"
#include "session/stage/records.h"

static int take(struct stage *stage, const struct call *call, struct record **record, bool *is_new, struct err *e)
{
	struct records_key key = {.key = call->key, .token = call->token, .request_id = call->request_id, .episode = stage->episode,
	                          .dialect = call->dialect, .body = call->body ? call->body : "", .body_len = call->body_len};

	if (call->sent) {
		key.body = call->sent;
		key.body_len = call->sent_len;
	}
	return records_take(stage->records, &key, util_now_ms(), record, is_new, e);
}

/* What holds a picture, with a word in its place that it is gone; the caller's reference. The holder stays as it is. */
static json_t *without_picture(json_t *holder)
{
	json_t *copy;

	if (!json_is_object(json_object_get(holder, "picture")))
		return json_incref(holder);
	copy = json_copy(holder);
	json_object_set_new(copy, "picture", json_null());
	json_object_set_new(copy, "reason", json_string("gone"));
	return copy;
}

void keyed_keep(struct stage *stage, struct call *call, const json_t *reply)
{
	json_auto_t *kept = call->record ? json_copy((json_t *)(uintptr_t)reply) : NULL;
	json_t *results, *result;
	size_t i;

	if (!kept)
		return;
	results = json_array();
	json_array_foreach(json_object_get(kept, "results"), i, result)
		json_array_append_new(results, without_picture(result));
	json_object_set_new(kept, "results", results);
	if (json_object_get(kept, "observation"))
		json_object_set_new(kept, "observation", without_picture(json_object_get(kept, "observation")));
	records_finish(stage->records, call->record, json_text(kept, NULL), util_now_ms());
	call->record = NULL;
}

/* It had one, which may still be what the display shows. */
static bool lacks_picture(const struct stage *stage, const json_t *holder, uint64_t frame)
{
	return json_is_null(json_object_get(holder, "picture")) && display_frame(stage->display) == frame;
}

static void put_picture(json_t *holder, json_t *picture)
{
	json_object_set_new(holder, "picture", picture);
	json_object_del(holder, "reason");
}

/* That of the observation, in its space. */
static void add_seen(struct stage *stage, const struct call *call, const struct batch *batch, json_t *observation)
{
	uint64_t frame = (uint64_t)json_integer_value(json_object_get(json_object_get(observation, "at"), "frame"));
	const json_t *side = json_object_get(observation, "space");
	const struct space space = {(int)form_int(side, "width", 1), (int)form_int(side, "height", 1)};
	struct display_request request = display_request_read(batch->observe, space, stage->native);
	struct display_picture picture;
	json_t *object;

	if (!lacks_picture(stage, observation, frame) || display_picture(stage->display, &request, &picture, NULL) < 0)
		return;
	if (picture.frame == frame && display_picture_json(&picture, &object, NULL) == 0) {
		put_picture(observation, object);
		guard_note(stage, call, frame, display_request_region(&request));
	}
	display_picture_drop(&picture);
}

/* That of a screenshot among the actions, taken once more. */
static void add_taken(struct stage *stage, const struct batch_step *step, json_t *result)
{
	json_auto_t *again = json_object();
	struct action_run run = {.home = step->home, .args = step->args, .asked = step->asked, .result = again,
	                               .deadline_ms = util_now_ms() + LIMIT_X_WAIT_MS, .space = step->place.space, .native = step->place.native};
	json_int_t frame = json_integer_value(json_object_get(result, "frame"));

	if (!(step->row->flags & ACTION_LOOKS) || !lacks_picture(stage, result, (uint64_t)frame))
		return;
	if (step->row->run(&run, NULL) == 0 && json_integer_value(json_object_get(again, "frame")) == frame)
		put_picture(result, json_incref(json_object_get(again, "picture")));
}

/* Pictures of frames that the display still shows. */
static void add_pictures(struct stage *stage, const struct call *call, const json_t *reply)
{
	const struct batch_place place = stage_place(stage);
	struct batch *batch = util_zalloc(sizeof(*batch));
	struct err list[LIMIT_FAULTS];
	struct faults faults = {.list = list, .max = LIMIT_FAULTS};
	json_t *result;
	size_t i;

	if (batch_read(batch, call->body, call->body_len, stage->sets, stage->n_sets, &place, &faults) == 0) {
		json_array_foreach(json_object_get(reply, "results"), i, result)
			if (i < batch->n_steps)
				add_taken(stage, &batch->steps[i], result);
		add_seen(stage, call, batch, json_object_get(reply, "observation"));
		batch_free(batch);
	}
	free(batch);
}

static void replay(struct stage *stage, struct call *call, const struct record *record)
{
	json_auto_t *reply = json_loads(record_reply(record), JSON_ALLOW_NUL, NULL); /* output of a command may have any character */
	json_auto_t *headers = json_pack("{s:s}", "Idempotency-Replayed", "true");

	add_pictures(stage, call, reply);
	call_reply_json(call, 200, headers, reply);
}

static void run_first(struct stage *stage, struct call *call, struct record *record)
{
	call->record = record;
	act_call(stage, call);
	/* It was refused, or only checked. */
	if (call->record)
		records_release(stage->records, call->record);
	call->record = NULL;
}

/* How long this call may take in all: of a body that is the same as the one that was found good. */
static int64_t time_limit_ms(const struct call *call)
{
	json_auto_t *body = NULL;

	if (json_parse_few(call->body, call->body_len, LIMIT_ACT_VALUES, &body, NULL) < 0)
		return LIMIT_CALL_DEFAULT_MS;
	return MIN(form_int(body, "timeout_ms", LIMIT_CALL_DEFAULT_MS), LIMIT_CALL_MS); /* it may not be checked yet */
}

/* Nobody needs an answer that was only waited for. */
static int join(struct call *call, struct record *record, int64_t since_ms, struct err *e)
{
	int rc;

	if (!call->connection)
		return err_set(e, ERR_CANCELLED, NULL, "the caller has left");
	call->runs_on = false;
	rc = record_wait(record, since_ms + time_limit_ms(call), e);
	call->runs_on = true;
	if (rc < 0 && e->code == ERR_TIMEOUT)
		return err_set(e, ERR_TIMEOUT, NULL, "the call with this Idempotency-Key still runs");
	return rc;
}

void keyed_act(struct stage *stage, struct call *call)
{
	struct record *record = NULL;
	int64_t since_ms = util_now_ms();
	bool is_new = false;
	struct err e;
	int rc;

	if (!call->key) {
		act_call(stage, call);
		return;
	}
	/* One that was refused after all has left the key free: then this is the first. */
	while ((rc = take(stage, call, &record, &is_new, &e)) == 0 && !is_new && !record_reply(record))
		if ((rc = join(call, record, since_ms, &e)) < 0)
			break;
	if (rc < 0)
		call_refuse(call, &e);
	else if (is_new)
		run_first(stage, call, record);
	else
		replay(stage, call, record);
}
