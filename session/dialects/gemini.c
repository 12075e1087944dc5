/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Gemini: function calls, of generateContent (parts, contents, candidates, whole responses) and of the Interactions API (steps).
 *
 * Calls are done one after the other until one fails, as in Google's sample, each with a picture after it. What needs a person's yes
 * (safety_decision) is not done until the harness says beside the arguments, where no model writes, that it has one. Shapes are those of the
 * package @google/genai 3.3.0. Owner: session/dialects. No threads.
 */
#include "session/dialects/gemini.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "session/base/util.h"
#include "session/dialects/rows.h"

/* The API wants an address with each result, and a desktop has none. */
#define SCREEN_URL "glovebox://desktop"
#define NOT_DONE "Not executed: another call of this turn failed."

/* What a call was sent as, and is answered as. */
enum shape {
	SHAPE_NONE,
	SHAPE_BARE,  /* {"name","args"} */
	SHAPE_PART,  /* {"functionCall":{…}} */
	SHAPE_SNAKE, /* {"function_call":{…}} */
	SHAPE_STEP,  /* {"type":"function_call","name","arguments","id"} */
};

/* A call out of its wrapping. */
struct call {
	enum shape shape;
	const json_t *inner; /* holds name, id and safety_acknowledgement */
	const json_t *name;
	const json_t *args;  /* NULL: none */
	const char *args_at; /* the member that holds them */
};

static const json_t *inner_of(const json_t *item, enum shape *shape)
{
	const json_t *part = form_given(item, "functionCall"), *snake = form_given(item, "function_call");

	*shape = part ? SHAPE_PART : snake ? SHAPE_SNAKE : SHAPE_NONE;
	if (part || snake)
		return part ? part : snake;
	if (form_is(json_object_get(item, "type"), "function_call") && !json_is_string(json_object_get(item, "arguments")))
		*shape = SHAPE_STEP;
	else if (json_is_string(json_object_get(item, "name")) && !json_object_get(item, "type") && !json_object_get(item, "response"))
		*shape = SHAPE_BARE;
	return item;
}

static struct call call_of(const json_t *item)
{
	struct call call = {.args_at = "args"};

	call.inner = inner_of(item, &call.shape);
	if (call.shape == SHAPE_STEP)
		call.args_at = "arguments";
	call.name = json_object_get(call.inner, "name");
	call.args = form_given(call.inner, call.args_at);
	return call;
}

/* ---- the envelope ---- */

/* The list in which calls are, and its pointer; the body itself when it is a call, NULL when it is nothing known. */
static const json_t *items_of(const json_t *body, const char **path)
{
	const json_t *candidate = json_array_get(json_object_get(body, "candidates"), 0);
	const json_t *content = json_object_get(candidate ? candidate : body, "content");
	const struct {
		const json_t *list;
		const char *path;
	} places[] = {
		{json_is_array(body) ? body : NULL, ""},
		{json_object_get(content, "parts"), candidate ? "/candidates/0/content/parts" : "/content/parts"},
		{json_object_get(body, "parts"), "/parts"},
		{json_object_get(body, "steps"), "/steps"},
		{json_object_get(body, "outputs"), "/outputs"},
	};

	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		*path = places[i].path;
		if (json_is_array(places[i].list))
			return places[i].list;
	}
	*path = "";
	return call_of(body).shape == SHAPE_NONE ? NULL : body;
}

/* The answer is a content, to be appended to the contents; otherwise a list or one object as the body is. */
static bool answers_with_content(const json_t *body)
{
	return json_is_array(json_object_get(body, "candidates")) || json_is_object(json_object_get(body, "content")) ||
	       json_is_array(json_object_get(body, "parts"));
}

/* Google's pages have true, its sample "true". */
static bool is_acknowledged(const struct call *call)
{
	const json_t *said = json_object_get(call->inner, "safety_acknowledgement");

	return json_is_true(said) || form_is(said, "true");
}

static bool needs_person(const struct call *call)
{
	return form_is(json_object_get(form_given(call->args, "safety_decision"), "decision"), "require_confirmation");
}

/* Only what is known to be harmless goes through by itself. */
static int check_safety(const struct turn *turn, const struct call *call, const char *path, struct err *e)
{
	static const char *const harmless[] = {"regular", "allowed", "allow"};
	const json_t *safety = form_given(call->args, "safety_decision"), *decision = json_object_get(safety, "decision");

	if (!safety)
		return 0;
	if (needs_person(call))
		return is_acknowledged(call) || turn->place.asks ? 0 : turn_bad(e, ERR_CONFIRMATION, path, call->args_at, "safety_decision",
		                                            "a person must confirm this call; then send it again with \"safety_acknowledgement\": true beside its arguments");
	for (size_t i = 0; json_is_string(decision) && i < ARRAY_LEN(harmless); i++)
		if (strcasecmp(json_string_value(decision), harmless[i]) == 0)
			return 0;
	return turn_bad(e, ERR_BAD_FIELD, path, call->args_at, "safety_decision",
	                "this decision is not known here, so the call is not done: known are require_confirmation, regular and allowed");
}

static int check_call(const struct turn *turn, const struct call *call, const char *path, struct err *e)
{
	static const char *const pieces[] = {"willContinue", "will_continue", "partialArgs", "partial_args"};

	if (!json_is_object(call->inner) || !json_is_string(call->name))
		return turn_bad(e, ERR_MISSING_FIELD, path, NULL, "name", "\"name\" is required: the function that is called");
	if (call->args && !json_is_object(call->args))
		return turn_bad(e, ERR_BAD_FIELD, path, NULL, call->args_at, "the arguments of a call must be an object");
	if (call->shape == SHAPE_STEP && !json_is_string(json_object_get(call->inner, "id")))
		return turn_bad(e, ERR_MISSING_FIELD, path, NULL, "id", "\"id\" is required: the string that the result has to name");
	for (size_t i = 0; i < ARRAY_LEN(pieces); i++)
		if (form_given(call->inner, pieces[i]) && !json_is_false(json_object_get(call->inner, pieces[i])))
			return turn_bad(e, ERR_BAD_FIELD, path, NULL, pieces[i], "this is a piece of a call: send it when it is whole");
	return check_safety(turn, call, path, e);
}

/* What nobody has said yes to yet. */
static void warn(struct turn *turn, const struct call *call)
{
	if (needs_person(call) && !is_acknowledged(call))
		turn_warn(turn, form_string(form_given(call->args, "safety_decision"), "explanation", ""));
}

static int read_call(struct turn *turn, const json_t *item, const char *path, struct err *e)
{
	struct call call = call_of(item);
	char at[ERR_PATH_MAX];

	(void)snprintf(at, sizeof(at), "%s%s", path, call.shape == SHAPE_PART ? "/functionCall" : call.shape == SHAPE_SNAKE ? "/function_call" : "");
	if (check_call(turn, &call, at, e) < 0 || turn_call(turn, item, (int)call.shape, path, e) < 0)
		return -1;
	warn(turn, &call);
	gemini_add(turn, call.name, call.args);
	return 0;
}

/* Other parts and steps (text, thoughts) are not for us. */
static int read_turn(struct turn *turn, const json_t *body, struct err *e)
{
	char at[ERR_PATH_MAX];
	const char *path;
	const json_t *items = items_of(body, &path), *item;
	size_t i;

	if (!items)
		return err_set(e, ERR_BAD_FIELD, NULL, "the body must be a function call, a list of them, a content, a response, a step or an interaction");
	if (!json_is_array(items))
		return read_call(turn, items, "", e);
	json_array_foreach(items, i, item) {
		(void)snprintf(at, sizeof(at), "%s/%zu", path, i);
		if (call_of(item).shape != SHAPE_NONE && read_call(turn, item, at, e) < 0)
			return -1;
	}
	if (turn->n_calls == 0)
		return err_set(e, ERR_MISSING_FIELD, path, "there is no function call in it: the model asks for nothing");
	return 0;
}

/* ---- the answer ---- */

/* What a call is told: its address, an error, and that a person has seen the question, without which the vendor takes no answer. */
static json_t *told(const struct call *call, const struct turn_result *result)
{
	json_t *response = json_pack("{s:s}", "url", SCREEN_URL);

	if (result->end == TURN_FAILED)
		json_object_set_new(response, "error", json_string(result->detail));
	if (result->end == TURN_NOT_DONE)
		json_object_set_new(response, "error", json_string(NOT_DONE));
	if (needs_person(call))
		json_object_set_new(response, "safety_acknowledgement", json_true());
	return response;
}

static json_t *step_result(const struct call *call, const struct turn_result *result)
{
	json_auto_t *response = told(call, result);
	auto_free char *text = json_dumps(response, JSON_COMPACT);
	json_t *step = json_pack("{s:s,s:O,s:O,s:[{s:s,s:s}]}", "type", "function_result", "name", call->name, "call_id",
	                         json_object_get(call->inner, "id"), "result", "type", "text", "text", text);

	if (result->picture)
		json_array_append_new(json_object_get(step, "result"), json_pack("{s:s,s:s,s:O}", "type", "image", "mime_type", turn_media_type(result->picture),
		                                                                "data", json_object_get(result->picture, "data")));
	if (result->end != TURN_DONE)
		json_object_set_new(step, "is_error", json_true());
	return step;
}

static json_t *picture_part(const json_t *picture, bool snake)
{
	return json_pack("{s:{s:s,s:O}}", snake ? "inline_data" : "inlineData", snake ? "mime_type" : "mimeType", turn_media_type(picture), "data",
	                 json_object_get(picture, "data"));
}

static json_t *function_response(const struct call *call, const struct turn_result *result)
{
	const json_t *id = form_given(call->inner, "id");
	json_t *response = json_pack("{s:O,s:o}", "name", call->name, "response", told(call, result));

	if (id)
		json_object_set(response, "id", (json_t *)(uintptr_t)id);
	if (result->picture)
		json_object_set_new(response, "parts", json_pack("[o]", picture_part(result->picture, call->shape == SHAPE_SNAKE)));
	return response;
}

static json_t *one_answer(const struct turn_call *body, const struct turn_result *result)
{
	struct call call = call_of(body->body);

	if (call.shape == SHAPE_STEP)
		return step_result(&call, result);
	if (call.shape == SHAPE_BARE)
		return function_response(&call, result);
	return json_pack("{s:o}", call.shape == SHAPE_SNAKE ? "function_response" : "functionResponse", function_response(&call, result));
}

static json_t *render(const struct turn *turn, const json_t *body, const json_t *reply, bool refused)
{
	json_t *list = json_array(), *one;

	for (size_t i = 0; i < turn->n_calls; i++) {
		struct turn_result result = turn_result(turn, i, reply, refused);

		json_array_append_new(list, one_answer(&turn->calls[i], &result));
	}
	if (answers_with_content(body))
		return json_pack("{s:s,s:o}", "role", "user", "parts", list);
	if (json_is_array(body) || json_is_array(json_object_get(body, "steps")) || json_is_array(json_object_get(body, "outputs")))
		return list;
	one = json_incref(json_array_get(list, 0));
	json_decref(list);
	return one;
}

/* ---- whose body it is ---- */

/* The sets of all names in it, each by itself: which calls there are, and whether one is of the earlier set alone. */
static bool has_calls(const json_t *body, bool *legacy)
{
	const char *path;
	const json_t *items = items_of(body, &path);
	size_t n = json_is_array(items) ? json_array_size(items) : items ? 1 : 0;
	bool found = false;

	*legacy = false;
	for (size_t i = 0; i < n; i++) {
		struct call call = call_of(json_is_array(items) ? json_array_get(items, i) : items);

		found |= call.shape != SHAPE_NONE;
		*legacy |= gemini_sets(call.name) == GEMINI_LEGACY;
	}
	return found;
}

static bool is_gemini(const struct dialect *dialect, const json_t *body)
{
	bool legacy;

	(void)dialect;
	return has_calls(body, &legacy) || json_is_array(json_object_get(body, "candidates"));
}

static bool is_legacy(const struct dialect *dialect, const json_t *body)
{
	bool legacy;

	(void)dialect;
	return has_calls(body, &legacy) && legacy;
}

const struct dialect dialect_gemini = {
	.name = "gemini",
	.doc = "Gemini's computer use on a desktop: function calls click, type, hotkey, … on a grid of 1000",
	.own = &(const struct turn_kind){.read = read_turn, .render = render, .max_calls = LIMIT_TURN_CALLS, .set = GEMINI_DESKTOP},
	.is = is_gemini,
	.runs_until_fault = true,
	.needs_picture = true,
	.ask = turn_ask,
	.answer = turn_answer,
	.refuse = turn_refuse,
};

const struct dialect dialect_gemini_legacy = {
	.name = "gemini_legacy",
	.doc = "Gemini's earlier computer use: function calls click_at, type_text_at, key_combination, …",
	.own = &(const struct turn_kind){.read = read_turn, .render = render, .max_calls = LIMIT_TURN_CALLS, .set = GEMINI_LEGACY},
	.is = is_legacy,
	.runs_until_fault = true,
	.needs_picture = true,
	.ask = turn_ask,
	.answer = turn_answer,
	.refuse = turn_refuse,
};
