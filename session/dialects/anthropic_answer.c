/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The answer to a model's turn, in the form in which that came. */
#include <stdio.h>
#include <string.h>

#include "session/base/util.h"
#include "session/dialects/anthropic.h"
#include "session/dialects/why.h"

#define NOT_EXECUTED "Not executed: an earlier computer action in this turn failed."
#define NO_PICTURE "This screenshot was sent before and is not kept: take another one."

static json_t *text_block(const char *text)
{
	return json_pack("{s:s,s:s}", "type", "text", "text", text);
}

/* An error holds text and nothing else, and some of it. */
static json_t *error_of(const char *text)
{
	return json_pack("{s:[o],s:b}", "content", text_block(text), "is_error", 1);
}

static json_t *picture_block(const json_t *picture)
{
	auto_free char *type = util_printf("image/%s", form_string(picture, "format", "png"));

	if (!json_is_object(picture))
		return text_block(NO_PICTURE);
	return json_pack("{s:s,s:{s:s,s:s,s:O}}", "type", "image", "source", "type", "base64", "media_type", type, "data",
	                 json_object_get(picture, "data"));
}

/* The results of the act, call by call. */
struct telling {
	const struct anthropic_tool *tool;
	struct dialect_place place;
	const json_t *results, *observation;
	size_t at;   /* the next result */
	bool failed; /* a call before */
};

/* The picture that a call has asked for: of the act's end for the last one of the turn. A failure to look is one of the call. */
static const json_t *take_picture(struct telling *t, bool is_last, const json_t **error)
{
	const json_t *holder = is_last ? t->observation : json_array_get(t->results, t->at - 1);

	*error = json_object_get(holder, "error");
	return json_object_get(holder, "picture");
}

/* The results of this call's own actions; its first that failed, or NULL. */
static const json_t *take_results(struct telling *t, size_t n, const json_t **last)
{
	for (size_t i = 0; i < n; i++, t->at++) {
		const json_t *result = json_array_get(t->results, t->at);

		if (!json_is_true(json_object_get(result, "ok")))
			return result ? result : t->results;
		*last = result;
	}
	return NULL;
}

static json_t *tell_done(struct telling *t, const struct anthropic_call *call, const struct anthropic_step *step, const json_t *result, bool is_last)
{
	json_t *content = json_array();
	const json_t *x = json_object_get(result, "x"), *error = NULL;

	if (t->tool->is_toolset && step->action->said) {
		auto_free char *said = anthropic_acknowledge(step->action, call->input);

		(void)json_array_append_new(content, text_block(said));
	}
	if (x && !step->look)
		(void)json_array_append_new(content, json_pack("{s:s,s:o}", "type", "text", "text",
		                                               json_sprintf("X=%ld,Y=%ld", form_int(result, "x", 0), form_int(result, "y", 0))));
	if (step->look)
		(void)json_array_append_new(content, picture_block(take_picture(t, is_last, &error)));
	if (!error)
		return json_pack("{s:o}", "content", content);
	json_decref(content);
	t->failed = true;
	auto_free char *why = anthropic_explain(t->tool, call, error);

	return error_of(why);
}

/* {"content"} or {"content","is_error"}. */
static json_t *tell(struct telling *t, const struct anthropic_call *call, bool is_last)
{
	struct anthropic_step step = {.action = NULL};
	const json_t *bad, *last = NULL;
	struct err ignored;
	json_t *told;
	int rc;

	if (t->failed)
		return error_of(NOT_EXECUTED);
	rc = anthropic_read(t->tool, call, &t->place, &step, &ignored);
	/* A picture in the middle of a turn has two actions of its own: it is waited for, and taken. */
	bad = take_results(t, rc < 0 ? 1 : json_array_size(step.acts) + (step.look && !is_last ? 2 : 0), &last);
	if (rc == 0 && !bad) {
		told = tell_done(t, call, &step, last, is_last);
	} else {
		auto_free char *why = anthropic_explain(t->tool, call, json_object_get(bad, "error"));

		t->failed = true;
		told = error_of(why);
	}
	if (rc == 0)
		anthropic_step_finish(&step);
	return told;
}

/* As a block of its own, unless the call has come without one. */
static json_t *wrap(enum anthropic_form form, const struct anthropic_call *call, json_t *told)
{
	json_t *block;

	if (form == ANTHROPIC_INPUT)
		return told;
	block = json_pack("{s:s,s:O,s:O*}", "type", "tool_result", "tool_use_id", json_object_get(call->block, "id"), "toolset_name",
	                  json_is_string(json_object_get(call->block, "toolset_name")) ? json_object_get(call->block, "toolset_name") : NULL);
	(void)json_object_update(block, told);
	json_decref(told);
	return block;
}

/* All that was told, in the turn's form; `list` is taken. */
static json_t *finish(enum anthropic_form form, json_t *list)
{
	json_t *one;

	if (form == ANTHROPIC_BLOCKS || form == ANTHROPIC_MESSAGE)
		return list;
	one = json_incref(json_array_get(list, 0));
	json_decref(list);
	return one;
}

json_t *anthropic_answer(const struct dialect *dialect, const json_t *body, const struct dialect_place *session, const json_t *reply)
{
	const struct anthropic_tool *tool = dialect->own;
	struct anthropic_turn turn = anthropic_turn_read(tool, body);
	struct telling t = {.tool = tool, .place = anthropic_place(tool, session), .results = json_object_get(reply, "results"),
	                    .observation = json_object_get(reply, "observation")};
	json_t *list = json_array();

	for (size_t i = 0; i < turn.n; i++)
		(void)json_array_append_new(list, wrap(turn.form, &turn.calls[i], tell(&t, &turn.calls[i], i + 1 == turn.n)));
	anthropic_turn_finish(&turn);
	return finish(turn.form, list);
}

json_t *anthropic_refuse(const struct dialect *dialect, const json_t *body, const struct dialect_place *session, const json_t *problem)
{
	json_auto_t *reply = NULL;

	if (!why_is_models(problem))
		return NULL;
	reply = json_pack("{s:b,s:[{s:b,s:O}]}", "ok", 0, "results", "ok", 0, "error", problem);
	return anthropic_answer(dialect, body, session, reply);
}
