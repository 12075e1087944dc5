/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Gemini's functions.
 *
 * Names and arguments are those of Google's pages and of its sample, which do not agree on all of them; what models were seen to send
 * (magnitude_in_wheel_clicks) is taken as well. What a browser's functions do is done by its keys, in the window that has the focus.
 */
#include <string.h>

#include "session/base/util.h"
#include "session/dialects/gemini.h"

#define GRID 1000
#define GRID_MAX (GRID - 1)
#define MS_PER_S 1000
#define SCROLL_USUAL 300        /* of the grid, of `scroll` */
#define SCROLL_AT_USUAL 800     /* and of `scroll_at` */
#define NOTCHES_MAX (LIMIT_SCROLL_PX / LIMIT_NOTCH_PX)

/* One call while it becomes actions. */
struct making {
	struct turn *turn;
	json_t *args; /* checked */
};

struct row {
	const char *name;
	unsigned int sets; /* enum gemini_set */
	struct form form;
	void (*make)(const struct making *m);
};

/* Arguments. Every call may say what it is for, and what the safety system thinks of it, which gemini.c has looked at. */
#define COMMON                                                                                                                           \
	{"intent", FIELD_ANY, false, 0, 0, NULL, NULL, NULL, NULL, "what it is for"},                                                     \
	{"safety_decision", FIELD_ANY, false, 0, 0, NULL, NULL, NULL, NULL, "of the safety system"}
#define GRID_FIELD(name, required, doc) {name, FIELD_NUMBER, required, 0, GRID_MAX, NULL, NULL, NULL, NULL, doc}
#define KEY_FIELD {"key", FIELD_STRING, true, 1, LIMIT_CHORD_BYTES, NULL, NULL, NULL, NULL, "the key"}
#define FLAG_FIELD(name, doc) {name, FIELD_BOOL, false, 0, 0, NULL, NULL, NULL, NULL, doc}
#define TEXT_FIELD {"text", FIELD_STRING, true, 0, LIMIT_TEXT_BYTES, NULL, NULL, NULL, NULL, "what is typed"}
#define DIRECTION_FIELD {"direction", FIELD_ENUM, true, 0, 0, "up down left right", NULL, NULL, NULL, "where to"}

static const struct field no_args[] = {COMMON};
static const struct field point_args[] = {GRID_FIELD("x", true, "column of the grid"), GRID_FIELD("y", true, "row of the grid"), COMMON};
static const struct field type_args[] = {
	TEXT_FIELD,
	GRID_FIELD("x", false, "column of what is clicked first"),
	GRID_FIELD("y", false, "row of what is clicked first"),
	FLAG_FIELD("press_enter", "Enter afterwards"),
	FLAG_FIELD("clear_before_typing", "instead of what is there"),
	COMMON,
};
static const struct field type_at_args[] = {
	TEXT_FIELD,
	GRID_FIELD("x", true, "column of what is clicked first"),
	GRID_FIELD("y", true, "row of what is clicked first"),
	FLAG_FIELD("press_enter", "Enter afterwards"),
	FLAG_FIELD("clear_before_typing", "instead of what is there"),
	COMMON,
};
static const struct field drag_args[] = {
	GRID_FIELD("start_x", false, "column where it starts"),
	GRID_FIELD("start_y", false, "row where it starts"),
	GRID_FIELD("end_x", false, "column where it ends"),
	GRID_FIELD("end_y", false, "row where it ends"),
	GRID_FIELD("x", false, "another name of start_x"),
	GRID_FIELD("y", false, "another name of start_y"),
	GRID_FIELD("destination_x", false, "another name of end_x"),
	GRID_FIELD("destination_y", false, "another name of end_y"),
	COMMON,
};
static const struct field wait_args[] = {
	{"seconds", FIELD_NUMBER, false, 0, LIMIT_WAIT_MS / MS_PER_S, NULL, NULL, "s", NULL, "how long"},
	COMMON,
};
static const struct field key_args[] = {KEY_FIELD, COMMON};
static const struct field keys_args[] = {
	{"keys", FIELD_KEYS, true, 0, 0, NULL, NULL, NULL, NULL, "names of keys that are pressed together"},
	COMMON,
};
static const struct field scroll_args[] = {
	GRID_FIELD("x", false, "column of the grid"),
	GRID_FIELD("y", false, "row of the grid"),
	DIRECTION_FIELD,
	GRID_FIELD("magnitude_in_pixels", false, "how far, in steps of the grid"),
	GRID_FIELD("magnitude", false, "another name of magnitude_in_pixels"),
	{"magnitude_in_wheel_clicks", FIELD_NUMBER, false, 0, NOTCHES_MAX, NULL, NULL, NULL, NULL, "how far, in notches of the wheel"},
	COMMON,
};
static const struct field direction_args[] = {DIRECTION_FIELD, COMMON};
static const struct field url_args[] = {{"url", FIELD_STRING, true, 1, LIMIT_URL_BYTES, NULL, NULL, NULL, NULL, "the address"}, COMMON};

/* A pixel for a place on the grid, as Google's code has it (rounded down); the last place of the grid is the last pixel. */
static int pixel(double at, int size_px)
{
	return at >= GRID_MAX ? size_px - 1 : (int)(at * size_px / GRID);
}

static json_t *point_of(const struct making *m, const char *x, const char *y)
{
	return json_pack("[i,i]", pixel(form_number(m->args, x, 0), m->turn->place.space.width_px), pixel(form_number(m->args, y, 0), m->turn->place.space.height_px));
}

/* An action at x and y of the call, if it has these. */
static json_t *at_place(const struct making *m, const char *name)
{
	json_t *action = json_pack("{s:s}", "action", name);

	if (json_object_get(m->args, "x")) {
		json_object_set_new(action, "x", json_integer(pixel(form_number(m->args, "x", 0), m->turn->place.space.width_px)));
		json_object_set_new(action, "y", json_integer(pixel(form_number(m->args, "y", 0), m->turn->place.space.height_px)));
	}
	return action;
}

/* x without y, or y without x. */
static bool is_half(const struct making *m, const char *x, const char *y)
{
	return !json_object_get(m->args, x) != !json_object_get(m->args, y);
}

static void fault(const struct making *m, enum err_code code, const char *text)
{
	struct err e;

	(void)err_set(&e, code, NULL, "%s", text);
	turn_fault(m->turn, &e);
}

static void press(const struct making *m, const char *keys)
{
	turn_add(m->turn, json_pack("{s:s,s:s}", "action", "key", "keys", keys));
}

static void pause_for(const struct making *m, double seconds)
{
	long ms = (long)(seconds * MS_PER_S + 0.5);

	m->turn->wait_ms += ms;
	turn_add(m->turn, json_pack("{s:s,s:I}", "action", "wait", "duration_ms", (json_int_t)ms));
}

/* ---- the rows' functions ---- */

static void make_look(const struct making *m)
{
	(void)m;
}

static void click(const struct making *m, const char *button, int count)
{
	json_t *action = at_place(m, "click");

	json_object_set_new(action, "button", json_string(button));
	json_object_set_new(action, "count", json_integer(count));
	turn_add(m->turn, action);
}

static void make_click(const struct making *m)
{
	click(m, "left", 1);
}

static void make_double_click(const struct making *m)
{
	click(m, "left", 2);
}

static void make_triple_click(const struct making *m)
{
	click(m, "left", 3);
}

static void make_middle_click(const struct making *m)
{
	click(m, "middle", 1);
}

static void make_right_click(const struct making *m)
{
	click(m, "right", 1);
}

static void make_mouse_down(const struct making *m)
{
	turn_add(m->turn, at_place(m, "mouse_down"));
}

static void make_mouse_up(const struct making *m)
{
	turn_add(m->turn, at_place(m, "mouse_up"));
}

static void make_move(const struct making *m)
{
	turn_add(m->turn, at_place(m, "move"));
}

/* Click, clear, type, Enter: as far as the call says so. */
static void type(const struct making *m, bool clear, bool enter)
{
	if (is_half(m, "x", "y")) {
		fault(m, ERR_MISSING_FIELD, "x and y: both, or neither, which types where the focus is");
		return;
	}
	if (json_object_get(m->args, "x"))
		click(m, "left", 1);
	if (form_bool(m->args, "clear_before_typing", clear)) {
		press(m, "ctrl+a");
		press(m, "backspace");
	}
	turn_add(m->turn, json_pack("{s:s,s:O}", "action", "type", "text", json_object_get(m->args, "text")));
	if (form_bool(m->args, "press_enter", enter))
		press(m, "enter");
}

static void make_type(const struct making *m)
{
	type(m, false, false);
}

static void make_type_at(const struct making *m)
{
	type(m, true, true);
}

/* One spelling of a drag: true when all four of its arguments are there. */
static bool has_all(const struct making *m, const char *const names[4])
{
	for (size_t i = 0; i < 4; i++)
		if (!json_object_get(m->args, names[i]))
			return false;
	return true;
}

static bool has_any(const struct making *m, const char *const names[4])
{
	for (size_t i = 0; i < 4; i++)
		if (json_object_get(m->args, names[i]))
			return true;
	return false;
}

static void make_drag(const struct making *m)
{
	static const char *const spellings[2][4] = {{"start_x", "start_y", "end_x", "end_y"}, {"x", "y", "destination_x", "destination_y"}};

	for (size_t i = 0; i < ARRAY_LEN(spellings); i++) {
		const char *const *names = spellings[i];

		if (!has_all(m, names) || has_any(m, spellings[1 - i]))
			continue;
		turn_add(m->turn, json_pack("{s:s,s:[o,o]}", "action", "drag", "path", point_of(m, names[0], names[1]), point_of(m, names[2], names[3])));
		return;
	}
	fault(m, ERR_MISSING_FIELD, "a drag has start_x, start_y, end_x and end_y (or x, y, destination_x and destination_y), all of them");
}

static void make_wait(const struct making *m)
{
	pause_for(m, form_number(m->args, "seconds", 1));
}

static void make_wait_5(const struct making *m)
{
	pause_for(m, 5);
}

/* A list of one, so that "+" is the key. */
static void press_key(const struct making *m, const char *name)
{
	turn_add(m->turn, json_pack("{s:s,s:[O]}", "action", name, "keys", json_object_get(m->args, "key")));
}

static void make_press_key(const struct making *m)
{
	press_key(m, "key");
}

static void make_key_down(const struct making *m)
{
	press_key(m, "key_down");
}

static void make_key_up(const struct making *m)
{
	press_key(m, "key_up");
}

static void make_hotkey(const struct making *m)
{
	turn_add(m->turn, json_pack("{s:s,s:O}", "action", "key", "keys", json_object_get(m->args, "keys")));
}

static bool is_sideways(const char *direction)
{
	return strcmp(direction, "left") == 0 || strcmp(direction, "right") == 0;
}

/* The amount as it counts to the right and down, on the axis of the direction. */
static void split(const char *direction, double amount, double *x, double *y)
{
	double signed_amount = strcmp(direction, "up") == 0 || strcmp(direction, "left") == 0 ? -amount : amount;

	*x = is_sideways(direction) ? signed_amount : 0;
	*y = is_sideways(direction) ? 0 : signed_amount;
}

/* How far, of the arguments that say so; `usual` when none does. */
static const char *magnitude_of(const struct making *m, double usual, double *amount)
{
	static const char *const names[] = {"magnitude_in_wheel_clicks", "magnitude_in_pixels", "magnitude"};
	const char *found = NULL;

	*amount = usual;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (!json_object_get(m->args, names[i]))
			continue;
		if (found)
			return NULL;
		found = names[i];
		*amount = form_number(m->args, found, usual);
	}
	return found ? found : names[1];
}

static void scroll(const struct making *m, double usual)
{
	const char *direction = form_string(m->args, "direction", "");
	json_auto_t *place = at_place(m, "scroll");
	double amount, x, y;
	const char *unit = magnitude_of(m, usual, &amount);

	if (!unit || is_half(m, "x", "y")) {
		fault(m, ERR_BAD_FIELD, unit ? "x and y: both, or neither, which is where the pointer is" : "only one magnitude may be given");
		return;
	}
	if (strcmp(unit, "magnitude_in_wheel_clicks") == 0) {
		split(direction, amount, &x, &y);
		turn_wheel(m->turn, place, x, y);
		return;
	}
	split(direction, amount / GRID * (is_sideways(direction) ? m->turn->place.space.width_px : m->turn->place.space.height_px), &x, &y);
	turn_scroll(m->turn, place, x, y);
}

static void make_scroll(const struct making *m)
{
	scroll(m, SCROLL_USUAL);
}

static void make_scroll_at(const struct making *m)
{
	if (json_object_get(m->args, "x"))
		scroll(m, SCROLL_AT_USUAL);
	else
		fault(m, ERR_MISSING_FIELD, "x and y are required: the place on the grid");
}

/* As the sample does it: a page up or down, sideways half of the screen. */
static void make_scroll_document(const struct making *m)
{
	const char *direction = form_string(m->args, "direction", "");
	double x, y;

	split(direction, m->turn->place.space.width_px / 2.0, &x, &y);
	if (is_sideways(direction))
		turn_scroll(m->turn, NULL, x, y);
	else
		press(m, strcmp(direction, "up") == 0 ? "pageup" : "pagedown");
}

static void make_go_back(const struct making *m)
{
	press(m, "alt+left");
}

static void make_go_forward(const struct making *m)
{
	press(m, "alt+right");
}

static bool has_control(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == '\177')
			return true;
	return false;
}

static void make_navigate(const struct making *m)
{
	if (has_control(form_string(m->args, "url", ""))) {
		fault(m, ERR_BAD_FIELD, "url: an address has no control characters");
		return;
	}
	press(m, "ctrl+l");
	turn_add(m->turn, json_pack("{s:s,s:O}", "action", "type", "text", json_object_get(m->args, "url")));
	press(m, "enter");
}

static void make_search(const struct making *m)
{
	fault(m, ERR_UNSUPPORTED, "search: this desktop has no search engine of its own; navigate goes to the page of one");
}

#define FORM(fields) {fields, ARRAY_LEN(fields), NULL}
#define BOTH (GEMINI_DESKTOP | GEMINI_LEGACY)
static const struct row rows[] = {
	{"click", GEMINI_DESKTOP, FORM(point_args), make_click},
	{"double_click", GEMINI_DESKTOP, FORM(point_args), make_double_click},
	{"triple_click", GEMINI_DESKTOP, FORM(point_args), make_triple_click},
	{"middle_click", GEMINI_DESKTOP, FORM(point_args), make_middle_click},
	{"right_click", GEMINI_DESKTOP, FORM(point_args), make_right_click},
	{"mouse_down", GEMINI_DESKTOP, FORM(point_args), make_mouse_down},
	{"mouse_up", GEMINI_DESKTOP, FORM(point_args), make_mouse_up},
	{"move", GEMINI_DESKTOP, FORM(point_args), make_move},
	{"type", GEMINI_DESKTOP, FORM(type_args), make_type},
	{"drag_and_drop", BOTH, FORM(drag_args), make_drag},
	{"wait", GEMINI_DESKTOP, FORM(wait_args), make_wait},
	{"press_key", GEMINI_DESKTOP, FORM(key_args), make_press_key},
	{"key_down", GEMINI_DESKTOP, FORM(key_args), make_key_down},
	{"key_up", GEMINI_DESKTOP, FORM(key_args), make_key_up},
	{"hotkey", GEMINI_DESKTOP, FORM(keys_args), make_hotkey},
	{"take_screenshot", GEMINI_DESKTOP, FORM(no_args), make_look},
	{"scroll", GEMINI_DESKTOP, FORM(scroll_args), make_scroll},
	{"go_back", BOTH, FORM(no_args), make_go_back},
	{"go_forward", BOTH, FORM(no_args), make_go_forward},
	{"navigate", BOTH, FORM(url_args), make_navigate},
	{"open_web_browser", GEMINI_LEGACY, FORM(no_args), make_look}, /* it is open in the sample, too */
	{"search", GEMINI_LEGACY, FORM(no_args), make_search},
	{"click_at", GEMINI_LEGACY, FORM(point_args), make_click},
	{"hover_at", GEMINI_LEGACY, FORM(point_args), make_move},
	{"type_text_at", GEMINI_LEGACY, FORM(type_at_args), make_type_at},
	{"key_combination", GEMINI_LEGACY, FORM(keys_args), make_hotkey},
	{"scroll_document", GEMINI_LEGACY, FORM(direction_args), make_scroll_document},
	{"scroll_at", GEMINI_LEGACY, FORM(scroll_args), make_scroll_at},
	{"wait_5_seconds", GEMINI_LEGACY, FORM(no_args), make_wait_5},
};

unsigned int gemini_sets(const json_t *name)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (form_is(name, rows[i].name))
			return rows[i].sets;
	return 0;
}

static const struct row *find(enum gemini_set set, const json_t *name)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].sets & set && form_is(name, rows[i].name))
			return &rows[i];
	return NULL;
}

static void unknown(struct turn *turn, enum gemini_set set, const json_t *name)
{
	const char *names[ARRAY_LEN(rows) + 1] = {NULL};
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].sets & set)
			names[n++] = rows[i].name;
	turn_unknown(turn, set == GEMINI_LEGACY ? "a function of the earlier models' computer use" : "a function of computer use on a desktop", name, names);
}

void gemini_add(struct turn *turn, const json_t *name, const json_t *args)
{
	enum gemini_set set = (enum gemini_set)turn->kind->set;
	json_auto_t *fields = turn_fields(args);
	const struct making making = {.turn = turn, .args = fields};
	const struct row *row = find(set, name);
	struct err e;

	if (!row)
		unknown(turn, set, name);
	else if (form_check(&row->form, fields, "", NULL, &e) < 0)
		turn_fault(turn, &e);
	else
		row->make(&making);
}
