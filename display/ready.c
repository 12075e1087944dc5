/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Waiting for what the screen does: a window manager, a painted desktop, quiet. Nothing here sleeps to give something time.
 */
#include <string.h>
#include <sys/param.h>

#include "display/screen.h"
#include "session/base/util.h"

#define PROPERTY_BYTES 64 /* enough to see that one is there */

/* A window manager that has not followed for so long is told again. */
#define TELL_AGAIN_MS 200

/* How long after an update at the earliest the next is made: what is drawn faster is taken in together, and its end is known to so much. */
#define TOGETHER_MS 3

static int has_property(struct display *display, const char *name, bool *there, struct err *e)
{
	auto_free char *data = NULL;
	xcb_atom_t atom, type;
	size_t len;
	int format;

	if (xconn_atom(display->x, name, &atom, e) < 0 ||
	    xconn_property(display->x, display->x->root, atom, PROPERTY_BYTES, &data, &len, &type, &format, e) < 0)
		return -1;
	*there = type != XCB_NONE;
	return 0;
}

/* Waits for the event; at the deadline says what is missing. */
static int wait_for(struct co_event *event, int64_t deadline_ms, const char *missing, struct err *e)
{
	struct err wait;

	if (co_wait_event(event, deadline_ms, &wait) == 0)
		return 0;
	if (wait.code == ERR_TIMEOUT)
		return err_set(e, ERR_SESSION_FAILED, NULL, "%s", missing);
	if (e)
		*e = wait;
	return -1;
}

static int wait_manager(struct display *display, int64_t deadline_ms, struct err *e)
{
	xconn_select_root(display->x, XCB_EVENT_MASK_PROPERTY_CHANGE);
	for (;;) {
		bool checks = false, lists = false;
		uint64_t before = display->n_properties;

		if (has_property(display, "_NET_SUPPORTING_WM_CHECK", &checks, e) < 0 || has_property(display, "_NET_CLIENT_LIST", &lists, e) < 0)
			return -1;
		if (checks && lists)
			return 0;
		/* What was told while it looked is not told again. */
		if (before == display->n_properties &&
		    wait_for(&display->properties, deadline_ms, "the window manager did not get ready in time", e) < 0)
			return -1;
	}
}

/* The corners and the middle: a window manager's own first window may lie anywhere, but not on all of them. */
static bool is_painted(const struct display *display)
{
	const int right = display->native.width_px - 1, bottom = display->native.height_px - 1;
	const int points[][2] = {{0, 0}, {right, 0}, {0, bottom}, {right, bottom}, {right / 2, bottom / 2}};

	for (size_t i = 0; i < ARRAY_LEN(points); i++)
		if (image_row(&display->shown, points[i][1])[points[i][0]] != SCREEN_BACKGROUND)
			return false;
	return true;
}

static int wait_painted(struct display *display, int64_t deadline_ms, struct err *e)
{
	for (;;) {
		if (screen_update(display, e) < 0)
			return -1;
		if (is_painted(display))
			return 0;
		if (!display->told && wait_for(&display->drawn, deadline_ms, "the desktop was not painted in time", e) < 0)
			return -1;
	}
}

/* _NET_DESKTOP_GEOMETRY is what the screen has. */
static int read_geometry(struct display *display, bool *same, struct err *e)
{
	auto_free char *data = NULL;
	xcb_atom_t atom, type;
	size_t len;
	int format;

	if (xconn_atom(display->x, "_NET_DESKTOP_GEOMETRY", &atom, e) < 0 ||
	    xconn_property(display->x, display->x->root, atom, PROPERTY_BYTES, &data, &len, &type, &format, e) < 0)
		return -1;
	uint32_t sides[2] = {0};

	if (format == 32 && len >= sizeof(sides))
		memcpy(sides, data, sizeof(sides));
	*same = sides[0] == (uint32_t)display->native.width_px && sides[1] == (uint32_t)display->native.height_px;
	return 0;
}

int ready_wait_geometry(struct display *display, int64_t deadline_ms, struct err *e)
{
	int64_t again_ms = util_now_ms() + TELL_AGAIN_MS;
	struct err wait;

	for (;;) {
		uint64_t before = display->n_properties;
		bool same = false;

		if (read_geometry(display, &same, e) < 0)
			return -1;
		if (same)
			return 0;
		/* A program that changes properties all the time does not get more of it. */
		if (util_now_ms() >= deadline_ms)
			return err_set(e, ERR_TIMEOUT, NULL, "the window manager did not follow in time");
		if (util_now_ms() >= again_ms) {
			resize_tell_again(display);
			again_ms = util_now_ms() + TELL_AGAIN_MS;
		}
		if (before == display->n_properties && co_wait_event(&display->properties, MIN(deadline_ms, again_ms), &wait) < 0 &&
		    wait.code != ERR_TIMEOUT) {
			if (e)
				*e = wait;
			return -1;
		}
	}
}

/* As large as it can be it was from the start. */
static int wait_geometry(struct display *display, int64_t deadline_ms, struct err *e)
{
	struct err wait;

	if (space_is_same(display->native, display->maximum) || ready_wait_geometry(display, deadline_ms, &wait) == 0)
		return 0;
	if (wait.code == ERR_TIMEOUT)
		return err_set(e, ERR_SESSION_FAILED, NULL, "%s", wait.msg);
	if (e)
		*e = wait;
	return -1;
}

int display_wait_ready(struct display *display, int64_t deadline_ms, struct err *e)
{
	if (wait_manager(display, deadline_ms, e) < 0 || wait_geometry(display, deadline_ms, e) < 0)
		return -1;
	return wait_painted(display, deadline_ms, e);
}

/* Sleeps until something is drawn, at most until at_ms. */
static int wait_drawn(struct display *display, int64_t at_ms, struct err *e)
{
	struct err wait;

	if (display->told || co_wait_event(&display->drawn, at_ms, &wait) == 0 || wait.code == ERR_TIMEOUT)
		return 0;
	if (e)
		*e = wait;
	return -1;
}

static int watch(struct display *display, const struct screen_watch *watch, int64_t deadline_ms, bool *settled, struct err *e)
{
	for (;;) {
		int64_t now_ms, quiet_at;

		/* A server that does not answer is not quiet. */
		if (screen_update(display, e) < 0)
			return -1;
		now_ms = util_now_ms();
		quiet_at = watch->drawn_ms + watch->quiet->quiet_ms;
		if (now_ms >= MIN(quiet_at, deadline_ms)) {
			*settled = quiet_at <= now_ms;
			return 0;
		}
		if (wait_drawn(display, MIN(quiet_at, deadline_ms), e) < 0)
			return -1;
		/* The first is seen at once, so that a screen that changes once is quiet so long after just that. */
		if (util_now_ms() < now_ms + TOGETHER_MS && co_wait_until(MIN(now_ms + TOGETHER_MS, deadline_ms), e) < 0)
			return -1;
	}
}

/* When the quiet began, as far as is known before it is looked at. */
static int64_t begin_of(const struct display *display, const struct display_quiet *quiet)
{
	if (quiet->since_ms == 0)
		return util_now_ms();
	return MAX(quiet->since_ms, display->changed_ms);
}

int display_settle(struct display *display, const struct display_quiet *quiet, int64_t deadline_ms, bool *settled, struct err *e)
{
	struct screen_watch self = {.next = display->watches, .quiet = quiet, .drawn_ms = begin_of(display, quiet)};
	struct screen_watch **place = &display->watches;
	int rc;

	display->watches = &self;
	rc = watch(display, &self, deadline_ms, settled, e);
	while (*place != &self)
		place = &(*place)->next;
	*place = self.next;
	return rc;
}
