/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Descriptions of windows, a batch at a time. */
#include "apps/windows.h"

#include <string.h>
#include <sys/param.h>
#include <xcb/res.h>

#include "apps/text.h"
#include "session/base/util.h"

#define IDS_BYTES (256 * 1024) /* of a client list: more than the display has room for, since the top of a longer one would not be seen */

static const struct {
	const char *atom;
	unsigned int state; /* enum window_state */
} STATES[] = {
	{"_NET_WM_STATE_MAXIMIZED_HORZ", WINDOW_MAXIMIZED_X}, {"_NET_WM_STATE_MAXIMIZED_VERT", WINDOW_MAXIMIZED_Y},
	{"_NET_WM_STATE_HIDDEN", WINDOW_MINIMIZED},           {"_NET_WM_STATE_FULLSCREEN", WINDOW_FULLSCREEN},
	{"_NET_WM_STATE_SHADED", WINDOW_SHADED},              {"_NET_WM_STATE_MODAL", WINDOW_MODAL},
	{"_NET_WM_STATE_STICKY", WINDOW_STICKY},              {"_NET_WM_STATE_ABOVE", WINDOW_ABOVE},
	{"_NET_WM_STATE_BELOW", WINDOW_BELOW},                {"_NET_WM_STATE_DEMANDS_ATTENTION", WINDOW_ATTENTION},
};

static const char *const KINDS[] = {
	[WINDOW_NORMAL] = "_NET_WM_WINDOW_TYPE_NORMAL",         [WINDOW_DIALOG] = "_NET_WM_WINDOW_TYPE_DIALOG",
	[WINDOW_UTILITY] = "_NET_WM_WINDOW_TYPE_UTILITY",       [WINDOW_TOOLBAR] = "_NET_WM_WINDOW_TYPE_TOOLBAR",
	[WINDOW_SPLASH] = "_NET_WM_WINDOW_TYPE_SPLASH",         [WINDOW_MENU] = "_NET_WM_WINDOW_TYPE_MENU",
	[WINDOW_DROPDOWN] = "_NET_WM_WINDOW_TYPE_DROPDOWN_MENU", [WINDOW_POPUP] = "_NET_WM_WINDOW_TYPE_POPUP_MENU",
	[WINDOW_COMBO] = "_NET_WM_WINDOW_TYPE_COMBO",           [WINDOW_TOOLTIP] = "_NET_WM_WINDOW_TYPE_TOOLTIP",
	[WINDOW_NOTIFICATION] = "_NET_WM_WINDOW_TYPE_NOTIFICATION", [WINDOW_DRAG] = "_NET_WM_WINDOW_TYPE_DND",
	[WINDOW_DOCK] = "_NET_WM_WINDOW_TYPE_DOCK",             [WINDOW_DESKTOP] = "_NET_WM_WINDOW_TYPE_DESKTOP",
};

/* What is asked for each window, in this order. */
enum question { ASK_NET_NAME, ASK_NAME, ASK_CLASS, ASK_STATE, ASK_KIND, ASK_PARENT, ASK_ABOVE, ASK_SIZE, ASK_PLACE, ASK_CLIENT, N_QUESTIONS };

#define QUESTION_BYTES 24 /* the longest request */
#define BATCH (XCONN_BATCH_BYTES / (N_QUESTIONS * QUESTION_BYTES)) /* windows that are asked about at once */

struct atoms {
	xcb_atom_t name, state, kind;
	xcb_atom_t states[ARRAY_LEN(STATES)];
	xcb_atom_t kinds[ARRAY_LEN(KINDS)];
};

static int get_atoms(struct xconn *x, struct atoms *atoms, struct err *e)
{
	if (xconn_atom(x, "_NET_WM_NAME", &atoms->name, e) < 0 || xconn_atom(x, "_NET_WM_STATE", &atoms->state, e) < 0 ||
	    xconn_atom(x, "_NET_WM_WINDOW_TYPE", &atoms->kind, e) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(STATES); i++)
		if (xconn_atom(x, STATES[i].atom, &atoms->states[i], e) < 0)
			return -1;
	for (size_t i = 0; i < ARRAY_LEN(KINDS); i++)
		if (xconn_atom(x, KINDS[i], &atoms->kinds[i], e) < 0)
			return -1;
	return 0;
}

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

static void ask(struct xconn *x, xcb_window_t id, const struct atoms *atoms, unsigned int sequences[N_QUESTIONS])
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

/* What a property holds, never more than the reply itself has. */
static const void *value_of(const xcb_get_property_reply_t *reply, int format, size_t *len)
{
	*len = 0;
	if (!reply || reply->format != format)
		return "";
	*len = MIN((size_t)xcb_get_property_value_length(reply), (size_t)reply->length * 4);
	return xcb_get_property_value(reply);
}

static bool has_atom(const xcb_get_property_reply_t *reply, xcb_atom_t atom)
{
	size_t len;
	const char *list = value_of(reply, 32, &len);

	for (size_t at = 0; at + sizeof(atom) <= len; at += sizeof(atom))
		if (memcmp(list + at, &atom, sizeof(atom)) == 0)
			return true;
	return false;
}

static void read_title(struct window *window, const xcb_get_property_reply_t *net_name, const xcb_get_property_reply_t *name)
{
	size_t len;
	const char *text = value_of(net_name, 8, &len);

	if (len == 0) {
		bool latin1;

		text = value_of(name, 8, &len);
		latin1 = len > 0 && (name->type == XCB_ATOM_STRING || !util_utf8_valid(text, len));
		window->title = text_name(text, len, latin1, LIMIT_TITLE_BYTES, &window->title_len);
		return;
	}
	window->title = text_name(text, len, false, LIMIT_TITLE_BYTES, &window->title_len);
}

/* WM_CLASS is "instance\0class\0"; one word alone is both. */
static void read_class(struct window *window, const xcb_get_property_reply_t *reply)
{
	size_t len;
	const char *text = value_of(reply, 8, &len);
	size_t instance = strnlen(text, len);
	const char *class_name = instance < len ? text + instance + 1 : text;

	len = strnlen(class_name, instance < len ? len - instance - 1 : len);
	window->instance = text_name(text, instance, true, LIMIT_TITLE_BYTES, &window->instance_len);
	window->class_name = text_name(class_name, len, true, LIMIT_TITLE_BYTES, &window->class_len);
}

/* The first of its types that is known. */
static enum window_kind read_kind(const struct window *window, const struct atoms *atoms, const xcb_get_property_reply_t *reply)
{
	size_t len;
	const char *list = value_of(reply, 32, &len);

	for (size_t at = 0; at + sizeof(xcb_atom_t) <= len; at += sizeof(xcb_atom_t))
		for (size_t i = 0; i < ARRAY_LEN(KINDS); i++)
			if (memcmp(list + at, &atoms->kinds[i], sizeof(xcb_atom_t)) == 0)
				return (enum window_kind)i;
	return window->parent == XCB_NONE ? WINDOW_NORMAL : WINDOW_DIALOG;
}

/* The process of the X client. The reply is a list of (client, mask, length, length bytes). */
static int read_pid(const xcb_res_query_client_ids_reply_t *reply)
{
	const char *at = (const char *)(reply + 1);
	size_t left = reply ? (size_t)reply->length * 4 : 0;

	for (uint32_t head[4]; left >= sizeof(head);) {
		size_t len;

		memcpy(head, at, sizeof(head)); /* with the first number of the value */
		len = 12 + (size_t)head[2];
		if ((head[1] & XCB_RES_CLIENT_ID_MASK_LOCAL_CLIENT_PID) && head[2] >= 4)
			return head[3] <= INT32_MAX ? (int)head[3] : 0;
		if (len > left)
			break;
		at += len;
		left -= len;
	}
	return 0;
}

static xcb_window_t read_parent(const xcb_get_property_reply_t *reply)
{
	xcb_window_t parent = XCB_NONE;
	size_t len;
	const void *value = value_of(reply, 32, &len);

	if (len >= sizeof(parent))
		memcpy(&parent, value, sizeof(parent));
	return parent;
}

static void read_window(struct window *window, const struct atoms *atoms, void *const replies[N_QUESTIONS])
{
	const xcb_get_geometry_reply_t *size = replies[ASK_SIZE];
	const xcb_translate_coordinates_reply_t *place = replies[ASK_PLACE];
	const xcb_query_tree_reply_t *above = replies[ASK_ABOVE];

	/* Questions are answered in this order: what was there for the last of these was there for all before. */
	window->gone = !size || !place;
	if (window->gone)
		return;
	read_title(window, replies[ASK_NET_NAME], replies[ASK_NAME]);
	read_class(window, replies[ASK_CLASS]);
	for (size_t i = 0; i < ARRAY_LEN(STATES); i++)
		if (has_atom(replies[ASK_STATE], atoms->states[i]))
			window->state |= STATES[i].state;
	window->parent = read_parent(replies[ASK_PARENT]);
	window->kind = read_kind(window, atoms, replies[ASK_KIND]);
	window->above = above ? above->parent : XCB_NONE;
	window->x = place->dst_x;
	window->y = place->dst_y;
	window->width = size->width;
	window->height = size->height;
	window->outer_pid = replies[ASK_CLIENT] ? read_pid(replies[ASK_CLIENT]) : 0;
}

/* Describes at most BATCH windows into list; everything that was sent before has been handled. */
static int describe(struct xconn *x, const struct atoms *atoms, const xcb_window_t *ids, size_t n, struct window *list, struct err *e)
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
		read_window(&list[i], atoms, replies + i * N_QUESTIONS);
	}
	for (size_t i = 0; i < n * N_QUESTIONS; i++)
		free(replies[i]);
	return rc;
}

int windows_describe(struct xconn *x, const xcb_window_t *ids, size_t n, struct windows *out, struct err *e)
{
	struct windows made = {.n = MIN(n, LIMIT_WINDOWS)};
	auto_free uint32_t *active = NULL;
	struct atoms atoms;
	size_t n_active;
	int rc = 0;

	if (get_atoms(x, &atoms, e) < 0 || root_list(x, "_NET_ACTIVE_WINDOW", &active, &n_active, e) < 0)
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
