/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading a selection: conversions that we ask of its owner, who may answer anything, late or never. */
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "input/selection.h"
#include "session/base/util.h"

/* What a client asks about a selection beside its content. */
static const char *const no_content[] = {
	"MULTIPLE", "SAVE_TARGETS", "DELETE", "INSERT_SELECTION", "INSERT_PROPERTY",
};

/* The selection's conversion, while it is waited for. */
struct conversion {
	struct selection *selection;
	size_t max;
	int64_t deadline_ms;
	struct selection_format got;
	size_t room; /* of its data */
};

/* Waits until *what, as long as the owner goes on. */
static int wait_for(struct conversion *conversion, const bool *what, struct err *e)
{
	struct selection *selection = conversion->selection;
	int64_t deadline_ms = MIN(conversion->deadline_ms, util_now_ms() + LIMIT_SELECTION_ANSWER_MS);
	struct err reason = {0};

	xconn_flush(selection->x);
	while (!*what && !selection->deserted && !selection->x->lost)
		if (co_wait_event(&selection->heard, deadline_ms, &reason) < 0) {
			if (reason.code == ERR_TIMEOUT)
				return SELECTION_LATE;
			if (e)
				*e = reason;
			return -1;
		}
	if (selection->x->lost)
		return xconn_sync(selection->x, e);
	return *what ? SELECTION_CAME : SELECTION_REFUSED;
}

static void drop(struct selection_format *format)
{
	if (format->data)
		explicit_bzero(format->data, format->len);
	free(format->data);
	format->data = NULL;
}

/* Without a copy left behind: it may be a person's password. */
static void add(struct conversion *conversion, char *piece, size_t len)
{
	struct selection_format *format = &conversion->got;
	size_t before = format->len, room = MAX(before + len + 1, 2 * conversion->room);
	char *data = format->data;

	if (before + len + 1 > conversion->room) {
		data = util_alloc(room);
		if (before > 0)
			memcpy(data, format->data, before);
		drop(format);
		conversion->room = room;
	}
	memcpy(data + before, piece, len);
	explicit_bzero(piece, len);
	format->data = data;
	format->len = before + len;
	format->data[format->len] = '\0';
}

/* Takes what is in the property: its *n bytes are added to what has come. */
static int take_piece(struct conversion *conversion, size_t *n, struct err *e)
{
	struct selection *selection = conversion->selection;
	struct selection_format *format = &conversion->got;
	size_t room = conversion->max - format->len;
	auto_free char *data = NULL;
	size_t len;
	int unit;

	selection->has_piece = false;
	if (xconn_property(selection->x, selection->window, selection->place, room + 4, &data, &len, &format->type, &unit, e) < 0)
		return -1;
	xcb_delete_property(selection->x->xcb, selection->window, selection->place);
	if (len > room)
		return SELECTION_LARGE;
	format->unit = unit == 16 || unit == 32 ? (uint8_t)unit : 8;
	add(conversion, data, len);
	*n = len;
	return SELECTION_CAME;
}

/* Until an empty one. */
static int take_pieces(struct conversion *conversion, struct err *e)
{
	conversion->got.len = 0;
	for (size_t n = 1; n > 0;) {
		int rc = wait_for(conversion, &conversion->selection->has_piece, e);

		if (rc == SELECTION_CAME)
			rc = take_piece(conversion, &n, e);
		if (rc != SELECTION_CAME)
			return rc;
	}
	return SELECTION_CAME;
}

static int take_answer(struct conversion *conversion, struct err *e)
{
	struct selection *selection = conversion->selection;
	int rc = wait_for(conversion, &selection->answered, e);
	size_t n;

	if (rc == SELECTION_CAME && selection->refused)
		return SELECTION_REFUSED;
	if (rc == SELECTION_CAME)
		rc = take_piece(conversion, &n, e);
	if (rc == SELECTION_CAME && conversion->got.type == selection->incr)
		rc = take_pieces(conversion, e);
	return rc;
}

int selection_convert(struct selection *selection, xcb_atom_t target, xcb_timestamp_t time, size_t max, int64_t deadline_ms,
                      struct selection_format *format, struct err *e)
{
	struct conversion conversion = {.selection = selection, .max = max, .deadline_ms = deadline_ms, .got = {.target = target}};
	int rc;

	if (selection->x->lost)
		return xconn_sync(selection->x, e);
	selection->asked = target;
	selection->place = selection->places[selection->n_asked++ % SELECTION_PLACES];
	selection->answered = selection->refused = selection->has_piece = selection->deserted = false;
	xcb_delete_property(selection->x->xcb, selection->window, selection->place);
	xcb_convert_selection(selection->x->xcb, selection->window, selection->name, target, selection->place, time);
	rc = take_answer(&conversion, e);
	selection->asked = selection->place = XCB_NONE;
	if (rc == SELECTION_CAME)
		*format = conversion.got;
	else
		drop(&conversion.got);
	return rc;
}

void selection_desert(struct selection *selection)
{
	selection->deserted = true;
	co_signal(&selection->heard);
}

static int is_content(struct selection *selection, xcb_atom_t target, bool *yes, struct err *e)
{
	*yes = target != XCB_NONE && target != selection->targets && target != selection->timestamp;
	for (size_t i = 0; *yes && i < ARRAY_LEN(no_content); i++) {
		xcb_atom_t atom;

		if (xconn_atom(selection->x, no_content[i], &atom, e) < 0)
			return -1;
		*yes = target != atom;
	}
	return 0;
}

/* The formats one by one, text before all others. */
static int read_formats(struct selection *selection, const struct selection_format *list, xcb_timestamp_t time, int64_t deadline_ms,
                        struct selection_content *content, struct err *e)
{
	const xcb_atom_t *targets = (const xcb_atom_t *)(const void *)list->data;
	size_t n = list->len / sizeof(*targets), room = LIMIT_SELECTION_BYTES;

	for (int text = 1; text >= 0; text--)
		for (size_t i = 0; i < n; i++) {
			struct selection_format *format = &content->formats[content->n];
			bool wanted;
			int rc = 1;

			if (is_content(selection, targets[i], &wanted, e) < 0)
				return -1;
			if (!wanted || (targets[i] == selection->utf8_string) != text || selection_find(content, targets[i]))
				continue;
			if (content->n < LIMIT_SELECTION_FORMATS && util_now_ms() < deadline_ms)
				rc = selection_convert(selection, targets[i], time, room, deadline_ms, format, e);
			if (rc < 0)
				return -1;
			content->n_left_out += rc != SELECTION_CAME;
			room -= rc == SELECTION_CAME ? format->len : 0;
			content->n += rc == SELECTION_CAME;
		}
	return 0;
}

int selection_owner(struct selection *selection, xcb_window_t *owner, struct err *e)
{
	auto_free xcb_get_selection_owner_reply_t *reply = NULL;

	if (selection->x->lost)
		return xconn_sync(selection->x, e);
	if (xconn_reply(selection->x, xcb_get_selection_owner(selection->x->xcb, selection->name).sequence, (void **)&reply, e) < 0)
		return -1;
	*owner = reply->owner;
	return 0;
}

int selection_read(struct selection *selection, xcb_timestamp_t time, int64_t deadline_ms, struct selection_content **content, struct err *e)
{
	struct selection_format targets = {0};
	struct selection_content *made;
	xcb_window_t owner;
	int rc;

	if (selection_owner(selection, &owner, e) < 0)
		return -1;
	if (owner == XCB_NONE) {
		*content = NULL;
		return 0;
	}
	rc = selection_convert(selection, selection->targets, time, SELECTION_PIECE_BYTES, deadline_ms, &targets, e);
	if (rc < 0)
		return -1;
	made = selection_nothing();
	if (rc == SELECTION_CAME && targets.unit == 32)
		rc = read_formats(selection, &targets, time, deadline_ms, made, e);
	else
		made->n_left_out = 1;
	free(targets.data);
	if (rc < 0)
		selection_drop(made);
	else
		*content = made;
	return rc < 0 ? -1 : 0;
}
