/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The grid of tiles. */
#include "display/tiles.h"

#include <sys/param.h>

#include "session/base/util.h"

void tiles_init(struct tiles *tiles, struct space space)
{
	*tiles = (struct tiles){
		.space = space,
		.columns = (space.width_px + TILES_SIDE_PX - 1) / TILES_SIDE_PX,
		.rows = (space.height_px + TILES_SIDE_PX - 1) / TILES_SIDE_PX,
	};
	tiles->frames = util_zalloc(tiles_count(tiles) * sizeof(*tiles->frames));
}

void tiles_finish(struct tiles *tiles)
{
	free(tiles->frames);
	*tiles = (struct tiles){0};
}

size_t tiles_count(const struct tiles *tiles)
{
	return (size_t)tiles->columns * (size_t)tiles->rows;
}

size_t tiles_index(const struct tiles *tiles, int x, int y)
{
	return (size_t)(y / TILES_SIDE_PX) * (size_t)tiles->columns + (size_t)(x / TILES_SIDE_PX);
}

struct rect tiles_rect(const struct tiles *tiles, size_t index)
{
	int x = (int)(index % (size_t)tiles->columns) * TILES_SIDE_PX, y = (int)(index / (size_t)tiles->columns) * TILES_SIDE_PX;

	return (struct rect){x, y, MIN(TILES_SIDE_PX, tiles->space.width_px - x), MIN(TILES_SIDE_PX, tiles->space.height_px - y)};
}

struct tiles_span tiles_span(const struct tiles *tiles, struct rect rect)
{
	int left = MAX(rect.x, 0), top = MAX(rect.y, 0);
	int right = MIN(rect.x + rect.width, tiles->space.width_px), bottom = MIN(rect.y + rect.height, tiles->space.height_px);

	if (right <= left || bottom <= top)
		return (struct tiles_span){0, 0, 0, 0};
	return (struct tiles_span){left / TILES_SIDE_PX, top / TILES_SIDE_PX, (right - 1) / TILES_SIDE_PX + 1, (bottom - 1) / TILES_SIDE_PX + 1};
}

static uint64_t *tile(const struct tiles *tiles, int column, int row)
{
	return &tiles->frames[(size_t)row * (size_t)tiles->columns + (size_t)column];
}

void tiles_mark(struct tiles *tiles, struct rect rect, uint64_t frame)
{
	struct tiles_span span = tiles_span(tiles, rect);

	for (int row = span.top; row < span.bottom; row++)
		for (int column = span.left; column < span.right; column++)
			*tile(tiles, column, row) = frame;
}

bool tiles_changed(const struct tiles *tiles, struct rect rect, uint64_t since)
{
	struct tiles_span span = tiles_span(tiles, rect);

	for (int row = span.top; row < span.bottom; row++)
		for (int column = span.left; column < span.right; column++)
			if (*tile(tiles, column, row) > since)
				return true;
	return false;
}

/* Rectangles of tiles that are being collected. */
struct collection {
	struct rect *list;
	size_t n, max;
};

struct rect tiles_join(struct rect a, struct rect b)
{
	int x = MIN(a.x, b.x), y = MIN(a.y, b.y);

	return (struct rect){x, y, MAX(a.x + a.width, b.x + b.width) - x, MAX(a.y + a.height, b.y + b.height) - y};
}

static int area(struct rect rect)
{
	return rect.width * rect.height;
}

/* The rectangle that grows least when it takes the other in; there is one. */
static struct rect *nearest(const struct collection *all, struct rect rect)
{
	struct rect *best = &all->list[0];

	for (size_t i = 1; i < all->n; i++)
		if (area(tiles_join(all->list[i], rect)) - area(all->list[i]) < area(tiles_join(*best, rect)) - area(*best))
			best = &all->list[i];
	return best;
}

/* One run of changed tiles in a row: it goes on what stands right above it, or is the first of a rectangle. */
static void collect(struct collection *all, struct rect run)
{
	for (size_t i = 0; i < all->n; i++) {
		struct rect *above = &all->list[i];

		if (above->x == run.x && above->width == run.width && above->y + above->height == run.y) {
			above->height++;
			return;
		}
	}
	if (all->n < all->max) {
		all->list[all->n++] = run;
		return;
	}
	struct rect *near = nearest(all, run);

	*near = tiles_join(*near, run);
}

static void collect_row(struct collection *all, const struct tiles *tiles, int row, uint64_t since)
{
	for (int column = 0; column < tiles->columns; column++) {
		int first = column;

		while (column < tiles->columns && *tile(tiles, column, row) > since)
			column++;
		if (column > first)
			collect(all, (struct rect){first, row, column - first, 1});
	}
}

size_t tiles_list(const struct tiles *tiles, uint64_t since, struct rect *out, size_t max)
{
	struct collection all = {.list = out, .max = max};

	for (int row = 0; row < tiles->rows; row++)
		collect_row(&all, tiles, row, since);
	for (size_t i = 0; i < all.n; i++) {
		int x = out[i].x * TILES_SIDE_PX, y = out[i].y * TILES_SIDE_PX;

		out[i] = (struct rect){x, y, MIN(out[i].width * TILES_SIDE_PX, tiles->space.width_px - x),
		                       MIN(out[i].height * TILES_SIDE_PX, tiles->space.height_px - y)};
	}
	return all.n;
}
