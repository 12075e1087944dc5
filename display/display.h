/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is on the screen: pixels by MIT-SHM into a segment passed by descriptor, the pointer drawn in, encoders, the desktop's
 * background. Knows nothing of input and apps. One thread; everything that waits runs in a coroutine.
 */
#ifndef DISPLAY_DISPLAY_H
#define DISPLAY_DISPLAY_H

#include "session/base/action.h"
#include "session/base/xconn.h"

struct display;

/* Makes the picture segment at the display's maximum size and attaches it, selects damage and cursor events, paints the root window. `x` must
 * outlive it. Must run in a coroutine. */
int display_create(struct display **display, struct xconn *x, struct space native, struct err *e);
void display_destroy(struct display *display);

/* Waits until a window manager is there (_NET_SUPPORTING_WM_CHECK and _NET_CLIENT_LIST on the root) and the painted background can
 * be seen in the pixels. */
int display_wait_ready(struct display *display, int64_t deadline_ms, struct err *e);

/* Grows whenever the picture changes. */
uint64_t display_frame(const struct display *display);

/* What a picture is to be like; zero fields are the defaults. Coordinates are native pixels. */
struct display_request {
	int x, y, width, height;       /* region; width 0 is all of it */
	int out_width, out_height;     /* size of the picture; 0 is the region's */
	bool no_cursor;
};

/* One picture. `bytes` are malloced and the caller's. */
struct display_picture {
	char *bytes;
	size_t len;
	const char *media_type; /* "image/png" */
	int width, height;      /* of the picture */
	uint64_t frame;         /* the frame it shows */
};

int display_picture(struct display *display, const struct display_request *request, struct display_picture *out, struct err *e);

/* Rows: screenshot. Home: struct display *. */
extern const struct action_row display_rows[];
extern const size_t display_n_rows;

#endif
