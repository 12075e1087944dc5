/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Windows that have come on the screen and that no click has gone to yet, as the display tells of them: to know that there is none costs nothing. What an
 * app puts up for itself, as a menu, is none of them. Owner: struct input. One thread.
 */
#ifndef INPUT_FRESH_H
#define INPUT_FRESH_H

#include "session/base/x/xconn.h"

#define FRESH_MS 30000 /* after that a window is an old one */
#define FRESH_MAX 16   /* of more the oldest are */

struct fresh {
	struct xconn *x;
	struct xconn_listener listener;
	struct {
		xcb_window_t window; /* a child of the root: an app's, or the frame around it */
		int64_t came_ms;
	} windows[FRESH_MAX]; /* oldest first */
	size_t n;
};

/* Listens on the root, of which somebody has asked for SubstructureNotify. `x` must outlive it. */
void fresh_init(struct fresh *fresh, struct xconn *x);
/* Nothing for zeroed memory. */
void fresh_finish(struct fresh *fresh);

bool fresh_is_any(struct fresh *fresh);
bool fresh_has(const struct fresh *fresh, xcb_window_t window);

/* When the last one came; 0: none has lately. */
int64_t fresh_last_ms(const struct fresh *fresh);

/* It is an old one from now on. */
void fresh_drop(struct fresh *fresh, xcb_window_t window);

#endif
