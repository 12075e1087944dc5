/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A window that tells what it gets: an ordinary Xlib client in a process of its own, with the focus, that reads the keyboard map when it
 * gets to the notice of a change, as apps do, and answers _NET_WM_PING. It stands in for the window manager as far as input asks for one.
 */
#ifndef TESTS_EVWIN_H
#define TESTS_EVWIN_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <xcb/xcb.h>

#define EVWIN_MANAGER_MS 30
#define EVWIN_PAINTS 4
#define EVWIN_PAINT_MS 150
#define EVWIN_WORK_MS 700

enum evwin_way {
	EVWIN_NORMAL,
	EVWIN_SLOW,     /* needs 2 ms for each key */
	EVWIN_MUTE,     /* speaks _NET_WM_PING and never answers */
	EVWIN_NO_PING,  /* does not speak _NET_WM_PING */
	EVWIN_LATE,     /* takes no keys before it has painted for EVWIN_PAINTS * EVWIN_PAINT_MS and was at work, reading nothing, for EVWIN_WORK_MS */
	EVWIN_COMES,    /* the same, and for clicks too; the window manager of the display has it, as it has an app's */
	EVWIN_MANAGED,  /* beside a window manager that takes each press of a button first and lets it go on after EVWIN_MANAGER_MS */
};

struct evwin_event {
	char kind; /* 'K' 'k' key, 'B' 'b' button (small: released), 'M' motion */
	unsigned int detail; /* keycode or button; 0 for motions */
	uint32_t keysym;
	unsigned int state;
	int x, y;
	uint32_t time_ms;
};

struct evwin {
	pid_t pid;
	FILE *out;
	xcb_connection_t *xcb; /* the test's own, to mark the end of what it looks at */
	xcb_window_t window;
};

/* Starts it on this display (no window manager needed), over the whole screen. Fails the test when it does not start. */
void evwin_start(struct evwin *evwin, const char *display, enum evwin_way way);
void evwin_stop(struct evwin *evwin);
/* The same of the last one on a display: nothing waits until its window is gone and another has the focus. */
void evwin_drop(struct evwin *evwin);

/* What came since the last look, up to what the display has handled by now; at most max events. Returns how many. */
size_t evwin_look(struct evwin *evwin, struct evwin_event *events, size_t max);

/* The characters of the key presses among the events, as UTF-8 (Return is \r), malloced. */
char *evwin_text(const struct evwin_event *events, size_t n);

#endif
