/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The barrier through the window manager: a question of a window that is not mapped yet, which it answers by a property. */
#include "session/base/x/wm.h"

#include <string.h>
#include <sys/param.h>

static void on_event(void *arg, const xcb_generic_event_t *event)
{
	struct wm *wm = arg;
	const xcb_property_notify_event_t *property = (const void *)event;

	if ((event->response_type & 0x7f) != XCB_PROPERTY_NOTIFY || property->window != wm->window || property->atom != wm->answer)
		return;
	wm->n_answers++;
	co_signal(&wm->heard);
}

int wm_init(struct wm *wm, struct xconn *x, struct err *e)
{
	struct wm made = {.x = x};

	if (xconn_atom(x, "_NET_REQUEST_FRAME_EXTENTS", &made.question, e) < 0 || xconn_atom(x, "_NET_FRAME_EXTENTS", &made.answer, e) < 0 ||
	    xconn_hidden_window(x, &made.window, e) < 0)
		return -1;
	*wm = made;
	xconn_listen(x, &wm->listener, on_event, wm);
	return 0;
}

void wm_finish(struct wm *wm)
{
	if (!wm->x)
		return;
	xconn_unlisten(wm->x, &wm->listener);
	if (!wm->x->lost)
		xcb_destroy_window(wm->x->xcb, wm->window);
	*wm = (struct wm){0};
}

void wm_send(struct xconn *x, xcb_window_t window, xcb_atom_t type, const uint32_t data[5])
{
	xcb_client_message_event_t message = {.response_type = XCB_CLIENT_MESSAGE, .format = 32, .window = window, .type = type};

	memcpy(message.data.data32, data, sizeof(message.data.data32));
	if (!x->lost)
		xcb_send_event(x->xcb, 0, x->root, XCB_EVENT_MASK_SUBSTRUCTURE_NOTIFY | XCB_EVENT_MASK_SUBSTRUCTURE_REDIRECT,
		               (const char *)&message);
}

void wm_ask(struct wm *wm)
{
	static const uint32_t nothing[5];

	/* Any client can change the property, and what is no answer must not spoil the barrier for ever. */
	wm->n_asked = MAX(wm->n_asked, wm->n_answers) + 1;
	wm_send(wm->x, wm->window, wm->question, nothing);
}

int wm_hear(struct wm *wm, int64_t deadline_ms, struct err *e)
{
	struct err reason = {0};

	while (wm->n_answers < wm->n_asked && !wm->x->lost)
		if (co_wait_event(&wm->heard, deadline_ms, &reason) < 0) {
			if (reason.code == ERR_TIMEOUT)
				return 0;
			if (e)
				*e = reason;
			return -1;
		}
	return wm->x->lost ? xconn_sync(wm->x, e) : 0;
}

int wm_wait(struct wm *wm, int64_t deadline_ms, struct err *e)
{
	wm_ask(wm);
	xconn_flush(wm->x);
	return wm_hear(wm, deadline_ms, e);
}
