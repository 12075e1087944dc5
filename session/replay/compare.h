/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two pictures of the same screen, compared pixel by pixel. Owner: session/replay. No threads.
 */
#ifndef REPLAY_COMPARE_H
#define REPLAY_COMPARE_H

#include "session/replay/pixels.h"

/* Which pixels of a picture do not count: a byte each, not 0. */
struct hidden {
	int width, height;
	uint8_t *pixels; /* owned; NULL: all count */
};

void hidden_init(struct hidden *hidden, int width, int height);
void hidden_add(struct hidden *hidden, struct rect rect); /* what of it lies inside */
void hidden_finish(struct hidden *hidden);                /* zeroed memory is fine */

struct compare {
	bool is_size;       /* the pictures differ in size: then everything differs */
	uint64_t differing; /* pixels of which red, green or blue is further apart than the tolerance */
	uint64_t compared;  /* pixels that count */
	struct rect box;    /* around those that differ; all 0 without any */
};

/* `hidden` is NULL or of the size of `expected`; tolerance 0..255. */
struct compare compare_pixels(const struct pixels *expected, const struct pixels *actual, const struct hidden *hidden, int tolerance);

/* Is the share of pixels that differ at most max_share (0..1)? */
bool compare_is_same(const struct compare *compare, double max_share);

/* The actual picture, pale, with the pixels that differ in red and those that do not count in blue. */
struct pixels compare_draw(const struct pixels *expected, const struct pixels *actual, const struct hidden *hidden, int tolerance);

#endif
