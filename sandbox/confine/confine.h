/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Limits on oneself: what front, stage and their kin do first thing in main, and the system call tables.
 *
 * The warden starts them in namespaces of their own, in a root that holds nothing but their folders and, for the dynamic loader,
 * the host's /usr and /lib, read-only. confine_enter takes the loader's mounts away and gives up everything else. A leaf: it
 * includes nothing but session/base.
 */
#ifndef CONFINE_CONFINE_H
#define CONFINE_CONFINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/base/err.h"

/* One row of a system call table: what is allowed (or refused with an errno other than the default), on which condition, why. */
struct confine_rule {
	const char *syscall;
	enum { CONFINE_ALLOW, CONFINE_DENY } verdict;
	int deny_errno;      /* CONFINE_DENY */
	int arg;             /* argument tested, or -1 for none */
	uint64_t mask, value; /* the row applies when (argument & mask) == value */
	const char *why;     /* NULL for the plain ones */
};

struct confine_table {
	const char *name;
	const struct confine_rule *rules;
	size_t n_rules;
	int default_errno;  /* of what no row names: ENOSYS, so that libraries fall back; 0 kills the process */
};

extern const struct confine_table confine_app, confine_xvfb, confine_wm, confine_stage, confine_front;

/*
 * The whole entry of a daemon, to be called before it opens anything: reads the go byte from CHILD_GO (end of file: exit), detaches the
 * loader's mounts, sets resource limits, drops to uid:gid with no capability, bounding set or supplementary group, no_new_privs,
 * undumpable, arms the parent-death signal last, loads the table. uid and gid come from the environment GLOVEBOX_UID that the warden sets,
 * which is cleared. -1 on any failure: the caller must exit.
 */
int confine_enter(const struct confine_table *table, struct err *e);

/* Loads a table on the calling process (no_new_privs must be set). */
int confine_load(const struct confine_table *table, struct err *e);

/* Compiles a table to a BPF program in a sealed memory file (struct sock_filter array); *fd is the caller's. */
int confine_compile(const struct confine_table *table, int *fd, struct err *e);

#endif
