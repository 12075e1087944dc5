/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Coroutines on the loop: an action that waits (for X, a timer, a pipe) is written as plain sequential code.
 *
 * Each coroutine has its own small stack with a guard page and runs on the loop's one thread; it gives up the processor only in
 * the co_wait_* calls below. All of them return 0 when what was waited for happened, or -1 with an error: ERR_TIMEOUT at the
 * deadline, ERR_CANCELLED once the coroutine was cancelled (from then on every wait returns at once, so that clean-up code runs
 * through). Deadlines are monotonic milliseconds; CO_FOREVER is none.
 */
#ifndef BASE_CO_H
#define BASE_CO_H

#include <stdbool.h>
#include <stdint.h>

#include "session/base/loop.h"

#define CO_FOREVER INT64_MAX

struct co;
typedef void co_fn(void *arg);

/* A thing that coroutines wait for and others signal. Zero-initialised is ready to use; must outlive its waiters' waits, which
 * co_signal ends. */
struct co_event {
	struct co *waiters;
};

/* Starts fn(arg) on the next turn of the loop. The coroutine frees itself when fn returns; the pointer is valid until then. */
struct co *co_start(struct loop *loop, co_fn *fn, void *arg);

/* The coroutine that runs now, or NULL in plain loop code. */
struct co *co_self(void);

/* Makes the present and every later wait of co return ERR_CANCELLED. May be called from anywhere; the effect on a waiting
 * coroutine comes on the next turn of the loop. */
void co_cancel(struct co *co);
bool co_cancelled(const struct co *co);

/* Clean-up that must wait (a key release barrier, a kill): waits inside the pair work although the coroutine is cancelled.
 * Pairs nest. */
void co_shield(void);
void co_unshield(void);

int co_wait_until(int64_t at_ms, struct err *e); /* returns 0 at at_ms; there is no time-out */
int co_wait_fd(int fd, uint32_t events, int64_t deadline_ms, struct err *e);
int co_wait_event(struct co_event *event, int64_t deadline_ms, struct err *e);
/* Wakes every coroutine that waits for the event, those that have waited longest first. */
void co_signal(struct co_event *event);

#endif
