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

#include "session/base/err.h"

#define PROBLEM_MEDIA_TYPE "application/problem+json"

/* The object for *e, whose code must be set. request_id may be NULL. The caller's reference. */
json_t *problem_create(const struct err *e, const char *request_id);

/* Lists one more fault under "errors" (pointer, code, detail); the first call lists the problem's own fault before it. */
void problem_add(json_t *problem, const struct err *e);

/* The body of a refusal: problem_create as text, malloced, NUL-terminated, the caller's. */
char *problem_text(const struct err *e, const char *request_id);

#endif
