/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pictures as bytes: the formats, each with one function. Owner: display. No threads.
 */
#ifndef DISPLAY_ENCODE_H
#define DISPLAY_ENCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "display/image.h"
#include "session/base/err.h"

/*
 * One encoder: *bytes is malloced and the caller's, and on failure untouched like *len. None writes alpha, none ends the process. Sides
 * are 1..LIMIT_SIDE_MAX_PX. `quality` counts where the format has it. ERR_INTERNAL when a library fails,
 * ERR_CANCELLED.
 */
typedef int encode_fn(const struct image *image, int quality, char **bytes, size_t *len, struct err *e);
encode_fn encode_png, encode_png_small, encode_jpeg, encode_webp, encode_raw;

/*
 * Every format: symbol, name (as callers write it), media type, has a quality, the quality where none is given (0: without loss), whether
 * it takes so long that it waits now and then for others (in a coroutine: the pixels must be its own then), function.
 */
#define ENCODE_ROWS(X)                                                                   \
	X(ENCODE_PNG, "png", "image/png", false, 0, false, encode_png)                   \
	X(ENCODE_PNG_SMALL, "png_small", "image/png", false, 0, true, encode_png_small)  \
	X(ENCODE_JPEG, "jpeg", "image/jpeg", true, 80, false, encode_jpeg)               \
	X(ENCODE_WEBP, "webp", "image/webp", true, 0, true, encode_webp)                 \
	X(ENCODE_RAW, "raw", "application/octet-stream", false, 0, false, encode_raw)

enum encode_format {
#define ENCODE_ENUM(symbol, name, media_type, has_quality, quality, is_slow, fn) symbol,
	ENCODE_ROWS(ENCODE_ENUM)
#undef ENCODE_ENUM
	ENCODE_N_FORMATS
};

/* The names, as the choices of a field. */
#define ENCODE_NAMES "png png_small jpeg webp raw"

struct encoding {
	enum encode_format format;
	const char *name, *media_type;
	bool has_quality;
	int quality; /* where none is given */
	bool is_slow;
	encode_fn *encode;
};

/*
 * For slow ones, often: when it has worked for a while since *since_ms (the caller's, 0 at first) it lets others go on. ERR_CANCELLED. Nothing
 * outside of a coroutine.
 */
int encode_breathe(int64_t *since_ms, struct err *e);

/* The row of a format. */
const struct encoding *encode_of(enum encode_format format);

/* The row with this name; NULL if there is none. */
const struct encoding *encode_find(const char *name);

/* Encodes in a format. `quality` is 1..100, and 0 is what the row says; without a quality in the format it means nothing. Errors of encode_fn. */
int encode(const struct image *image, enum encode_format format, int quality, char **bytes, size_t *len, struct err *e);

#endif
