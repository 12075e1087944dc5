/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Three places are looked at for each pixel: the one before it, the one above it, and where this pixel and its neighbour were seen last.
 */
#include "display/matches.h"

#include <string.h>
#include <sys/param.h>

#define PIXEL_BYTES 3
#define COLUMN_BITS 16
#define WHOLE_MATCH (DEFLATE_MAX / PIXEL_BYTES)
#define LONG_ENOUGH 16 /* pixels, after which nothing better is looked for */

/* Number of equal pixels, at most `max`. */
static inline int equal_pixels(const uint32_t *a, const uint32_t *b, int max)
{
	int n = 0;

	for (; n + 2 <= max; n += 2) {
		uint64_t one, other;

		memcpy(&one, a + n, sizeof(one));
		memcpy(&other, b + n, sizeof(other));
		if (one != other)
			return n + (a[n] == b[n]);
	}
	return n < max && a[n] == b[n] ? n + 1 : n;
}

static inline uint32_t hash(const uint32_t *pixels)
{
	uint64_t pair;

	memcpy(&pair, pixels, sizeof(pair));
	return (uint32_t)((pair * 0x9E3779B97F4A7C15U) >> (64 - MATCHES_HASH_BITS));
}

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

static inline void look_above(const struct place *place, int x, struct copy *best)
{
	if (place->above && place->row[x] == place->above[x]) {
		best->pixels = equal_pixels(place->row + x, place->above + x, place->filter->width - x);
		best->distance = place->above_distance;
	}
}

/* The way to the pixel before takes the fewest bits. */
static inline void look_left(const struct place *place, int x, struct copy *best)
{
	int n;

	if (x == 0 || place->row[x] != place->row[x - 1])
		return;
	n = equal_pixels(place->row + x, place->row + x - 1, place->filter->width - x);
	if (n >= best->pixels || n >= WHOLE_MATCH) {
		best->pixels = n;
		best->distance = PIXEL_BYTES;
	}
}

/* A far way takes more bits: one pixel more has to be worth it. */
static inline void look_back(struct matches *matches, const struct place *place, int x, struct copy *best)
{
	const int width = place->filter->width;
	uint32_t *seen = &matches->places[hash(place->row + x)];

	if (*seen > 0) {
		int seen_y = (int)(*seen >> COLUMN_BITS), seen_x = (int)(*seen & ((1U << COLUMN_BITS) - 1)) - 1;
		size_t distance = (size_t)(place->y - seen_y) * place->row_bytes + (size_t)(x - seen_x) * PIXEL_BYTES;
		int n = distance > DEFLATE_WINDOW ? 0 : equal_pixels(place->row + x, place->filter->rows[seen_y] + seen_x, width - MAX(x, seen_x));

		if (n > best->pixels + 1) {
			best->pixels = n;
			best->distance = distance;
		}
	}
	*seen = (uint32_t)place->y << COLUMN_BITS | (uint32_t)(x + 1);
}

static void find_in_row(struct matches *matches, const struct place *place, struct deflate *deflate)
{
	const int width = place->filter->width;

	for (int x = 0; x < width;) {
		struct copy best = {0};

		look_above(place, x, &best);
		look_left(place, x, &best);
		if (best.pixels < LONG_ENOUGH && x + 1 < width)
			look_back(matches, place, x, &best);
		if (best.pixels == 0) {
			deflate_pixel(deflate, place->row[x++]);
			continue;
		}
		deflate_match(deflate, (size_t)best.pixels * PIXEL_BYTES, best.distance);
		x += best.pixels;
	}
}

/* A row as the one above it: nothing but zeros. */
static void put_zeros(const struct filter *filter, struct deflate *deflate)
{
	deflate_pixel(deflate, 0);
	if (filter->width > 1)
		deflate_match(deflate, (size_t)(filter->width - 1) * PIXEL_BYTES, PIXEL_BYTES);
}

void matches_find(struct matches *matches, const struct filter *filter, struct deflate *deflate)
{
	struct place place = {.filter = filter, .row_bytes = filter_row_bytes(filter)};
	int last[FILTER_N_KINDS] = {-1, -1, -1};

	memset(matches->places, 0, sizeof(matches->places));
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
