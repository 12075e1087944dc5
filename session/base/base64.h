/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Base64 (RFC 4648 part 4, with padding) for pictures in JSON. Owner: session/base. No threads.
 */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include <stddef.h>

/* The text for `len` bytes: malloced, NUL-terminated, the caller's; *out_len, if not NULL, is its length. */
char *base64_encode(const void *data, size_t len, size_t *out_len);

/* The bytes of `len` characters, with their padding or without it: malloced, the caller's; *out_len is their number. NULL for text that is
 * no base64. */
void *base64_decode(const char *text, size_t len, size_t *out_len);

#endif
