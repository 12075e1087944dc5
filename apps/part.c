/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What of the screen is a window's. */
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <xcb/xfixes.h>

#include "apps/pieces.h"
#include "apps/state.h"
#include "apps/windows.h"
#include "session/base/util.h"

#define STEPS 8 /* from a dialog of a dialog to its window */

/* A part that is being put together. */
struct making {
	const struct apps *apps;
	const struct windows *now;
	const struct window *window;
	size_t *ours;        /* one for each of now->tops: which of our windows it is, from 1 on; 0: another's */
	void *shapes[LIMIT_PART_WINDOWS]; /* what of the rectangle of each is the window; NULL: all */
	struct part *out;
	size_t place;        /* of the top that is looked at */
};

static struct rect join(struct rect a, struct rect b)
{
	const int x = MIN(a.x, b.x), y = MIN(a.y, b.y);

	if (a.width == 0 || b.width == 0)
		return a.width == 0 ? b : a;
	return (struct rect){x, y, MAX(a.x + a.width, b.x + b.width) - x, MAX(a.y + a.height, b.y + b.height) - y};
}

/* A dialog of it, or of one of its dialogs. Only what is of the same program is believed. */
static bool is_dialog(const struct making *making, const struct window *window)
{
	for (int i = 0; i < STEPS && window; i++) {
		if (window == making->window)
			return true;
		if (!windows_same_program(making->apps->x, window, making->window))
			return false;
		window = windows_find(making->now, window->parent);
	}
	return false;
}

static void add_window(struct making *making, const struct window *window, struct rect screen)
{
	struct part *out = making->out;

	for (size_t i = 0; i < making->now->n_tops; i++) {
		const struct top *top = &making->now->tops[i];

		if ((top->id != window->id && top->id != window->above) || making->ours[i] || out->n_windows == LIMIT_PART_WINDOWS)
			continue;
		out->region = join(out->region, pieces_common(top->rect, screen));
		out->windows[out->n_windows++] = window->id;
		making->ours[i] = out->n_windows;
	}
}

/* The window first, then what is over it. */
static void add_windows(struct making *making, struct rect screen)
{
	const struct windows *now = making->now;

	add_window(making, making->window, screen);
	for (size_t i = 0; i < now->n_popups; i++) {
		const struct window *owner = windows_find(now, now->popups[i].owner);

		if (!now->popups[i].gone && owner && is_dialog(making, owner))
			add_window(making, &now->popups[i], screen);
	}
	for (size_t i = 0; i < now->n; i++)
		if (!now->list[i].gone && &now->list[i] != making->window && !(now->list[i].state & WINDOW_MINIMIZED) && is_dialog(making, &now->list[i]))
			add_window(making, &now->list[i], screen);
}

static void note_shown(void *arg, struct rect rect)
{
	struct part *out = ((struct making *)arg)->out;

	if (out->n_shown < LIMIT_PART_RECTS)
		out->shown[out->n_shown++] = rect;
}

/* Something else is here: over what of ours that lies below? */
static void note_cover(void *arg, struct rect rect)
{
	const struct making *making = arg;
	struct part *out = making->out;

	for (size_t i = making->place + 1; i < making->now->n_tops; i++) {
		const struct rect common = pieces_common(making->now->tops[i].rect, rect);

		if (!making->ours[i] || common.width == 0)
			continue;
		if (out->n_covered < LIMIT_CHANGED)
			out->covered[out->n_covered++] = common;
		else
			out->covered[LIMIT_CHANGED - 1] = join(out->covered[LIMIT_CHANGED - 1], common);
	}
}

/* Windows may have any shape. display has told the server which version of the extension is spoken; one that has gone has no reply. */
static int read_shapes(struct making *making, struct err *e)
{
	struct xconn *x = making->apps->x;
	unsigned int sequences[LIMIT_PART_WINDOWS] = {0};

	if (xconn_room(x, e) < 0)
		return -1;
	for (size_t i = 0; i < making->now->n_tops; i++) {
		xcb_xfixes_region_t region;

		if (!making->ours[i])
			continue;
		region = xcb_generate_id(x->xcb);
		xcb_xfixes_create_region_from_window(x->xcb, region, making->now->tops[i].id, 0);
		sequences[making->ours[i] - 1] = xcb_xfixes_fetch_region(x->xcb, region).sequence;
		xcb_xfixes_destroy_region(x->xcb, region);
	}
	return windows_take_replies(x, sequences, making->out->n_windows, making->shapes, e);
}

/* What of this place of the stack is a window of ours. */
static void take_ours(struct making *making, struct pieces *pieces)
{
	const struct top *top = &making->now->tops[making->place];
	const struct rect all = top->rect;
	const xcb_xfixes_fetch_region_reply_t *shape = making->shapes[making->ours[making->place] - 1];
	const xcb_rectangle_t *list = shape ? xcb_xfixes_fetch_region_rectangles(shape) : NULL;
	const size_t n = shape ? MIN((size_t)xcb_xfixes_fetch_region_rectangles_length(shape), LIMIT_PIECES) : 0;

	if (!shape)
		pieces_take(pieces, all, note_shown, making);
	for (size_t i = 0; i < n; i++) {
		const struct rect rect = {all.x + top->border + list[i].x, all.y + top->border + list[i].y, list[i].width, list[i].height};

		pieces_take(pieces, pieces_common(rect, all), note_shown, making);
	}
}

static int check_there(const struct window *window, uint32_t id, struct err *e)
{
	if (!window)
		return err_set(e, ERR_NO_WINDOW, "/window", "there is no window %u (any more); the action windows lists those that there are", id);
	if (window->state & WINDOW_MINIMIZED)
		return err_set(e, ERR_CONFLICT, "/window", "the window is minimized: focus_window brings it back");
	return 0;
}

static int make(struct making *making, struct rect screen, struct err *e)
{
	struct part *out = making->out;
	struct pieces pieces;

	add_windows(making, screen);
	if (out->region.width == 0)
		return err_set(e, ERR_CONFLICT, "/window", "no part of the window is on the screen: focus_window brings it there");
	if (read_shapes(making, e) < 0)
		return -1;
	pieces_init(&pieces, out->region);
	for (making->place = 0; making->place < making->now->n_tops; making->place++)
		if (making->ours[making->place])
			take_ours(making, &pieces);
		else
			pieces_take(&pieces, making->now->tops[making->place].rect, note_cover, making);
	if (out->n_shown == 0)
		return err_set(e, ERR_CONFLICT, "/window", "other windows lie over all of the window: focus_window brings it to the top");
	return 0;
}

int apps_part(struct apps *apps, struct space native, uint32_t window, struct part *out, struct err *e)
{
	const struct rect screen = {0, 0, native.width_px, native.height_px};
	auto_free size_t *ours = NULL;
	struct windows now;
	struct making making = {.apps = apps, .now = &now, .out = out};
	int rc;

	if (windows_look(apps->x, native, &now, e) < 0)
		return -1;
	memset(out, 0, sizeof(*out));
	ours = util_zalloc(MAX(now.n_tops, 1) * sizeof(*ours));
	making.ours = ours;
	making.window = windows_find(&now, window);
	rc = check_there(making.window, window, e);
	if (rc == 0)
		rc = make(&making, screen, e);
	for (size_t i = 0; i < LIMIT_PART_WINDOWS; i++)
		free(making.shapes[i]);
	windows_finish(&now);
	return rc;
}
