/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pixels in memory: blending the pointer in, scaling. Owner: display. No threads.
 */
#ifndef DISPLAY_IMAGE_H
#define DISPLAY_IMAGE_H

#include <stdint.h>

/* width * height pixels 0xXXRRGGBB in rows without gaps; the uppermost byte means nothing. */
struct image {
	int width, height;
	uint32_t *pixels;
};

/* Draws `over` (premultiplied 0xAARRGGBB) at column x and row y of `image`; what hangs over an edge is left out. */
void image_blend(struct image *image, const struct image *over, int x, int y);

/* Fills `out` (its size and memory are the caller's) with `in` scaled by averaging areas: each pixel is the mean of what it covers. */
void image_scale(const struct image *in, struct image *out);

#endif
