/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rectangles less rectangles. */
#include "apps/pieces.h"

#include <sys/param.h>

struct rect pieces_common(struct rect a, struct rect b)
{
	const int x = MAX(a.x, b.x), y = MAX(a.y, b.y);
	const int width = MIN(a.x + a.width, b.x + b.width) - x, height = MIN(a.y + a.height, b.y + b.height) - y;

	return width > 0 && height > 0 ? (struct rect){x, y, width, height} : (struct rect){0};
}

static void add(struct pieces *pieces, struct rect rect)
{
	if (rect.width <= 0 || rect.height <= 0)
		return;
	if (pieces->n == LIMIT_PIECES)
		pieces->short_of_room = true;
	else
		pieces->list[pieces->n++] = rect;
}

void pieces_init(struct pieces *pieces, struct rect rect)
{
	pieces->n = 0;
	pieces->short_of_room = false;
	add(pieces, rect);
}

/* What is above, below, left and right of a part of a rectangle. */
static void add_rest(struct pieces *pieces, struct rect of, struct rect part)
{
	add(pieces, (struct rect){of.x, of.y, of.width, part.y - of.y});
	add(pieces, (struct rect){of.x, part.y + part.height, of.width, of.y + of.height - part.y - part.height});
	add(pieces, (struct rect){of.x, part.y, part.x - of.x, part.height});
	add(pieces, (struct rect){part.x + part.width, part.y, of.x + of.width - part.x - part.width, part.height});
}

void pieces_take(struct pieces *pieces, struct rect rect, void (*fn)(void *arg, struct rect taken), void *arg)
{
	/* From the last on: the one that is put in the place of a piece was looked at, and so were those that are added. */
	for (size_t i = pieces->n; i-- > 0;) {
		const struct rect piece = pieces->list[i], taken = pieces_common(piece, rect);

		if (taken.width == 0)
			continue;
		pieces->list[i] = pieces->list[--pieces->n];
		add_rest(pieces, piece, taken);
		if (fn)
			fn(arg, taken);
	}
}

long pieces_area(const struct pieces *pieces)
{
	long area = 0;

	for (size_t i = 0; i < pieces->n; i++)
		area += (long)pieces->list[i].width * pieces->list[i].height;
	return area;
}
