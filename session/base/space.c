/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between pixel spaces. */
#include "session/base/space.h"

#include <stdint.h>
#include <sys/param.h>

#include "session/base/limits.h"

/* Rounds down also below zero. */
static int64_t floor_div(int64_t a, int64_t b)
{
	return a >= 0 ? a / b : -((-a + b - 1) / b);
}

int space_map(int at, int from_px, int to_px)
{
	if (at == 0)
		return 0;
	if (at == from_px - 1)
		return to_px - 1;
	return (int)floor_div((2 * (int64_t)at + 1) * to_px, 2 * (int64_t)from_px);
}

/* An edge lies between pixels: rounded to the nearest one. */
static int map_edge(int at, int from_px, int to_px)
{
	return (int)floor_div(2 * (int64_t)at * to_px + from_px, 2 * (int64_t)from_px);
}

static void map_span(int *start, int *size, int from_px, int to_px)
{
	int first = map_edge(*start, from_px, to_px);
	int end = map_edge(*start + *size, from_px, to_px);

	if (end == first) {
		first = first < to_px ? first : to_px - 1;
		end = first + 1;
	}
	*start = first;
	*size = end - first;
}

void space_map_rect(struct space from, struct space to, int *x, int *y, int *width, int *height)
{
	map_span(x, width, from.width_px, to.width_px);
	map_span(y, height, from.height_px, to.height_px);
}

static void cover_span(int *start, int *size, int from_px, int to_px)
{
	int64_t end = -floor_div(-(int64_t)(*start + *size) * to_px, from_px);

	*start = (int)floor_div((int64_t)*start * to_px, from_px);
	*size = (int)end - *start;
}

void space_cover_rect(struct space from, struct space to, struct rect *rect)
{
	cover_span(&rect->x, &rect->width, from.width_px, to.width_px);
	cover_span(&rect->y, &rect->height, from.height_px, to.height_px);
}

bool space_suits_models(struct space space)
{
	int columns = (space.width_px + LIMIT_MODEL_PATCH_PX - 1) / LIMIT_MODEL_PATCH_PX;
	int rows = (space.height_px + LIMIT_MODEL_PATCH_PX - 1) / LIMIT_MODEL_PATCH_PX;

	return space.width_px <= LIMIT_MODEL_SIDE_PX && space.height_px <= LIMIT_MODEL_SIDE_PX && columns * rows <= LIMIT_MODEL_PATCHES;
}

/* Of this shape, with a longer side of so many pixels. */
static struct space of_shape(struct space shape, int side)
{
	const int longest = MAX(shape.width_px, shape.height_px);

	return (struct space){MAX(1, (shape.width_px * side + longest / 2) / longest), MAX(1, (shape.height_px * side + longest / 2) / longest)};
}

struct space space_for_models(struct space native)
{
	struct space space = native;

	for (int side = MIN(MAX(native.width_px, native.height_px), LIMIT_MODEL_SIDE_PX); !space_suits_models(space); side--)
		space = of_shape(native, side);
	return space;
}

bool space_is_same(struct space a, struct space b)
{
	return a.width_px == b.width_px && a.height_px == b.height_px;
}

struct space space_follow(struct space space, struct space from, struct space to)
{
	if (space_is_same(space, space_for_models(from)))
		return space_for_models(to);
	return space_is_same(space, from) ? to : space;
}

struct space space_fill(struct space shape, struct space room)
{
	int side = MAX(room.width_px, room.height_px);
	struct space space = of_shape(shape, side);

	while (space.width_px > room.width_px || space.height_px > room.height_px)
		space = of_shape(shape, --side);
	return space;
}

struct space space_fill_models(struct space shape)
{
	int side = LIMIT_MODEL_SIDE_PX;
	struct space space = of_shape(shape, side);

	while (!space_suits_models(space))
		space = of_shape(shape, --side);
	return space;
}

struct rect space_rect(const json_t *value)
{
	return (struct rect){(int)form_int(value, "x", 0), (int)form_int(value, "y", 0), (int)form_int(value, "width", 0),
	                     (int)form_int(value, "height", 0)};
}

json_t *space_json(struct space space)
{
	return json_pack("{s:i,s:i}", "width", space.width_px, "height", space.height_px);
}
