/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel says of the session's X server: the memory that it uses, and whether it gets the processor. Owner: the stage. One thread.
 */
#ifndef STAGE_XVFB_H
#define STAGE_XVFB_H

#include <stdbool.h>
#include <stdint.h>

/* How long it has waited for a processor since it was started, and run, as it was at one moment. */
struct xvfb_wait {
	int64_t at_ms; /* monotonic; 0: never */
	uint64_t ns, ran_ns;
};

/* Zero-initialised there is none. */
struct xvfb {
	int proc_fd; /* of the session's pid namespace */
	int pid;     /* its number there; 0: not found yet */
	struct xvfb_wait before, last; /* at the two looks before this one */
};

/* `proc_fd` is borrowed and copied; -1: nothing is known. */
void xvfb_begin(struct xvfb *server, int proc_fd);
void xvfb_end(struct xvfb *server);

/* Looks, some once a second: *pages of memory that it has. False where it is not known. */
bool xvfb_look(struct xvfb *server, uint64_t *pages);

/* For half of the last second or two it could have run and had to wait: the machine, and not a client, keeps it from answering. */
bool xvfb_is_starved(const struct xvfb *server);

#endif
