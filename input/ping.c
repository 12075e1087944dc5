/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ping barrier. */
#include "input/ping.h"

#include <stdlib.h>
#include <string.h>

#include "session/base/limits.h"
#include "session/base/util.h"

#define MAX_PROTOCOLS 64 /* of a window that are looked at */
#define NO_PING_FACTOR 8
#define MAX_CLIENTS 256 /* windows that are looked at for one of the same program */
#define MAX_DEPTH 8 /* of windows from the screen to an app's: its frame, as a rule */

static void on_event(void *arg, const xcb_generic_event_t *event)
{
	struct ping *ping = arg;
	const xcb_client_message_event_t *message = (const void *)event;
	const xcb_property_notify_event_t *property = (const void *)event;

	switch (event->response_type & 0x7f) {
	case XCB_PROPERTY_NOTIFY:
		if (property->window != ping->wm.window || property->atom != ping->stamp)
			return;
		ping->ticked = true;
		ping->time = property->time;
		break;
	case XCB_CLIENT_MESSAGE:
		if (message->window != ping->x->root || message->type != ping->protocols || message->format != 32 ||
		    message->data.data32[0] != ping->wm_ping || message->data.data32[1] != ping->time ||
		    message->data.data32[2] != ping->window)
			return;
		ping->answered = true;
		break;
	default:
		return;
	}
	co_signal(&ping->heard);
}

int ping_init(struct ping *ping, struct xconn *x, struct err *e)
{
	*ping = (struct ping){.x = x};
	if (xconn_atom(x, "_NET_ACTIVE_WINDOW", &ping->active_window, e) == 0 && xconn_atom(x, "_NET_CLIENT_LIST", &ping->clients, e) == 0 && xconn_atom(x, "WM_PROTOCOLS", &ping->protocols, e) == 0 &&
	    xconn_atom(x, "_NET_WM_PING", &ping->wm_ping, e) == 0 && xconn_atom(x, "_GLOVEBOX_TIME", &ping->stamp, e) == 0 &&
	    xconn_atom(x, "_GLOVEBOX_MET", &ping->met, e) == 0 && wm_init(&ping->wm, x, e) == 0) {
		xconn_listen(x, &ping->listener, on_event, ping);
		/* Both: Qt answers with the mask of a StructureNotify event. */
		xconn_select_root(x, XCB_EVENT_MASK_SUBSTRUCTURE_NOTIFY | XCB_EVENT_MASK_STRUCTURE_NOTIFY);
		return 0;
	}
	*ping = (struct ping){0};
	return -1;
}

void ping_finish(struct ping *ping)
{
	if (!ping->x)
		return;
	xconn_unlisten(ping->x, &ping->listener);
	wm_finish(&ping->wm);
}

/* Hands on why a wait failed. */
static int failed(const struct err *reason, struct err *e)
{
	if (e)
		*e = *reason;
	return -1;
}

/* A property of 32-bit items as a list; none when the window is gone. */
static int read_words(struct ping *ping, xcb_window_t window, xcb_atom_t property, size_t max, uint32_t **words, size_t *n, struct err *e)
{
	struct err reason = {0};
	auto_free char *data = NULL;
	size_t len;
	xcb_atom_t type;
	int format;

	*n = 0;
	if (xconn_property(ping->x, window, property, max * sizeof(uint32_t), &data, &len, &type, &format, &reason) < 0)
		return reason.code == ERR_CONFLICT ? 0 : failed(&reason, e);
	if (format != 32)
		return 0;
	*n = len / sizeof(uint32_t);
	*words = (uint32_t *)(void *)steal_ptr(&data);
	return 0;
}

/* The reply to a request for a property; NULL when the window is gone or the property has another format. */
static int take_property(struct ping *ping, xcb_get_property_cookie_t asked, uint8_t format, xcb_get_property_reply_t **reply, struct err *e)
{
	struct err reason = {0};

	if (xconn_reply(ping->x, asked.sequence, (void **)reply, &reason) < 0)
		return reason.code == ERR_CONFLICT ? 0 : failed(&reason, e);
	if ((*reply)->format != format) {
		free(*reply);
		*reply = NULL;
	}
	return 0;
}

/* WM_CLASS is two strings: the instance, then the class. */
static void note_class(struct ping_target *target, const char *data, size_t len)
{
	size_t first = strnlen(data, len) + 1;
	size_t n = first < len ? strnlen(data + first, len - first) : 0;

	if (n < sizeof(target->class_name)) {
		memcpy(target->class_name, data + (n > 0 ? first : 0), n);
		target->class_name[n] = '\0';
	}
}

/* What a window is and speaks: *any when it has a list of protocols at all, as every app's window has. */
static int read_window(struct ping *ping, struct ping_target *target, bool *any, struct err *e)
{
	auto_free xcb_get_property_reply_t *protocols = NULL, *names = NULL;

	if (ping->x->lost)
		return xconn_sync(ping->x, e);
	xcb_get_property_cookie_t asked_protocols =
		xcb_get_property(ping->x->xcb, 0, target->window, ping->protocols, XCB_ATOM_ATOM, 0, MAX_PROTOCOLS);
	xcb_get_property_cookie_t asked_names =
		xcb_get_property(ping->x->xcb, 0, target->window, XCB_ATOM_WM_CLASS, XCB_ATOM_STRING, 0, LIMIT_TITLE_BYTES / 4);
	int rc = take_property(ping, asked_protocols, 32, &protocols, e);

	if (take_property(ping, asked_names, 8, &names, rc == 0 ? e : NULL) < 0 || rc < 0)
		return -1;
	*any = protocols && protocols->value_len > 0;
	for (size_t i = 0; *any && i < protocols->value_len; i++)
		target->answers |= ((const xcb_atom_t *)xcb_get_property_value(protocols))[i] == ping->wm_ping;
	if (names)
		note_class(target, xcb_get_property_value(names), (size_t)xcb_get_property_value_length(names));
	return 0;
}

/* The window that has the focus: what the window manager says may lag behind a click that has just moved it. */
static int read_focus(struct ping *ping, xcb_window_t *window, struct err *e)
{
	auto_free xcb_get_input_focus_reply_t *reply = NULL;

	if (ping->x->lost)
		return xconn_sync(ping->x, e);
	if (xconn_reply(ping->x, xcb_get_input_focus(ping->x->xcb).sequence, (void **)&reply, e) < 0)
		return -1;
	*window = reply->focus;
	return 0;
}

int ping_aim(struct ping *ping, struct ping_target *target, struct err *e)
{
	auto_free uint32_t *active = NULL;
	struct ping_target found = {0};
	bool any = false;
	size_t n;

	if (read_focus(ping, &found.window, e) < 0)
		return -1;
	if (found.window > XCB_INPUT_FOCUS_POINTER_ROOT && read_window(ping, &found, &any, e) < 0)
		return -1;
	/* Some toolkits give the focus to a window inside the one that speaks. */
	if (!any) {
		if (read_words(ping, ping->x->root, ping->active_window, 1, &active, &n, e) < 0)
			return -1;
		found = (struct ping_target){.window = n == 1 ? active[0] : XCB_NONE};
		if (found.window && read_window(ping, &found, &any, e) < 0)
			return -1;
	}
	*target = found;
	return 0;
}

static int read_mark(struct ping *ping, xcb_window_t window, bool *is_met, struct err *e)
{
	auto_free xcb_get_property_reply_t *mark = NULL;

	if (ping->x->lost)
		return xconn_sync(ping->x, e);
	if (take_property(ping, xcb_get_property(ping->x->xcb, 0, window, ping->met, XCB_ATOM_CARDINAL, 0, 1), 32, &mark, e) < 0)
		return -1;
	*is_met = mark != NULL;
	return 0;
}

int ping_is_met(struct ping *ping, xcb_window_t *window, bool *is_met, struct err *e)
{
	*is_met = true;
	if (read_focus(ping, window, e) < 0)
		return -1;
	if (*window <= XCB_INPUT_FOCUS_POINTER_ROOT) {
		*window = XCB_NONE;
		return 0;
	}
	return read_mark(ping, *window, is_met, e);
}

int ping_knows(struct ping *ping, xcb_window_t window, bool *window_is_met, bool *app_is_met, struct err *e)
{
	uint32_t mask = ~xcb_get_setup(ping->x->xcb)->resource_id_mask; /* of an id: which client made it */
	auto_free uint32_t *clients = NULL;
	size_t n;

	if (read_mark(ping, window, window_is_met, e) < 0 || read_words(ping, ping->x->root, ping->clients, MAX_CLIENTS, &clients, &n, e) < 0)
		return -1;
	*app_is_met = *window_is_met;
	for (size_t i = 0; i < n && !*app_is_met; i++)
		if ((clients[i] & mask) == (window & mask) && read_mark(ping, clients[i], app_is_met, e) < 0)
			return -1;
	return 0;
}

void ping_meet(struct ping *ping, xcb_window_t window)
{
	static const uint32_t met = 1;

	if (!ping->x->lost)
		xcb_change_property(ping->x->xcb, XCB_PROP_MODE_REPLACE, window, ping->met, XCB_ATOM_CARDINAL, 32, 1, &met);
}

/* The child of `window` at a place of the root; none when the window is gone. */
static int read_child(struct ping *ping, xcb_window_t window, int x_px, int y_px, xcb_window_t *child, struct err *e)
{
	auto_free xcb_translate_coordinates_reply_t *reply = NULL;
	struct err reason = {0};
	struct xconn *x = ping->x;

	*child = XCB_NONE;
	if (x->lost)
		return xconn_sync(x, e);
	if (xconn_reply(x, xcb_translate_coordinates(x->xcb, x->root, window, (int16_t)x_px, (int16_t)y_px).sequence, (void **)&reply, &reason) < 0)
		return reason.code == ERR_CONFLICT ? 0 : failed(&reason, e);
	*child = reply->child;
	return 0;
}

int ping_top_at(struct ping *ping, int x_px, int y_px, xcb_window_t *top, struct err *e)
{
	return read_child(ping, ping->x->root, x_px, y_px, top, e);
}

int ping_aim_at(struct ping *ping, int x_px, int y_px, struct ping_target *target, struct err *e)
{
	struct ping_target found = {0};
	bool any = false;

	if (read_child(ping, ping->x->root, x_px, y_px, &found.window, e) < 0)
		return -1;
	for (int depth = 0; found.window && depth < MAX_DEPTH; depth++) {
		if (read_window(ping, &found, &any, e) < 0)
			return -1;
		if (any)
			break;
		if (read_child(ping, found.window, x_px, y_px, &found.window, e) < 0)
			return -1;
	}
	*target = any ? found : (struct ping_target){0};
	return 0;
}

int ping_clock(struct ping *ping, struct err *e)
{
	ping->ticked = false;
	if (!ping->x->lost)
		xcb_change_property(ping->x->xcb, XCB_PROP_MODE_REPLACE, ping->wm.window, ping->stamp, XCB_ATOM_CARDINAL, 32, 0, NULL);
	if (xconn_sync(ping->x, e) < 0)
		return -1;
	return ping->ticked ? 0 : err_set(e, ERR_INPUT_LOST, NULL, "the display does not tell its time");
}

static void send_ping(struct ping *ping)
{
	xcb_client_message_event_t message = {
		.response_type = XCB_CLIENT_MESSAGE,
		.format = 32,
		.window = ping->window,
		.type = ping->protocols,
		.data.data32 = {ping->wm_ping, ping->time, ping->window},
	};

	xcb_send_event(ping->x->xcb, 0, ping->window, XCB_EVENT_MASK_NO_EVENT, (const char *)&message);
	xconn_flush(ping->x);
}

/* 0 with *target noted as silent when the answer does not come. */
static int wait_answer(struct ping *ping, struct ping_target *target, int64_t deadline_ms, struct err *e)
{
	struct err reason = {0};

	while (!ping->answered && !ping->x->lost)
		if (co_wait_event(&ping->heard, deadline_ms, &reason) < 0) {
			if (reason.code != ERR_TIMEOUT)
				return failed(&reason, e);
			target->answers = false;
			target->was_silent = true;
			return 0;
		}
	return ping->answered ? 0 : xconn_sync(ping->x, e);
}

/*
 * A window that does not answer gets a fixed time, and more on a busy machine: as many times what the window manager takes to answer. The
 * first answer does not count: before it the window manager reads the new map, which takes it long.
 */
static int wait_unanswered(struct ping *ping, struct err *e)
{
	int64_t asked_ms;

	if (ping_wait_wm(ping, e) < 0)
		return -1;
	asked_ms = util_now_ms();
	if (ping_wait_wm(ping, e) < 0)
		return -1;
	return co_wait_until(util_now_ms() + LIMIT_NO_PING_MS + NO_PING_FACTOR * (util_now_ms() - asked_ms), e);
}

int ping_wait_for(struct ping *ping, struct ping_target *target, int64_t limit_ms, struct err *e)
{
	if (target->answers) {
		if (ping_clock(ping, e) < 0)
			return -1;
		ping->window = target->window;
		ping->answered = false;
		send_ping(ping);
		int rc = wait_answer(ping, target, util_now_ms() + limit_ms, e);

		ping->window = XCB_NONE;
		if (rc < 0 || target->answers)
			return rc;
	}
	return wait_unanswered(ping, e);
}

int ping_wait(struct ping *ping, struct ping_target *target, struct err *e)
{
	return ping_wait_for(ping, target, LIMIT_PING_MS, e);
}

int ping_wait_wm(struct ping *ping, struct err *e)
{
	return wm_wait(&ping->wm, util_now_ms() + LIMIT_WM_MS, e);
}
