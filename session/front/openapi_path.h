/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One operation of the OpenAPI document, and the parameters and headers that several have. Owner: session/front. No threads. */
#ifndef FRONT_OPENAPI_PATH_H
#define FRONT_OPENAPI_PATH_H

#include <jansson.h>

#include "session/base/err.h"
#include "session/front/routes.h"

/* components/parameters and components/headers; the caller's references. */
json_t *openapi_parameters(void);
json_t *openapi_headers(void);

/* A path without operations: with the parameters that stand in braces. The caller's reference. */
json_t *openapi_path(const char *path);

/* A route's operation; the caller's reference. NULL with ERR_INTERNAL when its row names what is not there, or its examples are no JSON. */
json_t *openapi_operation(const struct route *route, struct err *e);

/* Adds an operation, whose reference is taken, under its method. */
void openapi_add_operation(json_t *path, const char *method, json_t *operation);

#endif
