/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Encoders. Owner: display. No threads.
 */
#ifndef DISPLAY_ENCODE_H
#define DISPLAY_ENCODE_H

#include <stddef.h>

#include "display/image.h"
#include "session/base/err.h"

/* An RGB PNG without alpha, at a fast setting. *bytes is malloced and the caller's. ERR_INTERNAL when libpng fails. */
int encode_png(const struct image *image, char **bytes, size_t *len, struct err *e);

#endif
