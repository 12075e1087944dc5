/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Taking fresh pixels over. Most of what an app draws is what was there before, so the way of a tile row that is the same is the short one:
 * it is read, compared and left.
 */
#include "display/shown.h"

#include <stdbool.h>
#include <sys/param.h>

#include "display/tiles.h"

#define COLOUR 0xFFFFFFU

/* In one tile: which columns have pixels that changed, as far as has been looked, and which rows. */
struct difference {
	uint32_t columns[TILES_SIDE_PX];
	int top, bottom; /* the last is outside; 0: none */
};

#define BAND_TILES 80

/* Tiles beside each other, as far as the rectangle touches them. Not more: a band is made for each, and there may be many small ones. */
struct band {
	int left, right; /* the last is outside */
	struct difference tiles[BAND_TILES];
};

static void note(struct difference *difference, int y)
{
	if (difference->bottom == 0)
		difference->top = y;
	difference->bottom = y + 1;
}

/* `n` pixels of one row of a tile. What is compared is what is kept: the fresh pixels are read once. */
static void take_some(uint32_t *shown, const uint32_t *fresh, int n, int y, struct difference *difference)
{
	for (int i = 0; i < n; i++) {
		uint32_t pixel = fresh[i] & COLOUR;

		if (pixel == shown[i])
			continue;
		difference->columns[i] |= pixel ^ shown[i];
		shown[i] = pixel;
		note(difference, y);
	}
}

/* Four pixels at once, and the same bytes as something that is quickly compared. */
typedef uint32_t quad __attribute__((vector_size(16), aligned(4), may_alias));
typedef uint64_t pair __attribute__((vector_size(16)));

_Static_assert(TILES_SIDE_PX == 16, "take_all has four quads for a row of a tile");

static bool is_zero(quad q)
{
	pair p = (pair)q;

	return (p[0] | p[1]) == 0;
}

/* The same for a whole row. */
static inline void take_all(uint32_t *shown, const uint32_t *fresh, int y, struct difference *difference)
{
	const quad *from = (const quad *)fresh;
	quad *to = (quad *)shown, *columns = (quad *)difference->columns;
	const quad a = from[0] & COLOUR, b = from[1] & COLOUR, c = from[2] & COLOUR, d = from[3] & COLOUR;
	const quad a1 = a ^ to[0], b1 = b ^ to[1], c1 = c ^ to[2], d1 = d ^ to[3];

	if (is_zero(a1 | b1 | c1 | d1))
		return;
	columns[0] |= a1;
	columns[1] |= b1;
	columns[2] |= c1;
	columns[3] |= d1;
	to[0] = a;
	to[1] = b;
	to[2] = c;
	to[3] = d;
	note(difference, y);
}

static int next_tile(int at, int end)
{
	return MIN((at / TILES_SIDE_PX + 1) * TILES_SIDE_PX, end);
}

/* Along the rows, as memory lies. */
static void take_row(struct band *band, uint32_t *shown, const uint32_t *fresh, int y)
{
	struct difference *difference = band->tiles;

	for (int x = band->left, beside; x < band->right; x = beside, difference++) {
		beside = next_tile(x, band->right);
		if (beside - x == TILES_SIDE_PX)
			take_all(shown + x, fresh + x, y, difference);
		else
			take_some(shown + x, fresh + x, beside - x, y, difference);
	}
}

static struct rect bounds(int x, int width, const struct difference *difference)
{
	int left = 0, right = width;

	while (left < width - 1 && difference->columns[left] == 0)
		left++;
	while (right > left + 1 && difference->columns[right - 1] == 0)
		right--;
	return (struct rect){x + left, difference->top, right - left, difference->bottom - difference->top};
}

static void tell(const struct band *band, shown_changed_fn *fn, void *arg)
{
	const struct difference *difference = band->tiles;

	for (int x = band->left, beside; x < band->right; x = beside, difference++) {
		beside = next_tile(x, band->right);
		if (difference->bottom > 0)
			fn(arg, bounds(x, beside - x, difference));
	}
}

static void take_band(struct image *shown, const uint32_t *fresh, struct rect part, shown_changed_fn *fn, void *arg)
{
	struct band band = {.left = part.x, .right = part.x + part.width};

	for (int y = part.y; y < part.y + part.height; y++)
		take_row(&band, image_row(shown, y), fresh + (size_t)y * (size_t)shown->width, y);
	tell(&band, fn, arg);
}

/* Where the band that begins at `x` ends. */
static int next_band(int x, int end)
{
	return MIN((x / TILES_SIDE_PX + BAND_TILES) * TILES_SIDE_PX, end);
}

void shown_take(struct image *shown, const uint32_t *fresh, struct rect rect, shown_changed_fn *fn, void *arg)
{
	int left = MAX(rect.x, 0), right = MIN(rect.x + rect.width, shown->width);
	int top = MAX(rect.y, 0), bottom = MIN(rect.y + rect.height, shown->height);

	for (int y = top, below; y < bottom; y = below) {
		below = next_tile(y, bottom);
		for (int x = left, beside; x < right; x = beside) {
			beside = next_band(x, right);
			take_band(shown, fresh, (struct rect){x, y, beside - x, below - y}, fn, arg);
		}
	}
}

static void fill_tile(struct image *shown, uint32_t colour, struct rect part, shown_changed_fn *fn, void *arg)
{
	uint32_t differs = 0;

	for (int y = part.y; y < part.y + part.height; y++) {
		uint32_t *row = image_row(shown, y) + part.x;

		for (int x = 0; x < part.width; x++) {
			differs |= row[x] ^ colour;
			row[x] = colour;
		}
	}
	if (differs)
		fn(arg, part);
}

void shown_fill(struct image *shown, uint32_t colour, struct rect rect, shown_changed_fn *fn, void *arg)
{
	int left = MAX(rect.x, 0), right = MIN(rect.x + rect.width, shown->width);
	int top = MAX(rect.y, 0), bottom = MIN(rect.y + rect.height, shown->height);

	for (int y = top, below; y < bottom; y = below) {
		below = next_tile(y, bottom);
		for (int x = left, beside; x < right; x = beside) {
			beside = next_tile(x, right);
			fill_tile(shown, colour, (struct rect){x, y, beside - x, below - y}, fn, arg);
		}
	}
}
