/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Knowing again what was drawn in a rectangle, by its columns: whether something that was written there can still be seen. Owner: display. No threads. Pixels
 * are native ones.
 */
#ifndef DISPLAY_INK_H
#define DISPLAY_INK_H

#include <stdbool.h>
#include <stdint.h>

#include "session/base/space.h"

#define INK_COLUMNS 64 /* a caret is in one of them, or two */

/* Zero-initialised nothing is known. */
struct ink {
	int width, height;              /* of the rectangle; 0: nothing is known */
	uint32_t columns[INK_COLUMNS]; /* a digest of each, 0 where all of it is of one colour */
};

/* Of the rectangle, as far as it is on the screen, whose rows have no gaps. */
void ink_take(const uint32_t *pixels, struct space screen, struct rect rect, struct ink *out);

/*
 * How much of what was written is still there, in percent of its columns. `before` is the place without it, `written` with it; where nothing is known before, or of
 * another size, all that is not of one colour was written. -1: nothing is known to have been written, or no more than a caret is.
 */
int ink_left(const struct ink *before, const struct ink *written, const struct ink *now);

#endif
