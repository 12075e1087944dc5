/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PNG, fast: in stripes, of which those that have not changed are kept. Owner: display. No threads.
 *
 * A stripe is one chunk IDAT with one deflate block that knows nothing of other stripes, so it can stand beside any other.
 */
#ifndef DISPLAY_PNG_H
#define DISPLAY_PNG_H

#include <stdbool.h>
#include <stddef.h>

#include "display/image.h"
#include "session/base/err.h"

#define PNG_STRIPE_ROWS 32

/* The stripes of one picture as it was encoded last, and memory to encode. */
struct png;

/* For images of this size, 1..LIMIT_SIDE_MAX_PX each; png_destroy accepts NULL. */
struct png *png_create(int width, int height);
void png_destroy(struct png *png);

/*
 * An RGB PNG without alpha of an image of that size. `dirty` has a bool for each stripe of PNG_STRIPE_ROWS rows from the top: false
 * promises that the stripe is as it was in the last call; NULL is all true. A first call encodes all. *bytes is malloced and the caller's.
 * ERR_INTERNAL when the image has another size.
 */
int png_encode(struct png *png, const struct image *image, const bool *dirty, char **bytes, size_t *len, struct err *e);

/* Memory that it holds, in bytes; 0 for NULL. */
size_t png_cost(const struct png *png);

#endif
