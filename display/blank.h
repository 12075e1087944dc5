/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Taking fresh pixels over around what nobody may see: that is of one colour in the private copy, and so in everything that is made of it. Owner: display.
 * No threads.
 */
#ifndef DISPLAY_BLANK_H
#define DISPLAY_BLANK_H

#include "display/shown.h"
#include "session/base/limits.h"

#define BLANK_COLOUR 0x2E3440U

/* Two answers of who knows them (display.h). */
struct blanks {
	struct rect list[2 * LIMIT_BLANKS];
	size_t n;
};

/* One taking: where from, where to, around what, and who is told of changes (shown.h). */
struct blank_take {
	struct image *shown;
	const uint32_t *fresh;
	const struct blanks *blanks;
	shown_changed_fn *fn;
	void *arg;
};

/* Covers all of the blanks, and takes over what `before` covered and they do not: `fresh` is right there, too. */
void blank_cover(const struct blank_take *take, const struct blanks *before);

/* Takes over what of the rectangle is in none of them. */
void blank_take(const struct blank_take *take, struct rect rect);

#endif
