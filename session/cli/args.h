/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Command lines read by rows: an option is a row, which parses it and describes it in the help.
 *
 * All strings are borrowed from argv. No threads, nothing to free.
 */
#ifndef CLI_ARGS_H
#define CLI_ARGS_H

#include <stdbool.h>
#include <stddef.h>

#include "session/base/err.h"

#define ARGS_MAX 1024 /* words, and again options, of one command line */

struct arg_option {
	const char *name;  /* "image": --image VALUE or --image=VALUE */
	char letter;       /* 'o': also -o VALUE; 0 when there is none */
	const char *value; /* what the help calls the value; NULL for a switch */
	bool many;         /* may be given more than once */
	const char *doc;   /* one line */
};

struct arg_options {
	const struct arg_option *rows;
	size_t n_rows;
};

struct arg_given {
	const struct arg_option *option;
	const char *value; /* NULL for a switch */
};

struct args {
	const char *words[ARGS_MAX]; /* what is no option */
	size_t n_words;
	struct arg_given given[ARGS_MAX];
	size_t n_given;
};

/*
 * Adds argc strings to *args (zeroed before the first call). Options are looked up in the n_sets sets. After "--", and after the word
 * that follows the first `stop_after` words, nothing is an option any more. ERR_BAD_REQUEST: an unknown option (the valid ones are
 * named), a value that is missing or not wanted, a second use of an option that goes once, too many of all.
 */
int args_parse(struct args *args, const struct arg_options *sets, size_t n_sets, size_t stop_after, int argc,
               const char *const *argv, struct err *e);

/* The value of an option ("" for a switch that is there), or NULL when it was not given. */
const char *args_get(const struct args *args, const char *name);

/* The value of the next use of an option that goes many times; *at starts at 0. NULL at the end. */
const char *args_next(const struct args *args, const char *name, size_t *at);

/* An option's number within min..max into *out, which is untouched when the option was not given. ERR_BAD_REQUEST. */
int args_number(const struct args *args, const char *name, long min, long max, long *out, struct err *e);

#endif
