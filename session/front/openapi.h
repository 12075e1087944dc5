/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The OpenAPI document (3.1, with JSON Schema 2020-12), made from the rows of routes, operations, forms, shapes and errors, and from what the
 * stage's rows came to when Glovebox was built. Made once, when the front starts. Owner: session/front. No threads.
 */
#ifndef FRONT_OPENAPI_H
#define FRONT_OPENAPI_H

#include <jansson.h>
#include <stddef.h>

#include "session/base/err.h"
#include "session/front/routes.h"

#define OPENAPI_PATH "/openapi.json"
#define OPENAPI_TAG_SIZE 40

struct openapi {
	char *text; /* the document, in UTF-8 */
	size_t len;
	char tag[OPENAPI_TAG_SIZE]; /* its ETag: of its bytes */
};

/* The document of n routes; the caller's reference. ERR_INTERNAL when a row names what is not there. */
json_t *openapi_document(const struct route *rows, size_t n_rows, struct err *e);

/* Makes the document of the table of routes.c. Errors as above. */
int openapi_init(struct openapi *openapi, struct err *e);
void openapi_finish(struct openapi *openapi);

#endif
