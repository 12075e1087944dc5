/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs that an app has started: a script that a file manager was told to run is the agent's, although it came to be in the group apps.
 */
#ifndef INIT_STRAY_H
#define INIT_STRAY_H

#include <stdbool.h>
#include <sys/types.h>

#include "apps/init/child.h"

/* What was started as it is in the catalogue. */
typedef bool (*stray_is_job)(void *arg, pid_t pid);

/* Puts all others of the group apps, but the trusted ones (which execute nothing but what is theirs) and programs that an app consists of, into the group
 * agent. */
void strays_move(const struct child_groups *groups, stray_is_job is_job, void *arg);

/* Kills a process, if it is of the group agent. */
void stray_end(pid_t pid);

/* Of a process, by the texts of its /proc/PID/cgroup and /proc/PID/status: it is of the group apps, and not trusted. */
bool stray_may_be(const char *cgroup, const char *status);

#endif
