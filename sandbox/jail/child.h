/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes that the warden starts: cloned into namespaces and control groups, built in place by a function of the plan, then
 * executed from an open file. The child dies with the warden at any moment of its life.
 *
 * What a child has: standard input from nowhere, standard output and error to the warden's log, the go pipe on CHILD_GO, the plan's
 * descriptors after it, and nothing else. One owner, one thread: the warden's.
 */
#ifndef JAIL_CHILD_H
#define JAIL_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sandbox/jail/cgroup.h"
#include "session/base/err.h"
#include "session/base/loop.h"

struct child;

/* What a midwife found out about the child, for child_ops.born: its pid in its parent's namespace, a descriptor of the plan's. */
struct child_birth {
	pid_t pid_inside;
	int fd; /* -1: none */
};

struct child_plan {
	const char *name;       /* "display of s…": for the log */
	bool log_is_ours;       /* its lines are of our own log and are written as they are */
	size_t log_bytes_max;   /* in its life: what a jail says is not worth a full disk; 0: no bound */
	uint64_t namespaces;    /* CLONE_NEW… */
	const struct cgroup_seat *seat;
	int program;            /* the open file that is executed */
	char *const *argv, *const *envp;
	mode_t umask;           /* of the program; 0 while it is built */
	/* Descriptors, as pointers: in the child each gets its new number. `fds` lie open from CHILD_GO + 1 on in this order when the
	 * program starts; `tools` are for `build` alone. An entry of -1 is left out of the tools. */
	int *const *fds;
	size_t n_fds;
	int *const *tools;
	size_t n_tools;
	/* Runs in the child, root in the new namespaces: makes its jail and gives up its rights. It must arm the parent-death signal
	 * as its last step, or the program does (confine_enter). `sync` is for child_pause. */
	int (*build)(void *arg, int sync, struct err *e);
	/*
	 * For a child inside the pid namespace of another process, `inside` (a pidfd), else -1. A midwife is made there first: she makes
	 * the child, a child of the warden's, and ends. When `build` calls child_pause, `attend` runs in the midwife.
	 */
	int inside;
	int (*attend)(void *arg, struct child_birth *birth, struct err *e);
	void *arg;
};

struct child_ops {
	void (*born)(void *arg, const struct child_birth *birth); /* with `attend` only; the descriptor is the callee's */
	void (*started)(void *arg);                               /* the program runs */
	void (*failed)(void *arg, const struct err *why);         /* it could not be built; `gone` follows */
	/* It ended and was reaped. The child is freed when this returns; `how` is a few words ("signal 9", "exit 10"), `status` the
	 * exit code or -1. */
	void (*gone)(void *arg, const char *how, int status);
};

/* Clones the child. NULL with *e if it could not be cloned; whatever happens later comes through the ops. The plan need not outlive
 * the call; its descriptors stay the caller's. */
struct child *child_start(struct loop *loop, const struct child_plan *plan, const struct child_ops *ops, void *arg, struct err *e);

/* SIGKILL; `gone` comes when it is dead. */
void child_kill(struct child *child);

/* The pidfd, for setns; the child's own. -1 while a midwife has not reported it. */
int child_pidfd(const struct child *child);

/* True if it is dead or dying: pid 1 of a namespace takes all its processes with it and is the last to be reaped. */
bool child_is_ending(const struct child *child);

/* In `build` of a plan with a midwife: waits until `attend` is done. */
int child_pause(int sync, struct err *e);

#endif
