/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Filters. A row that is as the one above it is neither filtered nor summed again.
 */
#include "display/filter.h"

#include <libdeflate.h>
#include <stdbool.h>
#include <string.h>
#include <sys/param.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "session/base/util.h"

#define OPAQUE 0xFFFFFFU
#define ADLER_BASE 65521U
/*
 * The difference of two pixels, all colours together, below which it is the better one to write; and the same where nearly all pixels
 * differ, so that nothing repeats. Measured on desktops and photographs.
 */
#define SOFT 40U
#define SOFT_PHOTO 100U

/* Four pixels; arithmetic is byte by byte. */
typedef uint8_t pixels4 __attribute__((vector_size(16)));

static inline pixels4 load(const uint32_t *pixels)
{
	pixels4 four;

	memcpy(&four, pixels, sizeof(four));
	return four;
}

/* Without their uppermost bytes. */
static inline void store(uint32_t *pixels, pixels4 four)
{
	four &= load((const uint32_t[4]){OPAQUE, OPAQUE, OPAQUE, OPAQUE});
	memcpy(pixels, &four, sizeof(four));
}

static uint32_t difference(uint32_t a, uint32_t b)
{
	return (((a | 0x808080U) - (b & 0x7F7F7FU)) ^ ((a ^ ~b) & 0x808080U)) & OPAQUE;
}

/* Each byte less the one of the same colour in `other`. */
static void subtract(const uint32_t *row, const uint32_t *other, uint32_t *out, int n)
{
	int i = 0;

	for (; i + 4 <= n; i += 4)
		store(out + i, load(row + i) - load(other + i));
	for (; i < n; i++)
		out[i] = difference(row[i], other[i]);
}

uint32_t filter_adler_join(uint32_t one, uint32_t other, size_t len)
{
	uint64_t low1 = one & 0xFFFF, high1 = one >> 16, low2 = other & 0xFFFF, high2 = other >> 16;
	uint64_t low = (low1 + low2 + ADLER_BASE - 1) % ADLER_BASE;
	uint64_t high = (high1 + high2 + (len % ADLER_BASE) * (low1 + ADLER_BASE - 1)) % ADLER_BASE;

	return (uint32_t)(high << 16 | low);
}

static uint32_t row_adler(struct filter *filter, enum filter_kind kind, const uint32_t *row)
{
	filter->packed[0] = (uint8_t)kind;
	image_row_rgb(row, filter->width, filter->packed + 1);
	return libdeflate_adler32(1, filter->packed, filter_row_bytes(filter));
}

void filter_init(struct filter *filter, int width)
{
	size_t width_px = (size_t)width;

	*filter = (struct filter){.width = width,
	                          .memory = util_alloc(FILTER_ROWS * width_px * sizeof(uint32_t)),
	                          .scratch = util_alloc(width_px * sizeof(uint32_t)),
	                          .zeros = util_zalloc(width_px * sizeof(uint32_t)),
	                          .packed = util_alloc(1 + 3 * width_px)};
	filter->zeros_adler = row_adler(filter, FILTER_UP, filter->zeros);
}

void filter_finish(struct filter *filter)
{
	free(filter->memory);
	free(filter->scratch);
	free(filter->zeros);
	free(filter->packed);
	*filter = (struct filter){0};
}

/* How unlike two rows are. */
struct unlike {
	uint32_t pixels; /* that differ */
	uint32_t sum;    /* of the differences of all bytes, each in whichever direction is shorter */
};

static void add_difference(struct unlike *unlike, uint32_t d)
{
	unlike->pixels += d != 0;
	for (int shift = 0; shift < 24; shift += 8)
		unlike->sum += MIN(d >> shift & 0xFF, 256 - (d >> shift & 0xFF));
}

#ifdef __SSE2__

static struct unlike measure(const uint32_t *row, const uint32_t *other, int n)
{
	const __m128i opaque = _mm_set1_epi32(OPAQUE), zero = _mm_setzero_si128();
	__m128i sum = zero, equal = zero;
	struct unlike unlike;
	int i = 0;

	for (; i + 4 <= n; i += 4) {
		__m128i a = _mm_loadu_si128((const __m128i_u *)(row + i)), b = _mm_loadu_si128((const __m128i_u *)(other + i));
		__m128i d = _mm_and_si128(_mm_sub_epi8(a, b), opaque);

		equal = _mm_sub_epi32(equal, _mm_cmpeq_epi32(d, zero));
		sum = _mm_add_epi32(sum, _mm_sad_epu8(_mm_min_epu8(d, _mm_sub_epi8(zero, d)), zero));
	}
	equal = _mm_add_epi32(equal, _mm_shuffle_epi32(equal, 0x4E));
	equal = _mm_add_epi32(equal, _mm_shuffle_epi32(equal, 0xB1));
	sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4E));
	unlike.pixels = (uint32_t)i - (uint32_t)_mm_cvtsi128_si32(equal);
	unlike.sum = (uint32_t)_mm_cvtsi128_si32(sum);
	for (; i < n; i++)
		add_difference(&unlike, difference(row[i], other[i]));
	return unlike;
}

#else

static struct unlike measure(const uint32_t *row, const uint32_t *other, int n)
{
	struct unlike unlike = {0};

	for (int i = 0; i < n; i++)
		add_difference(&unlike, difference(row[i], other[i]));
	return unlike;
}

#endif

static inline pixels4 pick(pixels4 mask, pixels4 yes, pixels4 no)
{
	return (yes & mask) | (no & ~mask);
}

#ifdef __SSE2__

/* The compiler does not find these instructions by itself. */
static inline pixels4 distance(pixels4 a, pixels4 b)
{
	return (pixels4)_mm_or_si128(_mm_subs_epu8((__m128i)a, (__m128i)b), _mm_subs_epu8((__m128i)b, (__m128i)a));
}

static inline pixels4 at_most(pixels4 a, pixels4 b)
{
	return (pixels4)_mm_cmpeq_epi8(_mm_min_epu8((__m128i)a, (__m128i)b), (__m128i)a);
}

#else

static inline pixels4 distance(pixels4 a, pixels4 b)
{
	return pick((pixels4)(a > b), a - b, b - a);
}

static inline pixels4 at_most(pixels4 a, pixels4 b)
{
	return (pixels4)(a <= b);
}

#endif

/*
 * 9.4: of left, above and left above, the one that is nearest to left + above - left above. When both differ from the last one in the
 * same direction, it is not the last one; else its distance is that of the other two's.
 */
static inline pixels4 paeth(pixels4 left, pixels4 above, pixels4 corner)
{
	pixels4 to_left = distance(above, corner), to_above = distance(left, corner);
	pixels4 to_corner = distance(to_left, to_above) | ~(at_most(above, corner) ^ at_most(left, corner));

	return pick(at_most(to_left, to_above) & at_most(to_left, to_corner), left, pick(at_most(to_above, to_corner), above, corner));
}

/* `n` is 5 or more. The last four pixels may be done twice. */
static void subtract_paeth_wide(const uint32_t *row, const uint32_t *above, uint32_t *out, int n)
{
	out[0] = difference(row[0], above[0]);
	for (int i = 1; i < n; i += 4) {
		int at = MIN(i, n - 4);

		store(out + at, load(row + at) - paeth(load(row + at - 1), load(above + at), load(above + at - 1)));
	}
}

static void subtract_paeth(const uint32_t *row, const uint32_t *above, uint32_t *out, int n)
{
	uint32_t wide[3][5] = {0};

	if (n >= 5) {
		subtract_paeth_wide(row, above, out, n);
		return;
	}
	memcpy(wide[0], row, (size_t)n * sizeof(*row));
	memcpy(wide[1], above, (size_t)n * sizeof(*row));
	subtract_paeth_wide(wide[0], wide[1], wide[2], 5);
	memcpy(out, wide[2], (size_t)n * sizeof(*row));
}

static bool is_soft(const struct unlike *unlike, int n)
{
	return unlike->sum < (4 * unlike->pixels > 3 * (uint32_t)n ? SOFT_PHOTO : SOFT) * unlike->pixels;
}

/*
 * Drawn things repeat, and do so best as they are. Where neighbours differ by little, as in a gradient, or everywhere, as in a photograph,
 * their differences are fewer than their colours.
 */
enum filter_kind filter_choose(struct filter *filter, const uint32_t *row, const uint32_t *above)
{
	const int n = filter->width;
	struct unlike left, up = {0};

	if (above) {
		up = measure(row, above, n);
		if (up.pixels == 0)
			return FILTER_UP;
		if (!is_soft(&up, n))
			return FILTER_NONE;
	}
	left = measure(row + 1, row, n - 1);
	if (!above)
		return is_soft(&left, n) ? FILTER_SUB : FILTER_NONE;
	subtract_paeth(row, above, filter->scratch, n);
	if (measure(filter->scratch, filter->zeros, n).sum < MIN(up.sum, left.sum))
		return FILTER_PAETH;
	return up.sum <= left.sum ? FILTER_UP : FILTER_SUB;
}

/* A row that is not as the one above it. */
static uint32_t add_row(struct filter *filter, int y, const uint32_t *row, const uint32_t *above, uint32_t *out)
{
	enum filter_kind kind = filter_choose(filter, row, above);

	if (kind == FILTER_PAETH) {
		subtract_paeth(row, above, out, filter->width);
	} else if (kind == FILTER_SUB) {
		out[0] = row[0] & OPAQUE;
		subtract(row + 1, row, out + 1, filter->width - 1);
	} else {
		subtract(row, kind == FILTER_UP ? above : filter->zeros, out, filter->width);
	}
	filter->kinds[y] = (uint8_t)kind;
	filter->rows[y] = out;
	return row_adler(filter, kind, out);
}

void filter_stripe(struct filter *filter, const struct image *stripe)
{
	const uint32_t *above = NULL;
	uint32_t *out = filter->memory;

	filter->n_rows = stripe->height;
	filter->adler = 1;
	for (int y = 0; y < stripe->height; y++) {
		const uint32_t *row = image_row(stripe, y);
		uint32_t adler = filter->zeros_adler;

		if (above && memcmp(row, above, (size_t)filter->width * sizeof(*row)) == 0) { /* quicker than to measure it */
			filter->kinds[y] = FILTER_UP;
			filter->rows[y] = filter->zeros;
		} else {
			adler = add_row(filter, y, row, above, out);
			out += filter->width;
		}
		filter->adler = filter_adler_join(filter->adler, adler, filter_row_bytes(filter));
		above = row;
	}
}

void filter_bytes(const struct filter *filter, uint8_t *out)
{
	for (int y = 0; y < filter->n_rows; y++) {
		*out++ = filter->kinds[y];
		image_row_rgb(filter->rows[y], filter->width, out);
		out += 3 * (size_t)filter->width;
	}
}
