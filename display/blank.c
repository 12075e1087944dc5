/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rectangles around rectangles. */
#include "display/blank.h"

#include <sys/param.h>

#include "display/rect.h"

/* What of the rectangle is in none of the blanks from the i-th on: above, below, left and right of the first that it meets. */
static void take_around(const struct blank_take *take, struct rect rect, size_t i)
{
	const struct blanks *blanks = take->blanks;

	if (rect.width <= 0 || rect.height <= 0)
		return;
	while (i < blanks->n && !rect_touch(rect, blanks->list[i]))
		i++;
	if (i == blanks->n) {
		shown_take(take->shown, take->fresh, rect, take->fn, take->arg);
		return;
	}
	const struct rect blank = blanks->list[i];
	int left = MAX(rect.x, blank.x), right = MIN(rect.x + rect.width, blank.x + blank.width);
	int top = MAX(rect.y, blank.y), bottom = MIN(rect.y + rect.height, blank.y + blank.height);

	take_around(take, (struct rect){rect.x, rect.y, rect.width, top - rect.y}, i + 1);
	take_around(take, (struct rect){rect.x, bottom, rect.width, rect.y + rect.height - bottom}, i + 1);
	take_around(take, (struct rect){rect.x, top, left - rect.x, bottom - top}, i + 1);
	take_around(take, (struct rect){right, top, rect.x + rect.width - right, bottom - top}, i + 1);
}

void blank_cover(const struct blank_take *take, const struct blanks *before)
{
	for (size_t i = 0; i < take->blanks->n; i++)
		shown_fill(take->shown, BLANK_COLOUR, take->blanks->list[i], take->fn, take->arg);
	for (size_t i = 0; i < before->n; i++)
		take_around(take, before->list[i], 0);
}

void blank_take(const struct blank_take *take, struct rect rect)
{
	take_around(take, rect, 0);
}
