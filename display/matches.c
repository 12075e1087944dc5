/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For each pixel it is looked whether it goes on like the one above it, like the one before it, or like where the same pixels were seen
 * last. Pixels are the unit: nothing begins or ends within one. Rows that are differences have few values, so that a few of them are
 * alike everywhere and short copies save nothing: there only four together are looked for.
 */
#include "display/matches.h"

#include <stdbool.h>
#include <string.h>
#include <sys/param.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define PIXEL_BYTES 3
#define COLUMN_BITS 16
#define WHOLE_MATCH (DEFLATE_MAX / PIXEL_BYTES)
#define LONG_ENOUGH 8        /* pixels, after which nothing better is looked for */
#define MIN_OF_DIFFERENCES 3 /* pixels of a copy, in a row of differences */
#define FOUR 4
#define MULTIPLIER 0x9E3779B97F4A7C15U

/* What a pixel and those after it are a copy of: so many pixels, so far back in bytes. */
struct copy {
	int pixels;
	size_t distance;
};

/* A row, and the last one before it that was filtered in the same way and is within reach; NULL: none is. */
struct place {
	const struct filter *filter;
	const uint32_t *row, *above;
	size_t above_distance, row_bytes;
	int y;
};

#ifdef __SSE2__

/* How many of four pixels from the left on are equal. */
static inline int equal_of_four(const uint32_t *a, const uint32_t *b)
{
	__m128i equal = _mm_cmpeq_epi32(_mm_loadu_si128((const __m128i_u *)a), _mm_loadu_si128((const __m128i_u *)b));

	return __builtin_ctz(~(unsigned int)_mm_movemask_ps(_mm_castsi128_ps(equal)));
}

#else

static inline int equal_of_four(const uint32_t *a, const uint32_t *b)
{
	int n = 0;

	while (n < 4 && a[n] == b[n])
		n++;
	return n;
}

#endif

/* Number of equal pixels, at most `max`. */
static inline int equal_pixels(const uint32_t *a, const uint32_t *b, int max)
{
	int n = 0;

	for (; n + 4 <= max; n += 4) {
		int equal = equal_of_four(a + n, b + n);

		if (equal < 4)
			return n + equal;
	}
	while (n < max && a[n] == b[n])
		n++;
	return n;
}

/* The way to the pixel before takes the fewest bits. */
static inline void look_left(const struct place *place, int x, struct copy *best)
{
	if (x > 0 && place->row[x] == place->row[x - 1]) {
		best->pixels = equal_pixels(place->row + x, place->row + x - 1, place->filter->width - x);
		best->distance = PIXEL_BYTES;
	}
}

static inline void look_above(const struct place *place, int x, struct copy *best)
{
	int n;

	if (!place->above || best->pixels >= WHOLE_MATCH || place->row[x] != place->above[x])
		return;
	n = equal_pixels(place->row + x, place->above + x, place->filter->width - x);
	if (n > best->pixels) {
		best->pixels = n;
		best->distance = place->above_distance;
	}
}

static inline uint32_t *place_of(uint32_t *places, uint64_t hash)
{
	return &places[hash >> (64 - MATCHES_HASH_BITS)];
}

static inline uint32_t note(const struct place *place, int x)
{
	return (uint32_t)place->y << COLUMN_BITS | (uint32_t)(x + 1);
}

/* Where pixels of this hash were seen last; notes that they are here. A copy must be longer than `least` to be better. */
static inline void look_back(uint32_t *places, uint64_t hash, const struct place *place, int x, int least, struct copy *best)
{
	uint32_t *seen = place_of(places, hash);

	if (*seen > 0) {
		int seen_y = (int)(*seen >> COLUMN_BITS), seen_x = (int)(*seen & ((1U << COLUMN_BITS) - 1)) - 1;
		size_t distance = (size_t)(place->y - seen_y) * place->row_bytes + (size_t)(x - seen_x) * PIXEL_BYTES;
		int max = distance > DEFLATE_WINDOW ? 0 : place->filter->width - MAX(x, seen_x);
		int n = equal_pixels(place->row + x, place->filter->rows[seen_y] + seen_x, max);

		if (n > least) {
			best->pixels = n;
			best->distance = distance;
		}
	}
	*seen = note(place, x);
}

static inline uint64_t pair_at(const uint32_t *pixels)
{
	uint64_t pair;

	memcpy(&pair, pixels, sizeof(pair));
	return pair;
}

/* Two pixels that were seen, if they are worth the longer way: one pixel more. Else one, which saves less, but is found often. */
static inline void look_back_for_pixels(struct matches *matches, const struct place *place, int x, struct copy *best)
{
	if (x + 1 < place->filter->width)
		look_back(matches->twos, pair_at(place->row + x) * MULTIPLIER, place, x, best->pixels + 1, best);
	look_back(matches->ones, place->row[x] * MULTIPLIER, place, x, best->pixels > 0 ? INT32_MAX : 0, best);
}

static inline uint64_t hash_of_four(const uint32_t *pixels)
{
	return (pair_at(pixels) * 3 ^ pair_at(pixels + 2)) * MULTIPLIER;
}

static inline void look_back_for_differences(struct matches *matches, const struct place *place, int x, struct copy *best)
{
	if (x + FOUR <= place->filter->width)
		look_back(matches->fours, hash_of_four(place->row + x), place, x, MAX(best->pixels + 1, MIN_OF_DIFFERENCES), best);
}

/* The pixels within a copy of differences are noted, too, where it begins. */
static inline void note_differences(struct matches *matches, const struct place *place, int x, int n)
{
	for (int end = MIN(x + MIN(n, LONG_ENOUGH), place->filter->width - FOUR + 1), at = x + 1; at < end; at++)
		*place_of(matches->fours, hash_of_four(place->row + at)) = note(place, at);
}

static void find_in_row(struct matches *matches, const struct place *place, struct deflate *deflate)
{
	const bool differences = place->filter->kinds[place->y] != FILTER_NONE;
	const int width = place->filter->width, min = differences ? MIN_OF_DIFFERENCES : 1;

	for (int x = 0; x < width;) {
		struct copy best = {0};

		look_left(place, x, &best);
		look_above(place, x, &best);
		if (best.pixels < LONG_ENOUGH && differences)
			look_back_for_differences(matches, place, x, &best);
		else if (best.pixels < LONG_ENOUGH)
			look_back_for_pixels(matches, place, x, &best);
		if (best.pixels < min) {
			deflate_pixel(deflate, place->row[x++]);
			continue;
		}
		if (differences)
			note_differences(matches, place, x, best.pixels);
		deflate_match(deflate, (uint32_t)best.pixels * PIXEL_BYTES, (uint32_t)best.distance);
		x += best.pixels;
	}
}

/* A row as the one above it: nothing but zeros. */
static void put_zeros(const struct filter *filter, struct deflate *deflate)
{
	deflate_pixel(deflate, 0);
	if (filter->width > 1)
		deflate_match(deflate, (uint32_t)(filter->width - 1) * PIXEL_BYTES, PIXEL_BYTES);
}

void matches_find(struct matches *matches, const struct filter *filter, struct deflate *deflate)
{
	struct place place = {.filter = filter, .row_bytes = filter_row_bytes(filter)};
	int last[FILTER_N_KINDS] = {-1, -1, -1, -1, -1};

	*matches = (struct matches){0};
	for (int y = 0; y < filter->n_rows; y++) {
		int *above = &last[filter->kinds[y]];

		deflate_byte(deflate, filter->kinds[y]);
		if (filter->rows[y] == filter->zeros) {
			put_zeros(filter, deflate);
			continue;
		}
		place.y = y;
		place.row = filter->rows[y];
		place.above_distance = (size_t)(y - *above) * place.row_bytes;
		place.above = *above >= 0 && place.above_distance <= DEFLATE_WINDOW ? filter->rows[*above] : NULL;
		find_in_row(matches, &place, deflate);
		*above = y;
	}
}
