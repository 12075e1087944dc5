/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The input folder's rows of the action table. */
#include <string.h>
#include <xkbcommon/xkbcommon-keysyms.h>
#include <xkbcommon/xkbcommon.h>

#include "input/inner.h"
#include "input/motion.h"
#include "input/typing.h"
#include "session/base/limits.h"
#include "session/base/space.h"
#include "session/base/util.h"

#define DRAG_DEFAULT_MS 300

/* Fields that several actions have. */
#define X_FIELD(required, doc) {"x", FIELD_X, required, 0, 0, NULL, NULL, "px", NULL, doc}
#define Y_FIELD(required, doc) {"y", FIELD_Y, required, 0, 0, NULL, NULL, "px", NULL, doc}
#define KEYS_FIELD                                                                                                                       \
	{"keys", FIELD_KEYS, true, 0, 0, NULL, NULL, NULL, NULL,                                                                        \
	 "names joined by + (\"ctrl+shift+t\"), after modifiers also by - or a space, or a list: single characters, enter esc tab space backspace delete insert home end "     \
	 "pageup pagedown up down left right f1 to f24, shift ctrl alt super altgr, kp_0 to kp_9, X keysym names, U+20AC"}
#define HOLD_FIELD {"hold", FIELD_KEYS, false, 0, 0, NULL, NULL, NULL, NULL, "keys that are held meanwhile: \"ctrl\" or a list"}
#define BUTTON_FIELD {"button", FIELD_ENUM, false, 0, 0, HANDS_BUTTON_NAMES, NULL, NULL, "\"left\"", "the mouse button"}
#define FORM(fields, rule) {fields, ARRAY_LEN(fields), rule}
#define BOTH_OR_NONE "x and y: both, or neither, which means where the pointer is"

/* Key names of an optional field; no keys when it is absent. */
static int chord_of(const json_t *args, const char *name, struct chord *chord, struct err *e)
{
	const json_t *keys = json_object_get(args, name);
	char path[32];

	*chord = (struct chord){0};
	(void)snprintf(path, sizeof(path), "/%s", name);
	return keys ? keynames_parse(keys, path, chord, e) : 0;
}

bool input_types(const json_t *args)
{
	bool types = json_object_get(args, "text") || json_object_get(args, "name");
	struct chord chord;

	if (!json_object_get(args, "keys") || chord_of(args, "keys", &chord, NULL) < 0)
		return types;
	for (size_t i = 0; i < chord.n; i++) {
		uint32_t keysym = chord.keys[i].keysym, code_point = xkb_keysym_to_utf32(keysym);

		if (keynames_is_modifier(keysym) && keysym != XKB_KEY_Shift_L && keysym != XKB_KEY_Shift_R && keysym != XKB_KEY_ISO_Level3_Shift)
			return false;
		types |= code_point >= 0x20 && code_point != 0x7f;
	}
	return types;
}

bool input_moves(const json_t *args)
{
	struct chord chord;

	return json_object_get(args, "keys") && chord_of(args, "keys", &chord, NULL) == 0 && focus_may_move(&chord);
}

static int check_keys(void *home, const json_t *args, struct err *e)
{
	struct chord chord;

	(void)home;
	return chord_of(args, "keys", &chord, e);
}

static int check_place(void *home, const json_t *args, struct err *e)
{
	struct chord chord;
	bool has_x = json_object_get(args, "x"), has_y = json_object_get(args, "y");

	(void)home;
	if (has_x != has_y)
		return err_set(e, ERR_MISSING_FIELD, has_x ? "/y" : "/x", BOTH_OR_NONE);
	return chord_of(args, "hold", &chord, e);
}

static int check_scroll(void *home, const json_t *args, struct err *e)
{
	if (form_int(args, "dx", 0) == 0 && form_int(args, "dy", 0) == 0)
		return err_set(e, ERR_MISSING_FIELD, "/dy", "dx or dy must be given and not be 0: notches of the wheel, + is right and down");
	return check_place(home, args, e);
}

static int check_type(void *home, const json_t *args, struct err *e)
{
	const json_t *text = json_object_get(args, "text");

	(void)home;
	return typing_check(json_string_value(text), json_string_length(text), form_int(args, "delay_ms", 0), "/text", e);
}

/* The chord of "keys", about to be pressed. */
static int begin_chord(struct input *input, const json_t *args, struct chord *chord, struct err *e)
{
	if (chord_of(args, "keys", chord, e) < 0 || focus_settle(&input->focus, e) < 0)
		return -1;
	if (copying_pastes(&input->keyboard.copying, chord) && copying_settle(&input->keyboard.copying, e) < 0)
		return -1;
	if (carry_before_keys(&input->carry, e) < 0)
		return -1;
	copying_note_chord(&input->keyboard.copying, chord);
	return focus_note_chord(&input->focus, chord, e);
}

/* The place that an action names, in *at; NULL for none, which is where the pointer is. */
static const struct pointer_point *given_place(const json_t *args, struct pointer_point *at)
{
	*at = (struct pointer_point){(int)form_int(args, "x", 0), (int)form_int(args, "y", 0)};
	return json_object_get(args, "x") ? at : NULL;
}

static int place_of(struct input *input, const json_t *args, struct pointer_point *at, struct err *e)
{
	return given_place(args, at) ? 0 : pointer_position(&input->pointer, at, e);
}

int input_settle_at(struct input *input, const json_t *args, struct err *e)
{
	const json_t *start = json_array_get(json_object_get(args, "path"), 0);
	struct pointer_point at = {(int)json_integer_value(json_array_get(start, 0)), (int)json_integer_value(json_array_get(start, 1))};

	/* Before the pointer is asked for its place. */
	if (!fresh_is_any(&input->fresh) || input_holds_button(input))
		return 0;
	if (!start && place_of(input, args, &at, e) < 0)
		return -1;
	return focus_settle_at(&input->focus, at, e);
}

static unsigned int button_of(const json_t *args)
{
	return hands_button_number(form_string(args, "button", "left"));
}

/* A button is about to go down or up. */
static void note_button(struct input *input)
{
	if (input->ops.before_press)
		input->ops.before_press(input->ops.arg);
	focus_note_click(&input->focus);
}

/* Presses the keys of "hold", if there are any. */
static int hold(struct input *input, const json_t *args, struct grip *grip, struct err *e)
{
	struct chord chord;

	*grip = (struct grip){0};
	if (chord_of(args, "hold", &chord, e) < 0)
		return -1;
	if (chord.n == 0)
		return 0;
	return pointer_confirm(&input->pointer, e) < 0 ? -1 : keyboard_press(&input->keyboard, &chord, grip, e);
}

/* Lets the keys go, if there are any, and waits for the display; the action's own failure, if any, stands. A click that the keys belong to
 * has them until the window under it gets it. */
static int finish(struct input *input, const struct grip *grip, int rc, struct err *e)
{
	struct err *reason = rc == 0 ? e : NULL;

	if (grip->n == 0)
		return rc;
	co_shield();
	if (pointer_confirm(&input->pointer, reason) < 0) {
		rc = -1;
		reason = NULL;
	}
	keyboard_let_go(&input->keyboard, grip);
	if (xconn_sync(input->x, reason) < 0 || keyboard_restore(&input->keyboard, reason) < 0)
		rc = -1;
	co_unshield();
	return rc;
}

/* Waiting so long would break the call's limit: said before anything is pressed. */
static int check_duration(const struct action_run *run, int64_t duration_ms, struct err *e)
{
	if (util_now_ms() + duration_ms <= run->deadline_ms)
		return 0;
	return err_set(e, ERR_TIMEOUT, "/duration_ms", "%lld ms do not fit into what is left of the call's time limit", (long long)duration_ms);
}

static const struct field click_fields[] = {
	X_FIELD(false, "column; without x and y: where the pointer is"),
	Y_FIELD(false, "row"),
	BUTTON_FIELD,
	{"count", FIELD_INT, false, 1, 3, NULL, NULL, NULL, "1", "2 is a double click, 3 a triple click; two actions never make one"},
	HOLD_FIELD,
};

static int run_click(struct action_run *run, struct err *e)
{
	struct input *input = run->home;
	struct pointer_point at;
	struct grip grip;
	unsigned int button = button_of(run->args);
	int rc;

	if (place_of(input, run->args, &at, e) < 0 || pointer_settle(&input->pointer, button, at, false, e) < 0 ||
	    carry_before_press(&input->carry, button, at, e) < 0 || hold(input, run->args, &grip, e) < 0)
		return -1;
	note_button(input);
	rc = pointer_click(&input->pointer, button, (int)form_int(run->args, "count", 1), at, e);
	return finish(input, &grip, rc, e);
}

static const struct field move_fields[] = {
	X_FIELD(true, "column"),
	Y_FIELD(true, "row"),
	{"duration_ms", FIELD_INT, false, 0, 60000, NULL, NULL, "ms", "0", "how long it takes, along a straight line; 0: in one jump"},
};

/* With a button down it is a part of a drag. */
static int see_move(void *arg, struct pointer_point at, struct err *e)
{
	struct input *input = arg;

	return input_holds_button(input) ? drag_see(&input->drags, at, e) : 0;
}

static int run_move(struct action_run *run, struct err *e)
{
	struct input *input = run->home;
	struct pointer_point way[2];
	const struct motion motion = {
		.pointer = &input->pointer,
		.points = way,
		.n_points = ARRAY_LEN(way),
		.duration_ms = form_int(run->args, "duration_ms", 0),
		.deadline_ms = run->deadline_ms,
		.seen = see_move,
		.arg = input,
	};
	size_t reached = 0;

	(void)given_place(run->args, &way[1]);
	if (motion.duration_ms == 0)
		return pointer_move(&input->pointer, way[1], e) < 0 ? -1 : see_move(input, way[1], e);
	if (check_duration(run, motion.duration_ms, e) < 0 || pointer_position(&input->pointer, &way[0], e) < 0)
		return -1;
	return motion_run(&motion, &reached, e);
}

static const struct field button_fields[] = {
	BUTTON_FIELD,
	X_FIELD(false, "column; without x and y: where the pointer is"),
	Y_FIELD(false, "row"),
};

static int run_mouse_down(struct action_run *run, struct err *e)
{
	struct input *input = run->home;
	unsigned int button = button_of(run->args);
	struct pointer_point at;

	if (place_of(input, run->args, &at, e) < 0 || pointer_settle(&input->pointer, button, at, true, e) < 0 ||
	    carry_before_press(&input->carry, button, at, e) < 0)
		return -1;
	note_button(input);
	drag_note_press(&input->drags);
	return pointer_press(&input->pointer, button, at, e);
}

/* What moved with the button down is a drag, as by the action of that name. */
static int run_mouse_up(struct action_run *run, struct err *e)
{
	struct input *input = run->home;
	unsigned int button = button_of(run->args);
	struct pointer_point at;

	note_button(input);
	if (given_place(run->args, &at) && pointer_move(&input->pointer, at, e) < 0)
		return -1;
	if (hands_holds_button(&input->hands, button) &&
	    (place_of(input, run->args, &at, e) < 0 || drag_settle(&input->drags, at, run->deadline_ms, e) < 0))
		return -1;
	return pointer_release(&input->pointer, button, e);
}

static const struct field drag_fields[] = {
	{"path", FIELD_PATH, true, 2, LIMIT_PATH_POINTS, NULL, NULL, NULL, NULL, "points [x, y]: press at the first, release at the last"},
	BUTTON_FIELD,
	HOLD_FIELD,
	{"duration_ms", FIELD_INT, false, 0, 60000, NULL, NULL, "ms", "300", "how long it takes; in its last fifth the pointer rests"},
};

static size_t path_of(const json_t *args, struct pointer_point points[LIMIT_PATH_POINTS])
{
	const json_t *point;
	size_t i;

	json_array_foreach(json_object_get(args, "path"), i, point) {
		points[i].x_px = (int)json_integer_value(json_array_get(point, 0));
		points[i].y_px = (int)json_integer_value(json_array_get(point, 1));
	}
	return i;
}

static int run_drag(struct action_run *run, struct err *e)
{
	struct input *input = run->home;
	struct pointer_point points[LIMIT_PATH_POINTS];
	const struct drag_path path = {
		.button = button_of(run->args),
		.points = points,
		.n_points = path_of(run->args, points),
		.duration_ms = form_int(run->args, "duration_ms", DRAG_DEFAULT_MS),
		.deadline_ms = run->deadline_ms,
	};
	size_t reached = 0;
	struct grip grip;
	int rc;

	if (check_duration(run, path.duration_ms, e) < 0 || pointer_settle(&input->pointer, path.button, points[0], false, e) < 0 ||
	    hold(input, run->args, &grip, e) < 0)
		return -1;
	note_button(input);
	rc = drag_run(&input->drags, &path, &reached, e);
	json_object_set_new(run->result, "delivered", json_integer((json_int_t)reached));
	return finish(input, &grip, rc, e);
}

static const struct field scroll_fields[] = {
	X_FIELD(false, "column; without x and y: where the pointer is"),
	Y_FIELD(false, "row"),
	{"dx", FIELD_INT, false, -100, 100, NULL, NULL, "notches of the wheel", "0", "to the right; negative: left"},
	{"dy", FIELD_INT, false, -100, 100, NULL, NULL, "notches of the wheel", "0", "down; negative: up"},
	HOLD_FIELD,
};

static int run_scroll(struct action_run *run, struct err *e)
{
	struct input *input = run->home;
	struct pointer_point at;
	struct grip grip;
	int rc;

	if (hold(input, run->args, &grip, e) < 0)
		return -1;
	if (input->ops.before_press)
		input->ops.before_press(input->ops.arg);
	rc = pointer_scroll(&input->pointer, given_place(run->args, &at), form_int(run->args, "dx", 0), form_int(run->args, "dy", 0), e);
	return finish(input, &grip, rc, e);
}

static const struct field key_fields[] = {
	KEYS_FIELD,
	{"repeat", FIELD_INT, false, 1, 100, NULL, NULL, NULL, "1", "how many times the chord is pressed"},
};

static int run_key(struct action_run *run, struct err *e)
{
	struct input *input = run->home;
	struct chord chord;
	struct grip grip;

	if (begin_chord(input, run->args, &chord, e) < 0)
		return -1;
	for (long i = form_int(run->args, "repeat", 1); i > 0; i--)
		if (keyboard_press(&input->keyboard, &chord, &grip, e) < 0 || finish(input, &grip, 0, e) < 0)
			return -1;
	return 0;
}

static const struct field keys_fields[] = {KEYS_FIELD};

static int run_key_down(struct action_run *run, struct err *e)
{
	struct input *input = run->home;
	struct chord chord;
	struct grip grip;

	if (begin_chord(input, run->args, &chord, e) < 0 || keyboard_press(&input->keyboard, &chord, &grip, e) < 0)
		return -1;
	return xconn_sync(input->x, e);
}

static int run_key_up(struct action_run *run, struct err *e)
{
	struct input *input = run->home;
	struct chord chord;

	if (chord_of(run->args, "keys", &chord, e) < 0 || pointer_confirm(&input->pointer, e) < 0 ||
	    keyboard_release(&input->keyboard, &chord, e) < 0 || xconn_sync(input->x, e) < 0)
		return -1;
	return keyboard_restore(&input->keyboard, e);
}

static const struct field hold_fields[] = {
	KEYS_FIELD,
	{"duration_ms", FIELD_INT, true, 1, 100000, NULL, NULL, "ms", NULL, "how long they are held"},
};

static int run_hold_key(struct action_run *run, struct err *e)
{
	struct input *input = run->home;
	int64_t duration_ms = form_int(run->args, "duration_ms", 0);
	struct chord chord;
	struct grip grip;
	int rc;

	if (check_duration(run, duration_ms, e) < 0 || begin_chord(input, run->args, &chord, e) < 0 ||
	    keyboard_press(&input->keyboard, &chord, &grip, e) < 0)
		return -1;
	xconn_flush(input->x);
	rc = co_wait_until(util_now_ms() + duration_ms, e);
	return finish(input, &grip, rc, e);
}

static const struct field type_fields[] = {
	{"text", FIELD_STRING, true, 0, LIMIT_TEXT_BYTES, NULL, NULL, NULL, NULL, "any Unicode text; \\n, \\r\\n and \\r are Return, \\t is Tab"},
	{"delay_ms", FIELD_INT, false, 0, 1000, NULL, NULL, "ms", "0", "pause between two characters"},
};

static int run_type(struct action_run *run, struct err *e)
{
	struct input *input = run->home;
	const json_t *text = json_object_get(run->args, "text");
	struct typing typing = {
		.text = json_string_value(text),
		.len = json_string_length(text),
		.delay_ms = form_int(run->args, "delay_ms", 0),
		.deadline_ms = run->deadline_ms,
	};
	int rc = focus_settle(&input->focus, e) < 0 ? -1 : typing_run(&input->keyboard, &typing, e);

	json_object_set_new(run->result, "delivered", json_integer((json_int_t)typing.delivered));
	if (typing.note)
		json_object_set_new(run->result, "note", json_string(typing.note));
	return rc;
}

static const struct field secret_fields[] = {
	{"name", FIELD_STRING, true, 1, 31, NULL, NULL, NULL, NULL, "of a secret that the session's spec names"},
};

/* A chord by its name, pressed and released. */
static int press(struct input *input, const char *keys, struct err *e)
{
	json_auto_t *args = json_pack("{s:s}", "keys", keys);
	struct chord chord;
	struct grip grip;

	if (begin_chord(input, args, &chord, e) < 0 || keyboard_press(&input->keyboard, &chord, &grip, e) < 0)
		return -1;
	return finish(input, &grip, 0, e);
}

int input_type_over(struct input *input, const char *text, int64_t deadline_ms, struct err *e)
{
	struct typing typing = {.text = text, .len = strlen(text), .deadline_ms = deadline_ms};

	if (typing_check(text, typing.len, 0, "/value", e) < 0 || press(input, "ctrl+a", e) < 0)
		return -1;
	if (typing.len == 0)
		return press(input, "backspace", e);
	return focus_settle(&input->focus, e) < 0 ? -1 : typing_run(&input->keyboard, &typing, e);
}

static int run_cursor_position(struct action_run *run, struct err *e)
{
	struct input *input = run->home;
	struct pointer_point at;

	if (pointer_position(&input->pointer, &at, e) < 0)
		return -1;
	json_object_set_new(run->result, "x", json_integer(space_map(at.x_px, run->native.width_px, run->space.width_px)));
	json_object_set_new(run->result, "y", json_integer(space_map(at.y_px, run->native.height_px, run->space.height_px)));
	return 0;
}

static int run_clipboard_set(struct action_run *run, struct err *e)
{
	struct input *input = run->home;

	return copying_settle(&input->keyboard.copying, e) < 0 ? -1 : clipboard_run_set(&input->keyboard.clipboard, run, e);
}

static int run_clipboard_get(struct action_run *run, struct err *e)
{
	struct input *input = run->home;

	return copying_settle(&input->keyboard.copying, e) < 0 ? -1 : clipboard_run_get(&input->keyboard.clipboard, run, e);
}

/* What they say of what they did. */
static const struct member drag_told[] = {{"delivered", "count", "points of path that were reached"}};
static const struct member type_told[] = {
	{"delivered", "count", "characters that went out"},
	{"note?", "string", "what may have gone another way than it should"},
};
static const struct member secret_told[] = {{"note?", "string", "what may have gone another way than it should"}};
static const struct member position_told[] = {
	{"x", "count", "column (px)"},
	{"y", "count", "row (px)"},
};

const struct action_row input_rows[] = {
	{"click", "Clicks a mouse button.", FORM(click_fields, BOTH_OR_NONE), check_place, run_click, ACTION_ACTS, ACTION_AIMS, NO_MEMBERS,
	 "{\"action\":\"click\",\"x\":590,\"y\":405,\"button\":\"left\"}", NULL},
	{"move", "Moves the pointer.", FORM(move_fields, NULL), NULL, run_move, ACTION_ACTS, ACTION_AIMS | ACTION_MOVES, NO_MEMBERS,
	 "{\"action\":\"move\",\"x\":590,\"y\":405}", NULL},
	{"mouse_down", "Presses a mouse button and keeps it down.", FORM(button_fields, BOTH_OR_NONE), check_place, run_mouse_down, ACTION_ACTS, ACTION_AIMS, NO_MEMBERS,
	 "{\"action\":\"mouse_down\",\"x\":590,\"y\":405}", NULL},
	{"mouse_up", "Releases a mouse button.", FORM(button_fields, BOTH_OR_NONE), check_place, run_mouse_up, ACTION_ACTS, ACTION_AIMS, NO_MEMBERS,
	 "{\"action\":\"mouse_up\"}", NULL},
	{"drag", "Presses a mouse button, moves along a path and releases it.", FORM(drag_fields, NULL), check_place, run_drag, ACTION_ACTS, ACTION_AIMS, MEMBERS(drag_told),
	 "{\"action\":\"drag\",\"path\":[[630,160],[400,200]]}", "{\"delivered\":2}"},
	{"scroll", "Turns the mouse wheel.", FORM(scroll_fields, BOTH_OR_NONE "; dx or dy is required"), check_scroll, run_scroll, ACTION_ACTS, ACTION_AIMS, NO_MEMBERS,
	 "{\"action\":\"scroll\",\"x\":590,\"y\":405,\"dy\":3}", NULL},
	{"key", "Presses keys together and releases them.", FORM(key_fields, NULL), check_keys, run_key, ACTION_ACTS, ACTION_TYPES, NO_MEMBERS,
	 "{\"action\":\"key\",\"keys\":\"ctrl+a\"}", NULL},
	{"key_down", "Presses keys and keeps them down.", FORM(keys_fields, NULL), check_keys, run_key_down, ACTION_ACTS, ACTION_TYPES, NO_MEMBERS,
	 "{\"action\":\"key_down\",\"keys\":\"shift\"}", NULL},
	{"key_up", "Releases keys.", FORM(keys_fields, NULL), check_keys, run_key_up, ACTION_ACTS, ACTION_TYPES, NO_MEMBERS,
	 "{\"action\":\"key_up\",\"keys\":\"shift\"}", NULL},
	{"hold_key", "Holds keys down for a time.", FORM(hold_fields, NULL), check_keys, run_hold_key, ACTION_ACTS, ACTION_TYPES, NO_MEMBERS,
	 "{\"action\":\"hold_key\",\"keys\":\"right\",\"duration_ms\":100}", NULL},
	{"type", "Types text, exactly, whatever the keyboard layout.", FORM(type_fields, NULL), check_type, run_type, ACTION_ACTS, ACTION_TYPES, MEMBERS(type_told),
	 "{\"action\":\"type\",\"text\":\"Hello, world\"}", "{\"delivered\":12}"},
	{"type_secret", "Types a stored secret into the field that it is for, without telling it: that field is blank in pictures until its page is left.",
	 FORM(secret_fields, NULL), type_secret_check, type_secret_run, ACTION_ACTS, ACTION_TYPES | ACTION_UNTIMED, MEMBERS(secret_told), "{\"action\":\"type_secret\",\"name\":\"shop\"}",
	 "{}"},
	{"clipboard_set", "Puts text, HTML or a PNG on the clipboard, for every program to paste.", FORM(clipboard_set_fields, CLIPBOARD_SET_RULE),
	 clipboard_check_set, run_clipboard_set, ACTION_ACTS, ACTION_HIDES, NO_MEMBERS, "{\"action\":\"clipboard_set\",\"text\":\"Hello, world\"}", NULL},
	{"clipboard_get", "Reads the clipboard.", FORM(clipboard_get_fields, NULL), NULL, run_clipboard_get, ACTION_ACTS, ACTION_WAITS, MEMBERS(clipboard_get_told),
	 "{\"action\":\"clipboard_get\"}", "{\"owner\":\"none\",\"offered\":[],\"text\":null}"},
	{"cursor_position", "Tells where the pointer is.", {NULL, 0, NULL}, NULL, run_cursor_position, ACTION_ACTS, ACTION_WAITS, MEMBERS(position_told),
	 "{\"action\":\"cursor_position\"}", "{\"x\":590,\"y\":405}"},
};
const size_t input_n_rows = ARRAY_LEN(input_rows);
