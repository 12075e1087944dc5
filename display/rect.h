/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rectangles of pixels, one beside another. Owner: display.
 */
#ifndef DISPLAY_RECT_H
#define DISPLAY_RECT_H

#include <stdbool.h>

#include "session/base/space.h"

/* They have a pixel in common. Of rectangles that are not empty. */
static inline bool rect_touch(struct rect a, struct rect b)
{
	return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

static inline bool rect_is_inside(struct rect rect, struct rect outer)
{
	return rect.x >= outer.x && rect.y >= outer.y && rect.x + rect.width <= outer.x + outer.width &&
	       rect.y + rect.height <= outer.y + outer.height;
}

static inline bool rect_is_same(struct rect a, struct rect b)
{
	return a.x == b.x && a.y == b.y && a.width == b.width && a.height == b.height;
}

#endif
