/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A value as programs write it into texts: as such, percent-encoded, with the escapes of JSON, in Base64 at any place in it. Compared straight against the
 * value: no other form of it is in memory. Pure functions. Owner: session/base.
 */
#ifndef BASE_WRITTEN_H
#define BASE_WRITTEN_H

#include <stddef.h>
#include <stdint.h>

/* Borrowed. */
struct written_text {
	const char *bytes;
	size_t len;
};

/* How many bytes of the text are the value, in the first form that fits; 0: they are none. `len` is at least 2. */
size_t written_match(const struct written_text *text, size_t at, const uint8_t *value, size_t len);

/* Calls fn with each two bytes that a form may begin with; some of them more than once. */
void written_begins(const uint8_t *value, size_t len, void (*fn)(void *arg, char a, char b), void *arg);

#endif
