/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Windows past the window manager that would take a person's clicks for a program of the agent, which sees them when it goes on: menus that stand still, and, of any
 * app but the trusted ones, windows that nobody can see.
 */
#include <sys/param.h>

#include "apps/state.h"
#include "apps/whose.h"
#include "apps/windows.h"
#include "session/base/util.h"

#define BATCH 64 /* windows that are asked about at once */

struct cover {
	xcb_window_t id;
	bool unseen; /* it takes input and shows nothing */
};

static bool is_cover(xcb_window_t id, const xcb_get_window_attributes_reply_t *what, struct cover *out)
{
	if (!what || what->map_state != XCB_MAP_STATE_VIEWABLE || !what->override_redirect)
		return false;
	*out = (struct cover){.id = id, .unseen = what->_class == XCB_WINDOW_CLASS_INPUT_ONLY};
	return true;
}

/* Of n children of the root those that may be; returns how many in *n_found. */
static int find_covers(struct xconn *x, const xcb_window_t *ids, size_t n, struct cover out[BATCH], size_t *n_found, struct err *e)
{
	unsigned int sequences[BATCH];
	void *replies[BATCH] = {NULL};
	int rc;

	*n_found = 0;
	if (xconn_room(x, e) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		sequences[i] = xcb_get_window_attributes(x->xcb, ids[i]).sequence;
	rc = windows_take_replies(x, sequences, n, replies, e);
	for (size_t i = 0; i < n; i++) {
		*n_found += rc == 0 && is_cover(ids[i], replies[i], &out[*n_found]);
		free(replies[i]);
	}
	return rc;
}

/* The window manager's own are in no app jail. */
static bool is_agents(const struct apps *apps, const struct window *window, bool unseen)
{
	struct whose whose;

	if (window->gone || window->outer_pid == 0)
		return false;
	whose_read(apps, window->outer_pid, &whose);
	return whose.pid > 0 && (whose.group == INIT_GROUP_AGENT || (unseen && !(whose.app && whose.app->trusted)));
}

static int uncover(struct apps *apps, const struct cover *covers, size_t n, struct err *e)
{
	xcb_window_t ids[BATCH];
	struct windows windows;

	for (size_t i = 0; i < n; i++)
		ids[i] = covers[i].id;
	if (windows_describe(apps->x, ids, n, &windows, e) < 0)
		return -1;
	for (size_t i = 0; i < windows.n; i++)
		if (is_agents(apps, &windows.list[i], covers[i].unseen))
			xcb_unmap_window(apps->x->xcb, windows.list[i].id);
	windows_finish(&windows);
	return 0;
}

int apps_uncover(struct apps *apps, struct err *e)
{
	auto_free xcb_query_tree_reply_t *tree = NULL;
	struct xconn *x = apps->x;
	struct cover covers[BATCH];
	const xcb_window_t *ids;
	size_t n, n_found;

	if (x->silent_since_ms > 0)
		return err_set(e, ERR_X_SILENT, NULL, "the display does not answer");
	if (xconn_reply(x, xcb_query_tree(x->xcb, x->root).sequence, (void **)&tree, e) < 0)
		return -1;
	ids = xcb_query_tree_children(tree);
	n = MIN((size_t)tree->children_len, (size_t)tree->length);
	for (size_t at = 0; at < n; at += BATCH)
		if (find_covers(x, ids + at, MIN(n - at, BATCH), covers, &n_found, e) < 0 || (n_found > 0 && uncover(apps, covers, n_found, e) < 0))
			return -1;
	return xconn_sync(x, e);
}
