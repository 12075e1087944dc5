/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the actions on one window share: looking for it, asking the window manager, waiting, telling what came of it. Not for other folders.
 */
#ifndef APPS_MANAGE_H
#define APPS_MANAGE_H

#include "apps/state.h"
#include "apps/windows.h"

#define MANAGE_WM_MS 2000    /* the window manager's share of an action */
#define MANAGE_FROM_PAGER 2  /* source of a request: the user wants it */

/* An action on one window. */
struct managed {
	struct action_run *run;
	struct apps *apps;
	xcb_window_t id;
	struct windows now; /* at the last look, top first; the caller ends it with windows_finish */
};

/* Begins an action of which "window" is the id, and looks; NULL with ERR_NO_WINDOW when it is not there. Errors of windows_look. */
const struct window *manage_begin(struct managed *managed, struct action_run *run, struct err *e);

/* The window as it is now; NULL with ERR_NO_WINDOW when it is not there (any more). */
const struct window *manage_look(struct managed *managed, struct err *e);
/* Looks without asking whether it is there. */
int manage_look_at_all(struct managed *managed, struct err *e);

/* Waits until something may have changed since `changes` (of struct apps); 1 when the deadline has passed. */
int manage_wait_change(struct apps *apps, uint64_t changes, int64_t deadline_ms, struct err *e);

/* Puts what is known of a window into the result: its id as "window", as launch says it. */
void manage_tell(const struct action_run *run, const struct window *window, xcb_window_t active);

/* Says in the result why it is not just what was asked for. */
__attribute__((format(printf, 2, 3))) void manage_note(const struct action_run *run, const char *format, ...);

/* Sends a request about the window; manage_ask then waits until the window manager has handled all that it was sent. */
int manage_send(struct managed *managed, const char *type, const uint32_t data[5], struct err *e);
int manage_ask(struct managed *managed, const char *type, const uint32_t data[5], struct err *e);

/* The same, then a look. NULL when the window is not there any more. */
const struct window *manage_ask_and_look(struct managed *managed, const char *type, const uint32_t data[5], struct err *e);

/* Asks that the frame's corner be at x, y of the root, and looks. */
const struct window *manage_place(struct managed *managed, int x, int y, struct err *e);

#endif
