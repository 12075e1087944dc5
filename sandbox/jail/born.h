/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The child's side of child.c: what it reports, and its life from clone to exec. Used by child.c alone. */
#ifndef JAIL_BORN_H
#define JAIL_BORN_H

#include <sys/types.h>

#include "sandbox/jail/child.h"

enum born_kind {
	BORN_FAILED = 1, /* why */
	BORN_CLONED,     /* by a midwife; the child's pidfd comes with it */
	BORN_ATTENDED,   /* pid_inside, and the descriptor of the birth if there is one */
};

struct born_report {
	enum born_kind kind;
	pid_t pid_inside;
	struct err why;
};

/* Lives as the plan says. The descriptors are the child's ends of its report socket, go pipe and log pipe. */
_Noreturn void born_live(const struct child_plan *plan, int report, int go, int log);

#endif
