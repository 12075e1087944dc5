/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What this program says, as rows: the objects of its replies, from which the OpenAPI document is made. (What it takes are forms, json.h.)
 *
 * A type is a short text: alternatives with "|" between them, each one of
 *   string integer number boolean null object any    as in JSON
 *   count       an integer from 0 on
 *   time        a string, "2026-11-30T12:00:00Z"
 *   base64      a string of bytes in Base64
 *   =a b c      one of these words
 *   Name        the shape or form of this name, which begins with a capital
 * with "[]" (a list of these) or "{}" (an object all of whose members are so) behind it.
 *
 * Replies may grow: the schemas leave members open that the rows do not have, and clients must pass over them. The tests validate every
 * reply against a closed copy. Owner: session/base. No threads.
 */
#ifndef BASE_SHAPE_H
#define BASE_SHAPE_H

#include <jansson.h>
#include <stddef.h>

#define SHAPE_REF "#/components/schemas/"

struct member {
	const char *name; /* with a "?" at its end: it may be absent */
	const char *type;
	const char *doc;  /* or NULL */
};

struct members {
	const struct member *list;
	size_t n;
};
#define MEMBERS(rows) {rows, ARRAY_LEN(rows)}
#define NO_MEMBERS {NULL, 0}

struct shape {
	const char *name;
	const char *doc;
	struct members members;
};

/* The schema of a type; NULL when the text is none. The caller's reference. */
json_t *shape_type(const char *type);

/* The same with a description (NULL: without). Aborts when the type is none: rows are this program's own. */
json_t *shape_described(const char *type, const char *doc);

/* Adds members to "properties" of an object schema, and the names of those that must be there to `required`, a list. */
void shape_add(json_t *schema, json_t *required, const struct members *members);

/* The object schema of a shape; the caller's reference. */
json_t *shape_schema(const struct shape *shape);

/* Adds the schemas of n shapes, by their names, to an object. */
void shape_add_all(json_t *schemas, const struct shape *shapes, size_t n);

#endif
