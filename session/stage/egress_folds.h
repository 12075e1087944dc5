/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What egress says, folded for the journal: what comes again within a while is one more line with a number at its end, and what comes in too many forms is
 * counted alone. So a flood takes room for some lines. Owner: the stage. One thread. Times are monotonic milliseconds.
 */
#ifndef STAGE_EGRESS_FOLDS_H
#define STAGE_EGRESS_FOLDS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#define EGRESS_FOLDS 32            /* different lines of one window */
#define EGRESS_FOLD_MS 10000       /* a window */
#define EGRESS_FOLD_LONG_MS 300000 /* one, once EGRESS_FOLD_LINES were written */
#define EGRESS_FOLD_LINES 2000

/* One line that was written in this window. */
struct egress_fold {
	char *key;
	json_t *fields;
	unsigned int again;     /* so often since */
	json_int_t up, down;    /* of those */
};

/* Zero-initialised nothing was said. */
struct egress_folds {
	struct egress_fold list[EGRESS_FOLDS];
	size_t n;
	int64_t since_ms;       /* when the window began; 0: there is none */
	unsigned int n_rest;    /* that found no place */
	json_int_t up, down;    /* of those */
	unsigned int n_lines;   /* written in all */
};

/* Writes a line of the journal; the fields are taken. */
typedef void egress_line_fn(void *arg, const char *event, json_t *fields);

/*
 * `fields` (taken) of a line "egress" or "egress_closed": written at once by `line`, or folded; those that are equal but for the members "up", "down", "ms" and
 * "address" fold. Returns when the window ends: egress_folds_flush is to be called then.
 */
int64_t egress_folds_add(struct egress_folds *folds, const char *event, json_t *fields, int64_t now_ms, egress_line_fn *line, void *arg);

/* Ends the window: a line with "again" for each that came again, and one for the rest. */
void egress_folds_flush(struct egress_folds *folds, egress_line_fn *line, void *arg);

#endif
