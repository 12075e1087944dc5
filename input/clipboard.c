/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Owners of the clipboards, and what they give. */
#include "input/clipboard.h"

#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <xcb/xfixes.h>

#include "input/content.h"
#include "session/base/util.h"

static const char *const names[CLIPBOARD_NAMES] = {"CLIPBOARD", "PRIMARY"};

/* Targets of text; text/plain and TEXT may be in any encoding, and are told by their type or their bytes. */
static const char *const text_targets[CLIPBOARD_TEXT_TARGETS] = {
	"UTF8_STRING", "text/plain;charset=utf-8", "text/plain;charset=UTF-8", "text/plain", "STRING", "TEXT",
};

static void note_owner(struct clipboard *clipboard, enum clipboard_name name, const xcb_xfixes_selection_notify_event_t *event)
{
	struct clipboard_one *one = &clipboard->one[name];

	one->owner = event->owner;
	one->n_changes++;
	one->changed = event->timestamp;
	co_signal(&one->told);
	if (event->subtype != XCB_XFIXES_SELECTION_EVENT_SET_SELECTION_OWNER) {
		selection_desert(&one->ours);
		selection_desert(&one->theirs);
	}
	if (clipboard->changed)
		clipboard->changed(clipboard->changed_arg, name);
}

static void on_event(void *arg, const xcb_generic_event_t *event)
{
	struct clipboard *clipboard = arg;
	const xcb_xfixes_selection_notify_event_t *notified = (const void *)event;

	if ((event->response_type & 0x7f) != clipboard->selection_event)
		return;
	for (enum clipboard_name name = 0; name < CLIPBOARD_NAMES; name++)
		if (notified->selection == clipboard->one[name].ours.name)
			note_owner(clipboard, name, notified);
}

/* Asks to be told of every change of an owner, and who it is now. */
static int watch_owner(struct clipboard *clipboard, struct clipboard_one *one, struct err *e)
{
	const uint32_t changes = XCB_XFIXES_SELECTION_EVENT_MASK_SET_SELECTION_OWNER | XCB_XFIXES_SELECTION_EVENT_MASK_SELECTION_WINDOW_DESTROY |
	                         XCB_XFIXES_SELECTION_EVENT_MASK_SELECTION_CLIENT_CLOSE;

	xcb_xfixes_select_selection_input(clipboard->x->xcb, one->ours.window, one->ours.name, changes);
	return selection_owner(&one->ours, &one->owner, e);
}

static int find_atoms(struct clipboard *clipboard, struct err *e)
{
	for (size_t i = 0; i < CLIPBOARD_TEXT_TARGETS; i++)
		if (xconn_atom(clipboard->x, text_targets[i], &clipboard->text[i], e) < 0)
			return -1;
	if (xconn_atom(clipboard->x, "text/html", &clipboard->html, e) < 0 || xconn_atom(clipboard->x, "image/png", &clipboard->png, e) < 0)
		return -1;
	return xconn_atom(clipboard->x, "_GLOVEBOX_PROBE", &clipboard->probe, e);
}

int clipboard_init(struct clipboard *clipboard, struct xconn *x, struct ping *ping, struct err *e)
{
	auto_free void *version = NULL;

	*clipboard = (struct clipboard){.x = x, .ping = ping};
	if (xconn_reply(x, xcb_xfixes_query_version(x->xcb, XCB_XFIXES_MAJOR_VERSION, XCB_XFIXES_MINOR_VERSION).sequence, &version, e) < 0)
		return -1;
	clipboard->selection_event = (uint8_t)(xcb_get_extension_data(x->xcb, &xcb_xfixes_id)->first_event + XCB_XFIXES_SELECTION_NOTIFY);
	xconn_listen(x, &clipboard->listener, on_event, clipboard);
	for (enum clipboard_name name = 0; name < CLIPBOARD_NAMES; name++) {
		struct clipboard_one *one = &clipboard->one[name];

		if (selection_init(&one->ours, x, names[name], e) < 0 || watch_owner(clipboard, one, e) < 0) {
			clipboard_finish(clipboard);
			return -1;
		}
		one->ours.sibling = &clipboard->one[1 - name].ours;
	}
	if (find_atoms(clipboard, e) == 0)
		return 0;
	clipboard_finish(clipboard);
	return -1;
}

void clipboard_finish(struct clipboard *clipboard)
{
	if (!clipboard->x)
		return;
	xconn_unlisten(clipboard->x, &clipboard->listener);
	for (enum clipboard_name name = 0; name < CLIPBOARD_NAMES; name++) {
		selection_finish(&clipboard->one[name].theirs);
		selection_finish(&clipboard->one[name].ours);
	}
	clipboard->x = clipboard->untrusted = NULL;
}

int clipboard_use_untrusted(struct clipboard *clipboard, struct xconn *untrusted, struct err *e)
{
	for (enum clipboard_name name = 0; name < CLIPBOARD_NAMES; name++)
		if (selection_init(&clipboard->one[name].theirs, untrusted, names[name], e) < 0)
			return -1;
	clipboard->untrusted = untrusted;
	return 0;
}

/* To delete a property, whether it is there or not, is what the server denies who is not trusted on windows of who is. */
int clipboard_is_untrusted(struct clipboard *clipboard, xcb_window_t window, bool *yes, struct err *e)
{
	struct xconn *x = clipboard->untrusted;
	auto_free void *reply = NULL;
	struct err reason = {0};

	*yes = false;
	if (!x || window == XCB_NONE)
		return 0;
	if (x->lost)
		return xconn_sync(x, e);
	*yes = xconn_reply(x, xcb_get_property(x->xcb, 1, window, clipboard->probe, XCB_GET_PROPERTY_TYPE_ANY, 0, 0).sequence, &reply, &reason) == 0;
	if (*yes || reason.code == ERR_CONFLICT)
		return 0;
	if (e)
		*e = reason;
	return -1;
}

int clipboard_take(struct clipboard_one *one, int64_t deadline_ms, struct err *e)
{
	while (one->in_use)
		if (co_wait_event(&one->free, deadline_ms, e) < 0)
			return -1;
	one->in_use = true;
	return 0;
}

void clipboard_give(struct clipboard_one *one)
{
	one->in_use = false;
	co_signal(&one->free);
}

int clipboard_reader(struct clipboard *clipboard, struct clipboard_one *one, struct selection **reader, struct err *e)
{
	xcb_window_t owner;
	bool untrusted;

	if (selection_owner(&one->ours, &owner, e) < 0 || clipboard_is_untrusted(clipboard, owner, &untrusted, e) < 0)
		return -1;
	*reader = owner == XCB_NONE ? NULL : untrusted ? &one->theirs : &one->ours;
	return 0;
}

int clipboard_read(struct clipboard *clipboard, struct clipboard_one *one, int64_t deadline_ms, struct selection_content **content,
                   struct err *e)
{
	struct selection *reader;
	int rc;

	if (clipboard_take(one, deadline_ms, e) < 0)
		return -1;
	rc = ping_clock(clipboard->ping, e) < 0 ? -1 : clipboard_reader(clipboard, one, &reader, e);
	if (rc == 0 && reader)
		rc = selection_read(reader, clipboard->ping->time, deadline_ms, content, e);
	else if (rc == 0)
		*content = NULL;
	clipboard_give(one);
	return rc;
}

/* What a list of targets means. */
static void choose_targets(const struct clipboard *clipboard, const xcb_atom_t *targets, size_t n, struct clipboard_offer *offer)
{
	size_t best = CLIPBOARD_TEXT_TARGETS;

	for (size_t i = 0; i < n; i++) {
		for (size_t t = 0; t < best; t++)
			if (targets[i] == clipboard->text[t])
				best = t;
		if (targets[i] == clipboard->html)
			offer->target[CLIPBOARD_HTML] = clipboard->html;
		if (targets[i] == clipboard->png)
			offer->target[CLIPBOARD_PNG] = clipboard->png;
	}
	if (best < CLIPBOARD_TEXT_TARGETS)
		offer->target[CLIPBOARD_TEXT] = clipboard->text[best];
}

static void choose_own(const struct clipboard *clipboard, const struct selection_content *content, struct clipboard_offer *offer)
{
	for (size_t i = 0; content && i < content->n; i++)
		choose_targets(clipboard, &content->formats[i].target, 1, offer);
	if (selection_find(content, clipboard->text[0]))
		offer->target[CLIPBOARD_TEXT] = clipboard->text[0];
}

int clipboard_ask(struct clipboard *clipboard, struct selection *reader, xcb_timestamp_t time, struct clipboard_offer *offer, struct err *e)
{
	struct selection_format targets = {0};
	int rc;

	*offer = (struct clipboard_offer){0};
	if (reader->owned) {
		choose_own(clipboard, reader->content, offer);
		return SELECTION_CAME;
	}
	rc = selection_convert(reader, reader->targets, time, SELECTION_PIECE_BYTES, util_now_ms() + LIMIT_SELECTION_ANSWER_MS, &targets, e);
	if (rc == SELECTION_CAME && targets.unit == 32)
		choose_targets(clipboard, (const xcb_atom_t *)(const void *)targets.data, targets.len / sizeof(xcb_atom_t), offer);
	/* Old programs have text alone and do not say so. */
	if (rc == SELECTION_REFUSED && !reader->deserted)
		*offer = (struct clipboard_offer){.target = {[CLIPBOARD_TEXT] = XCB_ATOM_STRING}, .guessed = true};
	free(targets.data);
	return offer->guessed ? SELECTION_CAME : rc;
}

/* STRING is; what says no encoding at all is when it is no UTF-8. */
static bool is_latin1(const struct clipboard *clipboard, const struct selection_format *format)
{
	bool says = format->type == clipboard->text[0] || format->target == clipboard->text[0] || format->target == clipboard->text[1] ||
	            format->target == clipboard->text[2];

	return format->type == XCB_ATOM_STRING || (!says && !util_utf8_valid(format->data, format->len));
}

/* As callers get it; NULL when it is of no use. */
static char *clean(const struct clipboard *clipboard, const struct selection_format *format, enum clipboard_kind kind, size_t *len)
{
	char *copy;

	if (format->unit != 8)
		return NULL;
	switch (kind) {
	case CLIPBOARD_TEXT:
		return content_text(format->data, format->len, is_latin1(clipboard, format), len);
	case CLIPBOARD_HTML:
		return content_html(format->data, format->len, len);
	case CLIPBOARD_PNG:
		if (content_png_fault(format->data, format->len))
			return NULL;
		copy = util_alloc(format->len + 1);
		memcpy(copy, format->data, format->len + 1);
		*len = format->len;
		return copy;
	case CLIPBOARD_KINDS:
		break;
	}
	return NULL;
}

int clipboard_fetch(struct clipboard *clipboard, struct selection *reader, enum clipboard_kind kind, xcb_atom_t target, xcb_timestamp_t time,
                    int64_t deadline_ms, char **data, size_t *len, struct err *e)
{
	const struct selection_format *own = reader->owned ? selection_find(reader->content, target) : NULL;
	struct selection_format format = {0};
	int rc = SELECTION_CAME;

	if (!own && (rc = selection_convert(reader, target, time, LIMIT_CLIPBOARD_BYTES, deadline_ms, &format, e)) != SELECTION_CAME)
		return rc;
	*data = clean(clipboard, own ? own : &format, kind, len);
	if (format.data)
		explicit_bzero(format.data, format.len);
	free(format.data);
	if (*data && kind != CLIPBOARD_PNG && *len > LIMIT_CLIPBOARD_BYTES) {
		free(*data);
		*data = NULL;
		return SELECTION_LARGE;
	}
	return *data ? SELECTION_CAME : SELECTION_REFUSED;
}

static void add_text(const struct clipboard *clipboard, struct selection_content *content, const char *text, size_t len)
{
	size_t latin1_len, n;
	char *copy = util_alloc(len + 1), *latin1 = content_latin1(text, len, &latin1_len);

	memcpy(copy, text, len);
	copy[len] = '\0';
	selection_add(content, clipboard->text[0], copy, len);
	/* ICCCM has STRING as ISO 8859-1: a text that it has no room for is not offered so. */
	n = latin1 && latin1_len == len ? 5 : 4;
	for (size_t i = 1; i < n; i++)
		selection_add_same(content, clipboard->text[i]);
	if (latin1 && latin1_len < len)
		selection_add(content, XCB_ATOM_STRING, steal_ptr(&latin1), latin1_len);
	if (latin1)
		explicit_bzero(latin1, latin1_len);
	free(latin1);
}

void clipboard_add(const struct clipboard *clipboard, struct selection_content *content, enum clipboard_kind kind, const char *data, size_t len)
{
	size_t marked_len;
	char *copy;

	if (kind == CLIPBOARD_TEXT) {
		add_text(clipboard, content, data, len);
	} else if (kind == CLIPBOARD_HTML) {
		copy = content_html_marked(data, len, &marked_len);
		selection_add(content, clipboard->html, copy, marked_len);
	} else {
		copy = util_alloc(len + 1);
		memcpy(copy, data, len);
		selection_add(content, clipboard->png, copy, len);
	}
}
