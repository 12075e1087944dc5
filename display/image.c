/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pixels in memory. */
#include "display/image.h"

#include <string.h>
#include <sys/param.h>

#include "session/base/util.h"

#define CHANNELS 3

struct image image_create(int width, int height)
{
	return (struct image){width, height, width, util_alloc((size_t)width * (size_t)height * sizeof(uint32_t))};
}

struct image image_part(const struct image *image, int x, int y, int width, int height)
{
	return (struct image){width, height, image->stride, image_row(image, y) + x};
}

void image_row_rgb(const uint32_t *pixels, int n, uint8_t *rgb)
{
	for (int i = 0; i < n; i++) {
		rgb[3 * i] = (uint8_t)(pixels[i] >> 16);
		rgb[3 * i + 1] = (uint8_t)(pixels[i] >> 8);
		rgb[3 * i + 2] = (uint8_t)pixels[i];
	}
}

static uint32_t channel(uint32_t pixel, int shift)
{
	return pixel >> shift & 0xFF;
}

/* One channel of an X cursor over a pixel. Cursors come from programs: more colour than alpha must not run over into the next channel. */
static uint32_t blend_channel(uint32_t under, uint32_t over, int shift)
{
	uint32_t rest = 255 - channel(over, 24);
	uint32_t sum = channel(over, shift) + (channel(under, shift) * rest + 127) / 255;

	return MIN(sum, 255U) << shift;
}

void image_blend(struct image *image, const struct image *over, int x, int y)
{
	int left = MAX(0, -x), right = MIN(over->width, image->width - x);
	int top = MAX(0, -y), bottom = MIN(over->height, image->height - y);

	for (int row = top; row < bottom; row++)
		for (int column = left; column < right; column++) {
			uint32_t *pixel = image_row(image, y + row) + x + column;
			uint32_t top_pixel = image_row(over, row)[column];

			*pixel = blend_channel(*pixel, top_pixel, 16) | blend_channel(*pixel, top_pixel, 8) | blend_channel(*pixel, top_pixel, 0);
		}
}

/*
 * Both axes are measured in parts so small that the edges of in and out pixels fall on whole numbers: pixel i of n covers the parts
 * from i * other_n to (i + 1) * other_n. This is how much of in pixel `a` lies in out pixel `b`.
 */
static uint32_t overlap(int a, int n_in, int b, int n_out)
{
	int64_t start = MAX((int64_t)a * n_out, (int64_t)b * n_in);
	int64_t end = MIN(((int64_t)a + 1) * n_out, ((int64_t)b + 1) * n_in);

	return end > start ? (uint32_t)(end - start) : 0;
}

/* The in pixels first..end that reach into `n` out pixels from `at` on. */
static void reach(int at, int n, int n_in, int n_out, int *first, int *end)
{
	*first = (int)((int64_t)at * n_in / n_out);
	*end = (int)(((int64_t)(at + n) * n_in + n_out - 1) / n_out);
}

/* One row of `in`, scaled across to the out pixels at..at+n: for each and each channel the sum of colour times parts (out of n_in). */
static void scale_row(const uint32_t *in, int n_in, uint32_t *sums, int n_out, int at, int n)
{
	int first, end;

	reach(at, n, n_in, n_out, &first, &end);
	memset(sums, 0, (size_t)n * CHANNELS * sizeof(*sums));
	for (int a = first; a < end; a++)
		for (int b = MAX(at, (int)((int64_t)a * n_out / n_in)); b < at + n; b++) {
			uint32_t parts = overlap(a, n_in, b, n_out);

			if (parts == 0)
				break;
			for (int c = 0; c < CHANNELS; c++)
				sums[(b - at) * CHANNELS + c] += channel(in[a], 8 * c) * parts;
		}
}

static uint32_t mean_pixel(const uint64_t *sums, uint64_t parts)
{
	uint32_t pixel = 0;

	for (int c = 0; c < CHANNELS; c++)
		pixel |= (uint32_t)((sums[c] + parts / 2) / parts) << (8 * c);
	return pixel;
}

void image_scale(const struct image *in, struct image *out)
{
	image_scale_part(in, out->width, out->height, 0, 0, out);
}

void image_scale_part(const struct image *in, int width, int height, int x, int y, struct image *part)
{
	size_t n_sums = (size_t)part->width * CHANNELS;
	auto_free uint32_t *across = util_alloc(n_sums * sizeof(*across));
	auto_free uint64_t *sums = util_zalloc(n_sums * sizeof(*sums));
	uint64_t parts = (uint64_t)in->width * (uint64_t)in->height;
	int first, end;

	reach(y, part->height, in->height, height, &first, &end);
	for (int a = first; a < end; a++) {
		scale_row(image_row(in, a), in->width, across, width, x, part->width);
		for (int b = MAX(y, (int)((int64_t)a * height / in->height)); b < y + part->height; b++) {
			uint32_t weight = overlap(a, in->height, b, height);

			if (weight == 0)
				break;
			for (size_t i = 0; i < n_sums; i++)
				sums[i] += (uint64_t)across[i] * weight;
			/* The last row that reaches into b: b is done. */
			if ((int64_t)(b + 1) * in->height <= (int64_t)(a + 1) * height) {
				for (int column = 0; column < part->width; column++)
					image_row(part, b - y)[column] = mean_pixel(sums + (size_t)column * CHANNELS, parts);
				memset(sums, 0, n_sums * sizeof(*sums));
			}
		}
	}
}

/* Both ends of a span of in pixels as out pixels, to the outside. */
static void cover(int *at, int *n, int n_in, int n_out)
{
	int first = (int)((int64_t)*at * n_out / n_in);

	*n = (int)(((int64_t)(*at + *n) * n_out + n_in - 1) / n_in) - first;
	*at = first;
}

struct rect image_scale_reach(struct rect rect, int in_width, int in_height, int out_width, int out_height)
{
	cover(&rect.x, &rect.width, in_width, out_width);
	cover(&rect.y, &rect.height, in_height, out_height);
	return rect;
}
