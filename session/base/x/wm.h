/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A barrier through the window manager, which handles its events in order: its answer to a question of ours says that it has handled
 * what it was sent before. An app can forge the answer: it is there for exactness, not for security. Owner: who made it. One thread.
 */
#ifndef BASE_WM_H
#define BASE_WM_H

#include "session/base/x/xconn.h"

struct wm {
	struct xconn *x;
	struct xconn_listener listener;
	xcb_window_t window; /* of ours, never mapped; property changes of it are told */
	xcb_atom_t question, answer;
	struct co_event heard;
	unsigned int n_asked, n_answers; /* a late answer is not that of the next question */
};

/* Makes the window. `x` must outlive it. Errors as xconn_reply. Must run in a coroutine. */
int wm_init(struct wm *wm, struct xconn *x, struct err *e);
/* Nothing for zeroed memory. */
void wm_finish(struct wm *wm);

/* Asks, in order with what was sent before. Sends nothing by itself. */
void wm_ask(struct wm *wm);
/* Returns when all that was asked is answered, or at the deadline; at once when it was answered meanwhile. Errors as xconn_reply. */
int wm_hear(struct wm *wm, int64_t deadline_ms, struct err *e);
/* Both: returns when the window manager has handled all that it was sent before, or at the deadline. */
int wm_wait(struct wm *wm, int64_t deadline_ms, struct err *e);

/* Asks the window manager for something about a window, by a message of this type to the root. Sends nothing by itself. */
void wm_send(struct xconn *x, xcb_window_t window, xcb_atom_t type, const uint32_t data[5]);

#endif
