/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How an operation can refuse: what follows from its route's flags and path, and the codes of its row. Owner: session/front. No threads. */
#ifndef FRONT_OPENAPI_REFUSALS_H
#define FRONT_OPENAPI_REFUSALS_H

#include <jansson.h>

#include "session/base/err.h"
#include "session/front/routes.h"

#define HEADER_REF "#/components/headers/"

/* {"404": a reply of OpenAPI with its codes, …}; the caller's reference. NULL and ERR_INTERNAL when a row names a code that is none. */
json_t *openapi_refusals(const struct route *route, struct err *e);

#endif
