/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The managed windows of the display, described in one batch of requests. What a window says of itself is hostile: bounded, and made
 * valid UTF-8. Whose it is comes from the X server and the kernel.
 */
#ifndef APPS_WINDOWS_H
#define APPS_WINDOWS_H

#include <jansson.h>

#include "session/base/action.h"
#include "session/base/limits.h"
#include "session/base/xconn.h"

/* States of a window (_NET_WM_STATE), one bit each, in the order of windows.c's table. */
enum window_state {
	WINDOW_MAXIMIZED_X = 1 << 0,
	WINDOW_MAXIMIZED_Y = 1 << 1,
	WINDOW_MINIMIZED = 1 << 2,
	WINDOW_FULLSCREEN = 1 << 3,
	WINDOW_SHADED = 1 << 4,
	WINDOW_MODAL = 1 << 5,
	WINDOW_STICKY = 1 << 6,
	WINDOW_ABOVE = 1 << 7,
	WINDOW_BELOW = 1 << 8,
	WINDOW_ATTENTION = 1 << 9,
};

enum window_kind { WINDOW_NORMAL, WINDOW_DESKTOP, WINDOW_DOCK, WINDOW_SPLASH };

struct window {
	xcb_window_t id;
	bool gone;         /* it vanished meanwhile: nothing else is filled in */
	char *title, *class_name; /* valid UTF-8, at most LIMIT_TITLE_BYTES */
	size_t title_len, class_len;
	int outer_pid;     /* of the X client, in the session's pid namespace; 0 if the server does not know */
	int x, y, width, height; /* of the client window in native pixels of the root */
	unsigned int state;
	enum window_kind kind;
	xcb_window_t parent; /* that it is a dialog of, by its own word, or XCB_NONE */
};

struct windows {
	struct window *list; /* top window first */
	size_t n;
	xcb_window_t active; /* or XCB_NONE */
};

/* The ids of the managed windows, top first, at most LIMIT_WINDOWS; *ids is malloced, the caller's. Errors as xconn_reply. */
int windows_ids(struct xconn *x, xcb_window_t **ids, size_t *n, struct err *e);

/* Describes n windows. *out is ended with windows_finish. Errors as xconn_reply. Must run in a coroutine. */
int windows_describe(struct xconn *x, const xcb_window_t *ids, size_t n, struct windows *out, struct err *e);
void windows_finish(struct windows *windows);

/* The window as callers see it, in their space; `active` is the window that has the focus. `run` is one of a row of apps/. The caller's
 * reference. */
json_t *windows_json(const struct action_run *run, const struct window *window, xcb_window_t active);

/* The names of the states, as a list; the caller's reference. */
json_t *windows_states(unsigned int state);
const char *windows_layer(const struct window *window);

#endif
