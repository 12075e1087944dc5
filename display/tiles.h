/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the screen changed and when: a grid of square tiles, each with the frame in which it last did. Owner: display. No threads.
 * Coordinates are native pixels.
 */
#ifndef DISPLAY_TILES_H
#define DISPLAY_TILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/base/space.h"

/* Small, so that what blinks or counts beside a target is not taken for the target. */
#define TILES_SIDE_PX 16

struct tiles {
	struct space space;
	int columns, rows;
	uint64_t *frames; /* columns * rows; 0: not since the start */
};

void tiles_init(struct tiles *tiles, struct space space);
void tiles_finish(struct tiles *tiles); /* zeroed memory is fine */

size_t tiles_count(const struct tiles *tiles);
/* Which one has the pixel, and the pixels of one. */
size_t tiles_index(const struct tiles *tiles, int x, int y);
struct rect tiles_rect(const struct tiles *tiles, size_t index);

/* The tiles that a rectangle touches; none when it lies outside of the screen. */
struct tiles_span {
	int left, top, right, bottom; /* columns and rows; the last two are outside */
};
struct tiles_span tiles_span(const struct tiles *tiles, struct rect rect);

/* The smallest rectangle with both. */
struct rect tiles_join(struct rect a, struct rect b);

/* The rectangle changed in this frame; what of it lies outside of the screen is nothing. */
void tiles_mark(struct tiles *tiles, struct rect rect, uint64_t frame);

/* A tile that the rectangle touches changed in a later frame than `since`. */
bool tiles_changed(const struct tiles *tiles, struct rect rect, uint64_t since);

/*
 * Where the screen changed in later frames than `since`, as at most `max` (1 or more) rectangles of whole tiles, cut at the screen's edge;
 * returns how many. When there are more places than that, those that lie near each other share one.
 */
size_t tiles_list(const struct tiles *tiles, uint64_t since, struct rect *out, size_t max);

#endif
