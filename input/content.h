/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What clipboards hold, between the ways in which programs write it and the one in which callers get it: UTF-8 without NUL, checked PNG.
 *
 * All lengths are bytes. What is returned is malloced, NUL-terminated and the caller's. Nothing is kept. No threads.
 */
#ifndef INPUT_CONTENT_H
#define INPUT_CONTENT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Text of another program as UTF-8, valid whatever it gave: bytes that are none, and NUL, are U+FFFD; NULs at the end are left off. is_latin1: its bytes
 * are ISO 8859-1.
 */
char *content_text(const char *bytes, size_t len, bool is_latin1, size_t *out_len);

/* Text as ISO 8859-1; NULL when it has a character that this lacks, or is not UTF-8. */
char *content_latin1(const char *text, size_t len, size_t *out_len);

/*
 * HTML of another program as UTF-8: UTF-16 is found by its byte order mark or by its NULs, the mark is left off, and so is an element at its
 * beginning that says that it is UTF-8, as content_html_marked adds. Beyond that as content_text.
 */
char *content_html(const char *bytes, size_t len, size_t *out_len);

/* HTML as browsers take it: with an element in front that says that it is UTF-8, unless it names an encoding itself. */
char *content_html_marked(const char *html, size_t len, size_t *out_len);

/*
 * The text of HTML, for programs that take no HTML. Tags and comments are left off, and what stands in head, script, style, title and template;
 * runs of white space are one space, or nothing beside an end of a line; br ends a line, and so do the begin and the end of a block (p, div, li, tr,
 * h1 to h6 and their like); numeric character references and amp, lt, gt, quot, apos, nbsp are decoded, others stay as they are.
 */
char *content_html_text(const char *html, size_t len, size_t *out_len);

/*
 * Whether the bytes are a PNG: signature, chunks with right sums, IHDR first with allowed values and at most LIMIT_CLIPBOARD_SIDE_PX a side and
 * LIMIT_CLIPBOARD_PIXELS, IDAT, IEND last and nothing after it. The pixels are not decoded. NULL when it is one, else what is wrong.
 */
const char *content_png_fault(const void *data, size_t len);

#endif
