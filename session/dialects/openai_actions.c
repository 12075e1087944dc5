/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The actions of OpenAI's computer use, a row for each, as actions of ours. Distances of the wheel are pixels. */
#include "session/dialects/openai.h"

#include <string.h>

#include "session/base/util.h"

#define WAIT_MS 2000 /* of the action `wait`, which has no time of its own */

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
		if (form_is(name, kinds[i].name))
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

void openai_add(struct turn *turn, const json_t *action)
{
	const struct bounds bounds = {turn->place.space, turn->place.native};
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
	if (form_check(&kind->form, fields, "", &bounds, &e) < 0)
		turn_fault(turn, &e);
	else
		kind->make(turn, fields);
}
