/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Descriptions of windows, a batch at a time. */
#include "apps/windows.h"

#include <string.h>
#include <sys/param.h>
#include <xcb/res.h>

#include "apps/windows_read.h"
#include "session/base/util.h"

#define IDS_BYTES (256 * 1024) /* of a client list: more than the display has room for, since the top of a longer one would not be seen */

#define QUESTION_BYTES 24 /* the longest request */
#define BATCH (XCONN_BATCH_BYTES / (N_QUESTIONS * QUESTION_BYTES)) /* windows that are asked about at once */

/* A property of the root that is a list of 32-bit numbers. */
static int root_list(struct xconn *x, const char *name, uint32_t **list, size_t *n, struct err *e)
{
	auto_free char *data = NULL;
	xcb_atom_t atom, type;
	size_t len;
	int format;

	if (xconn_atom(x, name, &atom, e) < 0 || xconn_property(x, x->root, atom, IDS_BYTES, &data, &len, &type, &format, e) < 0)
		return -1;
	*n = format == 32 ? len / sizeof(**list) : 0;
	*list = util_alloc(*n * sizeof(**list));
	memcpy(*list, data, *n * sizeof(**list));
	return 0;
}

int windows_ids(struct xconn *x, xcb_window_t **ids, size_t *out_n, struct err *e)
{
	auto_free uint32_t *bottom_first = NULL;
	xcb_window_t *top_first;
	size_t n, kept;

	if (root_list(x, "_NET_CLIENT_LIST_STACKING", &bottom_first, &n, e) < 0)
		return -1;
	if (n == 0) {
		free(steal_ptr(&bottom_first));
		if (root_list(x, "_NET_CLIENT_LIST", &bottom_first, &n, e) < 0)
			return -1;
	}
	kept = MIN(n, LIMIT_WINDOWS);
	top_first = util_alloc(kept * sizeof(*top_first));
	for (size_t i = 0; i < kept; i++)
		top_first[i] = bottom_first[n - 1 - i];
	*ids = top_first;
	*out_n = kept;
	return 0;
}

static unsigned int ask_property(struct xconn *x, xcb_window_t id, xcb_atom_t atom, uint32_t bytes)
{
	return xcb_get_property(x->xcb, 0, id, atom, XCB_GET_PROPERTY_TYPE_ANY, 0, (bytes + 3) / 4).sequence;
}

static void ask(struct xconn *x, xcb_window_t id, const struct windows_atoms *atoms, unsigned int sequences[N_QUESTIONS])
{
	const xcb_res_client_id_spec_t spec = {.client = id, .mask = XCB_RES_CLIENT_ID_MASK_LOCAL_CLIENT_PID};

	/* A few bytes more than a title may have: a character at its end is then whole. */
	sequences[ASK_NET_NAME] = ask_property(x, id, atoms->name, LIMIT_TITLE_BYTES + 4);
	sequences[ASK_NAME] = ask_property(x, id, XCB_ATOM_WM_NAME, LIMIT_TITLE_BYTES + 4);
	sequences[ASK_CLASS] = ask_property(x, id, XCB_ATOM_WM_CLASS, 2 * LIMIT_TITLE_BYTES);
	sequences[ASK_STATE] = ask_property(x, id, atoms->state, 4 * 64);
	sequences[ASK_KIND] = ask_property(x, id, atoms->kind, 4 * 16);
	sequences[ASK_PARENT] = ask_property(x, id, XCB_ATOM_WM_TRANSIENT_FOR, 4);
	sequences[ASK_ABOVE] = xcb_query_tree(x->xcb, id).sequence;
	sequences[ASK_SIZE] = xcb_get_geometry(x->xcb, id).sequence;
	sequences[ASK_PLACE] = xcb_translate_coordinates(x->xcb, id, x->root, 0, 0).sequence;
	sequences[ASK_CLIENT] = xcb_res_query_client_ids(x->xcb, 1, &spec).sequence;
}

int windows_take_replies(struct xconn *x, const unsigned int *sequences, size_t n, void **replies, struct err *e)
{
	struct err why;

	for (size_t i = 0; i < n; i++) {
		int rc = i == 0 ? xconn_reply(x, sequences[i], &replies[i], &why) : xconn_next_reply(x, sequences[i], &replies[i], &why);

		if (rc == 0 || why.code == ERR_CONFLICT)
			continue;
		while (++i < n && !x->lost)
			xcb_discard_reply(x->xcb, sequences[i]);
		if (e)
			*e = why;
		return -1;
	}
	return 0;
}

/* Describes at most BATCH windows into list; everything that was sent before has been handled. */
static int describe(struct xconn *x, const struct windows_atoms *atoms, const xcb_window_t *ids, size_t n, struct window *list, struct err *e)
{
	unsigned int sequences[BATCH * N_QUESTIONS] = {0};
	void *replies[BATCH * N_QUESTIONS] = {NULL};
	int rc;

	if (x->lost)
		return xconn_sync(x, e);
	for (size_t i = 0; i < n; i++)
		ask(x, ids[i], atoms, sequences + i * N_QUESTIONS);
	rc = windows_take_replies(x, sequences, n * N_QUESTIONS, replies, e);
	for (size_t i = 0; rc == 0 && i < n; i++) {
		list[i].id = ids[i];
		windows_read(&list[i], atoms, replies + i * N_QUESTIONS);
	}
	for (size_t i = 0; i < n * N_QUESTIONS; i++)
		free(replies[i]);
	return rc;
}

int windows_describe(struct xconn *x, const xcb_window_t *ids, size_t n, struct windows *out, struct err *e)
{
	struct windows made = {.n = MIN(n, LIMIT_WINDOWS)};
	auto_free uint32_t *active = NULL;
	struct windows_atoms atoms;
	size_t n_active;
	int rc = 0;

	if (windows_read_atoms(x, &atoms, e) < 0 || root_list(x, "_NET_ACTIVE_WINDOW", &active, &n_active, e) < 0)
		return -1;
	made.active = n_active > 0 ? active[0] : XCB_NONE;
	made.list = util_zalloc(made.n * sizeof(*made.list));
	for (size_t at = 0; rc == 0 && at < made.n; at += BATCH)
		rc = describe(x, &atoms, ids + at, MIN(made.n - at, BATCH), made.list + at, e);
	if (rc < 0)
		windows_finish(&made);
	else
		*out = made;
	return rc;
}

static void finish_list(struct window *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(list[i].title);
		free(list[i].class_name);
		free(list[i].instance);
	}
	free(list);
}

void windows_finish(struct windows *windows)
{
	finish_list(windows->list, windows->n);
	finish_list(windows->popups, windows->n_popups);
	free(windows->tops);
	*windows = (struct windows){0};
}

const struct window *windows_find(const struct windows *windows, xcb_window_t id)
{
	for (size_t i = 0; i < windows->n; i++)
		if (windows->list[i].id == id && !windows->list[i].gone)
			return &windows->list[i];
	return NULL;
}

/* The server numbers what a client makes with bits of the client's own. */
bool windows_same_program(const struct xconn *x, const struct window *a, const struct window *b)
{
	return ((a->id ^ b->id) & ~xcb_get_setup(x->xcb)->resource_id_mask) == 0 || (a->outer_pid > 0 && a->outer_pid == b->outer_pid);
}

bool windows_takes_keys(const struct window *window)
{
	return window->kind != WINDOW_DESKTOP && window->kind != WINDOW_DOCK && window->kind != WINDOW_SPLASH;
}
