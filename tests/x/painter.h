/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A display that is looked at, and another client of its X server that paints on it and moves the pointer.
 */
#ifndef TESTS_PAINTER_H
#define TESTS_PAINTER_H

#include <xcb/xcb.h>

#include "display/display.h"
#include "tests/x/xserver.h"

struct painter {
	struct xserver server;
	struct loop *loop;
	struct xconn x;
	struct display *display;
	int width, height;
	xcb_connection_t *xcb; /* the other client */
	xcb_window_t root;
};

/* Starts all of it; fails the test when that does not go well. */
void painter_start(struct painter *painter, int width, int height);
void painter_stop(struct painter *painter);

/* What was asked for so far has been done. */
void painter_sync(struct painter *painter);

/* A window without manager, of one colour. */
void painter_rect(struct painter *painter, int x, int y, int width, int height, uint32_t colour);

/* A window with these pixels (0x00RRGGBB in rows without gaps), which stay in it. */
void painter_pixels(struct painter *painter, int x, int y, int width, int height, const uint32_t *pixels);

void painter_move_pointer(struct painter *painter, int x, int y);

/* The pointer's image on the root window: width * height premultiplied 0xAARRGGBB. */
void painter_set_pointer(struct painter *painter, int width, int height, int hot_x, int hot_y, const uint32_t *pixels);

/* A square pointer whose colour changes between two, each shown for so long. */
void painter_animate_pointer(struct painter *painter, int side, uint32_t one, uint32_t other, int every_ms);

/* A picture that must succeed; the caller drops it. */
struct display_picture painter_look(struct painter *painter, struct display_request request);

/* The pixels (0x00RRGGBB, the caller's) of a picture in any format, decoded by the format's own library. */
uint32_t *painter_decode(const struct display_picture *picture);

#endif
