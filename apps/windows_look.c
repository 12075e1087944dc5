/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All windows at once: frames, what lies over what, and what is on the screen without manager. */
#include <string.h>
#include <sys/param.h>

#include "apps/pieces.h"
#include "apps/windows.h"
#include "session/base/util.h"

#define TOP_BYTES 16                            /* two requests about a child of the root */
#define BATCH (XCONN_BATCH_BYTES / TOP_BYTES)   /* of them at once */
#define OWNERS 8                                /* steps from a menu of a menu to its window */

static struct rect content_of(const struct window *window)
{
	return (struct rect){window->x, window->y, window->width, window->height};
}

/* One that is shown and drawn. */
static bool read_top(struct top *top, xcb_window_t id, const xcb_get_window_attributes_reply_t *what, const xcb_get_geometry_reply_t *where)
{
	if (!what || !where || what->map_state != XCB_MAP_STATE_VIEWABLE || what->_class != XCB_WINDOW_CLASS_INPUT_OUTPUT)
		return false;
	*top = (struct top){
		.id = id,
		.rect = {where->x, where->y, where->width + 2 * where->border_width, where->height + 2 * where->border_width},
		.border = where->border_width,
		.no_manager = what->override_redirect,
	};
	return true;
}

/* Asks about n children of the root, from the last to the first, and adds those that are shown. */
static int add_tops(struct xconn *x, const xcb_window_t *ids, size_t n, struct windows *out, struct err *e)
{
	auto_free unsigned int *sequences = util_alloc(2 * n * sizeof(*sequences));
	auto_free void **replies = util_zalloc(2 * n * sizeof(*replies));
	int rc;

	if (xconn_room(x, e) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		sequences[2 * i] = xcb_get_window_attributes(x->xcb, ids[n - 1 - i]).sequence;
		sequences[2 * i + 1] = xcb_get_geometry(x->xcb, ids[n - 1 - i]).sequence;
	}
	rc = windows_take_replies(x, sequences, 2 * n, replies, e);
	for (size_t i = 0; rc == 0 && i < n; i++)
		out->n_tops += read_top(&out->tops[out->n_tops], ids[n - 1 - i], replies[2 * i], replies[2 * i + 1]);
	for (size_t i = 0; i < 2 * n; i++)
		free(replies[i]);
	return rc;
}

static int look_at_tops(struct xconn *x, struct windows *out, struct err *e)
{
	auto_free xcb_query_tree_reply_t *tree = NULL;
	const xcb_window_t *ids; /* bottom first */
	size_t n;

	if (x->lost)
		return xconn_sync(x, e);
	if (xconn_reply(x, xcb_query_tree(x->xcb, x->root).sequence, (void **)&tree, e) < 0)
		return -1;
	ids = xcb_query_tree_children(tree);
	n = MIN((size_t)tree->children_len, (size_t)tree->length);
	out->more = n > LIMIT_TOPS;
	if (out->more) {
		ids += n - LIMIT_TOPS;
		n = LIMIT_TOPS;
	}
	out->tops = util_alloc(MAX(n, 1) * sizeof(*out->tops));
	for (size_t left = n; left > 0;) {
		const size_t step = MIN(left, BATCH);

		left -= step;
		if (add_tops(x, ids + left, step, out, e) < 0)
			return -1;
	}
	return 0;
}

/* Where the window's frame, or itself if it has none, is in the stack; n_tops if it is not there. */
static size_t place_of(const struct windows *windows, const struct window *window)
{
	size_t at = 0;

	while (at < windows->n_tops && windows->tops[at].id != window->above && windows->tops[at].id != window->id)
		at++;
	return at;
}

/* What can be seen of a rectangle that lies at this place of the stack. */
static void judge(struct window *window, struct rect rect, const struct windows *windows, size_t place, struct rect screen)
{
	const long area = (long)rect.width * rect.height;
	struct pieces pieces;
	long on_screen, seen;

	pieces_init(&pieces, pieces_common(rect, screen));
	on_screen = pieces_area(&pieces);
	for (size_t i = 0; i < place && pieces.n > 0; i++)
		pieces_take(&pieces, windows->tops[i].rect, NULL, NULL);
	seen = pieces_area(&pieces);
	if (on_screen < area)
		window->hidden |= HIDDEN_OFF_SCREEN;
	if (seen < on_screen)
		window->hidden |= HIDDEN_COVERED;
	window->sight = seen == area ? SIGHT_ALL : seen > 0 ? SIGHT_PART : pieces.short_of_room ? SIGHT_UNKNOWN : SIGHT_NONE;
}

static void place_window(struct window *window, const struct windows *windows, struct rect screen)
{
	const size_t place = place_of(windows, window);

	window->frame = content_of(window);
	if (place < windows->n_tops)
		window->frame = windows->tops[place].rect;
	if (window->state & WINDOW_MINIMIZED) {
		window->hidden = HIDDEN_MINIMIZED;
		window->sight = SIGHT_NONE;
	} else if (place < windows->n_tops) {
		judge(window, content_of(window), windows, place, screen);
	} else if (!windows->more) {
		window->sight = SIGHT_NONE; /* not shown yet */
	}
}

static bool is_frame(const struct windows *windows, xcb_window_t top)
{
	for (size_t i = 0; i < windows->n; i++)
		if (windows->list[i].id == top || windows->list[i].above == top)
			return true;
	return false;
}

int windows_manager(struct xconn *x, xcb_window_t *manager, struct err *e)
{
	auto_free char *data = NULL;
	xcb_atom_t atom, type;
	size_t len;
	int format;

	*manager = XCB_NONE;
	if (xconn_atom(x, "_NET_SUPPORTING_WM_CHECK", &atom, e) < 0 ||
	    xconn_property(x, x->root, atom, sizeof(*manager), &data, &len, &type, &format, e) < 0)
		return -1;
	if (format == 32 && len == sizeof(*manager))
		memcpy(manager, data, sizeof(*manager));
	return 0;
}

static bool same_client(const struct xconn *x, xcb_window_t a, xcb_window_t b)
{
	return ((a ^ b) & ~xcb_get_setup(x->xcb)->resource_id_mask) == 0;
}

static const struct window *popup_of(const struct windows *windows, xcb_window_t id)
{
	for (size_t i = 0; i < windows->n_popups; i++)
		if (windows->popups[i].id == id && !windows->popups[i].gone)
			return &windows->popups[i];
	return NULL;
}

/* By its own word, as far as that names a window of the same program; else the program's window that has the keys, or is uppermost. */
static xcb_window_t owner_of(const struct xconn *x, const struct windows *windows, const struct window *popup)
{
	const struct window *at = popup, *owner, *best = NULL;

	for (int i = 0; i < OWNERS && at; i++) {
		owner = windows_find(windows, at->parent);
		if (owner)
			return windows_same_program(x, owner, popup) ? owner->id : XCB_NONE;
		at = popup_of(windows, at->parent);
	}
	for (size_t i = 0; i < windows->n; i++) {
		owner = &windows->list[i];
		if (!owner->gone && windows_same_program(x, owner, popup) && (!best || owner->id == windows->active))
			best = owner;
	}
	return best ? best->id : XCB_NONE;
}

/* But for what the window manager shows: frames of windows that came just now, and what is its own. */
static int look_at_popups(struct xconn *x, struct rect screen, struct windows *out, struct err *e)
{
	xcb_window_t ids[LIMIT_POPUPS], manager;
	struct windows popups;
	size_t n = 0;

	if (windows_manager(x, &manager, e) < 0)
		return -1;
	for (size_t i = 0; i < out->n_tops; i++) {
		const struct top *top = &out->tops[i];

		if (!top->no_manager || pieces_common(top->rect, screen).width == 0 || is_frame(out, top->id) || same_client(x, top->id, manager))
			continue;
		out->more |= n == LIMIT_POPUPS;
		if (n < LIMIT_POPUPS)
			ids[n++] = top->id;
	}
	if (n == 0)
		return 0;
	if (windows_describe(x, ids, n, &popups, e) < 0)
		return -1;
	out->popups = popups.list;
	out->n_popups = popups.n;
	for (size_t i = 0; i < out->n_popups; i++)
		if (!out->popups[i].gone)
			place_window(&out->popups[i], out, screen);
	for (size_t i = 0; i < out->n_popups; i++)
		if (!out->popups[i].gone)
			out->popups[i].owner = owner_of(x, out, &out->popups[i]);
	return 0;
}

int windows_look(struct xconn *x, struct space screen, struct windows *out, struct err *e)
{
	const struct rect whole = {0, 0, screen.width_px, screen.height_px};
	auto_free xcb_window_t *ids = NULL;
	struct windows made = {0}, stack = {0};
	size_t n;
	int rc;

	rc = windows_ids(x, &ids, &n, e);
	if (rc == 0)
		rc = look_at_tops(x, &stack, e);
	if (rc == 0)
		rc = windows_describe(x, ids, n, &made, e);
	made.tops = stack.tops;
	made.n_tops = stack.n_tops;
	made.more = stack.more;
	for (size_t i = 0; i < made.n; i++)
		if (!made.list[i].gone)
			place_window(&made.list[i], &made, whole);
	made.more |= n == LIMIT_WINDOWS;
	if (rc == 0)
		rc = look_at_popups(x, whole, &made, e);
	if (rc < 0)
		windows_finish(&made);
	else
		*out = made;
	return rc;
}
