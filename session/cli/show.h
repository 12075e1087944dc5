/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the command line prints. Text that comes from a server may come from inside a jail: when it goes to a terminal, control
 * characters, bytes that are not UTF-8 and characters that turn the writing direction are shown as \xNN.
 */
#ifndef CLI_SHOW_H
#define CLI_SHOW_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

/* Writes text as it is to a file or pipe, made visible as above to a terminal. Newline and tab stay. */
void show_text(FILE *to, const char *text, size_t len);

/* `len` bytes of text, made visible as for a terminal (newline and tab too if !lines); the caller's. */
char *show_visible(const char *text, size_t len, int lines);

/* A value on one line: a string bare, anything else as compact JSON, NULL as "-"; padded with spaces to `width` columns, two at least
 * where it has more. */
void show_value(FILE *to, const json_t *value, int width);

/* A table with a line for each object of the list; null members as "-". The last column has width 0. */
struct show_column {
	const char *member, *title;
	int width;
};
void show_table(const json_t *list, const struct show_column *columns, size_t n_columns);

/* "name  value" lines of an object's members; inner objects as compact JSON. */
void show_members(FILE *to, json_t *object);

/* JSON on standard output, indented for a terminal, one line otherwise. */
void show_json(const json_t *value);

/* A refusal (problem+json, or the `error` of a result) on standard error: what is wrong, where, and who can mend it. */
void show_problem(const char *who, const json_t *problem);

#endif
