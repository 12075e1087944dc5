/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whose turn it is: one act of a session runs at a time, the others wait in order of arrival. Owner: the stage. One thread.
 */
#ifndef STAGE_TURNS_H
#define STAGE_TURNS_H

#include <stddef.h>

#include "session/base/co.h"

struct turn; /* one that waits */

/* Zero-initialised is ready to use. */
struct turns {
	struct co *running; /* NULL: nobody's turn */
	struct turn *first; /* those that wait */
	size_t n_waiting;
	struct co_event none; /* signalled when the last one has passed */
};

/*
 * Waits for this coroutine's turn. Errors: ERR_BUSY when LIMIT_WAITING_CALLS wait already, ERR_TIMEOUT, ERR_CANCELLED; it has no turn
 * then.
 */
int turns_take(struct turns *turns, int64_t deadline_ms, struct err *e);

/* The same before all who wait, for who has given its turn up in the middle: it does not count as one who waits. */
int turns_take_first(struct turns *turns, int64_t deadline_ms, struct err *e);

/* Ends this coroutine's turn; the next one has it at once. */
void turns_pass(struct turns *turns);

/* Waits until it is nobody's turn and none waits, without taking it. Errors: ERR_TIMEOUT, ERR_CANCELLED. */
int turns_wait_none(struct turns *turns, int64_t deadline_ms, struct err *e);

#endif
