/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The event loop of every daemon: epoll for descriptors (pidfd and signalfd among them), one list of timers. One thread.
 *
 * A source may be removed at any time, also from inside its own or another source's callback; its callback is never called
 * after that. Times are monotonic milliseconds (util_now_ms).
 */
#ifndef BASE_LOOP_H
#define BASE_LOOP_H

#include <stdint.h>

#include "session/base/err.h"

struct loop;
struct loop_source; /* a watched descriptor; owned by the loop, valid until loop_remove */
struct loop_timer;  /* a one-shot timer; owned by the loop, valid until it fired or loop_cancel */

typedef void loop_fd_fn(void *arg, uint32_t events); /* events: EPOLLIN, EPOLLOUT, EPOLLHUP, EPOLLERR, EPOLLRDHUP */
typedef void loop_timer_fn(void *arg);
typedef void loop_signal_fn(void *arg, int signo);

struct loop *loop_create(struct err *e);
/* NULL is fine. Not from a callback. Sources are to be removed before; timers and deferred calls that wait are dropped. */
void loop_destroy(struct loop *loop);

/* Watches fd for `events`; the descriptor stays the caller's and must be removed before it is closed. DIE on no memory; a
 * descriptor that epoll refuses is a programmer error. */
struct loop_source *loop_add(struct loop *loop, int fd, uint32_t events, loop_fd_fn *fn, void *arg);
void loop_modify(struct loop_source *source, uint32_t events);
void loop_remove(struct loop_source *source); /* NULL is fine */

/* Calls fn once, at `at_ms` or as soon after as the loop comes round: never inside this call, nor in the present turn's timers. */
struct loop_timer *loop_at(struct loop *loop, int64_t at_ms, loop_timer_fn *fn, void *arg);
void loop_cancel(struct loop_timer *timer); /* NULL is fine; must not be called after the timer fired */

/* Calls fn once when the current turn's callbacks are done: for work that must not run inside the caller's stack. */
void loop_defer(struct loop *loop, loop_timer_fn *fn, void *arg);

/* Calls fn each time before the loop waits: for what a library has read already, of which its descriptor tells
 * nothing any more. Not from such a call. */
struct loop_before *loop_before_wait(struct loop *loop, loop_timer_fn *fn, void *arg);
void loop_not_before_wait(struct loop *loop, struct loop_before *before); /* NULL is fine */

/* Blocks the listed signals (0-terminated) and delivers them through fn. */
int loop_signals(struct loop *loop, const int *signals, loop_signal_fn *fn, void *arg, struct err *e);

/* Runs until loop_stop. One turn waits for at most until the next timer. */
void loop_run(struct loop *loop);
void loop_stop(struct loop *loop);
/* One turn: waits at most max_wait_ms (-1 without bound) for something to happen, then calls what is due. True when a source was ready. */
bool loop_turn(struct loop *loop, int max_wait_ms);

#endif
