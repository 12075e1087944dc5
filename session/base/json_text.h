/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON values as text, for what is written at every call: replies with pictures in them, lines of the journal. The text is the one that
 * jansson's JSON_COMPACT gives, but for numbers such as 0.1, which have no more digits than they need; that one looks at each character of each string by itself. Owner: session/base. No threads.
 */
#ifndef BASE_JSON_TEXT_H
#define BASE_JSON_TEXT_H

#include <jansson.h>
#include <stddef.h>

/* The value (of any type) as text on one line: malloced, NUL-terminated, the caller's; *len, if not NULL, is its length in bytes. */
char *json_text(const json_t *value, size_t *len);

/* How many bytes that text has. */
size_t json_text_len(const json_t *value);

#endif
