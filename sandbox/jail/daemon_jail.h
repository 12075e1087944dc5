/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The place of a daemon (front, stage, egress): a root of its own that holds nothing but the folders that it is given and, until
 * confine_enter takes them away, the mounts of the dynamic loader.
 */
#ifndef JAIL_DAEMON_JAIL_H
#define JAIL_DAEMON_JAIL_H

#include <stdbool.h>
#include <stddef.h>

#include "session/base/err.h"

/* A folder of the host at a place in the root ("run", "tmp/.X11-unix"), or a file or device, which the source must not be a link to. */
struct daemon_bind {
	const char *source, *target;
	bool writable;
	bool is_file, is_device;
};

struct daemon_jail {
	const char *place; /* an empty folder of the host to build on */
	const struct daemon_bind *binds;
	size_t n_binds;
	bool has_tmp;   /* a small /tmp, in memory, for everybody to write */
	const int *net; /* a network namespace to be in, a descriptor among the plan's tools; NULL: that of the plan */
};

#define DAEMON_JAIL_NAMESPACES (CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS)

/* The `build` of a child_plan with these namespaces; arg is the struct daemon_jail. The child stays root: the program gives up its
 * rights by confine_enter. */
int daemon_jail_build(void *jail, int sync, struct err *e);

#endif
