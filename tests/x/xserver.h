/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An X server of a test's own, with a window manager if it is wanted, and a coroutine to run the test's calls in.
 */
#ifndef TESTS_XSERVER_H
#define TESTS_XSERVER_H

#include <stdbool.h>
#include <sys/types.h>

#include "session/base/co.h"

struct xserver {
	pid_t pid, manager;
	char display[16]; /* ":7" */
};

/* Starts Xvfb of this size on a number that is free; fails the test when it does not start. */
void xserver_start(struct xserver *server, int width, int height);
/* The same on the number that it had. */
void xserver_start_again(struct xserver *server, int width, int height);
/* Starts openbox on it, which must accept connections; does not wait for openbox. */
void xserver_start_manager(struct xserver *server);
void xserver_stop(struct xserver *server);

/* Runs fn(arg) in a coroutine of the loop until it returns. */
void xserver_run(struct loop *loop, co_fn *fn, void *arg);

#endif
