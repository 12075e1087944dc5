/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The actions that have the window manager move and resize windows and show them maximized, minimized or over all of the screen. It and the
 * window have the last word: what came of it is told, and why it is not what was asked for.
 */
#include <stdio.h>
#include <string.h>
#include <sys/param.h>

#include "apps/manage.h"
#include "session/base/limits.h"
#include "session/base/space.h"
#include "session/base/util.h"

enum {
	MOVERESIZE_X = 1 << 8,
	MOVERESIZE_Y = 1 << 9,
	MOVERESIZE_WIDTH = 1 << 10,
	MOVERESIZE_HEIGHT = 1 << 11,
	MOVERESIZE_SOURCE = MANAGE_FROM_PAGER << 12,
};
enum { STATE_REMOVE, STATE_ADD };
#define ICONIC 3    /* of WM_CHANGE_STATE */
#define KEYS_MS 500 /* for the keys to come or go with a window */

/* What the window manager would not move: a move that does nothing must not look like one. */
static int check_free(const struct window *window, struct err *e)
{
	if (window->state & WINDOW_FULLSCREEN)
		return err_set(e, ERR_CONFLICT, "/window", "the window fills the screen (fullscreen): show_window with \"state\": \"normal\" comes first");
	if (window->state & (WINDOW_MAXIMIZED_X | WINDOW_MAXIMIZED_Y))
		return err_set(e, ERR_CONFLICT, "/window", "the window is maximized: show_window with \"state\": \"normal\" comes first");
	return 0;
}

/* move_window */

const struct window *manage_place(struct managed *managed, int x, int y, struct err *e)
{
	const uint32_t data[5] = {XCB_GRAVITY_NORTH_WEST | MOVERESIZE_X | MOVERESIZE_Y | MOVERESIZE_SOURCE, (uint32_t)x, (uint32_t)y};

	return manage_ask_and_look(managed, "_NET_MOVERESIZE_WINDOW", data, e);
}

static int move(struct managed *managed, const struct window *window, struct err *e)
{
	const struct action_run *run = managed->run;
	int x = (int)form_int(run->asked, "x", 0), y = (int)form_int(run->asked, "y", 0), width = 1, height = 1;

	if (check_free(window, e) < 0)
		return -1;
	/* An edge, as the result tells it, and not the pixel under a pointer. */
	space_map_rect(run->space, run->native, &x, &y, &width, &height);
	window = manage_place(managed, x, y, e);
	if (!window)
		return -1;
	if (window->frame.x != x || window->frame.y != y)
		manage_note(run, "the window manager has it elsewhere: a part of a window stays on the screen");
	manage_tell(run, window, managed->now.active);
	return 0;
}

int move_window_run(struct action_run *run, struct err *e)
{
	struct managed managed;
	const struct window *window = manage_begin(&managed, run, e);
	int rc = window ? move(&managed, window, e) : -1;

	windows_finish(&managed.now);
	return rc;
}

/* resize_window */

int resize_window_check(void *home, const json_t *args, struct err *e)
{
	bool width = json_object_get(args, "width"), height = json_object_get(args, "height"), maximized = json_object_get(args, "maximized");

	(void)home;
	if (maximized && (width || height))
		return err_set(e, ERR_BAD_FIELD, "/maximized", "maximized is not allowed beside width and height: either, or");
	if (!maximized && (!width || !height))
		return err_set(e, ERR_MISSING_FIELD, width ? "/height" : "/width", "width and height, or maximized, must be given");
	return 0;
}

/* The hints of a window about its size (WM_NORMAL_HINTS): which of them it gives, and numbers that are believed if they make sense. */
enum { HINT_MIN = 1 << 4, HINT_MAX = 1 << 5, HINT_STEP = 1 << 6 };
enum { HINTS_FLAGS = 0, HINTS_MIN = 5, HINTS_MAX = 7, HINTS_STEP = 9, N_HINTS = 18 };

static bool has_hint(const uint32_t hints[N_HINTS], uint32_t flag, size_t at)
{
	return hints[HINTS_FLAGS] & flag && hints[at] > 0 && hints[at] <= INT16_MAX && hints[at + 1] > 0 && hints[at + 1] <= INT16_MAX;
}

/* Which of its hints is why the window has not this size (of the display). */
static int note_size(struct managed *managed, int width, int height, struct err *e)
{
	auto_free char *data = NULL;
	uint32_t hints[N_HINTS] = {0};
	xcb_atom_t type;
	struct err why;
	size_t len;
	int format;

	if (xconn_property(managed->apps->x, managed->id, XCB_ATOM_WM_NORMAL_HINTS, sizeof(hints), &data, &len, &type, &format, &why) == 0) {
		if (format == 32)
			memcpy(hints, data, len);
	} else if (why.code != ERR_CONFLICT) { /* that is a window that has gone */
		if (e)
			*e = why;
		return -1;
	}
	if (has_hint(hints, HINT_MIN, HINTS_MIN) && ((uint32_t)width < hints[HINTS_MIN] || (uint32_t)height < hints[HINTS_MIN + 1]))
		manage_note(managed->run, "the window is at least %ux%u pixels of the display", hints[HINTS_MIN], hints[HINTS_MIN + 1]);
	else if (has_hint(hints, HINT_MAX, HINTS_MAX) && ((uint32_t)width > hints[HINTS_MAX] || (uint32_t)height > hints[HINTS_MAX + 1]))
		manage_note(managed->run, "the window is at most %ux%u pixels of the display", hints[HINTS_MAX], hints[HINTS_MAX + 1]);
	else if (has_hint(hints, HINT_STEP, HINTS_STEP))
		manage_note(managed->run, "the window takes sizes in steps of %ux%u pixels of the display", hints[HINTS_STEP], hints[HINTS_STEP + 1]);
	else
		manage_note(managed->run, "the window or the window manager has it otherwise");
	return 0;
}

static int resize(struct managed *managed, const struct window *window, struct err *e)
{
	const struct action_run *run = managed->run;
	int x = 0, y = 0, width = (int)form_int(run->args, "width", 0), height = (int)form_int(run->args, "height", 0);
	uint32_t data[5] = {XCB_GRAVITY_NORTH_WEST | MOVERESIZE_WIDTH | MOVERESIZE_HEIGHT | MOVERESIZE_SOURCE};

	if (check_free(window, e) < 0)
		return -1;
	space_map_rect(run->space, run->native, &x, &y, &width, &height);
	data[3] = (uint32_t)width;
	data[4] = (uint32_t)height;
	window = manage_ask_and_look(managed, "_NET_MOVERESIZE_WINDOW", data, e);
	if (!window)
		return -1;
	manage_tell(run, window, managed->now.active);
	return window->width == width && window->height == height ? 0 : note_size(managed, width, height, e);
}

/* show_window */

#define SHOWN (WINDOW_MAXIMIZED_X | WINDOW_MAXIMIZED_Y | WINDOW_FULLSCREEN | WINDOW_MINIMIZED)

/* What of the states above a window has when it is shown so, and what it must not have. */
static const struct shown {
	const char *name;
	unsigned int on, off;
} SHOWN_AS[] = {
	{"normal", 0, SHOWN},
	{"maximized", WINDOW_MAXIMIZED_X | WINDOW_MAXIMIZED_Y, WINDOW_FULLSCREEN | WINDOW_MINIMIZED},
	{"maximized_width", WINDOW_MAXIMIZED_X, WINDOW_MAXIMIZED_Y | WINDOW_FULLSCREEN | WINDOW_MINIMIZED},
	{"maximized_height", WINDOW_MAXIMIZED_Y, WINDOW_MAXIMIZED_X | WINDOW_FULLSCREEN | WINDOW_MINIMIZED},
	{"fullscreen", WINDOW_FULLSCREEN, WINDOW_MINIMIZED},
	{"minimized", WINDOW_MINIMIZED, 0},
};

static int send_state(struct managed *managed, uint32_t what, const char *one, const char *two, struct err *e)
{
	uint32_t data[5] = {what, 0, 0, MANAGE_FROM_PAGER};

	if (xconn_atom(managed->apps->x, one, &data[1], e) < 0 || (two && xconn_atom(managed->apps->x, two, &data[2], e) < 0))
		return -1;
	return manage_send(managed, "_NET_WM_STATE", data, e);
}

/* Both ways in one message: taken one by one the window manager may forget where the window was. */
static int send_maximized(struct managed *managed, unsigned int which, uint32_t what, struct err *e)
{
	static const char x[] = "_NET_WM_STATE_MAXIMIZED_HORZ", y[] = "_NET_WM_STATE_MAXIMIZED_VERT";

	if (which == (WINDOW_MAXIMIZED_X | WINDOW_MAXIMIZED_Y))
		return send_state(managed, what, x, y, e);
	return which ? send_state(managed, what, which == WINDOW_MAXIMIZED_X ? x : y, NULL, e) : 0;
}

/* Asks for each that is not as it is to be; the window manager takes them in order. */
static int send_changes(struct managed *managed, unsigned int state, const struct shown *as, struct err *e)
{
	static const char fullscreen[] = "_NET_WM_STATE_FULLSCREEN";
	const uint32_t activate[5] = {MANAGE_FROM_PAGER}, iconify[5] = {ICONIC};
	const unsigned int add = as->on & ~state, off = as->off & state, both = WINDOW_MAXIMIZED_X | WINDOW_MAXIMIZED_Y;

	if (off & WINDOW_MINIMIZED && manage_send(managed, "_NET_ACTIVE_WINDOW", activate, e) < 0)
		return -1;
	if (off & WINDOW_FULLSCREEN && send_state(managed, STATE_REMOVE, fullscreen, NULL, e) < 0)
		return -1;
	if (send_maximized(managed, off & both, STATE_REMOVE, e) < 0 || send_maximized(managed, add & both, STATE_ADD, e) < 0)
		return -1;
	if (add & WINDOW_FULLSCREEN && send_state(managed, STATE_ADD, fullscreen, NULL, e) < 0)
		return -1;
	return add & WINDOW_MINIMIZED ? manage_send(managed, "WM_CHANGE_STATE", iconify, e) : 0;
}

static int not_shown(const struct window *window, const struct shown *as, const char *path, struct err *e)
{
	json_auto_t *list = windows_states(window->state);
	char states[120] = "normal";
	const json_t *state;
	size_t i, used = 0;

	json_array_foreach(list, i, state)
		if (used < sizeof(states))
			used += (size_t)snprintf(states + used, sizeof(states) - used, "%s%s", i > 0 ? ", " : "", json_string_value(state));
	return err_set(e, ERR_CONFLICT, path, "the window manager does not show this window %s, it is %s: one of a fixed size is not maximized", as->name,
	               states);
}

static bool is_shown(const struct window *window, const struct shown *as)
{
	return (window->state & (as->on | as->off)) == as->on;
}

/* The keys leave a window that is minimized, and come to one that was, a moment later. NULL when it is not there any more. */
static const struct window *wait_keys(struct managed *managed, bool had_to_come, bool had_to_leave, struct err *e)
{
	const int64_t deadline_ms = MIN(managed->run->deadline_ms, util_now_ms() + KEYS_MS);
	const struct window *window;
	int rc;

	do {
		uint64_t changes = managed->apps->changes;
		bool here;

		window = manage_look(managed, e);
		if (!window)
			return NULL;
		here = managed->now.active == managed->id;
		if (!(here ? had_to_leave : had_to_come))
			return window;
		rc = manage_wait_change(managed->apps, changes, deadline_ms, e);
	} while (rc == 0);
	return rc > 0 ? windows_find(&managed->now, managed->id) : NULL;
}

/* One that leaves the full screen is as large again as it was before: that may have been maximized. */
static int show(struct managed *managed, const struct window *window, const struct shown *as, const char *path, struct err *e)
{
	const int64_t deadline_ms = MIN(managed->run->deadline_ms, util_now_ms() + MANAGE_WM_MS);
	const bool was_minimized = window->state & WINDOW_MINIMIZED;

	for (int i = 0; i < 2 && !is_shown(window, as); i++) {
		if (send_changes(managed, window->state, as, e) < 0 || wm_wait(&managed->apps->wm, deadline_ms, e) < 0)
			return -1;
		window = manage_look(managed, e);
		if (!window)
			return -1;
	}
	if (is_shown(window, as)) {
		const bool minimized = window->state & WINDOW_MINIMIZED;

		window = wait_keys(managed, was_minimized && !minimized && windows_takes_keys(window), minimized, e);
		if (!window)
			return -1;
	}
	manage_tell(managed->run, window, managed->now.active);
	return is_shown(window, as) ? 0 : not_shown(window, as, path, e);
}

int show_window_run(struct action_run *run, struct err *e)
{
	const char *name = form_string(run->args, "state", "");
	struct managed managed;
	const struct window *window = manage_begin(&managed, run, e);
	int rc = -1;

	for (size_t i = 0; window && i < ARRAY_LEN(SHOWN_AS); i++)
		if (strcmp(SHOWN_AS[i].name, name) == 0)
			rc = show(&managed, window, &SHOWN_AS[i], "/state", e);
	windows_finish(&managed.now);
	return rc;
}

int resize_window_run(struct action_run *run, struct err *e)
{
	static const struct shown smaller = {"smaller", 0, WINDOW_MAXIMIZED_X | WINDOW_MAXIMIZED_Y};
	static const struct shown larger = {"maximized", WINDOW_MAXIMIZED_X | WINDOW_MAXIMIZED_Y, 0};
	const json_t *maximized = json_object_get(run->args, "maximized");
	struct managed managed;
	const struct window *window = manage_begin(&managed, run, e);
	int rc = -1;

	if (window)
		rc = maximized ? show(&managed, window, json_is_true(maximized) ? &larger : &smaller, "/maximized", e) : resize(&managed, window, e);
	windows_finish(&managed.now);
	return rc;
}
