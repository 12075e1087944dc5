/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bytes of programs and windows made into text that is always valid UTF-8 and never longer than asked. No threads.
 */
#ifndef APPS_TEXT_H
#define APPS_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A copy of `bytes` in which each byte that is no part of a well-formed character is U+FFFD: malloced, NUL-terminated, the caller's;
 * *out_len is its length, at most max bytes, cut between characters. NUL bytes are kept. *cut (may be NULL) is set when something was
 * left off, and else left alone.
 */
char *text_utf8(const char *bytes, size_t len, size_t max, size_t *out_len, bool *cut);

/* As text_utf8, for titles and class names, which others may take for C strings: NUL is U+FFFD too. latin1: the bytes are ISO 8859-1. */
char *text_name(const char *bytes, size_t len, bool latin1, size_t max, size_t *out_len);

/* True if the text has a control character (U+0000 to U+001F, U+007F to U+009F) or is not well-formed UTF-8. */
bool text_has_control(const char *text, size_t len);

#endif
