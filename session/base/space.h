/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Between a caller's pixel space and the display's: one rule for both directions.
 *
 * A pixel goes to the pixel under its centre; the first and the last go to the first and the last, so that the edges of the screen can be
 * reached from any space. Owner: session/base. No threads.
 */
#ifndef BASE_SPACE_H
#define BASE_SPACE_H

#include "session/base/json.h"

/* A rectangle of pixels of some space. */
struct rect {
	int x, y, width, height;
};

/* The column (or row) `at` of a space that is from_px wide, in one that is to_px wide. Values outside 0..from_px-1 (a window that hangs
 * over the edge) are mapped by the same scale and stay outside. */
int space_map(int at, int from_px, int to_px);

/* A rectangle inside `from`, in pixels of `to`: its edges are mapped, and it keeps at least one pixel. Any pointer may be of the same
 * rectangle's fields. */
void space_map_rect(struct space from, struct space to, int *x, int *y, int *width, int *height);

/* The smallest rectangle in pixels of `to` that covers all of one inside `from`. */
void space_cover_rect(struct space from, struct space to, struct rect *rect);

/* Pictures of this size models take as they are. What the newest take beyond that, they take in few pictures only. */
bool space_suits_models(struct space space);

/* The largest space of the display's shape that models take as it is (LIMIT_MODEL_*): the display itself, unless that is larger. */
struct space space_for_models(struct space native);

/* The space of a caller to whom the display's own is given, when that has gone from one size to another: the display itself stays the display itself, and
 * what models take of it stays that; any other stays as it is. */
struct space space_follow(struct space space, struct space from, struct space to);

bool space_is_same(struct space a, struct space b);

/* The largest space of this shape that has room in another, however small it is itself. */
struct space space_fill(struct space shape, struct space room);

/* The same within what models take. */
struct space space_fill_models(struct space shape);

/* A checked FIELD_RECT; all 0 when `value` is NULL. */
struct rect space_rect(const json_t *value);

/* {"width","height"}; the caller's reference. */
json_t *space_json(struct space space);

#endif
