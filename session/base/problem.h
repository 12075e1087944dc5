/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a caller sees of an error: RFC 9457 problem objects, made in this one place for front and stage.
 *
 * Members: type (stable: "urn:glovebox:error:" and the code), title, status, detail, code, pointer or offset, line and column, fix,
 * retry_after_ms (when fix is "later"), errors (when there are several), request_id. Never errno. Owner: session/base. No threads.
 */
#ifndef BASE_PROBLEM_H
#define BASE_PROBLEM_H

#include <jansson.h>

#include "session/base/faults.h"

#define PROBLEM_MEDIA_TYPE "application/problem+json"
#define PROBLEM_RETRY_AFTER_S "1" /* the header Retry-After beside an object with retry_after_ms */

/* The object for *e, whose code must be set. request_id may be NULL. The caller's reference. */
json_t *problem_create(const struct err *e, const char *request_id);

/* The object of the first fault (there must be one); when there are more, all are under "errors": pointer, code, detail. */
json_t *problem_of_faults(const struct faults *faults, const char *request_id);

/* The body of a refusal: problem_create as text, malloced, NUL-terminated, the caller's. */
char *problem_text(const struct err *e, const char *request_id);

#endif
