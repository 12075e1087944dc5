/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What blinks. */
#include "display/blinks.h"

#include <sys/param.h>

#include "session/base/util.h"

void blinks_init(struct blinks *blinks, const struct tiles *tiles)
{
	blinks->tiles = tiles;
	blinks->list = util_zalloc(tiles_count(tiles) * sizeof(*blinks->list));
	util_random(blinks->keys, sizeof(blinks->keys));
}

void blinks_finish(struct blinks *blinks)
{
	free(blinks->list);
	*blinks = (struct blinks){.list = NULL};
}

void blinks_mark(struct blinks *blinks, struct rect pixels, uint64_t frame)
{
	struct blink *blink = &blinks->list[tiles_index(blinks->tiles, pixels.x, pixels.y)];

	blink->pixels = blink->frame == frame ? tiles_join(blink->pixels, pixels) : pixels;
	blink->frame = frame;
}

/* The family NH of hash functions: two contents have the same fingerprint with a chance of 2^-32, whoever chose them, for the keys are secret. */
static uint64_t fingerprint(const struct blinks *blinks, const struct image *tile)
{
	uint64_t sum = 0;

	for (int y = 0; y < tile->height; y++) {
		const uint32_t *pixels = image_row(tile, y), *keys = blinks->keys + (ptrdiff_t)y * TILES_SIDE_PX;

		for (int x = 0; x + 1 < tile->width; x += 2)
			sum += (uint64_t)(pixels[x] + keys[x]) * (pixels[x + 1] + keys[x + 1]);
		if (tile->width % 2 == 1)
			sum += (uint64_t)(pixels[tile->width - 1] + keys[tile->width - 1]) * keys[tile->width % TILES_SIDE_PX];
	}
	return sum;
}

/* What has changed all over is nothing narrow, and most of a repaint: it is taken for something new without being read. */
static uint64_t content_of(struct blinks *blinks, const struct image *shown, size_t index)
{
	const struct rect *pixels = &blinks->list[index].pixels;

	if (pixels->width == TILES_SIDE_PX && pixels->height == TILES_SIDE_PX)
		return ++blinks->n_unread;
	struct rect rect = tiles_rect(blinks->tiles, index);
	struct image tile = image_part(shown, rect.x, rect.y, rect.width, rect.height);

	return fingerprint(blinks, &tile);
}

static bool is_blinking(const struct blink *blink)
{
	return blink->returns >= BLINKS_RETURNS;
}

/* To begin, each step must have been seen to be short; it goes on for as long as none is known to have been long. */
static bool is_in_step(const struct blink *blink, struct blinks_time when)
{
	return (is_blinking(blink) ? when.from_ms - blink->changed.to_ms : when.to_ms - blink->changed.from_ms) <= BLINKS_STEP_MS;
}

static void learn(struct blink *blink, uint64_t content, struct blinks_time when)
{
	if (content == blink->before && is_in_step(blink, when)) {
		blink->returns = MIN(blink->returns + 1, BLINKS_RETURNS);
	} else {
		blink->returns = 0;
		blink->since = blink->frame;
	}
	blink->before = blink->now;
	blink->now = content;
	blink->changed = when;
}

void blinks_learn(struct blinks *blinks, const struct image *shown, uint64_t frame, struct blinks_time when)
{
	size_t n = tiles_count(blinks->tiles);

	for (size_t i = 0; i < n; i++) {
		if (blinks->tiles->frames[i] != frame)
			continue;
		learn(&blinks->list[i], content_of(blinks, shown, i), when);
	}
}

bool blinks_changed(const struct blinks *blinks, struct rect rect, uint64_t since)
{
	struct tiles_span span = tiles_span(blinks->tiles, rect);
	struct rect narrow = {0, 0, 0, 0};

	for (int row = span.top; row < span.bottom; row++)
		for (int column = span.left; column < span.right; column++) {
			size_t i = (size_t)row * (size_t)blinks->tiles->columns + (size_t)column;
			const struct blink *blink = &blinks->list[i];

			if (blinks->tiles->frames[i] <= since)
				continue;
			if (!is_blinking(blink) || blink->since > since)
				return true;
			narrow = narrow.width == 0 ? blink->pixels : tiles_join(narrow, blink->pixels);
		}
	return narrow.width > BLINKS_WIDTH_PX || narrow.height > BLINKS_HEIGHT_PX;
}
