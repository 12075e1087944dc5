/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The windows of the display, described in few batches of requests: those that the window manager has, and what programs put on the screen
 * past it (menus, tooltips). What a window says of itself is hostile: bounded, and made valid UTF-8. Where it is, what lies over it and
 * whose it is comes from the X server and the kernel.
 */
#ifndef APPS_WINDOWS_H
#define APPS_WINDOWS_H

#include <jansson.h>

#include "session/base/action.h"
#include "session/base/limits.h"
#include "session/base/space.h"
#include "session/base/x/xconn.h"

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

/* Types of a window (_NET_WM_WINDOW_TYPE), in the order of windows.c's table; the first that it names counts. */
enum window_kind {
	WINDOW_NORMAL,
	WINDOW_DIALOG, /* also one that says nothing but which window it is of */
	WINDOW_UTILITY,
	WINDOW_TOOLBAR,
	WINDOW_SPLASH,
	WINDOW_MENU,
	WINDOW_DROPDOWN,
	WINDOW_POPUP,
	WINDOW_COMBO,
	WINDOW_TOOLTIP,
	WINDOW_NOTIFICATION,
	WINDOW_DRAG,
	WINDOW_DOCK,
	WINDOW_DESKTOP,
};

/* How much of a window can be seen, and what hides the rest, one bit each, in the order of windows_json.c's table. */
enum window_sight { SIGHT_UNKNOWN, SIGHT_NONE, SIGHT_PART, SIGHT_ALL };
enum window_hidden { HIDDEN_MINIMIZED = 1 << 0, HIDDEN_OFF_SCREEN = 1 << 1, HIDDEN_COVERED = 1 << 2 };

struct window {
	xcb_window_t id;
	bool gone;         /* it vanished meanwhile: nothing else is filled in */
	char *title, *class_name, *instance; /* valid UTF-8, at most LIMIT_TITLE_BYTES */
	size_t title_len, class_len, instance_len;
	int outer_pid;     /* of the X client, in the session's pid namespace; 0 if the server does not know */
	int x, y, width, height; /* of the client window in native pixels of the root */
	unsigned int state;
	enum window_kind kind;
	xcb_window_t parent; /* that it is a dialog or menu of, by its own word, or XCB_NONE */
	xcb_window_t above;  /* that it is in: its frame, or the root */
	/* Of windows_look alone. */
	struct rect frame;        /* with what the window manager has put around it */
	enum window_sight sight;
	unsigned int hidden;      /* enum window_hidden */
	xcb_window_t owner;       /* of one without manager: the managed window that it belongs to, or XCB_NONE */
};

/* A child of the root that is on the screen: a frame, or a window without manager. */
struct top {
	xcb_window_t id;
	struct rect rect; /* native pixels, with its border */
	int border;       /* how wide that is */
	bool no_manager;  /* it asked to be left alone (override-redirect) */
};

struct windows {
	struct window *list; /* top window first */
	size_t n;
	xcb_window_t active; /* or XCB_NONE */
	/* Of windows_look alone, top first. */
	struct window *popups; /* what is on the screen without manager, such as menus and tooltips; at most LIMIT_POPUPS */
	size_t n_popups;
	struct top *tops;      /* at most LIMIT_TOPS */
	size_t n_tops;
	bool more;             /* there may be more windows than these limits let be told */
};

/* The ids of the managed windows, top first, at most LIMIT_WINDOWS; *ids is malloced, the caller's. Errors as xconn_reply. */
int windows_ids(struct xconn *x, xcb_window_t **ids, size_t *n, struct err *e);

/* Describes n windows. *out is ended with windows_finish. Errors as xconn_reply. Must run in a coroutine. */
int windows_describe(struct xconn *x, const xcb_window_t *ids, size_t n, struct windows *out, struct err *e);

/* Describes all that is there, with frames, what lies over what, and popups; `screen` is the display. Otherwise as windows_describe. */
int windows_look(struct xconn *x, struct space screen, struct windows *out, struct err *e);
void windows_finish(struct windows *windows);

/* The managed window with this id; NULL if there is none (any more). */
const struct window *windows_find(const struct windows *windows, xcb_window_t id);

/* Both are of the same program, as the server and the kernel say. */
bool windows_same_program(const struct xconn *x, const struct window *a, const struct window *b);

/* A window of the window manager's own, XCB_NONE if it does not say. Errors as xconn_reply. */
int windows_manager(struct xconn *x, xcb_window_t *manager, struct err *e);

/* Is it of a kind that gets the keys when it opens? */
bool windows_takes_keys(const struct window *window);

/* The window as callers see it, in their space, of a windows_look; `active` is the window that has the focus. `run` is one of a row of apps/.
 * The caller's reference. */
json_t *windows_json(const struct action_run *run, const struct window *window, xcb_window_t active);

/* The names of the states, as a list; the caller's reference. */
json_t *windows_states(unsigned int state);
const char *windows_layer(const struct window *window);
const char *windows_kind(const struct window *window);

/* What windows.c asks in one batch of requests, for windows_look.c: all replies in order; one that is an error (the window vanished) is NULL. On
 * failure none is left waiting, and none is kept. */
int windows_take_replies(struct xconn *x, const unsigned int *sequences, size_t n, void **replies, struct err *e);

#endif
