/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The actions that wait for a window, and that have the window manager focus or close one. Each tells what really came of it: a window has
 * a dialog, or a will of its own. What a window did not do within a while it does not do.
 */
#include "apps/manage.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>

#include "apps/pieces.h"
#include "session/base/limits.h"
#include "session/base/space.h"
#include "session/base/util.h"

#define WAIT_WINDOW_MS 10000 /* unless the caller says another limit */
#define LOOK_AGAIN_MS 50     /* titles and states of other clients' windows change without an event for us */
#define CLOSE_MS 5000        /* for a window to go, or to ask something */
#define LOOK_PAUSE_MS 5      /* between two looks, however often the list of windows changes */
#define USABLE_PX 64         /* of a window's content, each way, that must be on the screen for it to be of use */

int manage_look_at_all(struct managed *managed, struct err *e)
{
	windows_finish(&managed->now);
	return windows_look(managed->apps->x, managed->run->native, &managed->now, e);
}

const struct window *manage_look(struct managed *managed, struct err *e)
{
	const struct window *window = NULL;

	if (manage_look_at_all(managed, e) < 0)
		return NULL;
	window = windows_find(&managed->now, managed->id);
	if (!window)
		(void)err_set(e, ERR_NO_WINDOW, "/window", "there is no window %lld (any more); the action windows lists those that there are",
		              (long long)managed->id);
	return window;
}

const struct window *manage_begin(struct managed *managed, struct action_run *run, struct err *e)
{
	*managed = (struct managed){.run = run, .apps = run->home, .id = (xcb_window_t)form_int(run->args, "window", 0)};
	return manage_look(managed, e);
}

int manage_wait_change(struct apps *apps, uint64_t changes, int64_t deadline_ms, struct err *e)
{
	struct err why;
	int64_t now_ms = util_now_ms();

	if (now_ms >= deadline_ms)
		return 1;
	/* A program that opens and closes windows all the time must not keep us looking. */
	if (apps->changes != changes)
		return co_wait_until(MIN(deadline_ms, now_ms + LOOK_PAUSE_MS), e);
	if (co_wait_event(&apps->changed, MIN(deadline_ms, now_ms + LOOK_AGAIN_MS), &why) == 0 || why.code == ERR_TIMEOUT)
		return 0;
	if (e)
		*e = why;
	return -1;
}

void manage_tell(const struct action_run *run, const struct window *window, xcb_window_t active)
{
	json_t *facts = windows_json(run, window, active);

	json_object_set(run->result, "window", json_object_get(facts, "id"));
	json_object_del(facts, "id");
	json_object_update(run->result, facts);
	json_decref(facts);
}

void manage_note(const struct action_run *run, const char *format, ...)
{
	char text[300];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	json_object_set_new(run->result, "note", json_string(text));
}

int manage_send(struct managed *managed, const char *type, const uint32_t data[5], struct err *e)
{
	xcb_atom_t atom;

	if (xconn_atom(managed->apps->x, type, &atom, e) < 0)
		return -1;
	wm_send(managed->apps->x, managed->id, atom, data);
	return 0;
}

int manage_ask(struct managed *managed, const char *type, const uint32_t data[5], struct err *e)
{
	if (manage_send(managed, type, data, e) < 0)
		return -1;
	return wm_wait(&managed->apps->wm, MIN(managed->run->deadline_ms, util_now_ms() + MANAGE_WM_MS), e);
}

const struct window *manage_ask_and_look(struct managed *managed, const char *type, const uint32_t data[5], struct err *e)
{
	return manage_ask(managed, type, data, e) == 0 ? manage_look(managed, e) : NULL;
}

/* The topmost dialog of the window that is not among those that were there before; NULL if there is none. */
static const struct window *dialog_of(const struct managed *managed, const struct windows *before)
{
	const struct window *self = windows_find(&managed->now, managed->id);

	for (size_t i = 0; self && i < managed->now.n; i++) {
		const struct window *window = &managed->now.list[i];

		if (!window->gone && window->parent == self->id && window != self && windows_same_program(managed->apps->x, window, self) &&
		    !(before && windows_find(before, window->id)))
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

		rc = manage_look_at_all(&all, e);
		found = rc == 0 ? match(&all.now, title, class_name) : NULL;
		if (found)
			break;
		if (rc == 0)
			rc = manage_wait_change(all.apps, changes, deadline_ms, e);
	}
	if (found)
		manage_tell(run, found, all.now.active);
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

/* A window of which next to nothing is on the screen is of no use, keys or not: it comes to where all of it, or its upper left part, is. */
static int tell_focused(struct managed *managed, const struct window *window, struct err *e)
{
	const struct rect screen = {0, 0, managed->run->native.width_px, managed->run->native.height_px};
	const struct rect content = {window->x, window->y, window->width, window->height}, there = pieces_common(content, screen);
	const struct rect frame = window->frame;

	if (there.width < MIN(content.width, USABLE_PX) || there.height < MIN(content.height, USABLE_PX)) {
		window = manage_place(managed, MAX(0, MIN(frame.x, screen.width - frame.width)), MAX(0, MIN(frame.y, screen.height - frame.height)), e);
		if (!window)
			return -1;
		manage_note(managed->run, "it was off the screen and has been moved");
	}
	manage_tell(managed->run, window, managed->now.active);
	return 0;
}

static int focus(struct managed *managed, struct err *e)
{
	const uint32_t data[5] = {MANAGE_FROM_PAGER};
	int64_t deadline_ms = MIN(managed->run->deadline_ms, util_now_ms() + MANAGE_WM_MS);
	const struct window *window;
	int rc;

	if (manage_ask(managed, "_NET_ACTIVE_WINDOW", data, e) < 0)
		return -1;
	do {
		uint64_t changes = managed->apps->changes;

		window = manage_look(managed, e);
		if (!window)
			return -1;
		if (managed->now.active == managed->id && !(window->state & WINDOW_MINIMIZED))
			return tell_focused(managed, window, e);
		rc = has_modal_focus(managed) ? 1 : manage_wait_change(managed->apps, changes, deadline_ms, e);
	} while (rc == 0);
	return rc > 0 ? not_focused(managed, e) : -1;
}

int focus_window_run(struct action_run *run, struct err *e)
{
	struct managed managed;
	int rc = manage_begin(&managed, run, e) ? focus(&managed, e) : -1;

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
	manage_tell(managed->run, window, managed->now.active);
	json_object_set_new(managed->run->result, "closed", json_false());
	if (dialog)
		json_object_set_new(managed->run->result, "dialog", windows_json(managed->run, dialog, managed->now.active));
	manage_note(managed->run, "%s", dialog ? "it asks something first, in the dialog" :
	            "it was asked and did nothing in time: its program may hang; \"force\": true cuts that off from the display");
}

/* Waits until it is gone, which is told; 1 when it is not by the deadline, or asks something that it did not ask `before`. */
static int wait_closed(struct managed *managed, const struct windows *before, int64_t deadline_ms, struct err *e)
{
	int rc;

	do {
		uint64_t changes = managed->apps->changes;

		if (manage_look_at_all(managed, e) < 0)
			return -1;
		if (!windows_find(&managed->now, managed->id)) {
			json_object_set_new(managed->run->result, "closed", json_true());
			return 0;
		}
		rc = before && dialog_of(managed, before) ? 1 : manage_wait_change(managed->apps, changes, deadline_ms, e);
	} while (rc == 0);
	return rc;
}

static bool is_of(const struct xconn *x, xcb_window_t window, xcb_window_t other)
{
	return ((window ^ other) & ~xcb_get_setup(x->xcb)->resource_id_mask) == 0;
}

/* The list of windows is a property that a program may have written: neither we nor the window manager are to be cut off by it. */
static int cut_off(struct managed *managed, struct err *e)
{
	struct xconn *x = managed->apps->x;
	xcb_window_t manager;

	if (windows_manager(x, &manager, e) < 0)
		return -1;
	if (is_of(x, managed->id, xcb_get_setup(x->xcb)->resource_id_base) || is_of(x, managed->id, manager))
		return err_set(e, ERR_CONFLICT, "/window", "the window is not of a program in the session");
	xcb_kill_client(x->xcb, managed->id);
	xconn_flush(x);
	return 0;
}

static int force(struct managed *managed, struct err *e)
{
	int rc = cut_off(managed, e);

	if (rc == 0)
		rc = wait_closed(managed, NULL, MIN(managed->run->deadline_ms, util_now_ms() + MANAGE_WM_MS), e);
	if (rc == 0)
		json_object_set_new(managed->run->result, "forced", json_true());
	return rc > 0 ? err_set(e, ERR_CONFLICT, "/window", "the window is still there, though its program was cut off from the display") : rc;
}

static int close_it(struct managed *managed, const struct windows *before, struct err *e)
{
	const uint32_t data[5] = {XCB_CURRENT_TIME, MANAGE_FROM_PAGER};
	int64_t limit_ms = form_int(managed->run->args, "timeout_ms", CLOSE_MS), deadline_ms = managed->run->deadline_ms;
	int rc = manage_ask(managed, "_NET_CLOSE_WINDOW", data, e);

	if (rc == 0)
		rc = wait_closed(managed, before, MIN(deadline_ms, util_now_ms() + limit_ms), e);
	if (rc > 0 && form_bool(managed->run->args, "force", false))
		return force(managed, e);
	if (rc > 0)
		tell_open(managed, before);
	return MIN(rc, 0);
}

int close_window_run(struct action_run *run, struct err *e)
{
	struct managed managed;
	struct windows before = {0};
	int rc = -1;

	if (manage_begin(&managed, run, e)) {
		json_object_set_new(run->result, "window", json_integer(managed.id));
		before = managed.now;
		managed.now = (struct windows){0};
		rc = close_it(&managed, &before, e);
	}
	windows_finish(&before);
	windows_finish(&managed.now);
	return rc;
}
