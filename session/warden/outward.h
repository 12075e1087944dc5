/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The root of a glovebox-egress: what it takes to find hosts and to believe them, and nothing else; in the network namespace that the warden began in.
 * Used by hooks.c and egress.c.
 */
#ifndef WARDEN_OUTWARD_H
#define WARDEN_OUTWARD_H

#include <limits.h>
#include <sched.h>

#include "sandbox/jail/daemon_jail.h"

#define OUTWARD_PROGRAM "glovebox-egress"
#define OUTWARD_NAMESPACES (DAEMON_JAIL_NAMESPACES & ~(uint64_t)CLONE_NEWNET)

/* Must stay where it is while the jail is used. */
struct outward {
	char hosts[PATH_MAX], servers[PATH_MAX];
	struct daemon_bind binds[5];
	struct daemon_jail jail;
};

/* `place` as in struct daemon_jail; `net`, a descriptor among the plan's tools, is the network namespace, -1: the caller's own; `run` is a folder that it may write to as /run,
 * or NULL. All borrowed. */
void outward_init(struct outward *outward, const char *place, const int *net, const char *run);

#endif
