/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pixels in memory. */
#include "display/image.h"

#include <stdbool.h>
#include <sys/param.h>
#ifdef __x86_64__
#include <tmmintrin.h>
#endif

#include "session/base/util.h"

struct image image_create(int width, int height)
{
	return (struct image){width, height, width, util_alloc((size_t)width * (size_t)height * sizeof(uint32_t))};
}

struct image image_part(const struct image *image, int x, int y, int width, int height)
{
	return (struct image){width, height, image->stride, image_row(image, y) + x};
}

#ifdef __x86_64__

/* Four pixels at a time, while there is room to write 16 bytes for their 12. Returns how many it has done. */
__attribute__((target("ssse3"))) static int fours_rgb(const uint32_t *pixels, int n, uint8_t *rgb)
{
	const __m128i order = _mm_setr_epi8(2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, -1, -1, -1, -1);
	int i = 0;

	for (; i + 6 <= n; i += 4)
		_mm_storeu_si128((__m128i_u *)(rgb + 3 * i), _mm_shuffle_epi8(_mm_loadu_si128((const __m128i_u *)(pixels + i)), order));
	return i;
}

static int many_rgb(const uint32_t *pixels, int n, uint8_t *rgb)
{
	return __builtin_cpu_supports("ssse3") ? fours_rgb(pixels, n, rgb) : 0;
}

#else

static int many_rgb(const uint32_t *pixels, int n, uint8_t *rgb)
{
	(void)pixels, (void)n, (void)rgb;
	return 0;
}

#endif

void image_row_rgb(const uint32_t *pixels, int n, uint8_t *rgb)
{
	for (int i = many_rgb(pixels, n, rgb); i < n; i++) {
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
 * One direction of scaling. Both sides are measured in parts so small that the edges of in and out pixels fall on whole numbers: out
 * pixel b covers the parts from b * n_parts on, and a pixel of `in` is n_out parts wide, both without their greatest common divisor.
 */
struct axis {
	int n_parts;
	int *firsts;      /* per out pixel: the first pixel that it covers, */
	int *ends;        /* and the one behind the last */
	float *weights;   /* for one out pixel after the other: parts of each pixel that it covers */
};

static int common_divisor(int a, int b)
{
	while (b > 0) {
		int rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* For the `n` out pixels from `at` on, of n_out. */
static struct axis axis_create(int n_in, int n_out, int at, int n)
{
	const int divisor = common_divisor(n_in, n_out), in_parts = n_out / divisor, out_parts = n_in / divisor;
	struct axis axis = {
		.n_parts = out_parts,
		.firsts = util_alloc((size_t)n * sizeof(int)),
		.ends = util_alloc((size_t)n * sizeof(int)),
		.weights = util_alloc(((size_t)n_in + (size_t)n_out) * sizeof(float)),
	};
	float *weight = axis.weights;

	for (int b = 0; b < n; b++) {
		int start = (at + b) * out_parts, end = start + out_parts;

		axis.firsts[b] = start / in_parts;
		axis.ends[b] = (end + in_parts - 1) / in_parts;
		for (int a = axis.firsts[b]; a < axis.ends[b]; a++)
			*weight++ = (float)(MIN((a + 1) * in_parts, end) - MAX(a * in_parts, start));
	}
	return axis;
}

static void axis_finish(struct axis *axis)
{
	free(axis->firsts);
	free(axis->ends);
	free(axis->weights);
}

/* The four bytes of a pixel, and sums of such. */
typedef float colours __attribute__((vector_size(16), may_alias));
typedef int32_t whole __attribute__((vector_size(16)));

/* Adds bytes times a weight to sums, or sets these. */
static void add_row(const uint8_t *restrict bytes, float weight, float *restrict sums, int n, bool set)
{
	if (set)
		for (int i = 0; i < n; i++)
			sums[i] = (float)bytes[i] * weight;
	else
		for (int i = 0; i < n; i++)
			sums[i] += (float)bytes[i] * weight;
}

/* One out row from sums of columns, of which the first is `left`. A quarter of a part more keeps what is exact from being rounded down. */
static void scale_row(const colours *sums, int left, const struct axis *axis, int n_parts, uint32_t *out, int n)
{
	const float half = (float)(n_parts / 2) + 0.25F, scale = 1 / (float)n_parts;
	const float *weight = axis->weights;

	for (int b = 0; b < n; b++) {
		const colours *column = sums + (axis->firsts[b] - left), *end = sums + (axis->ends[b] - left);
		colours sum = *column * *weight++;
		whole mean;

		while (++column < end)
			sum += *column * *weight++;
		mean = __builtin_convertvector((sum + half) * scale, whole);
		out[b] = (uint32_t)mean[2] << 16 | (uint32_t)mean[1] << 8 | (uint32_t)mean[0];
	}
}

void image_scale(const struct image *in, struct image *out)
{
	image_scale_part(in, out->width, out->height, 0, 0, out);
}

void image_scale_part(const struct image *in, int width, int height, int x, int y, struct image *part)
{
	struct axis across = axis_create(in->width, width, x, part->width), down = axis_create(in->height, height, y, part->height);
	const int left = across.firsts[0], n = across.ends[part->width - 1] - left;
	auto_free colours *sums = util_alloc((size_t)n * sizeof(*sums));
	const float *weight = down.weights;

	for (int b = 0; b < part->height; b++) {
		for (int a = down.firsts[b]; a < down.ends[b]; a++)
			add_row((const uint8_t *)(image_row(in, a) + left), *weight++, (float *)sums, n * (int)sizeof(uint32_t), a == down.firsts[b]);
		scale_row(sums, left, &across, across.n_parts * down.n_parts, image_row(part, b), part->width);
	}
	axis_finish(&across);
	axis_finish(&down);
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
