/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The display jail: Xvfb and the window manager alone, in a root of their own, as a uid of their own without any right.
 * Its program, glovebox-display, is pid 1 of the session.
 */
#ifndef JAIL_DISPLAY_JAIL_H
#define JAIL_DISPLAY_JAIL_H

#include <stdint.h>
#include <sys/types.h>

#include "session/base/err.h"

struct display_jail {
	const char *place;      /* an empty folder of the host to build on */
	const char *image_root; /* the root of the display image */
	const char *x11;        /* the folder of the session's X socket */
	uid_t uid;
	uint32_t x_mb;          /* address space of the X server, and of each other process */
	const uint8_t *cookie;  /* 16 bytes */
};

#define DISPLAY_JAIL_NAMESPACES (CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS)

/* The `build` of a child_plan with these namespaces; arg is the struct display_jail. */
int display_jail_build(void *jail, int sync, struct err *e);

/* Makes everything in the display jail of this process noexec. Runs in a process of its own and waits for that. */
int display_jail_seal(int pidfd, struct err *e);

#endif
