/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Properties by rows. */
#include "apps/windows_read.h"

#include <string.h>
#include <sys/param.h>
#include <xcb/res.h>

#include "apps/text.h"
#include "session/base/util.h"

static const struct {
	const char *atom;
	unsigned int state; /* enum window_state */
} STATES[WINDOWS_N_STATES] = {
	{"_NET_WM_STATE_MAXIMIZED_HORZ", WINDOW_MAXIMIZED_X}, {"_NET_WM_STATE_MAXIMIZED_VERT", WINDOW_MAXIMIZED_Y},
	{"_NET_WM_STATE_HIDDEN", WINDOW_MINIMIZED},           {"_NET_WM_STATE_FULLSCREEN", WINDOW_FULLSCREEN},
	{"_NET_WM_STATE_SHADED", WINDOW_SHADED},              {"_NET_WM_STATE_MODAL", WINDOW_MODAL},
	{"_NET_WM_STATE_STICKY", WINDOW_STICKY},              {"_NET_WM_STATE_ABOVE", WINDOW_ABOVE},
	{"_NET_WM_STATE_BELOW", WINDOW_BELOW},                {"_NET_WM_STATE_DEMANDS_ATTENTION", WINDOW_ATTENTION},
};

static const char *const KINDS[WINDOWS_N_KINDS] = {
	[WINDOW_NORMAL] = "_NET_WM_WINDOW_TYPE_NORMAL",         [WINDOW_DIALOG] = "_NET_WM_WINDOW_TYPE_DIALOG",
	[WINDOW_UTILITY] = "_NET_WM_WINDOW_TYPE_UTILITY",       [WINDOW_TOOLBAR] = "_NET_WM_WINDOW_TYPE_TOOLBAR",
	[WINDOW_SPLASH] = "_NET_WM_WINDOW_TYPE_SPLASH",         [WINDOW_MENU] = "_NET_WM_WINDOW_TYPE_MENU",
	[WINDOW_DROPDOWN] = "_NET_WM_WINDOW_TYPE_DROPDOWN_MENU", [WINDOW_POPUP] = "_NET_WM_WINDOW_TYPE_POPUP_MENU",
	[WINDOW_COMBO] = "_NET_WM_WINDOW_TYPE_COMBO",           [WINDOW_TOOLTIP] = "_NET_WM_WINDOW_TYPE_TOOLTIP",
	[WINDOW_NOTIFICATION] = "_NET_WM_WINDOW_TYPE_NOTIFICATION", [WINDOW_DRAG] = "_NET_WM_WINDOW_TYPE_DND",
	[WINDOW_DOCK] = "_NET_WM_WINDOW_TYPE_DOCK",             [WINDOW_DESKTOP] = "_NET_WM_WINDOW_TYPE_DESKTOP",
};

int windows_read_atoms(struct xconn *x, struct windows_atoms *atoms, struct err *e)
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
static enum window_kind read_kind(const struct window *window, const struct windows_atoms *atoms, const xcb_get_property_reply_t *reply)
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

void windows_read(struct window *window, const struct windows_atoms *atoms, void *const replies[N_QUESTIONS])
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
