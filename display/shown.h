/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The private copy of the screen: takes fresh pixels over, and says where they truly differ. Owner: display. No threads.
 */
#ifndef DISPLAY_SHOWN_H
#define DISPLAY_SHOWN_H

#include "display/image.h"

/* The smallest rectangle with all that has changed in one tile (tiles.h). */
typedef void shown_changed_fn(void *arg, struct rect changed);

/*
 * Copies the rectangle (what of it lies outside of `shown` is nothing) from `fresh`, which has the size of `shown` and rows without gaps and
 * may be written by others meanwhile. Calls fn for each tile in which a colour has changed; the uppermost byte of a pixel of `shown` is
 * always 0.
 */
void shown_take(struct image *shown, const uint32_t *fresh, struct rect rect, shown_changed_fn *fn, void *arg);

/* Makes all pixels of the rectangle (what of it lies outside of `shown` is nothing) of one colour. Calls fn for what of a tile was not. */
void shown_fill(struct image *shown, uint32_t colour, struct rect rect, shown_changed_fn *fn, void *arg);

#endif
