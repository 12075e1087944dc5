/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The actions of Anthropic's computer tools, a row for each, as actions of ours. */
#include <stdio.h>
#include <string.h>

#include "input/keynames.h"
#include "session/base/limits.h"
#include "session/base/space.h"
#include "session/base/util.h"
#include "session/dialects/anthropic_field.h"

#define DRAG_MS 300             /* of a drag from where the pointer is; that of the action drag */
#define MAX_REPEAT 100          /* of a key, and notches of a wheel: as in our own actions */
#define PLACE_AND_KEYS "coordinate text key"

/* One more action of the act, with what is in `fields` (taken, may be NULL); borrowed. */
static json_t *add(const struct anthropic_reading *r, const char *name, json_t *fields)
{
	json_t *act = json_pack("{s:s}", "action", name);

	if (fields)
		(void)json_object_update(act, fields);
	json_decref(fields);
	(void)json_array_append_new(r->step->acts, act);
	return act;
}

static int read_click(const struct anthropic_reading *r)
{
	json_t *act = add(r, "click", NULL);

	if (strcmp(r->action->button, "left") != 0)
		(void)json_object_set_new(act, "button", json_string(r->action->button));
	if (r->action->count > 1)
		(void)json_object_set_new(act, "count", json_integer(r->action->count));
	return anthropic_field_add_place(r, act) < 0 || anthropic_field_add_hold(r, act) < 0 ? -1 : 0;
}

static int read_move(const struct anthropic_reading *r)
{
	int at[2];

	if (anthropic_field_need_point(r, "coordinate", at) < 0)
		return -1;
	(void)add(r, "move", json_pack("{s:i,s:i}", "x", at[0], "y", at[1]));
	return 0;
}

static int read_mouse_down(const struct anthropic_reading *r)
{
	return anthropic_field_add_place(r, add(r, "mouse_down", NULL));
}

static int read_mouse_up(const struct anthropic_reading *r)
{
	return anthropic_field_add_place(r, add(r, "mouse_up", NULL));
}

/* Without a start it begins where the pointer is. */
static int drag_from_pointer(const struct anthropic_reading *r, const int to[2])
{
	json_auto_t *held = json_object();
	const json_t *keys;

	if (anthropic_field_add_hold(r, held) < 0)
		return -1;
	keys = json_object_get(held, "hold");
	if (keys)
		(void)add(r, "key_down", json_pack("{s:O}", "keys", keys));
	(void)add(r, "mouse_down", NULL);
	(void)add(r, "move", json_pack("{s:i,s:i,s:i}", "x", to[0], "y", to[1], "duration_ms", DRAG_MS));
	(void)add(r, "mouse_up", NULL);
	if (keys)
		(void)add(r, "key_up", json_pack("{s:O}", "keys", keys));
	return 0;
}

static int read_drag(const struct anthropic_reading *r)
{
	int from[2], to[2];
	int has_start = anthropic_field_point(r, "start_coordinate", from);

	if (has_start < 0 || anthropic_field_need_point(r, "coordinate", to) < 0)
		return -1;
	if (has_start)
		return anthropic_field_add_hold(r, add(r, "drag", json_pack("{s:[[i,i],[i,i]]}", "path", from[0], from[1], to[0], to[1])));
	return r->tool->is_toolset ? anthropic_field_missing(r, "start_coordinate") : drag_from_pointer(r, to);
}

static int read_scroll(const struct anthropic_reading *r)
{
	static const struct {
		const char *name, *axis;
		int sign;
	} ways[] = {{"up", "dy", -1}, {"down", "dy", 1}, {"left", "dx", -1}, {"right", "dx", 1}};
	const json_t *way = anthropic_field_of(r, "scroll_direction"), *amount = anthropic_field_of(r, "scroll_amount");
	json_t *act = add(r, "scroll", NULL);
	int n;

	if (!way || !amount)
		return anthropic_field_missing(r, way ? "scroll_amount" : "scroll_direction");
	if (!anthropic_field_whole(amount, &n) || n < 1 || n > MAX_REPEAT)
		return err_set(r->e, ERR_BAD_FIELD, NULL, "scroll_amount must be a whole number of notches from 1 to %d", MAX_REPEAT);
	for (size_t i = 0; i < ARRAY_LEN(ways); i++)
		if (form_is(way, ways[i].name))
			(void)json_object_set_new(act, ways[i].axis, json_integer(n * ways[i].sign));
	if (json_object_size(act) == 1)
		return err_set(r->e, ERR_BAD_FIELD, NULL, "scroll_direction must be up, down, left or right");
	return anthropic_field_add_place(r, act) < 0 || anthropic_field_add_hold(r, act) < 0 ? -1 : 0;
}

/* The next word of a text, as a string; NULL at its end. */
static json_t *next_word(const char **at)
{
	size_t len;
	json_t *word;

	*at += strspn(*at, " ");
	len = strcspn(*at, " ");
	word = len > 0 ? json_stringn(*at, len) : NULL;
	*at += len;
	return word;
}

static size_t count_words(const char *text)
{
	size_t n = 0;

	for (text += strspn(text, " "); *text; n++) {
		text += strcspn(text, " ");
		text += strspn(text, " ");
	}
	return n;
}

/* "Tab Tab Return" is three keys, one after another, as the reference implementation's xdotool has it; "Page Down" and "ctrl c" are one chord. */
static bool is_sequence(const json_t *keys)
{
	const char *text = json_string_value(keys);
	struct chord chord;
	struct err ignored;

	if (strlen(text) != json_string_length(keys) || count_words(text) < 2)
		return false;
	return json_string_length(keys) > LIMIT_CHORD_BYTES || keynames_parse(keys, "", &chord, &ignored) < 0;
}

static int read_sequence(const struct anthropic_reading *r, const json_t *keys, int repeat)
{
	const char *text = json_string_value(keys);

	if (count_words(text) * (size_t)repeat > LIMIT_ACTIONS)
		return err_set(r->e, ERR_BAD_FIELD, NULL, "these are too many keys for one action");
	for (int i = 0; i < repeat; i++) {
		const char *at = text;

		for (json_t *word = next_word(&at); word; word = next_word(&at)) {
			(void)add(r, "key", json_pack("{s:o}", "keys", anthropic_field_chord(word)));
			json_decref(word);
		}
	}
	return 0;
}

static int read_key(const struct anthropic_reading *r)
{
	const json_t *keys, *repeat = anthropic_field_of(r, "repeat");
	json_t *act;
	int n = 1;

	if (anthropic_field_need_keys(r, &keys) < 0)
		return -1;
	if (repeat && (!anthropic_field_whole(repeat, &n) || n < 1 || n > MAX_REPEAT))
		return err_set(r->e, ERR_BAD_FIELD, NULL, "repeat must be a whole number from 1 to %d", MAX_REPEAT);
	if (is_sequence(keys))
		return read_sequence(r, keys, n);
	act = add(r, "key", json_pack("{s:o}", "keys", anthropic_field_chord(keys)));
	if (n > 1)
		(void)json_object_set_new(act, "repeat", json_integer(n));
	return 0;
}

static int read_hold_key(const struct anthropic_reading *r)
{
	const json_t *keys;
	int64_t ms;

	if (anthropic_field_need_keys(r, &keys) < 0 || anthropic_field_need_ms(r, &ms) < 0)
		return -1;
	if (ms == 0)
		return err_set(r->e, ERR_BAD_FIELD, NULL, "duration must be more than 0");
	(void)add(r, "hold_key", json_pack("{s:o,s:I}", "keys", anthropic_field_chord(keys), "duration_ms", (json_int_t)ms));
	return 0;
}

static int read_type(const struct anthropic_reading *r)
{
	const json_t *text = anthropic_field_of(r, "text");

	if (!text)
		return anthropic_field_missing(r, "text");
	if (!json_is_string(text))
		return err_set(r->e, ERR_BAD_FIELD, NULL, "text must be a string");
	(void)add(r, "type", json_pack("{s:O}", "text", text));
	return 0;
}

/* A wait of ours is shorter than the longest of theirs. */
static int read_wait(const struct anthropic_reading *r)
{
	int64_t ms;

	if (anthropic_field_need_ms(r, &ms) < 0)
		return -1;
	do {
		int64_t part = ms < LIMIT_WAIT_MS ? ms : LIMIT_WAIT_MS;

		(void)add(r, "wait", json_pack("{s:I}", "duration_ms", (json_int_t)part));
		ms -= part;
	} while (ms > 0);
	return 0;
}

static int read_cursor_position(const struct anthropic_reading *r)
{
	(void)add(r, "cursor_position", NULL);
	return 0;
}

static int read_screenshot(const struct anthropic_reading *r)
{
	r->step->look = json_object();
	return 0;
}

/* The largest of the region's shape: for a toolset what models take, else what a screenshot has. */
static struct space zoom_size(const struct anthropic_reading *r, int width, int height)
{
	const struct space shape = {width, height};

	return r->tool->is_toolset ? space_fill_models(shape) : space_fill(shape, r->space);
}

static int read_zoom(const struct anthropic_reading *r)
{
	const json_t *region = anthropic_field_of(r, "region");
	struct space size;
	int at[4];

	if (!region)
		return anthropic_field_missing(r, "region");
	if (!anthropic_field_wholes(region, at, 4))
		return err_set(r->e, ERR_BAD_FIELD, NULL, "region must be a list of four whole numbers, [x0, y0, x1, y1]");
	if (at[0] < 0 || at[1] < 0 || at[2] > r->space.width_px || at[3] > r->space.height_px)
		return err_set(r->e, ERR_BAD_FIELD, NULL, "region [%d, %d, %d, %d] is out of bounds: the screenshot is %dx%d", at[0], at[1], at[2], at[3],
		               r->space.width_px, r->space.height_px);
	if (at[0] >= at[2] || at[1] >= at[3])
		return err_set(r->e, ERR_BAD_FIELD, NULL, "region is empty: x0 must be less than x1, and y0 less than y1");
	size = zoom_size(r, at[2] - at[0], at[3] - at[1]);
	r->step->look = json_pack("{s:{s:i,s:i,s:i,s:i},s:o}", "region", "x", at[0], "y", at[1], "width", at[2] - at[0], "height", at[3] - at[1],
	                          "size", space_json(size));
	return 0;
}

#define SINCE_2022 (ANTHROPIC_20241022 | SINCE_2501)
#define SINCE_2501 (ANTHROPIC_20250124 | SINCE_2511)
#define SINCE_2511 (ANTHROPIC_20251124 | ANTHROPIC_TOOLSET)

/* Beside what the vendor's types have: keys as "key", and a place for the mouse buttons. */
static const struct anthropic_action actions[] = {
	{"key", SINCE_2022, "text key repeat", read_key, "Pressed {text}.", NULL, 0},
	{"hold_key", SINCE_2501, "text key duration", read_hold_key, "Held {text} for {duration}s.", NULL, 0},
	{"type", SINCE_2022, "text", read_type, "Typed.", NULL, 0},
	{"cursor_position", SINCE_2022, "", read_cursor_position, NULL, NULL, 0},
	{"mouse_move", SINCE_2022, "coordinate", read_move, "Moved the mouse.", NULL, 0},
	{"left_mouse_down", SINCE_2501, "coordinate", read_mouse_down, "Left mouse button pressed.", NULL, 0},
	{"left_mouse_up", SINCE_2501, "coordinate", read_mouse_up, "Left mouse button released.", NULL, 0},
	{"left_click", SINCE_2022, PLACE_AND_KEYS, read_click, "Clicked.", "left", 1},
	{"left_click_drag", SINCE_2022, "start_coordinate " PLACE_AND_KEYS, read_drag, "Dragged.", NULL, 0},
	{"right_click", SINCE_2022, PLACE_AND_KEYS, read_click, "Right-clicked.", "right", 1},
	{"middle_click", SINCE_2022, PLACE_AND_KEYS, read_click, "Middle-clicked.", "middle", 1},
	{"double_click", SINCE_2022, PLACE_AND_KEYS, read_click, "Double-clicked.", "left", 2},
	{"triple_click", SINCE_2501, PLACE_AND_KEYS, read_click, "Triple-clicked.", "left", 3},
	{"scroll", SINCE_2501, "scroll_direction scroll_amount " PLACE_AND_KEYS, read_scroll, "Scrolled {scroll_direction}.", NULL, 0},
	{"wait", SINCE_2501, "duration", read_wait, "Waited {duration}s.", NULL, 0},
	{"screenshot", SINCE_2022, "", read_screenshot, NULL, NULL, 0},
	{"zoom", SINCE_2511, "region", read_zoom, NULL, NULL, 0},
};

static const struct anthropic_action *find(const struct anthropic_tool *tool, const struct anthropic_call *call)
{
	for (size_t i = 0; i < ARRAY_LEN(actions); i++)
		if (actions[i].in & tool->version && strlen(actions[i].name) == call->name_len &&
		    memcmp(actions[i].name, call->name, call->name_len) == 0)
			return &actions[i];
	return NULL;
}

/* One of the words of a list. */
static bool has_word(const char *words, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = words; *at; at += strcspn(at, " "), at += *at == ' ')
		if (strcspn(at, " ") == len && memcmp(at, word, len) == 0)
			return true;
	return false;
}

/* Nothing that is there is ignored: it would have meant something. */
static int check_members(const struct anthropic_reading *r)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)r->input, name, value) {
		if (json_is_null(value) || has_word(r->action->fields, name) || (!r->tool->is_toolset && strcmp(name, "action") == 0))
			continue;
		auto_free char *shown = anthropic_name(name, strlen(name));

		return err_set(r->e, ERR_UNKNOWN_FIELD, NULL, "%s is not accepted for %s", shown, r->action->name);
	}
	return 0;
}

static int unknown(const struct anthropic_tool *tool, const struct anthropic_call *call, struct err *e)
{
	auto_free char *shown = anthropic_name(call->name, call->name_len);

	if (!tool->is_toolset && call->name_len == 0)
		return err_set(e, ERR_UNKNOWN_ACTION, NULL, "action is required, a string");
	if (!tool->is_toolset)
		return err_set(e, ERR_UNKNOWN_ACTION, NULL, "Invalid action: %s", shown);
	if (!json_is_string(json_object_get(call->block, "toolset_name"))) {
		auto_free char *why = anthropic_malformed(call->input);

		return err_set(e, ERR_UNKNOWN_ACTION, NULL, "Error: the 'computer' toolset could not run this call: %s; nothing in the batch was executed", why);
	}
	return err_set(e, ERR_UNKNOWN_ACTION, NULL, "Error: unknown computer toolset member '%s'", shown);
}

int anthropic_read(const struct anthropic_tool *tool, const struct anthropic_call *call, const struct dialect_place *place,
                   struct anthropic_step *step, struct err *e)
{
	struct anthropic_step made = {.action = find(tool, call), .acts = json_array()};
	const struct anthropic_reading r = {.tool = tool, .action = made.action, .input = call->input, .space = place->space, .step = &made, .e = e};
	int rc;

	if (!made.action)
		rc = unknown(tool, call, e);
	else if (!json_is_object(call->input))
		rc = err_set(e, ERR_BAD_FIELD, NULL, "expected an object");
	else
		rc = check_members(&r) < 0 ? -1 : made.action->read(&r);
	/* The older tools show what came of it. */
	if (rc == 0 && !tool->is_toolset && made.action->said)
		made.look = json_object();
	if (rc < 0)
		anthropic_step_finish(&made);
	else
		*step = made;
	return rc;
}

void anthropic_step_finish(struct anthropic_step *step)
{
	json_decref(step->acts);
	json_decref(step->look);
}
