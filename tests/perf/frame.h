/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A display, and its pixels in memory that the X server shares. Whatever fails ends the program with a line that says what. */
#ifndef PERF_FRAME_H
#define PERF_FRAME_H

#include <stddef.h>
#include <xcb/xcb.h>

struct frame {
	xcb_connection_t *xcb;
	const xcb_screen_t *screen;
	int width, height; /* px */
	size_t len;        /* of a whole frame: four bytes a pixel */
	char *data;
	uint32_t segment;
};

/* Connects to $DISPLAY. */
void frame_open(struct frame *frame);
void frame_close(struct frame *frame);

/* Puts a part of the screen into `data`, its rows one behind the other. */
void frame_get(const struct frame *frame, int x, int y, int width, int height);

/* Waits until all that was sent is done. */
void frame_round_trip(const struct frame *frame);

#endif
