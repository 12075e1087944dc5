/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What all of a stage ask the X server: room for more, windows of their own, atoms, properties. */
#include <string.h>
#include <sys/param.h>

#include "session/base/util.h"
#include "session/base/x/xconn_inner.h"

struct xconn_atom_row {
	struct xconn_atom_row *next;
	xcb_atom_t atom;
	char name[];
};

void xconn_forget_atoms(struct xconn *x)
{
	for (struct xconn_atom_row *row = x->atoms, *next; row; row = next) {
		next = row->next;
		free(row);
	}
	x->atoms = NULL;
}

int xconn_hidden_window(struct xconn *x, xcb_window_t *window, struct err *e)
{
	const uint32_t events = XCB_EVENT_MASK_PROPERTY_CHANGE;
	xcb_window_t made;

	if (x->lost)
		return xconn_gone(e);
	made = xcb_generate_id(x->xcb);
	xcb_create_window(x->xcb, 0, made, x->root, -1, -1, 1, 1, 0, XCB_WINDOW_CLASS_INPUT_ONLY, XCB_COPY_FROM_PARENT, XCB_CW_EVENT_MASK,
	                  &events);
	if (xconn_sync(x, e) < 0)
		return -1;
	*window = made;
	return 0;
}

/* A round trip: the server has read everything, so the socket is empty, and Xlib knows that its requests were answered. */
int xconn_room(struct xconn *x, struct err *e)
{
	return xconn_sync(x, e);
}

int xconn_atom(struct xconn *x, const char *name, xcb_atom_t *atom, struct err *e)
{
	auto_free xcb_intern_atom_reply_t *reply = NULL;
	size_t len = strlen(name);

	for (struct xconn_atom_row *row = x->atoms; row; row = row->next)
		if (strcmp(row->name, name) == 0) {
			*atom = row->atom;
			return 0;
		}
	if (x->lost)
		return xconn_gone(e);
	if (xconn_reply(x, xcb_intern_atom(x->xcb, 0, (uint16_t)len, name).sequence, (void **)&reply, e) < 0)
		return -1;
	struct xconn_atom_row *row = util_alloc(sizeof(*row) + len + 1);

	row->atom = reply->atom;
	memcpy(row->name, name, len + 1);
	row->next = x->atoms;
	x->atoms = row;
	*atom = row->atom;
	return 0;
}

int xconn_property(struct xconn *x, xcb_window_t window, xcb_atom_t property, size_t max, char **data, size_t *len, xcb_atom_t *type,
                   int *format, struct err *e)
{
	auto_free xcb_get_property_reply_t *reply = NULL;

	if (x->lost)
		return xconn_gone(e);
	unsigned int sequence =
		xcb_get_property(x->xcb, 0, window, property, XCB_GET_PROPERTY_TYPE_ANY, 0, (uint32_t)((max + 3) / 4)).sequence;
	if (xconn_reply(x, sequence, (void **)&reply, e) < 0)
		return -1;
	/* The length is what the server says, of a reply that xcb has read: not beyond it. */
	size_t there = (size_t)reply->length * 4;
	size_t n = (size_t)xcb_get_property_value_length(reply);

	n = MIN(n, MIN(there, max));
	*data = util_alloc(n + 1);
	memcpy(*data, xcb_get_property_value(reply), n);
	explicit_bzero(xcb_get_property_value(reply), n); /* clipboards come so: one copy is enough to look after */
	(*data)[n] = '\0';
	*len = n;
	*type = reply->type;
	*format = reply->format;
	return 0;
}
