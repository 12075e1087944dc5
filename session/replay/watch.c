/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What changes by itself: places that change, and when. */
#include "session/replay/watch.h"

#include <string.h>
#include <sys/param.h>

#include "session/base/util.h"

#define TILE_PX 16
#define PLACES 32

/* A place that has changed. */
struct place {
	struct rect rect;
	struct pixels now, before; /* what it shows, and showed before the last change; empty where it is too large */
	int changes, returns;
	int64_t last_ms, shortest_ms, longest_ms; /* between two changes */
};

struct watch {
	struct pixels shown; /* what was seen last */
	struct place places[PLACES];
	size_t n_places;
};

/* The tiles of one comparison that differ. */
struct tiles {
	int columns, rows;
	uint8_t *marked;
};

struct watch *watch_create(void)
{
	return util_zalloc(sizeof(struct watch));
}

static void finish_place(struct place *place)
{
	pixels_finish(&place->now);
	pixels_finish(&place->before);
}

void watch_destroy(struct watch *watch)
{
	if (!watch)
		return;
	for (size_t i = 0; i < watch->n_places; i++)
		finish_place(&watch->places[i]);
	pixels_finish(&watch->shown);
	free(watch);
}

static struct pixels crop(const struct pixels *from, struct rect rect)
{
	struct pixels part = pixels_create(rect.width, rect.height);

	for (int y = 0; y < rect.height; y++)
		memcpy(pixels_at(&part, 0, y), pixels_at(from, rect.x, rect.y + y), (size_t)rect.width * 3);
	return part;
}

static bool is_equal(const struct pixels *a, const struct pixels *b)
{
	return a->width == b->width && a->height == b->height && memcmp(a->rgb, b->rgb, (size_t)a->width * (size_t)a->height * 3) == 0;
}

static bool fits(struct rect rect, int width, int height)
{
	return rect.width <= width && rect.height <= height;
}

static struct rect join(struct rect a, struct rect b)
{
	int right = MAX(a.x + a.width, b.x + b.width), bottom = MAX(a.y + a.height, b.y + b.height);
	int x = MIN(a.x, b.x), y = MIN(a.y, b.y);

	return (struct rect){x, y, right - x, bottom - y};
}

static bool touches(struct rect a, struct rect b)
{
	return a.x <= b.x + b.width && b.x <= a.x + a.width && a.y <= b.y + b.height && b.y <= a.y + a.height;
}

/* Notes what a place shows now, and that it showed something else before. */
static void note_content(struct place *place, const struct pixels *before, const struct pixels *now, bool grown)
{
	struct pixels shows;
	bool returned;

	if (!fits(place->rect, WATCH_CLOCK_WIDTH_PX, WATCH_CLOCK_HEIGHT_PX)) {
		finish_place(place);
		place->returns = 0;
		return;
	}
	shows = crop(now, place->rect);
	returned = !grown && place->before.rgb && is_equal(&shows, &place->before);
	place->returns = returned ? place->returns + 1 : 0;
	pixels_finish(&place->before);
	place->before = grown || !place->now.rgb ? crop(before, place->rect) : place->now;
	if (grown)
		pixels_finish(&place->now);
	place->now = shows;
}

static struct place *find_place(struct watch *watch, struct rect rect)
{
	for (size_t i = 0; i < watch->n_places; i++)
		if (touches(watch->places[i].rect, rect))
			return &watch->places[i];
	return NULL;
}

static void note_change(struct watch *watch, struct rect rect, const struct pixels *now, int64_t now_ms)
{
	struct place *place = find_place(watch, rect);
	struct rect joined = place ? join(place->rect, rect) : rect;
	bool grown = !place || joined.width != place->rect.width || joined.height != place->rect.height;

	if (!place && watch->n_places == PLACES)
		return; /* so much changes that nothing of it is a caret */
	if (!place) {
		place = &watch->places[watch->n_places++];
		*place = (struct place){.shortest_ms = INT64_MAX};
	} else if (now_ms > place->last_ms) {
		place->shortest_ms = MIN(place->shortest_ms, now_ms - place->last_ms);
		place->longest_ms = MAX(place->longest_ms, now_ms - place->last_ms);
	}
	place->changes += place->changes == 0 || now_ms > place->last_ms;
	place->last_ms = now_ms;
	place->rect = joined;
	note_content(place, &watch->shown, now, grown);
}

static void mark_tiles(const struct pixels *a, const struct pixels *b, struct tiles *tiles)
{
	*tiles = (struct tiles){(a->width + TILE_PX - 1) / TILE_PX, (a->height + TILE_PX - 1) / TILE_PX, NULL};
	tiles->marked = util_zalloc((size_t)tiles->columns * (size_t)tiles->rows);
	for (int y = 0; y < a->height; y++) {
		if (memcmp(pixels_at(a, 0, y), pixels_at(b, 0, y), (size_t)a->width * 3) == 0)
			continue;
		for (int x = 0; x < a->width; x += TILE_PX)
			if (memcmp(pixels_at(a, x, y), pixels_at(b, x, y), (size_t)MIN(TILE_PX, a->width - x) * 3) != 0)
				tiles->marked[y / TILE_PX * tiles->columns + x / TILE_PX] = 1;
	}
}

/* The pixels of one tile that differ. */
static struct rect tile_box(const struct pixels *a, const struct pixels *b, int column, int row)
{
	struct rect box = {0};

	for (int y = row * TILE_PX; y < MIN((row + 1) * TILE_PX, a->height); y++)
		for (int x = column * TILE_PX; x < MIN((column + 1) * TILE_PX, a->width); x++)
			if (memcmp(pixels_at(a, x, y), pixels_at(b, x, y), 3) != 0)
				box = box.width ? join(box, (struct rect){x, y, 1, 1}) : (struct rect){x, y, 1, 1};
	return box;
}

/* All differing pixels that hang together by tiles with this one; their tiles are marked no more. */
static struct rect take_cluster(struct tiles *tiles, const struct pixels *a, const struct pixels *b, int first)
{
	auto_free int *waiting = util_alloc((size_t)tiles->columns * (size_t)tiles->rows * sizeof(int));
	struct rect box = {0};
	size_t n = 0;

	waiting[n++] = first;
	tiles->marked[first] = 0;
	while (n > 0) {
		int tile = waiting[--n], column = tile % tiles->columns, row = tile / tiles->columns;
		struct rect part = tile_box(a, b, column, row);

		box = box.width ? join(box, part) : part;
		for (int y = MAX(row - 1, 0); y <= MIN(row + 1, tiles->rows - 1); y++)
			for (int x = MAX(column - 1, 0); x <= MIN(column + 1, tiles->columns - 1); x++) {
				int next = y * tiles->columns + x;

				if (tiles->marked[next]) {
					tiles->marked[next] = 0;
					waiting[n++] = next;
				}
			}
	}
	return box;
}

void watch_see(struct watch *watch, const struct pixels *shown, int64_t now_ms)
{
	struct tiles tiles;

	if (watch->shown.width == shown->width && watch->shown.height == shown->height) {
		mark_tiles(&watch->shown, shown, &tiles);
		for (int i = 0; i < tiles.columns * tiles.rows; i++)
			if (tiles.marked[i])
				note_change(watch, take_cluster(&tiles, &watch->shown, shown, i), shown, now_ms);
		free(tiles.marked);
	}
	pixels_finish(&watch->shown);
	watch->shown = pixels_copy(shown);
}

static bool shows_one_of(const struct place *place, const struct pixels *expected, int tolerance)
{
	struct pixels part;
	struct compare with_now, with_before;

	if (place->rect.x + place->rect.width > expected->width || place->rect.y + place->rect.height > expected->height)
		return false;
	part = crop(expected, place->rect);
	with_now = compare_pixels(&part, &place->now, NULL, tolerance);
	with_before = compare_pixels(&part, &place->before, NULL, tolerance);
	pixels_finish(&part);
	return with_now.differing == 0 || with_before.differing == 0;
}

/* Why a place does not count, or NULL. */
static const char *why_hidden(const struct place *place, const struct pixels *expected, int tolerance, int64_t now_ms, bool at_end)
{
	bool is_small = fits(place->rect, WATCH_BLINK_WIDTH_PX, WATCH_BLINK_HEIGHT_PX);

	if (now_ms - place->last_ms > WATCH_LATE_MS)
		return NULL;
	if (is_small && place->returns >= WATCH_RETURNS && shows_one_of(place, expected, tolerance))
		return "blinks";
	if (!at_end || place->changes < WATCH_CHANGES || place->longest_ms > WATCH_LATE_MS)
		return NULL;
	if (place->shortest_ms >= WATCH_TICK_MIN_MS && place->longest_ms <= WATCH_TICK_MAX_MS)
		return fits(place->rect, WATCH_CLOCK_WIDTH_PX, WATCH_CLOCK_HEIGHT_PX) ? "ticks" : NULL;
	return is_small ? "fades" : NULL;
}

int watch_hide(const struct watch *watch, const struct pixels *expected, int tolerance, int64_t now_ms, bool at_end, struct hidden *hidden,
               watch_found_fn *found, void *arg)
{
	int n = 0;

	for (size_t i = 0; i < watch->n_places; i++) {
		const struct place *place = &watch->places[i];
		const char *why = why_hidden(place, expected, tolerance, now_ms, at_end);
		struct rect rect = place->rect;

		if (!why)
			continue;
		if (strcmp(why, "ticks") == 0) {
			rect.x -= WATCH_LINE * rect.height;
			rect.width += 2 * WATCH_LINE * rect.height;
		}
		hidden_add(hidden, rect);
		if (found)
			found(arg, rect, why);
		n++;
	}
	return n;
}
