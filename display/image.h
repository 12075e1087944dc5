/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pixels in memory: blending the pointer in, scaling. Owner: display. No threads.
 */
#ifndef DISPLAY_IMAGE_H
#define DISPLAY_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "session/base/space.h"

/*
 * Pixels 0xXXRRGGBB, the uppermost byte means nothing: `height` rows of `width`, each `stride` pixels after the one above (at least
 * the width), so that a part of an image is an image.
 */
struct image {
	int width, height, stride;
	uint32_t *pixels;
};

/* An image without gaps; its pixels are not set, are malloced and the caller's: free(image.pixels). */
struct image image_create(int width, int height);

/* A part that lies in the image; the pixels stay the image's. */
struct image image_part(const struct image *image, int x, int y, int width, int height);

static inline uint32_t *image_row(const struct image *image, int y)
{
	return image->pixels + (size_t)y * (size_t)image->stride;
}

/* `n` pixels as bytes R, G, B. */
void image_row_rgb(const uint32_t *pixels, int n, uint8_t *rgb);

/* Draws `over` (premultiplied 0xAARRGGBB) at column x and row y of `image`; what hangs over an edge is left out. */
void image_blend(struct image *image, const struct image *over, int x, int y);

/*
 * Fills `out` (its size and memory are the caller's) with `in` scaled by averaging areas, up or down: each pixel is the mean of what it
 * covers, rounded to the nearest; exactly so where the two sides of in, each without what it has in common with that of out, multiply to
 * no more than 65,536, else within what a float can tell. Sides are at most LIMIT_SIDE_MAX_PX.
 */
void image_scale(const struct image *in, struct image *out);

/* Fills `part` with what image_scale gives at column x and row y of a picture of width * height: the same pixels, for as much work as they are.
 * The part lies inside the picture. */
void image_scale_part(const struct image *in, int width, int height, int x, int y, struct image *part);

/* The pixels of the scaled picture that depend on a rectangle of `in`, which lies inside it: all others stay as they are when it changes. */
struct rect image_scale_reach(struct rect rect, int in_width, int in_height, int out_width, int out_height);

#endif
