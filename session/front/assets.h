/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that are part of the program. Owner: session/front. No threads. */
#ifndef FRONT_ASSETS_H
#define FRONT_ASSETS_H

#include <stddef.h>

/* No path: the stage's part of the OpenAPI document. */
#define ASSETS_SCHEMAS "schemas"

struct asset {
	const char *path; /* of the request: "/", "/console/main.js", … */
	const char *type; /* media type */
	const char *tag;  /* its ETag, of its bytes; NULL: it has none */
	const char *start, *end;
};

/* NULL if there is none. */
const struct asset *assets_find(const char *path);

#endif
