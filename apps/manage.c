/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The actions that wait for a window, and that have the window manager focus, close, move or resize one. Each tells what really came of
 * it: a window has size hints, a dialog, or a will of its own. What a window did not do within a while it does not do.
 */
#include <stdio.h>
#include <string.h>
#include <sys/param.h>

#include "apps/state.h"
#include "apps/windows.h"
#include "session/base/limits.h"
#include "session/base/space.h"
#include "session/base/util.h"

#define WAIT_WINDOW_MS 10000 /* unless the caller says another limit */
#define LOOK_AGAIN_MS 50     /* titles and states of other clients' windows change without an event for us */
#define WM_MS 2000           /* the window manager's share of an action */
#define CLOSE_MS 5000        /* for a window to go, or to ask something */
#define FROM_PAGER 2         /* source of a request: the user wants it */
#define FRAME_MAX_PX 512     /* more is no frame: what is read of it may be the app's word */

enum {
	MOVERESIZE_X = 1 << 8,
	MOVERESIZE_Y = 1 << 9,
	MOVERESIZE_WIDTH = 1 << 10,
	MOVERESIZE_HEIGHT = 1 << 11,
	MOVERESIZE_SOURCE = FROM_PAGER << 12,
};
enum { STATE_REMOVE, STATE_ADD };

/* An action on one window. */
struct managed {
	struct action_run *run;
	struct apps *apps;
	xcb_window_t id;
	struct windows now; /* at the last look, top first */
};

static int look_at_all(struct managed *managed, struct err *e)
{
	windows_finish(&managed->now);
	return windows_look(managed->apps->x, managed->run->native, &managed->now, e);
}

/* The window as it is now; NULL with ERR_NO_WINDOW when it is not there (any more). */
static const struct window *look(struct managed *managed, struct err *e)
{
	const struct window *window = NULL;

	if (look_at_all(managed, e) < 0)
		return NULL;
	window = windows_find(&managed->now, managed->id);
	if (!window)
		(void)err_set(e, ERR_NO_WINDOW, "/window", "there is no window %lld (any more); the action windows lists those that there are",
		              (long long)managed->id);
	return window;
}

static const struct window *begin(struct managed *managed, struct action_run *run, struct err *e)
{
	*managed = (struct managed){.run = run, .apps = run->home, .id = (xcb_window_t)form_int(run->args, "window", 0)};
	return look(managed, e);
}

/* Waits until something may have changed since `changes`; 1 when the deadline has passed. */
static int wait_change(struct apps *apps, uint64_t changes, int64_t deadline_ms, struct err *e)
{
	struct err why;
	int64_t now_ms = util_now_ms();

	if (now_ms >= deadline_ms)
		return 1;
	if (apps->changes != changes)
		return 0;
	if (co_wait_event(&apps->changed, MIN(deadline_ms, now_ms + LOOK_AGAIN_MS), &why) == 0 || why.code == ERR_TIMEOUT)
		return 0;
	if (e)
		*e = why;
	return -1;
}

/* Puts what is known of a window into the result: its id as "window", as launch says it. */
static void tell(const struct action_run *run, const struct window *window, xcb_window_t active)
{
	json_t *facts = windows_json(run, window, active);

	json_object_set(run->result, "window", json_object_get(facts, "id"));
	json_object_del(facts, "id");
	json_object_update(run->result, facts);
	json_decref(facts);
}

/* Sends a request about the window, and waits until the window manager has handled it. */
static int ask(struct managed *managed, const char *type, const uint32_t data[5], struct err *e)
{
	struct xconn *x = managed->apps->x;
	xcb_atom_t atom;

	if (xconn_atom(x, type, &atom, e) < 0)
		return -1;
	wm_send(x, managed->id, atom, data);
	return wm_wait(&managed->apps->wm, MIN(managed->run->deadline_ms, util_now_ms() + WM_MS), e);
}

/* The same, then a look, of which the result tells. NULL when the window is not there any more. */
static const struct window *ask_and_tell(struct managed *managed, const char *type, const uint32_t data[5], struct err *e)
{
	const struct window *window = ask(managed, type, data, e) == 0 ? look(managed, e) : NULL;

	if (window)
		tell(managed->run, window, managed->now.active);
	return window;
}

/* The topmost dialog of the window that is not among those that were there before; NULL if there is none. */
static const struct window *dialog_of(const struct managed *managed, const struct windows *before)
{
	for (size_t i = 0; i < managed->now.n; i++) {
		const struct window *window = &managed->now.list[i];

		if (!window->gone && window->parent == managed->id && window->id != managed->id && !(before && windows_find(before, window->id)))
			return window;
	}
	return NULL;
}

/* wait_window */

int wait_window_check(void *home, const json_t *args, struct err *e)
{
	(void)home;
	if (json_object_get(args, "title") || json_object_get(args, "class"))
		return 0;
	return err_set(e, ERR_MISSING_FIELD, "/title", "title or class must be given: which window to wait for");
}

static const struct window *match(const struct windows *windows, const char *title, const char *class_name)
{
	for (size_t i = 0; i < windows->n; i++) {
		const struct window *window = &windows->list[i];

		if (!window->gone && (!title || strstr(window->title, title)) && (!class_name || strcmp(window->class_name, class_name) == 0))
			return window;
	}
	return NULL;
}

/* What there is instead, as far as it fits. */
static int no_match(const struct windows *windows, struct err *e)
{
	char list[200] = "";
	size_t used = 0;

	for (size_t i = 0; i < windows->n && used < sizeof(list) - 100; i++) {
		const struct window *window = &windows->list[i];
		char title[48], class_name[32];

		if (!window->gone)
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s of class %s", used > 0 ? ", " : "",
			                         err_quote(title, sizeof(title), window->title, window->title_len),
			                         err_quote(class_name, sizeof(class_name), window->class_name, window->class_len));
	}
	return err_set(e, ERR_TIMEOUT, NULL, "no such window was there in time; there %s%s", used > 0 ? "are: " : "is none", list);
}

int wait_window_run(struct action_run *run, struct err *e)
{
	struct managed all = {.run = run, .apps = run->home};
	const char *title = form_string(run->args, "title", NULL), *class_name = form_string(run->args, "class", NULL);
	int64_t deadline_ms = MIN(run->deadline_ms, util_now_ms() + form_int(run->args, "timeout_ms", WAIT_WINDOW_MS));
	const struct window *found = NULL;
	int rc = 0;

	while (rc == 0) {
		uint64_t changes = all.apps->changes;

		rc = look_at_all(&all, e);
		found = rc == 0 ? match(&all.now, title, class_name) : NULL;
		if (found)
			break;
		if (rc == 0)
			rc = wait_change(all.apps, changes, deadline_ms, e);
	}
	if (found)
		tell(run, found, all.now.active);
	else if (rc > 0)
		rc = no_match(&all.now, e);
	windows_finish(&all.now);
	return rc;
}

/* focus_window */

/* A window with a modal dialog gives the keys to that. */
static bool has_modal_focus(const struct managed *managed)
{
	const struct window *active = windows_find(&managed->now, managed->now.active);

	return active && active->parent == managed->id && (active->state & WINDOW_MODAL);
}

static int not_focused(const struct managed *managed, struct err *e)
{
	const struct window *active = windows_find(&managed->now, managed->now.active);
	char quoted[120];

	if (!active)
		return err_set(e, ERR_CONFLICT, "/window", "the window did not take the keys, and no other has them");
	return err_set(e, ERR_CONFLICT, "/window", "the window did not take the keys: %s%s, window %lld, has them",
	               active->parent == managed->id ? "its dialog " : "", err_quote(quoted, sizeof(quoted), active->title, active->title_len),
	               (long long)active->id);
}

static int focus(struct managed *managed, struct err *e)
{
	const uint32_t data[5] = {FROM_PAGER};
	int64_t deadline_ms = MIN(managed->run->deadline_ms, util_now_ms() + WM_MS);
	const struct window *window;
	int rc;

	if (ask(managed, "_NET_ACTIVE_WINDOW", data, e) < 0)
		return -1;
	do {
		uint64_t changes = managed->apps->changes;

		window = look(managed, e);
		if (!window)
			return -1;
		if (managed->now.active == managed->id && !(window->state & WINDOW_MINIMIZED)) {
			tell(managed->run, window, managed->now.active);
			return 0;
		}
		rc = has_modal_focus(managed) ? 1 : wait_change(managed->apps, changes, deadline_ms, e);
	} while (rc == 0);
	return rc > 0 ? not_focused(managed, e) : -1;
}

int focus_window_run(struct action_run *run, struct err *e)
{
	struct managed managed;
	int rc = begin(&managed, run, e) ? focus(&managed, e) : -1;

	windows_finish(&managed.now);
	return rc;
}

/* close_window */

static void tell_open(struct managed *managed, const struct windows *before)
{
	const struct window *window = windows_find(&managed->now, managed->id), *dialog = dialog_of(managed, before);

	/* Without a new one: an older one that is still open is what it waits for. */
	if (!dialog)
		dialog = dialog_of(managed, NULL);
	tell(managed->run, window, managed->now.active);
	json_object_set_new(managed->run->result, "closed", json_false());
	if (dialog)
		json_object_set_new(managed->run->result, "dialog", windows_json(managed->run, dialog, managed->now.active));
}

static int close_it(struct managed *managed, const struct windows *before, struct err *e)
{
	const uint32_t data[5] = {XCB_CURRENT_TIME, FROM_PAGER};
	int64_t deadline_ms = MIN(managed->run->deadline_ms, util_now_ms() + CLOSE_MS);
	int rc;

	if (ask(managed, "_NET_CLOSE_WINDOW", data, e) < 0)
		return -1;
	do {
		uint64_t changes = managed->apps->changes;

		if (look_at_all(managed, e) < 0)
			return -1;
		if (!windows_find(&managed->now, managed->id)) {
			json_object_set_new(managed->run->result, "closed", json_true());
			return 0;
		}
		rc = dialog_of(managed, before) ? 1 : wait_change(managed->apps, changes, deadline_ms, e);
	} while (rc == 0);
	if (rc > 0)
		tell_open(managed, before);
	return MIN(rc, 0);
}

int close_window_run(struct action_run *run, struct err *e)
{
	struct managed managed;
	struct windows before = {0};
	int rc = -1;

	if (begin(&managed, run, e)) {
		json_object_set_new(run->result, "window", json_integer(managed.id));
		before = managed.now;
		managed.now = (struct windows){0};
		rc = close_it(&managed, &before, e);
	}
	windows_finish(&before);
	windows_finish(&managed.now);
	return rc;
}

/* move_window, resize_window */

/* What the window manager would not move: a move that does nothing must not look like one. */
static int check_free(const struct window *window, struct err *e)
{
	if (window->state & WINDOW_FULLSCREEN)
		return err_set(e, ERR_CONFLICT, "/window", "the window fills the screen (fullscreen): it has to leave that first");
	if (window->state & (WINDOW_MAXIMIZED_X | WINDOW_MAXIMIZED_Y))
		return err_set(e, ERR_CONFLICT, "/window", "the window is maximized: resize_window with \"maximized\": false comes first");
	return 0;
}

/* How far the frame reaches over the content, on the left and above. */
static int read_frame(struct managed *managed, int *left, int *top, struct err *e)
{
	auto_free char *data = NULL;
	uint32_t sides[4] = {0}; /* left, right, top, bottom */
	xcb_atom_t atom, type;
	struct err why;
	size_t len;
	int format;

	if (xconn_atom(managed->apps->x, "_NET_FRAME_EXTENTS", &atom, e) < 0)
		return -1;
	if (xconn_property(managed->apps->x, managed->id, atom, sizeof(sides), &data, &len, &type, &format, &why) == 0) {
		if (format == 32 && len == sizeof(sides))
			memcpy(sides, data, sizeof(sides));
	} else if (why.code != ERR_CONFLICT) { /* that is a window that has gone, as will be seen */
		if (e)
			*e = why;
		return -1;
	}
	*left = sides[0] <= FRAME_MAX_PX ? (int)sides[0] : 0;
	*top = sides[2] <= FRAME_MAX_PX ? (int)sides[2] : 0;
	return 0;
}

/* The window manager is told the corner of the frame. The place of the content would be taken for one without the border that the window
 * had before it got the frame. */
static int move(struct managed *managed, const struct window *window, struct err *e)
{
	const struct action_run *run = managed->run;
	uint32_t data[5] = {XCB_GRAVITY_NORTH_WEST | MOVERESIZE_X | MOVERESIZE_Y | MOVERESIZE_SOURCE};
	int x = (int)form_int(run->asked, "x", 0), y = (int)form_int(run->asked, "y", 0), width = 1, height = 1, left, top;

	if (check_free(window, e) < 0 || read_frame(managed, &left, &top, e) < 0)
		return -1;
	/* An edge, as the result tells it, and not the pixel under a pointer. */
	space_map_rect(run->space, run->native, &x, &y, &width, &height);
	data[1] = (uint32_t)(x - left);
	data[2] = (uint32_t)(y - top);
	return ask_and_tell(managed, "_NET_MOVERESIZE_WINDOW", data, e) ? 0 : -1;
}

int move_window_run(struct action_run *run, struct err *e)
{
	struct managed managed;
	const struct window *window = begin(&managed, run, e);
	int rc = window ? move(&managed, window, e) : -1;

	windows_finish(&managed.now);
	return rc;
}

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
	return ask_and_tell(managed, "_NET_MOVERESIZE_WINDOW", data, e) ? 0 : -1;
}

static int maximize(struct managed *managed, bool wanted, struct err *e)
{
	const unsigned int both = WINDOW_MAXIMIZED_X | WINDOW_MAXIMIZED_Y;
	uint32_t data[5] = {wanted ? STATE_ADD : STATE_REMOVE, 0, 0, FROM_PAGER};
	const struct window *window;

	if (xconn_atom(managed->apps->x, "_NET_WM_STATE_MAXIMIZED_HORZ", &data[1], e) < 0 ||
	    xconn_atom(managed->apps->x, "_NET_WM_STATE_MAXIMIZED_VERT", &data[2], e) < 0)
		return -1;
	window = ask_and_tell(managed, "_NET_WM_STATE", data, e);
	if (!window)
		return -1;
	if ((window->state & both) == (wanted ? both : 0))
		return 0;
	return err_set(e, ERR_CONFLICT, "/maximized", "the window cannot be %s", wanted ? "maximized" : "given another size");
}

int resize_window_run(struct action_run *run, struct err *e)
{
	const json_t *maximized = json_object_get(run->args, "maximized");
	struct managed managed;
	const struct window *window = begin(&managed, run, e);
	int rc = -1;

	if (window)
		rc = maximized ? maximize(&managed, json_is_true(maximized), e) : resize(&managed, window, e);
	windows_finish(&managed.now);
	return rc;
}
