/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds what repeats in the filtered rows of a stripe. Owner: display. No threads.
 */
#ifndef DISPLAY_MATCHES_H
#define DISPLAY_MATCHES_H

#include "display/deflate.h"
#include "display/filter.h"

#define MATCHES_HASH_BITS 12

/* Where pixels were seen last, by their hash: row and column + 1; 0: nowhere. */
struct matches {
	uint32_t ones[1 << MATCHES_HASH_BITS], twos[1 << MATCHES_HASH_BITS], fours[1 << MATCHES_HASH_BITS];
};

/* Writes the stripe into `deflate`, which must be empty and have room for n_rows * (width + 1) tokens. */
void matches_find(struct matches *matches, const struct filter *filter, struct deflate *deflate);

#endif
