/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stage's own rows of the action table: wait, request_human. Home: struct rows_home *.
 */
#ifndef STAGE_ROWS_H
#define STAGE_ROWS_H

#include "session/base/action.h"

/* What the stage does for them; that the rows can be printed without a stage. */
struct rows_home {
	int (*request_human)(void *arg, struct action_run *run, struct err *e);
	void *arg;
};

extern const struct action_row rows_own[];
extern const size_t rows_n_own;

#endif
