/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * OpenAI: items `computer_call`, with a list of actions (tool `computer`) or one action (`computer_use_preview`).
 *
 * Shapes and rules are those of the package openai 7.59.0 (types of the Responses API, helpers/computer). The whole turn is checked before
 * anything of it is done, as there. There is no item for errors: what failed is told by the picture, which each output must have, and a
 * message after it. Owner: session/dialects. No threads.
 */
#include "session/dialects/openai.h"

#include <stdio.h>
#include <string.h>

#include "session/base/util.h"
#include "session/dialects/rows.h"

#define CHECKS_MAX 32

/* ---- the envelope: whose fault it is, the harness's ---- */

static int check_ids(const struct turn *turn, const json_t *call, const char *path, struct err *e)
{
	const json_t *id = json_object_get(call, "call_id"), *status = form_given(call, "status");

	if (!json_is_string(id))
		return turn_bad(e, ERR_MISSING_FIELD, path, NULL, "call_id", "\"call_id\" is required: the string that the output has to name");
	if (status && !form_is(status, "completed"))
		return turn_bad(e, ERR_BAD_FIELD, path, NULL, "status", "the status of a call must be \"completed\": the model may not have said all of it");
	for (size_t i = 0; i < turn->n_calls; i++)
		if (json_equal(json_object_get(turn->calls[i].body, "call_id"), id))
			return turn_bad(e, ERR_BAD_FIELD, path, NULL, "call_id", "two calls of one turn have this call_id");
	return 0;
}

static int check_checks(const json_t *checks, const char *path, const char *member, struct err *e)
{
	const json_t *check;
	size_t i;

	if (checks && (!json_is_array(checks) || json_array_size(checks) > CHECKS_MAX))
		return turn_bad(e, ERR_BAD_FIELD, path, NULL, member, "safety checks must be a list, of at most 32");
	json_array_foreach(checks, i, check)
		if (!json_is_string(json_object_get(check, "id")))
			return turn_bad(e, ERR_BAD_FIELD, path, NULL, member, "a safety check must be an object with an \"id\", a string");
	return 0;
}

static bool has_check(const json_t *checks, const json_t *wanted)
{
	const json_t *check;
	size_t i;

	json_array_foreach(checks, i, check)
		if (json_equal(json_object_get(check, "id"), json_object_get(wanted, "id")))
			return true;
	return false;
}

/* Those that nobody has said yes to; false: there are none. */
static bool say_open_checks(const json_t *call, char *out, size_t size)
{
	const json_t *said = form_given(call, "acknowledged_safety_checks"), *check;
	size_t used = 0, i;

	json_array_foreach(form_given(call, "pending_safety_checks"), i, check)
		if (!has_check(said, check) && used < size)
			used += (size_t)snprintf(out + used, size - used, "%s%s: %s", used ? "; " : "", form_string(check, "code", "check"), form_string(check, "message", ""));
	return used > 0;
}

/* Nobody but a person says yes to these: the place asks one, or the harness has to. */
static int check_safety(const struct turn *turn, const json_t *call, const char *path, struct err *e)
{
	const json_t *pending = form_given(call, "pending_safety_checks"), *said = form_given(call, "acknowledged_safety_checks");
	const json_t *check;
	size_t i;

	if (!pending && form_given(call, "action"))
		return turn_bad(e, ERR_MISSING_FIELD, path, NULL, "pending_safety_checks", "\"pending_safety_checks\" is required beside \"action\": a list, which may be empty");
	if (check_checks(pending, path, "pending_safety_checks", e) < 0 || check_checks(said, path, "acknowledged_safety_checks", e) < 0)
		return -1;
	json_array_foreach(said, i, check)
		if (!has_check(pending, check))
			return turn_bad(e, ERR_BAD_FIELD, path, NULL, "acknowledged_safety_checks", "a check is acknowledged here that is not pending");
	json_array_foreach(pending, i, check)
		if (!has_check(said, check) && !turn->place.asks)
			return turn_bad(e, ERR_CONFIRMATION, path, NULL, "pending_safety_checks",
			                "a person must confirm these safety checks; then send the call again with them in \"acknowledged_safety_checks\" as well");
	return 0;
}

/* The actions of a call, new; NULL with *e. */
static json_t *actions_of(const json_t *call, const char *path, struct err *e)
{
	const json_t *one = form_given(call, "action"), *list = form_given(call, "actions");

	if (one && list)
		(void)turn_bad(e, ERR_BAD_FIELD, path, NULL, "actions", "a call has either \"action\" or \"actions\"");
	else if (one)
		return json_pack("[O]", one);
	else if (!list)
		(void)turn_bad(e, ERR_MISSING_FIELD, path, NULL, "actions", "\"actions\" is required: what to do, in order");
	else if (!json_is_array(list) || json_array_size(list) == 0)
		(void)turn_bad(e, ERR_BAD_FIELD, path, NULL, "actions", "the actions of a call must be a list of at least one object");
	else
		return json_incref((json_t *)(uintptr_t)list);
	return NULL;
}

static int read_call(struct turn *turn, const json_t *call, const char *path, struct err *e)
{
	json_auto_t *actions = NULL;
	char warning[TURN_WARNING_BYTES];
	json_t *action;
	size_t i;

	if (check_ids(turn, call, path, e) < 0 || check_safety(turn, call, path, e) < 0 || !(actions = actions_of(call, path, e)) ||
	    turn_call(turn, call, 0, path, e) < 0)
		return -1;
	turn->calls[turn->n_calls - 1].items = json_array_size(actions);
	if (say_open_checks(call, warning, sizeof(warning)))
		turn_warn(turn, warning);
	json_array_foreach(actions, i, action) {
		if (turn->has_fault)
			break;
		turn->item = i;
		openai_add(turn, action);
	}
	return 0;
}

static bool is_call(const json_t *item)
{
	return form_is(json_object_get(item, "type"), "computer_call");
}

/* Calls among the items of a response; the others (messages, reasoning) are not for us. */
static int read_items(struct turn *turn, const json_t *items, const char *path, struct err *e)
{
	char at[ERR_PATH_MAX];
	const json_t *item;
	size_t i;

	json_array_foreach(items, i, item) {
		(void)snprintf(at, sizeof(at), "%s/%zu", path, i);
		if (is_call(item) && read_call(turn, item, at, e) < 0)
			return -1;
	}
	if (turn->n_calls == 0)
		return err_set(e, ERR_MISSING_FIELD, path, "no item here is a computer_call: the model asks for nothing");
	return 0;
}

static int read_response(struct turn *turn, const json_t *response, struct err *e)
{
	const json_t *status = form_given(response, "status");

	if (status && !form_is(status, "completed"))
		return err_set(e, ERR_BAD_FIELD, "/status", "the status of a response must be \"completed\": the model may not have said all of it");
	return read_items(turn, json_object_get(response, "output"), "/output", e);
}

static int read_turn(struct turn *turn, const json_t *body, struct err *e)
{
	if (is_call(body))
		return read_call(turn, body, "", e);
	if (json_is_array(body))
		return read_items(turn, body, "", e);
	if (json_is_array(json_object_get(body, "output")))
		return read_response(turn, body, e);
	return err_set(e, ERR_BAD_FIELD, NULL, "the body must be a computer_call, a list of a response's items, or a response with \"output\"");
}

/* ---- the answer ---- */

/* A computer_call_output. `original` keeps the picture from being made smaller on the model's side. */
static json_t *output_of(const struct turn_call *call, const json_t *picture)
{
	const json_t *checks = form_given(call->body, "pending_safety_checks");
	json_t *screenshot = json_pack("{s:s}", "type", "computer_screenshot"), *output;

	if (picture) {
		auto_free char *url = util_printf("data:%s;base64,%s", turn_media_type(picture), form_string(picture, "data", ""));

		json_object_set_new(screenshot, "image_url", json_string(url));
	}
	if (form_given(call->body, "actions"))
		json_object_set_new(screenshot, "detail", json_string("original"));
	output = json_pack("{s:s,s:O,s:o}", "type", "computer_call_output", "call_id", json_object_get(call->body, "call_id"), "output", screenshot);
	if (json_array_size(checks) > 0)
		json_object_set(output, "acknowledged_safety_checks", (json_t *)(uintptr_t)checks);
	return output;
}

/* The type of the action that failed, quoted as the model wrote it. */
static const char *failed_type(const struct turn_call *call, size_t item, char *out, size_t size)
{
	const json_t *one = form_given(call->body, "action");
	const json_t *type = json_object_get(one ? one : json_array_get(json_object_get(call->body, "actions"), item), "type");

	return err_quote(out, size, json_is_string(type) ? json_string_value(type) : "", json_string_length(type));
}

/* A message that tells the model which action failed and what became of the others. */
static json_t *message_of(const struct turn_call *call, const struct turn_result *result, size_t n_calls, bool refused)
{
	char type[80], id[80];
	const char *rest = refused ? "No action of this turn was done, neither those before it nor those after it."
	                           : "The actions before it were done, those after it were not.";
	auto_free char *which = n_calls < 2 ? util_strdup("") : util_printf(" of the call %s", err_quote(id, sizeof(id), form_string(call->body, "call_id", ""),
	                                                                   strlen(form_string(call->body, "call_id", ""))));
	auto_free char *text = util_printf("Action %zu of %zu%s, %s, failed: %s. %s", result->item + 1, call->items, which,
	                                   failed_type(call, result->item, type, sizeof(type)), result->detail, rest);

	return json_pack("{s:s,s:s,s:[{s:s,s:s}]}", "type", "message", "role", "user", "content", "type", "input_text", "text", text);
}

/* An output for each call, and after a failure a message. */
static json_t *render(const struct turn *turn, const json_t *body, const json_t *reply, bool refused)
{
	json_t *items = json_array(), *message = NULL;

	(void)body;
	for (size_t i = 0; i < turn->n_calls; i++) {
		struct turn_result result = turn_result(turn, i, reply, refused);

		json_array_append_new(items, output_of(&turn->calls[i], result.picture));
		if (result.end == TURN_FAILED)
			message = message_of(&turn->calls[i], &result, turn->n_calls, refused);
	}
	if (message)
		json_array_append_new(items, message);
	return items;
}

/* The first call of a body, if there is one. */
static const json_t *first_call(const json_t *body)
{
	const json_t *items = json_is_array(body) ? body : json_object_get(body, "output"), *item;
	size_t i;

	if (is_call(body))
		return body;
	json_array_foreach(items, i, item)
		if (is_call(item))
			return item;
	return NULL;
}

static bool is_openai(const struct dialect *dialect, const json_t *body)
{
	(void)dialect;
	return first_call(body) || form_is(json_object_get(body, "object"), "response");
}

static bool is_preview(const struct dialect *dialect, const json_t *body)
{
	(void)dialect;
	return form_given(first_call(body), "action");
}

static const struct turn_kind turns = {.read = read_turn, .render = render, .max_calls = LIMIT_TURN_PICTURES, .always_pictured = true};

const struct dialect dialect_openai = {
	.name = "openai",
	.doc = "OpenAI's tool computer: items computer_call with actions",
	.own = &turns,
	.is = is_openai,
	.needs_picture = true,
	.ask = turn_ask,
	.answer = turn_answer,
	.refuse = turn_refuse,
};

const struct dialect dialect_openai_preview = {
	.name = "openai_preview",
	.doc = "OpenAI's tool computer_use_preview: items computer_call with an action",
	.own = &turns,
	.is = is_preview,
	.needs_picture = true,
	.ask = turn_ask,
	.answer = turn_answer,
	.refuse = turn_refuse,
};
