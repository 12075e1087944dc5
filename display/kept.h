/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The last picture of a request, and what makes its next one cheap: of a request that comes again only the stripes that have changed are
 * scaled and encoded anew. Owner: display. No threads.
 *
 * Of one display LIMIT_KEPT_PICTURES requests are kept, of LIMIT_KEPT_BYTES together.
 */
#ifndef DISPLAY_KEPT_H
#define DISPLAY_KEPT_H

#include "display/display.h"
#include "display/image.h"
#include "display/tiles.h"

/* The pointer in a picture. */
struct kept_pointer {
	uint32_t serial;  /* of its image */
	struct rect rect; /* native pixels; width 0: none is drawn */
};

struct kept {
	uint64_t used;                  /* when it was last asked for, by a counter; 0: nothing is kept here */
	struct display_picture picture; /* its `asked` is the request; bytes NULL: none yet */
	struct kept_pointer pointer;    /* that is drawn in it */
	struct image scaled;            /* its pixels; pixels NULL: they are the screen's own */
	struct png *png;                /* its stripes; NULL: it is not encoded in stripes */
};

/* What a request is asked of: the screen with the pointer drawn, and when which part of it changed. */
struct kept_source {
	const struct image *shown;
	const struct tiles *tiles; /* without the pointer */
	struct kept_pointer pointer;
	uint64_t frame;
};

/* Nothing that the picture shows differs from the source. */
bool kept_is_current(const struct kept *kept, const struct kept_source *source);

/* Makes the picture that of the source; kept->picture.asked says which. Errors of encode: the picture is gone then. */
int kept_make(struct kept *kept, const struct kept_source *source, struct err *e);

/* Memory that it holds, in bytes. */
size_t kept_cost(const struct kept *kept);

/* Frees what it holds; zeroed memory is fine. */
void kept_finish(struct kept *kept);

#endif
