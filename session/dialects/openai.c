/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * OpenAI: items `computer_call`, with a list of actions (tool `computer`) or one action (`computer_use_preview`).
 *
 * Shapes and rules are those of the package openai 7.59.0 (types of the Responses API, helpers/computer). The whole turn is checked before
 * anything of it is done, as there. There is no item for errors: what failed is told by the picture, which each output must have, and a
 * message after it. Distances of the wheel are pixels. Owner: session/dialects. No threads.
 */
#include "session/dialects/rows.h"

#include <stdio.h>
#include <string.h>

#include "session/base/util.h"
#include "session/dialects/turn.h"
#include "session/dialects/why.h"

#define WAIT_MS 2000 /* of the action `wait`, which has no time of its own */
#define CHECKS_MAX 32

struct kind {
	const char *name; /* of the member "type" */
	struct form form;
	void (*make)(struct turn *turn, json_t *fields);
};

/* The members of an action beside its type. */
#define X_FIELD {"x", FIELD_X, true, 0, 0, NULL, NULL, "px", NULL, "column"}
#define Y_FIELD {"y", FIELD_Y, true, 0, 0, NULL, NULL, "px", NULL, "row"}
#define KEYS_FIELD {"keys", FIELD_STRINGS, false, 0, LIMIT_CHORD_KEYS, NULL, NULL, NULL, NULL, "names of keys that are held meanwhile"}
#define WAY_FIELD(name, doc) {name, FIELD_INT, true, -LIMIT_SCROLL_PX, LIMIT_SCROLL_PX, NULL, NULL, "px", NULL, doc}

static const struct field click_fields[] = {
	X_FIELD,
	Y_FIELD,
	{"button", FIELD_ENUM, true, 0, 0, "left right wheel back forward", NULL, NULL, NULL, "the mouse button"},
	KEYS_FIELD,
};
static const struct field place_fields[] = {X_FIELD, Y_FIELD, KEYS_FIELD};
static const struct field point_fields[] = {X_FIELD, Y_FIELD};
static const struct form point_form = {point_fields, ARRAY_LEN(point_fields), NULL};
static const struct field drag_fields[] = {
	{"path", FIELD_LIST, true, 2, LIMIT_PATH_POINTS, NULL, &point_form, NULL, NULL, "points {x, y}"},
	KEYS_FIELD,
};
static const struct field keypress_fields[] = {
	{"keys", FIELD_STRINGS, true, 1, LIMIT_CHORD_KEYS, NULL, NULL, NULL, NULL, "names of keys that are pressed together"},
};
static const struct field scroll_fields[] = {
	X_FIELD,
	Y_FIELD,
	WAY_FIELD("scroll_x", "pixels to the right"),
	WAY_FIELD("scroll_y", "pixels down"),
	KEYS_FIELD,
};
static const struct field type_fields[] = {
	{"text", FIELD_STRING, true, 0, LIMIT_TEXT_BYTES, NULL, NULL, NULL, NULL, "what is typed"},
};

/* Names of keys that are held are ours under another name; an empty list is none. */
static void hold(json_t *fields)
{
	json_t *keys = json_incref(json_object_get(fields, "keys"));

	json_object_del(fields, "keys");
	if (json_array_size(keys) > 0)
		json_object_set(fields, "hold", keys);
	json_decref(keys);
}

/* The fields as an action of ours with this name. */
static void add(struct turn *turn, const char *name, json_t *fields)
{
	json_object_set_new(fields, "action", json_string(name));
	turn_add(turn, json_incref(fields));
}

static void make_click(struct turn *turn, json_t *fields)
{
	if (strcmp(form_string(fields, "button", ""), "wheel") == 0)
		json_object_set_new(fields, "button", json_string("middle"));
	hold(fields);
	add(turn, "click", fields);
}

static void make_double_click(struct turn *turn, json_t *fields)
{
	json_object_set_new(fields, "count", json_integer(2));
	hold(fields);
	add(turn, "click", fields);
}

static void make_drag(struct turn *turn, json_t *fields)
{
	json_t *path = json_array(), *point;
	size_t i;

	json_array_foreach(json_object_get(fields, "path"), i, point)
		json_array_append_new(path, json_pack("[O,O]", json_object_get(point, "x"), json_object_get(point, "y")));
	json_object_set_new(fields, "path", path);
	hold(fields);
	add(turn, "drag", fields);
}

static void make_keypress(struct turn *turn, json_t *fields)
{
	add(turn, "key", fields);
}

/* A move of ours holds no keys: they are pressed before it and let go after it. */
static void make_move(struct turn *turn, json_t *fields)
{
	json_t *keys;

	hold(fields);
	keys = json_incref(json_object_get(fields, "hold"));
	json_object_del(fields, "hold");
	if (keys)
		turn_add(turn, json_pack("{s:s,s:O}", "action", "key_down", "keys", keys));
	add(turn, "move", fields);
	if (keys)
		turn_add(turn, json_pack("{s:s,s:O}", "action", "key_up", "keys", keys));
	json_decref(keys);
}

static void make_scroll(struct turn *turn, json_t *fields)
{
	hold(fields);
	turn_scroll(turn, fields, form_number(fields, "scroll_x", 0), form_number(fields, "scroll_y", 0));
}

static void make_type(struct turn *turn, json_t *fields)
{
	add(turn, "type", fields);
}

static void make_wait(struct turn *turn, json_t *fields)
{
	(void)fields;
	turn->wait_ms += WAIT_MS;
	turn_add(turn, json_pack("{s:s,s:i}", "action", "wait", "duration_ms", WAIT_MS));
}

/* There is one picture, after all actions. */
static void make_nothing(struct turn *turn, json_t *fields)
{
	(void)turn;
	(void)fields;
}

#define FORM(fields) {fields, ARRAY_LEN(fields), NULL}
static const struct kind kinds[] = {
	{"click", FORM(click_fields), make_click},
	{"double_click", FORM(place_fields), make_double_click},
	{"drag", FORM(drag_fields), make_drag},
	{"keypress", FORM(keypress_fields), make_keypress},
	{"move", FORM(place_fields), make_move},
	{"screenshot", {NULL, 0, NULL}, make_nothing},
	{"scroll", FORM(scroll_fields), make_scroll},
	{"type", FORM(type_fields), make_type},
	{"wait", {NULL, 0, NULL}, make_wait},
};

static const struct kind *find_kind(const json_t *name)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (turn_is(name, kinds[i].name))
			return &kinds[i];
	return NULL;
}

static void unknown_kind(struct turn *turn, const json_t *name)
{
	const char *names[ARRAY_LEN(kinds) + 1] = {NULL};

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		names[i] = kinds[i].name;
	turn_unknown(turn, "the type of an action of a computer_call", name, names);
}

/* Points with nulls and 12.0 in them are those of other encoders, too. */
static void tidy_path(json_t *fields)
{
	json_t *path = json_object_get(fields, "path"), *tidy = json_array(), *point;
	size_t i;

	json_array_foreach(path, i, point)
		json_array_append_new(tidy, json_is_object(point) ? turn_fields(point) : json_incref(point));
	if (json_is_array(path))
		json_object_set(fields, "path", tidy);
	json_decref(tidy);
}

/* One action of a call, whose fault, if it has one, is the model's. */
static void read_action(struct turn *turn, const json_t *action, const struct bounds *bounds)
{
	json_auto_t *fields = turn_fields(action);
	const json_t *name = json_object_get(action, "type");
	const struct kind *kind = find_kind(name);
	struct err e;

	if (!kind) {
		unknown_kind(turn, name);
		return;
	}
	json_object_del(fields, "type");
	tidy_path(fields);
	if (form_check(&kind->form, fields, "", bounds, &e) < 0)
		turn_fault(turn, &e);
	else
		kind->make(turn, fields);
}

/* ---- the envelope: whose fault it is, the harness's ---- */

static int bad(struct err *e, enum err_code code, const char *path, const char *member, const char *text)
{
	char at[ERR_PATH_MAX];

	(void)snprintf(at, sizeof(at), "%s", path);
	if (member)
		(void)form_pointer_add(at, member);
	return err_set(e, code, at, "%s", text);
}

static int check_ids(const struct turn *turn, const json_t *call, const char *path, struct err *e)
{
	const json_t *id = json_object_get(call, "call_id"), *status = turn_member(call, "status");

	if (!json_is_string(id))
		return bad(e, ERR_MISSING_FIELD, path, "call_id", "\"call_id\" is required: the string that the output has to name");
	if (status && !turn_is(status, "completed"))
		return bad(e, ERR_BAD_FIELD, path, "status", "the status of a call must be \"completed\": the model may not have said all of it");
	for (size_t i = 0; i < turn->n_calls; i++)
		if (json_equal(json_object_get(turn->calls[i].body, "call_id"), id))
			return bad(e, ERR_BAD_FIELD, path, "call_id", "two calls of one turn have this call_id");
	return 0;
}

static int check_checks(const json_t *checks, const char *path, const char *member, struct err *e)
{
	const json_t *check;
	size_t i;

	if (checks && (!json_is_array(checks) || json_array_size(checks) > CHECKS_MAX))
		return bad(e, ERR_BAD_FIELD, path, member, "safety checks must be a list, of at most 32");
	json_array_foreach(checks, i, check)
		if (!json_is_string(json_object_get(check, "id")))
			return bad(e, ERR_BAD_FIELD, path, member, "a safety check must be an object with an \"id\", a string");
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

/* Nobody but a person says yes to these, and the harness is who can ask one. */
static int check_safety(const json_t *call, const char *path, struct err *e)
{
	const json_t *pending = turn_member(call, "pending_safety_checks"), *said = turn_member(call, "acknowledged_safety_checks");
	const json_t *check;
	size_t i;

	if (!pending && turn_member(call, "action"))
		return bad(e, ERR_MISSING_FIELD, path, "pending_safety_checks", "\"pending_safety_checks\" is required beside \"action\": a list, which may be empty");
	if (check_checks(pending, path, "pending_safety_checks", e) < 0 || check_checks(said, path, "acknowledged_safety_checks", e) < 0)
		return -1;
	json_array_foreach(said, i, check)
		if (!has_check(pending, check))
			return bad(e, ERR_BAD_FIELD, path, "acknowledged_safety_checks", "a check is acknowledged here that is not pending");
	json_array_foreach(pending, i, check)
		if (!has_check(said, check))
			return bad(e, ERR_CONFIRMATION, path, "pending_safety_checks",
			           "a person must confirm these safety checks; then send the call again with them in \"acknowledged_safety_checks\" as well");
	return 0;
}

/* The actions of a call, new; NULL with *e. */
static json_t *actions_of(const json_t *call, const char *path, struct err *e)
{
	const json_t *one = turn_member(call, "action"), *list = turn_member(call, "actions");

	if (one && list)
		(void)bad(e, ERR_BAD_FIELD, path, "actions", "a call has either \"action\" or \"actions\"");
	else if (one)
		return json_pack("[O]", one);
	else if (!list)
		(void)bad(e, ERR_MISSING_FIELD, path, "actions", "\"actions\" is required: what to do, in order");
	else if (!json_is_array(list) || json_array_size(list) == 0)
		(void)bad(e, ERR_BAD_FIELD, path, "actions", "the actions of a call must be a list of at least one object");
	else
		return json_incref((json_t *)(uintptr_t)list);
	return NULL;
}

static int read_call(struct turn *turn, const json_t *call, const char *path, const struct bounds *bounds, struct err *e)
{
	json_auto_t *actions = NULL;
	json_t *action;
	size_t i;

	if (check_ids(turn, call, path, e) < 0 || check_safety(call, path, e) < 0 || !(actions = actions_of(call, path, e)) ||
	    turn_call(turn, call, 0, LIMIT_TURN_PICTURES, path, e) < 0)
		return -1;
	turn->calls[turn->n_calls - 1].items = json_array_size(actions);
	json_array_foreach(actions, i, action) {
		if (turn->has_fault)
			break;
		turn->item = i;
		read_action(turn, action, bounds);
	}
	return 0;
}

static bool is_call(const json_t *item)
{
	return turn_is(json_object_get(item, "type"), "computer_call");
}

/* Calls among the items of a response; the others (messages, reasoning) are not for us. */
static int read_items(struct turn *turn, const json_t *items, const char *path, const struct bounds *bounds, struct err *e)
{
	char at[ERR_PATH_MAX];
	const json_t *item;
	size_t i;

	json_array_foreach(items, i, item) {
		(void)snprintf(at, sizeof(at), "%s/%zu", path, i);
		if (is_call(item) && read_call(turn, item, at, bounds, e) < 0)
			return -1;
	}
	if (turn->n_calls == 0)
		return err_set(e, ERR_MISSING_FIELD, path, "no item here is a computer_call: the model asks for nothing");
	return 0;
}

static int read_response(struct turn *turn, const json_t *response, const struct bounds *bounds, struct err *e)
{
	const json_t *status = turn_member(response, "status");

	if (status && !turn_is(status, "completed"))
		return err_set(e, ERR_BAD_FIELD, "/status", "the status of a response must be \"completed\": the model may not have said all of it");
	return read_items(turn, json_object_get(response, "output"), "/output", bounds, e);
}

static int read_turn(struct turn *turn, const json_t *body, const struct dialect_place *place, struct err *e)
{
	const struct bounds bounds = {place->space, place->native};

	if (is_call(body))
		return read_call(turn, body, "", &bounds, e);
	if (json_is_array(body))
		return read_items(turn, body, "", &bounds, e);
	if (json_is_array(json_object_get(body, "output")))
		return read_response(turn, body, &bounds, e);
	return err_set(e, ERR_BAD_FIELD, NULL, "the body must be a computer_call, a list of a response's items, or a response with \"output\"");
}

/* ---- the answer ---- */

/* A computer_call_output. `original` keeps the picture from being made smaller on the model's side. */
static json_t *output_of(const struct turn_call *call, const json_t *picture)
{
	const json_t *checks = turn_member(call->body, "pending_safety_checks");
	json_t *screenshot = json_pack("{s:s}", "type", "computer_screenshot"), *output;

	if (picture) {
		auto_free char *url = util_printf("data:%s;base64,%s", turn_media_type(picture), form_string(picture, "data", ""));

		json_object_set_new(screenshot, "image_url", json_string(url));
	}
	if (turn_member(call->body, "actions"))
		json_object_set_new(screenshot, "detail", json_string("original"));
	output = json_pack("{s:s,s:O,s:o}", "type", "computer_call_output", "call_id", json_object_get(call->body, "call_id"), "output", screenshot);
	if (json_array_size(checks) > 0)
		json_object_set(output, "acknowledged_safety_checks", (json_t *)(uintptr_t)checks);
	return output;
}

/* The type of the action that failed, quoted as the model wrote it. */
static const char *failed_type(const struct turn_call *call, size_t item, char *out, size_t size)
{
	const json_t *one = turn_member(call->body, "action");
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

/* An output for each call, and after a failure a message. `reply` is that of the act, or the problem with which it was refused. */
static json_t *render(const struct turn *turn, const json_t *reply, bool refused)
{
	json_t *items = json_array(), *message = NULL;

	for (size_t i = 0; i < turn->n_calls; i++) {
		struct turn_result result = refused ? turn_refused(turn, i, reply) : turn_result(turn, i, reply);

		json_array_append_new(items, output_of(&turn->calls[i], result.picture));
		if (result.end == TURN_FAILED)
			message = message_of(&turn->calls[i], &result, turn->n_calls, refused);
	}
	if (message)
		json_array_append_new(items, message);
	return items;
}

static int ask(const struct dialect *dialect, const json_t *body, const struct dialect_place *place, json_t **act, struct err *e)
{
	struct turn *turn = turn_create(place);
	int rc = read_turn(turn, body, place, e);

	(void)dialect;
	if (rc == 0)
		*act = turn_act(turn);
	turn_destroy(turn);
	return rc;
}

static json_t *answer(const struct dialect *dialect, const json_t *body, const struct dialect_place *place, const json_t *reply)
{
	struct turn *turn = turn_create(place);
	json_t *items = read_turn(turn, body, place, NULL) == 0 ? render(turn, reply, false) : json_array();

	(void)dialect;
	turn_destroy(turn);
	return items;
}

static json_t *refuse(const struct dialect *dialect, const json_t *body, const struct dialect_place *place, const json_t *problem)
{
	struct turn *turn = turn_create(place);
	json_t *items = why_is_models(problem) && read_turn(turn, body, place, NULL) == 0 ? render(turn, problem, true) : NULL;

	(void)dialect;
	turn_destroy(turn);
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
	return first_call(body) || turn_is(json_object_get(body, "object"), "response");
}

static bool is_preview(const struct dialect *dialect, const json_t *body)
{
	(void)dialect;
	return turn_member(first_call(body), "action");
}

const struct dialect dialect_openai = {
	.name = "openai",
	.doc = "OpenAI's tool computer: items computer_call with actions",
	.is = is_openai,
	.needs_picture = true,
	.ask = ask,
	.answer = answer,
	.refuse = refuse,
};

const struct dialect dialect_openai_preview = {
	.name = "openai_preview",
	.doc = "OpenAI's tool computer_use_preview: items computer_call with an action",
	.is = is_preview,
	.needs_picture = true,
	.ask = ask,
	.answer = answer,
	.refuse = refuse,
};
