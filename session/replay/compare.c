/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Comparing pictures. */
#include "session/replay/compare.h"

#include <string.h>
#include <sys/param.h>

#include "session/base/util.h"

void hidden_init(struct hidden *hidden, int width, int height)
{
	*hidden = (struct hidden){.width = width, .height = height, .pixels = util_zalloc((size_t)width * (size_t)height)};
}

void hidden_finish(struct hidden *hidden)
{
	free(hidden->pixels);
	*hidden = (struct hidden){.pixels = NULL};
}

void hidden_add(struct hidden *hidden, struct rect rect)
{
	int left = MAX(rect.x, 0), right = MIN(rect.x + rect.width, hidden->width);

	for (int y = MAX(rect.y, 0); y < MIN(rect.y + rect.height, hidden->height) && left < right; y++)
		memset(hidden->pixels + (size_t)y * (size_t)hidden->width + left, 1, (size_t)(right - left));
}

static bool is_hidden(const struct hidden *hidden, int x, int y)
{
	return hidden && hidden->pixels && hidden->pixels[(size_t)y * (size_t)hidden->width + (size_t)x];
}

static bool is_far(const uint8_t *a, const uint8_t *b, int tolerance)
{
	return abs(a[0] - b[0]) > tolerance || abs(a[1] - b[1]) > tolerance || abs(a[2] - b[2]) > tolerance;
}

static void grow(struct rect *box, int x, int y)
{
	int right, bottom;

	if (box->width == 0) {
		*box = (struct rect){x, y, 1, 1};
		return;
	}
	right = MAX(box->x + box->width, x + 1);
	bottom = MAX(box->y + box->height, y + 1);
	box->x = MIN(box->x, x);
	box->y = MIN(box->y, y);
	box->width = right - box->x;
	box->height = bottom - box->y;
}

static void compare_row(const struct pixels *expected, const struct pixels *actual, const struct hidden *hidden, int tolerance, int y,
                        struct compare *out)
{
	bool is_same = memcmp(pixels_at(expected, 0, y), pixels_at(actual, 0, y), (size_t)expected->width * 3) == 0;

	for (int x = 0; x < expected->width; x++) {
		if (is_hidden(hidden, x, y))
			continue;
		out->compared++;
		if (is_same || !is_far(pixels_at(expected, x, y), pixels_at(actual, x, y), tolerance))
			continue;
		out->differing++;
		grow(&out->box, x, y);
	}
}

struct compare compare_pixels(const struct pixels *expected, const struct pixels *actual, const struct hidden *hidden, int tolerance)
{
	struct compare out = {.is_size = expected->width != actual->width || expected->height != actual->height};

	if (out.is_size) {
		out.compared = out.differing = (uint64_t)expected->width * (uint64_t)expected->height;
		out.box = (struct rect){0, 0, expected->width, expected->height};
		return out;
	}
	for (int y = 0; y < expected->height; y++)
		compare_row(expected, actual, hidden, tolerance, y, &out);
	return out;
}

bool compare_is_same(const struct compare *compare, double max_share)
{
	return !compare->is_size && (double)compare->differing <= max_share * (double)compare->compared;
}

static void draw_pixel(const struct pixels *expected, const uint8_t *from, uint8_t *to, bool hidden, int tolerance, int x, int y)
{
	uint8_t grey = (uint8_t)(170 + (from[0] * 3 + from[1] * 6 + from[2]) / 30);
	bool is_inside = x < expected->width && y < expected->height;

	if (hidden) {
		to[0] = (uint8_t)(grey - 60);
		to[1] = (uint8_t)(grey - 30);
		to[2] = 255;
	} else if (!is_inside || is_far(pixels_at(expected, x, y), from, tolerance)) {
		to[0] = 220;
		to[1] = 20;
		to[2] = 30;
	} else {
		to[0] = to[1] = to[2] = grey;
	}
}

struct pixels compare_draw(const struct pixels *expected, const struct pixels *actual, const struct hidden *hidden, int tolerance)
{
	struct pixels drawn = pixels_create(actual->width, actual->height);
	bool fits = hidden && hidden->width == actual->width && hidden->height == actual->height;

	for (int y = 0; y < actual->height; y++)
		for (int x = 0; x < actual->width; x++)
			draw_pixel(expected, pixels_at(actual, x, y), pixels_at(&drawn, x, y), fits && is_hidden(hidden, x, y), tolerance, x, y);
	return drawn;
}
