/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows of a stripe of an image, filtered as PNG has it (its part 9), and their checksum. Owner: display. No threads.
 */
#ifndef DISPLAY_FILTER_H
#define DISPLAY_FILTER_H

#include <stddef.h>
#include <stdint.h>

#include "display/image.h"

#define FILTER_ROWS 32 /* at most, in a stripe */

/* As they are written; the third one of PNG, an average, is never better by much. */
enum filter_kind { FILTER_NONE = 0, FILTER_SUB = 1, FILTER_UP = 2, FILTER_PAETH = 4, FILTER_N_KINDS };

struct filter {
	int width, n_rows;
	uint32_t *memory, *scratch;         /* rows of a stripe, and one */
	uint32_t *zeros;                    /* the row that is as the one above it */
	uint8_t *packed;                    /* one row as bytes */
	uint8_t kinds[FILTER_ROWS];         /* enum filter_kind: the byte before each row */
	const uint32_t *rows[FILTER_ROWS];  /* filtered pixels 0x00RRGGBB; rows that are the same may be one */
	uint32_t zeros_adler;               /* of a row that is as the one above it */
	uint32_t adler;                     /* of the stripe as bytes */
};

/* For stripes of images of this width. */
void filter_init(struct filter *filter, int width);
void filter_finish(struct filter *filter);

/* Bytes of a row: its kind and three per pixel. */
static inline size_t filter_row_bytes(const struct filter *filter)
{
	return 1 + 3 * (size_t)filter->width;
}

/* How a row takes the fewest bytes, as far as one can tell without trying; `above` is NULL for the first one. */
enum filter_kind filter_choose(struct filter *filter, const uint32_t *row, const uint32_t *above);

/* Filters a stripe of 1..FILTER_ROWS rows. What stands above it plays no part. The image may change afterwards. */
void filter_stripe(struct filter *filter, const struct image *stripe);

/* The stripe as bytes: n_rows * filter_row_bytes. */
void filter_bytes(const struct filter *filter, uint8_t *out);

/* The checksum of two texts one after the other, from those of each; `len` is the second one's length. */
uint32_t filter_adler_join(uint32_t one, uint32_t other, size_t len);

#endif
