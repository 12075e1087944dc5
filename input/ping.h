/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A barrier through an app: its answer to _NET_WM_PING says that it has read everything that was sent to it before.
 *
 * An app can forge the answer; it is there for exactness, not for security. Windows without the protocol (xterm) get a fixed wait
 * instead. Owner: struct keyboard. One thread.
 */
#ifndef INPUT_PING_H
#define INPUT_PING_H

#include "session/base/x/wm.h"

#define PING_CLASS_MAX 64

struct ping {
	struct xconn *x;
	struct xconn_listener listener;
	struct wm wm;       /* changing a property of its window gives the server's time */
	xcb_atom_t active_window, clients, protocols, wm_ping, stamp, met;
	struct co_event heard;
	xcb_window_t window;  /* what is waited for, or 0 */
	xcb_timestamp_t time; /* of the ping, or of the last stamp */
	bool answered, ticked;
};

/* The window that gets the keys, and what is known of it. */
struct ping_target {
	xcb_window_t window; /* 0: none is active */
	char class_name[PING_CLASS_MAX]; /* of WM_CLASS; empty when it has none or a longer one */
	bool answers;        /* speaks the protocol and has not failed to answer */
	bool was_silent;     /* did not answer in time */
};

/* Makes the barrier of the window manager and listens on the root. `x` must outlive it. Errors as xconn_reply. Must run in a coroutine. */
int ping_init(struct ping *ping, struct xconn *x, struct err *e);
void ping_finish(struct ping *ping);

/* The window that gets the keys: the one with the focus, else the active one by the window manager's word. A window that goes away meanwhile is
 * one that does not answer. Errors as xconn_reply. */
int ping_aim(struct ping *ping, struct ping_target *target, struct err *e);

/*
 * Whether the window with the focus has been marked by ping_meet, and which it is; when none has the focus there is nothing to mark: *window is 0 and
 * *is_met true. The mark is a property of the window: it goes with it. Errors as xconn_reply.
 */
int ping_is_met(struct ping *ping, xcb_window_t *window, bool *is_met, struct err *e);
/* Sends and waits for nothing. */
void ping_meet(struct ping *ping, xcb_window_t window);

/* Whether the window has been marked, or else another one of its program, among those that the window manager has. Errors as xconn_reply. */
int ping_knows(struct ping *ping, xcb_window_t window, bool *window_is_met, bool *app_is_met, struct err *e);

/* The window at this place of the screen that has protocols at all, in whatever it is framed by; none (window 0) where there is no app. */
int ping_aim_at(struct ping *ping, int x_px, int y_px, struct ping_target *target, struct err *e);

/* The child of the root that has this place of the screen; 0: none. Errors as xconn_reply. */
int ping_top_at(struct ping *ping, int x_px, int y_px, xcb_window_t *top, struct err *e);

/* Stores the server's time, now, in ping->time: toolkits take the time of a ping or of a selection as the present. Errors as xconn_reply. */
int ping_clock(struct ping *ping, struct err *e);

/*
 * Returns when the target has read all that was sent: at its answer, or, when it has none within LIMIT_PING_MS (noted in *target, so that
 * the next barrier does not wait again) or does not speak the protocol, after LIMIT_NO_PING_MS. Errors as xconn_reply.
 */
int ping_wait(struct ping *ping, struct ping_target *target, struct err *e);
/* The same with another limit, for a window that has much to read. */
int ping_wait_for(struct ping *ping, struct ping_target *target, int64_t limit_ms, struct err *e);

/*
 * Returns when the window manager has handled all events that it was sent before, or after LIMIT_WM_MS. The window manager takes each
 * press of a button first, to focus the window under it, and the server holds the pointer's events back until it lets them go on; keys
 * are not held back, and would overtake the click that was to give them their place. Errors as xconn_reply.
 */
int ping_wait_wm(struct ping *ping, struct err *e);

#endif
