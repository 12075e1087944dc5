/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pictures as pixels: red, green and blue, a byte each, row by row without gaps. Owner: session/replay. No threads.
 */
#ifndef REPLAY_PIXELS_H
#define REPLAY_PIXELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/base/err.h"
#include "session/base/space.h"

struct pixels {
	int width, height; /* 1..LIMIT_SIDE_MAX_PX; 0: there is no picture */
	uint8_t *rgb;      /* owned */
};

/* Black pixels of this size. */
struct pixels pixels_create(int width, int height);
void pixels_finish(struct pixels *pixels); /* zeroed memory is fine */
struct pixels pixels_copy(const struct pixels *pixels);

static inline uint8_t *pixels_at(const struct pixels *pixels, int x, int y)
{
	return pixels->rgb + ((size_t)y * (size_t)pixels->width + (size_t)x) * 3;
}

/*
 * Decodes a PNG of exactly this size, 8 bits and no alpha, into the place of `to` that begins at x, y and lies inside of it. The size is looked at before
 * anything is unpacked. ERR_BAD_REQUEST: it is no such PNG, or damaged; then some of the pixels may have been written.
 */
int pixels_decode(const void *png, size_t len, struct rect place, struct pixels *to, struct err *e);

/* A PNG of all pixels, malloced, the caller's. */
void *pixels_encode(const struct pixels *pixels, size_t *len);

#endif
