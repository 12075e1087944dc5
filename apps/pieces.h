/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is left of a rectangle when others are taken away, as rectangles that do not overlap. Owner: who made it. No threads.
 */
#ifndef APPS_PIECES_H
#define APPS_PIECES_H

#include <stdbool.h>
#include <stddef.h>

#include "session/base/limits.h"
#include "session/base/space.h"

struct pieces {
	size_t n;
	struct rect list[LIMIT_PIECES];
	bool short_of_room; /* there were more than LIMIT_PIECES: some that are left are not in the list */
};

/* What two rectangles have in common; width and height are 0 if that is nothing. */
struct rect pieces_common(struct rect a, struct rect b);

void pieces_init(struct pieces *pieces, struct rect rect);

/* Takes the rectangle away; each part of it that was there is told to fn (NULL: to nobody). */
void pieces_take(struct pieces *pieces, struct rect rect, void (*fn)(void *arg, struct rect taken), void *arg);

/* Pixels in the list. */
long pieces_area(const struct pieces *pieces);

#endif
