/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The calls of the link as a table: who may make each, and whether the session must be ready. A call without a row is refused.
 * Owner: the stage.
 */
#ifndef STAGE_CALLS_H
#define STAGE_CALLS_H

#include "session/stage/stage.h"

struct call_row {
	const char *name;
	unsigned int roles;    /* enum role */
	enum call_lease lease;
	bool needs_ready;
	void (*handle)(struct stage *stage, struct call *call);
};

/* All of them, for tests. */
extern const struct call_row calls_rows[];
extern const size_t calls_n_rows;

/* May the answer of a call leave? A function for connections_ops, as the next one. */
int calls_check_answer(void *arg, const struct call *call, struct err *e);

/* Is the body of this call taken as it comes? A function for connections_ops. */
bool calls_body_comes(void *arg, const struct call *call);

/* Takes a whole call and answers it, now or later. `arg` is the stage: a function for connections_ops. */
void calls_take(void *arg, struct call *call);

#endif
