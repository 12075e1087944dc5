/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Selections: conversions that we ask for, and requests that we serve. */
#include "input/selection.h"

#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "session/base/util.h"

/* A request of another client, while it is served. */
struct selection_request {
	struct selection_request *next;
	struct selection *selection; /* NULL once that is finished: then nothing of it is touched */
	struct xconn *x;
	struct co *co;
	struct selection_content *content;
	xcb_selection_request_event_t event;
	bool taken;              /* the requestor has deleted the property: it has read it */
	struct co_event deleted;
};

/* What a client asks about a selection beside its content. */
static const char *const no_content[] = {
	"MULTIPLE", "SAVE_TARGETS", "DELETE", "INSERT_SELECTION", "INSERT_PROPERTY",
};

struct selection_content *selection_nothing(void)
{
	struct selection_content *content = util_zalloc(sizeof(*content));

	content->refs = 1;
	return content;
}

struct selection_content *selection_text(const struct selection *selection, const char *text, size_t len)
{
	const xcb_atom_t targets[] = {selection->utf8_string, selection->utf8_text};
	struct selection_content *content = selection_nothing();

	for (; content->n < ARRAY_LEN(targets); content->n++) {
		struct selection_format *format = &content->formats[content->n];

		*format = (struct selection_format){.target = targets[content->n], .type = targets[content->n], .unit = 8, .len = len};
		format->data = util_alloc(len + 1);
		memcpy(format->data, text, len);
	}
	return content;
}

void selection_drop(struct selection_content *content)
{
	if (!content || --content->refs > 0)
		return;
	for (size_t i = 0; i < content->n; i++)
		free(content->formats[i].data);
	free(content);
}

/* Serving. */

static const struct selection_format *find_format(const struct selection_content *content, xcb_atom_t target)
{
	for (size_t i = 0; content && i < content->n; i++)
		if (content->formats[i].target == target)
			return &content->formats[i];
	return NULL;
}

static void put(const struct selection_request *request, xcb_atom_t type, uint8_t unit, const void *data, size_t len)
{
	xcb_change_property(request->x->xcb, XCB_PROP_MODE_REPLACE, request->event.requestor, request->event.property, type, unit,
	                    (uint32_t)(len / (unit / 8)), data);
}

/* Says that the property is there, or, with XCB_NONE, that it will not be. */
static void notify(struct xconn *x, const xcb_selection_request_event_t *asked, xcb_atom_t property)
{
	xcb_selection_notify_event_t event = {
		.response_type = XCB_SELECTION_NOTIFY,
		.time = asked->time,
		.requestor = asked->requestor,
		.selection = asked->selection,
		.target = asked->target,
		.property = property,
	};

	if (x->lost)
		return;
	xcb_send_event(x->xcb, 0, asked->requestor, XCB_EVENT_MASK_NO_EVENT, (const char *)&event);
	xconn_flush(x);
}

static void put_targets(const struct selection_request *request)
{
	const struct selection *selection = request->selection;
	xcb_atom_t targets[2 + LIMIT_SELECTION_FORMATS] = {selection->targets, selection->timestamp};
	size_t n = 2;

	for (size_t i = 0; i < request->content->n; i++)
		targets[n++] = request->content->formats[i].target;
	put(request, XCB_ATOM_ATOM, 32, targets, n * sizeof(targets[0]));
}

/* Asks for the property's changes, or no longer, if no other request of the window needs them. */
static void watch(const struct selection_request *request, bool on)
{
	const uint32_t events = on ? XCB_EVENT_MASK_PROPERTY_CHANGE : XCB_EVENT_MASK_NO_EVENT;

	for (const struct selection_request *other = request->selection->requests; other; other = other->next)
		if (other != request && other->event.requestor == request->event.requestor)
			return;
	if (!request->x->lost)
		xcb_change_window_attributes(request->x->xcb, request->event.requestor, XCB_CW_EVENT_MASK, &events);
}

/* Waits until the requestor has read what is in the property. */
static int wait_taken(struct selection_request *request, struct err *e)
{
	int64_t deadline_ms = util_now_ms() + LIMIT_SELECTION_STEP_MS;

	xconn_flush(request->x);
	while (!request->taken)
		if (co_wait_event(&request->deleted, deadline_ms, e) < 0)
			return -1;
	request->taken = false;
	return xconn_room(request->x, e);
}

/* In pieces: each is put when the one before was read, and an empty one ends it. */
static int put_pieces(struct selection_request *request, const struct selection_format *format, struct err *e)
{
	uint32_t len = (uint32_t)format->len;

	watch(request, true);
	put(request, request->selection->incr, 32, &len, sizeof(len));
	notify(request->x, &request->event, request->event.property);
	for (size_t at = 0, n = 1; n > 0; at += n) {
		if (wait_taken(request, e) < 0)
			return -1;
		n = MIN(format->len - at, (size_t)SELECTION_PIECE_BYTES);
		put(request, format->type, format->unit, format->data + at, n);
	}
	xconn_flush(request->x);
	return 0;
}

/* 1 when content was handed out, 0 when something about it was or nothing. */
static int answer(struct selection_request *request, struct err *e)
{
	const xcb_selection_request_event_t *event = &request->event;
	const struct selection_format *format = find_format(request->content, event->target);
	struct selection *selection = request->selection;

	if (xconn_room(request->x, e) < 0)
		return -1;
	if (request->content && format && format->len > SELECTION_PIECE_BYTES)
		return put_pieces(request, format, e) < 0 ? -1 : 1;
	if (request->content && event->target == selection->targets)
		put_targets(request);
	else if (request->content && event->target == selection->timestamp)
		put(request, XCB_ATOM_INTEGER, 32, &selection->since, sizeof(selection->since));
	else if (format)
		put(request, format->type, format->unit, format->data, format->len);
	else {
		notify(request->x, event, XCB_NONE);
		return 0;
	}
	notify(request->x, event, event->property);
	return format ? 1 : 0;
}

/* The upper bits of an id are its client's. */
static bool is_same_client(const struct xconn *x, uint32_t a, uint32_t b)
{
	return ((a ^ b) & ~xcb_get_setup(x->xcb)->resource_id_mask) == 0;
}

static void serve(void *arg)
{
	struct selection_request *request = arg;
	int rc = request->selection ? answer(request, NULL) : -1;
	struct selection *selection = request->selection;

	if (selection) {
		struct selection_request **place = &selection->requests;

		watch(request, false);
		while (*place != request)
			place = &(*place)->next;
		*place = request->next;
		selection->n_requests--;
		if (rc >= 0 && is_same_client(selection->x, request->event.requestor, selection->reader)) {
			selection->n_fetched += rc == 1;
			selection->n_refused += request->content && request->content->n == 0;
			co_signal(&selection->fetched);
		}
	}
	selection_drop(request->content);
	free(request);
}

/* Serving it would take events away that all of us need: of the root window, and of windows of our own. */
static bool is_ours(const struct selection *selection, xcb_window_t requestor)
{
	return requestor == selection->x->root || is_same_client(selection->x, requestor, selection->window);
}

static void begin_request(struct selection *selection, const xcb_selection_request_event_t *event)
{
	struct selection_request *request;

	if (selection->n_requests >= LIMIT_SELECTION_REQUESTS || is_ours(selection, event->requestor)) {
		notify(selection->x, event, XCB_NONE);
		return;
	}
	request = util_zalloc(sizeof(*request));
	*request = (struct selection_request){.next = selection->requests, .selection = selection, .x = selection->x, .event = *event};
	/* Old clients name no property. */
	if (request->event.property == XCB_NONE)
		request->event.property = event->target;
	request->content = selection->content;
	if (request->content)
		request->content->refs++;
	selection->requests = request;
	selection->n_requests++;
	request->co = co_start(selection->x->loop, serve, request);
}

static void lose(struct selection *selection)
{
	selection_drop(selection->content);
	selection->content = NULL;
	selection->owned = false;
}

static void on_property(struct selection *selection, const xcb_property_notify_event_t *event)
{
	if (event->window == selection->window && event->atom == selection->place && event->state == XCB_PROPERTY_NEW_VALUE) {
		selection->has_piece = true;
		co_signal(&selection->heard);
	}
	for (struct selection_request *request = selection->requests; request && event->state == XCB_PROPERTY_DELETE; request = request->next)
		if (request->event.requestor == event->window && request->event.property == event->atom) {
			request->taken = true;
			co_signal(&request->deleted);
		}
}

static void on_event(void *arg, const xcb_generic_event_t *event)
{
	struct selection *selection = arg;
	const xcb_selection_notify_event_t *notified = (const void *)event;
	const xcb_selection_request_event_t *asked = (const void *)event;
	const xcb_selection_clear_event_t *cleared = (const void *)event;

	switch (event->response_type & 0x7f) {
	case XCB_SELECTION_NOTIFY:
		if (notified->requestor != selection->window || notified->selection != selection->name || notified->target != selection->asked)
			return;
		selection->answered = true;
		selection->refused = notified->property == XCB_NONE;
		co_signal(&selection->heard);
		break;
	case XCB_SELECTION_REQUEST:
		if (asked->owner == selection->window && asked->selection == selection->name)
			begin_request(selection, asked);
		break;
	case XCB_SELECTION_CLEAR:
		/* One that was sent before we took it again says nothing. */
		if (cleared->owner == selection->window && cleared->selection == selection->name && cleared->time >= selection->since)
			lose(selection);
		break;
	case XCB_PROPERTY_NOTIFY:
		on_property(selection, (const void *)event);
		break;
	default:
		break;
	}
}

int selection_init(struct selection *selection, struct xconn *x, const char *name, struct err *e)
{
	struct selection made = {.x = x};

	if (xconn_atom(x, name, &made.name, e) < 0 || xconn_atom(x, "TARGETS", &made.targets, e) < 0 ||
	    xconn_atom(x, "TIMESTAMP", &made.timestamp, e) < 0 || xconn_atom(x, "INCR", &made.incr, e) < 0 ||
	    xconn_atom(x, "UTF8_STRING", &made.utf8_string, e) < 0 || xconn_atom(x, "text/plain;charset=utf-8", &made.utf8_text, e) < 0 ||
	    xconn_atom(x, "_GLOVEBOX_SELECTION", &made.place, e) < 0 || xconn_hidden_window(x, &made.window, e) < 0)
		return -1;
	*selection = made;
	xconn_listen(x, &selection->listener, on_event, selection);
	return 0;
}

void selection_finish(struct selection *selection)
{
	if (!selection->x)
		return;
	xconn_unlisten(selection->x, &selection->listener);
	for (struct selection_request *request = selection->requests; request; request = request->next) {
		request->selection = NULL;
		co_cancel(request->co);
	}
	lose(selection);
	if (!selection->x->lost)
		xcb_destroy_window(selection->x->xcb, selection->window);
	*selection = (struct selection){0};
}

/* Reading. */

/* Waits until *what; 1 at the deadline. */
static int wait_for(struct selection *selection, const bool *what, int64_t deadline_ms, struct err *e)
{
	struct err reason = {0};

	xconn_flush(selection->x);
	while (!*what && !selection->x->lost)
		if (co_wait_event(&selection->heard, deadline_ms, &reason) < 0) {
			if (reason.code == ERR_TIMEOUT)
				return 1;
			if (e)
				*e = reason;
			return -1;
		}
	return selection->x->lost ? xconn_sync(selection->x, e) : 0;
}

/* Takes what is in the property: its bytes are added to the format's, at most `room`; 1 when it is more. */
static int take_piece(struct selection *selection, struct selection_format *format, size_t room, size_t *n, struct err *e)
{
	auto_free char *data = NULL;
	size_t len;
	int unit;

	if (xconn_property(selection->x, selection->window, selection->place, room + 4, &data, &len, &format->type, &unit, e) < 0)
		return -1;
	selection->has_piece = false;
	xcb_delete_property(selection->x->xcb, selection->window, selection->place);
	if (len > room)
		return 1;
	format->unit = unit == 16 || unit == 32 ? (uint8_t)unit : 8;
	format->data = util_realloc(format->data, format->len + len + 1);
	memcpy(format->data + format->len, data, len);
	format->len += len;
	*n = len;
	return 0;
}

static int take_pieces(struct selection *selection, struct selection_format *format, size_t room, int64_t deadline_ms, struct err *e)
{
	format->len = 0;
	for (size_t n = 1; n > 0;) {
		int rc = wait_for(selection, &selection->has_piece, deadline_ms, e);

		if (rc == 0)
			rc = take_piece(selection, format, room - format->len, &n, e);
		if (rc != 0)
			return rc;
	}
	return 0;
}

/* One format of the owner's; 1 when it does not come or is too large. On 0 format->data is the caller's. */
static int convert(struct selection *selection, xcb_atom_t target, xcb_timestamp_t time, size_t room, int64_t deadline_ms,
                   struct selection_format *format, struct err *e)
{
	struct selection_format got = {.target = target};
	size_t n;
	int rc;

	selection->asked = target;
	selection->answered = selection->refused = selection->has_piece = false;
	if (!selection->x->lost)
		xcb_convert_selection(selection->x->xcb, selection->window, selection->name, target, selection->place, time);
	rc = wait_for(selection, &selection->answered, deadline_ms, e);
	selection->asked = XCB_NONE;
	if (rc == 0)
		rc = selection->refused ? 1 : take_piece(selection, &got, room, &n, e);
	if (rc == 0 && got.type == selection->incr)
		rc = take_pieces(selection, &got, room, deadline_ms, e);
	if (rc != 0)
		free(got.data);
	else
		*format = got;
	return rc;
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
			if (!wanted || (targets[i] == selection->utf8_string) != text || find_format(content, targets[i]))
				continue;
			if (content->n < LIMIT_SELECTION_FORMATS && util_now_ms() < deadline_ms)
				rc = convert(selection, targets[i], time, room, deadline_ms, format, e);
			if (rc < 0)
				return -1;
			content->n_left_out += rc == 1;
			room -= rc == 0 ? format->len : 0;
			content->n += rc == 0;
		}
	return 0;
}

int selection_read(struct selection *selection, xcb_timestamp_t time, struct selection_content **content, struct err *e)
{
	auto_free xcb_get_selection_owner_reply_t *reply = NULL;
	struct selection_format targets = {0};
	struct selection_content *made;
	int64_t deadline_ms = util_now_ms() + LIMIT_SELECTION_MS;
	int rc;

	if (selection->x->lost)
		return xconn_sync(selection->x, e);
	if (xconn_reply(selection->x, xcb_get_selection_owner(selection->x->xcb, selection->name).sequence, (void **)&reply, e) < 0)
		return -1;
	if (reply->owner == XCB_NONE) {
		*content = NULL;
		return 0;
	}
	rc = convert(selection, selection->targets, time, SELECTION_PIECE_BYTES, deadline_ms, &targets, e);
	if (rc < 0)
		return -1;
	made = selection_nothing();
	if (rc == 0 && targets.unit == 32)
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

int selection_set(struct selection *selection, xcb_timestamp_t time, struct selection_content *content, struct err *e)
{
	if (selection->x->lost)
		return xconn_sync(selection->x, e);
	if (content)
		content->refs++;
	lose(selection);
	selection->content = content;
	selection->owned = content;
	selection->since = time;
	xcb_set_selection_owner(selection->x->xcb, content ? selection->window : XCB_NONE, selection->name, time);
	return xconn_sync(selection->x, e);
}
