/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Taking fresh pixels over. Most of what an app draws is what was there before, so the way of a tile row that is the same is the short one:
 * it is read, compared and left.
 */
#include "display/shown.h"

#include <stdbool.h>
#include <string.h>
#include <sys/param.h>

#include "display/tiles.h"

#define COLOUR 0xFFFFFFU

/* Which pixels of the columns of one tile have changed, and in which rows. */
struct difference {
	uint32_t columns[TILES_SIDE_PX];
	int top, bottom; /* the last is outside; 0: none */
};

/* `n` pixels of one row of a tile. What is compared is what is kept: the fresh pixels are read once. */
static inline bool take_row(uint32_t *shown, const uint32_t *fresh, int n, uint32_t *columns)
{
	uint32_t pixels[TILES_SIDE_PX], any = 0;

	for (int i = 0; i < n; i++)
		pixels[i] = fresh[i] & COLOUR;
	for (int i = 0; i < n; i++)
		any |= pixels[i] ^ shown[i];
	if (any == 0)
		return false;
	for (int i = 0; i < n; i++) {
		columns[i] |= pixels[i] ^ shown[i];
		shown[i] = pixels[i];
	}
	return true;
}

/* The part of one tile that lies in the rectangle. */
static bool take_tile(struct image *shown, const uint32_t *fresh, struct rect part, struct difference *difference)
{
	*difference = (struct difference){.bottom = 0};
	for (int y = part.y; y < part.y + part.height; y++) {
		uint32_t *to = image_row(shown, y) + part.x;
		const uint32_t *from = fresh + (size_t)y * (size_t)shown->width + part.x;
		/* A length that is known makes it a handful of instructions. */
		bool changed = part.width == TILES_SIDE_PX ? take_row(to, from, TILES_SIDE_PX, difference->columns)
		                                           : take_row(to, from, part.width, difference->columns);

		if (!changed)
			continue;
		if (difference->bottom == 0)
			difference->top = y;
		difference->bottom = y + 1;
	}
	return difference->bottom > 0;
}

static struct rect bounds(struct rect part, const struct difference *difference)
{
	int left = 0, right = part.width;

	while (difference->columns[left] == 0)
		left++;
	while (difference->columns[right - 1] == 0)
		right--;
	return (struct rect){part.x + left, difference->top, right - left, difference->bottom - difference->top};
}

void shown_take(struct image *shown, const uint32_t *fresh, struct rect rect, shown_changed_fn *fn, void *arg)
{
	int left = MAX(rect.x, 0), top = MAX(rect.y, 0);
	int right = MIN(rect.x + rect.width, shown->width), bottom = MIN(rect.y + rect.height, shown->height);
	struct difference difference;

	for (int y = top, below; y < bottom; y = below) {
		below = MIN((y / TILES_SIDE_PX + 1) * TILES_SIDE_PX, bottom);
		for (int x = left, beside; x < right; x = beside) {
			beside = MIN((x / TILES_SIDE_PX + 1) * TILES_SIDE_PX, right);
			struct rect part = {x, y, beside - x, below - y};

			if (take_tile(shown, fresh, part, &difference))
				fn(arg, bounds(part, &difference));
		}
	}
}
