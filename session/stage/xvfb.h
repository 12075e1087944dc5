/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel says of the session's X server: the memory that it uses. Owner: the stage. One thread.
 */
#ifndef STAGE_XVFB_H
#define STAGE_XVFB_H

#include <stdbool.h>
#include <stdint.h>

/* Zero-initialised there is none. */
struct xvfb {
	int proc_fd; /* of the session's pid namespace */
	int pid;     /* its number there; 0: not found yet */
};

/* `proc_fd` is borrowed and copied; -1: nothing is known. */
void xvfb_begin(struct xvfb *server, int proc_fd);
void xvfb_end(struct xvfb *server);

/* Looks, some once a second: *pages of memory that it has. False where it is not known. */
bool xvfb_look(struct xvfb *server, uint64_t *pages);

#endif
