/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Selections: contents, and requests that we serve. */
#include "input/selection.h"

#include <stdio.h>
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
	bool watches;            /* its properties, until then */
	uint32_t events;         /* that we asked of its window before */
	struct co_event deleted;
};

struct selection_content *selection_nothing(void)
{
	struct selection_content *content = util_zalloc(sizeof(*content));

	content->refs = 1;
	return content;
}

static struct selection_format *add_format(struct selection_content *content, xcb_atom_t target)
{
	if (content->n == LIMIT_SELECTION_FORMATS)
		DIE("a selection has more than %d formats", LIMIT_SELECTION_FORMATS);
	struct selection_format *format = &content->formats[content->n++];

	*format = (struct selection_format){.target = target, .type = target, .unit = 8};
	return format;
}

void selection_add(struct selection_content *content, xcb_atom_t target, char *data, size_t len)
{
	struct selection_format *format = add_format(content, target);

	format->data = data;
	format->len = len;
}

void selection_add_same(struct selection_content *content, xcb_atom_t target)
{
	struct selection_format *format = add_format(content, target);

	format->data = format[-1].data;
	format->len = format[-1].len;
	format->borrowed = true;
}

struct selection_content *selection_text(const struct selection *selection, const char *text, size_t len)
{
	struct selection_content *content = selection_nothing();
	char *copy = util_alloc(len + 1);

	memcpy(copy, text, len);
	selection_add(content, selection->utf8_string, copy, len);
	selection_add_same(content, selection->utf8_text);
	return content;
}

void selection_drop(struct selection_content *content)
{
	if (!content || --content->refs > 0)
		return;
	/* It may have been a person's password. */
	for (size_t i = 0; i < content->n; i++)
		if (!content->formats[i].borrowed) {
			if (content->formats[i].data)
				explicit_bzero(content->formats[i].data, content->formats[i].len);
			free(content->formats[i].data);
		}
	free(content);
}

const struct selection_format *selection_find(const struct selection_content *content, xcb_atom_t target)
{
	for (size_t i = 0; content && i < content->n; i++)
		if (content->formats[i].target == target)
			return &content->formats[i];
	return NULL;
}

/* Serving. */

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

/* Another request whose window is the same, and watched. */
static const struct selection_request *find_watching(const struct selection_request *request)
{
	const struct selection *const both[] = {request->selection, request->selection->sibling};

	for (size_t i = 0; i < ARRAY_LEN(both) && both[i]; i++)
		for (const struct selection_request *other = both[i]->requests; other; other = other->next)
			if (other != request && other->watches && other->event.requestor == request->event.requestor)
				return other;
	return NULL;
}

/* Asks for changes of the window's properties, beside what is asked of it already: X keeps one mask for a connection. */
static int watch(struct selection_request *request, struct err *e)
{
	auto_free xcb_get_window_attributes_reply_t *attributes = NULL;
	const struct selection_request *other = find_watching(request);
	const xcb_window_t window = request->event.requestor;

	if (!other && xconn_reply(request->x, xcb_get_window_attributes(request->x->xcb, window).sequence, (void **)&attributes, e) < 0)
		return -1;
	request->events = other ? other->events : attributes->your_event_mask;
	request->watches = true;
	const uint32_t events = request->events | XCB_EVENT_MASK_PROPERTY_CHANGE;

	xcb_change_window_attributes(request->x->xcb, window, XCB_CW_EVENT_MASK, &events);
	return 0;
}

static void unwatch(struct selection_request *request)
{
	if (request->watches && !find_watching(request) && !request->x->lost)
		xcb_change_window_attributes(request->x->xcb, request->event.requestor, XCB_CW_EVENT_MASK, &request->events);
	request->watches = false;
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

	if (watch(request, e) < 0)
		return -1;
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
	const struct selection_format *format = selection_find(request->content, event->target);
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

		unwatch(request);
		while (*place != request)
			place = &(*place)->next;
		*place = request->next;
		selection->n_requests--;
		if (rc >= 0 && is_same_client(selection->x, request->event.requestor, selection->reader)) {
			selection->n_served++;
			selection->n_fetched += rc == 1;
			if (rc == 1 && selection->once && selection->content) {
				selection_drop(selection->content);
				selection->content = selection_nothing();
			}
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
	if (event->window == selection->window && selection->place && event->atom == selection->place && event->state == XCB_PROPERTY_NEW_VALUE) {
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
		if (notified->requestor != selection->window || notified->selection != selection->name || !selection->asked ||
		    notified->target != selection->asked || (notified->property != XCB_NONE && notified->property != selection->place))
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

	for (size_t i = 0; i < SELECTION_PLACES; i++) {
		char place[32];

		(void)snprintf(place, sizeof(place), "_GLOVEBOX_SELECTION_%zu", i);
		if (xconn_atom(x, place, &made.places[i], e) < 0)
			return -1;
	}
	if (xconn_atom(x, name, &made.name, e) < 0 || xconn_atom(x, "TARGETS", &made.targets, e) < 0 ||
	    xconn_atom(x, "TIMESTAMP", &made.timestamp, e) < 0 || xconn_atom(x, "INCR", &made.incr, e) < 0 ||
	    xconn_atom(x, "UTF8_STRING", &made.utf8_string, e) < 0 || xconn_atom(x, "text/plain;charset=utf-8", &made.utf8_text, e) < 0 ||
	    xconn_hidden_window(x, &made.window, e) < 0)
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

static size_t content_bytes(const struct selection_content *content)
{
	size_t bytes = 0;

	for (size_t i = 0; i < content->n; i++)
		bytes += content->formats[i].borrowed ? 0 : content->formats[i].len;
	return bytes;
}

/* Whoever fetches slowly what was replaced long ago gets no more of it; those that began last come first in the list. */
static void drop_stale(struct selection *selection)
{
	const struct selection_content *last = NULL;
	size_t bytes = 0;

	for (struct selection_request *request = selection->requests; request; request = request->next) {
		if (!request->content || request->content == selection->content)
			continue;
		bytes += request->content == last ? 0 : content_bytes(request->content);
		last = request->content;
		if (bytes > LIMIT_SELECTION_STALE_BYTES)
			co_cancel(request->co);
	}
}

int selection_set(struct selection *selection, xcb_timestamp_t time, struct selection_content *content, struct err *e)
{
	xcb_window_t owner;

	if (selection->x->lost)
		return xconn_sync(selection->x, e);
	if (content)
		content->refs++;
	lose(selection);
	selection->content = content;
	selection->owned = content;
	selection->since = time;
	drop_stale(selection);
	xcb_set_selection_owner(selection->x->xcb, content ? selection->window : XCB_NONE, selection->name, time);
	if (selection_owner(selection, &owner, e) < 0)
		return -1;
	/* Somebody else took it at a later time. */
	if (selection->owned && owner != selection->window)
		lose(selection);
	return 0;
}
