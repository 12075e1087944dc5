/* SPDX-License-Identifier: GPL-2.0-or-later */
/* New tokens, and codes that people type. Owner: session/base. No threads. */
#ifndef BASE_SECRET_H
#define BASE_SECRET_H

#include <stdbool.h>
#include <stddef.h>

/* A token: the prefix, which tells its kind ("gbk_"), and 32 random bytes in base64url. Malloced, the caller's, and to be wiped. */
char *secret_new_token(const char *prefix);

/*
 * A code of n_signs random signs, at most SECRET_SIGNS_MAX of 32 that do not look like each other, with dashes between groups of `group`.
 * Malloced, the caller's, and to be wiped.
 */
#define SECRET_SIGNS_MAX 32
char *secret_new_code(size_t n_signs, size_t group);

/* The signs of a code as people type it: in small letters, without dashes, with blanks. False when it has not n_signs. */
bool secret_read_code(const char *text, size_t n_signs, char *signs);

/* Wipes and frees a text. NULL is fine. */
void secret_wipe(char *text);

#endif
