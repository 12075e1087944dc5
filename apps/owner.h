/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which process is it: numbers of the session's pid namespace (as XRes names X clients) made into those of the app jail, and descent.
 *
 * Read from the session's read-only proc, which the kernel writes: nothing here is what an app says. Owner: apps. No threads.
 */
#ifndef APPS_OWNER_H
#define APPS_OWNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/base/err.h"

#define OWNER_ANCESTORS 64 /* how far up descent is followed */

struct owner_proc {
	int fd;       /* root of the proc, the owner's */
	size_t depth; /* at which place of NSpid the app jail's numbers stand */
};

/* What a status file says of a process. */
struct owner {
	int pid;     /* in the app jail; 0 if it is not in it */
	int session; /* its session there (setsid), 0 if that leads outside */
	int parent;  /* in the session's pid namespace */
};

/* Takes the descriptor (also on failure). `init_pid` is the number of the app jail's pid 1 in the session's namespace. Errors: ERR_GONE. */
int owner_open(struct owner_proc *proc, int fd, int init_pid, struct err *e);
void owner_close(struct owner_proc *proc);

/* A process and its ancestors in the app jail, up to init; as they were one after the other when they were read. */
struct owner_line {
	struct owner of[OWNER_ANCESTORS];
	size_t n; /* 0: there is no such process in the jail (any more) */
};

/* Reads the line of the process with this number in the session's namespace. */
void owner_read(const struct owner_proc *proc, int outer_pid, struct owner_line *out);

/* The process's own number in the app jail alone; 0 if it is not in it (any more). */
int owner_pid(const struct owner_proc *proc, int outer_pid);

/* True if the process is the one with this number in the app jail, or is in the session that it leads: wrappers and programs that
 * detach from their parent stay in that, while what a shell in a terminal starts does not. */
bool owner_is(const struct owner_line *line, int jail_pid);

/* True if that is so for the process or one of its ancestors. */
bool owner_descends(const struct owner_line *line, int jail_pid);

/* The group of the process, by the last part of its place in cgroup v2; -1 if it is gone, or has none of the three. */
int owner_group(const struct owner_proc *proc, int outer_pid);

/* When the process was started, in ticks since the kernel's start; 0 if it is gone. The same before and after: it is the same process. */
uint64_t owner_started(const struct owner_proc *proc, int outer_pid);

/* The group in a cgroup file's text (NUL-terminated), or -1. */
int owner_parse_group(const char *text);

/* Reads a status file's text (NUL-terminated). False if it breaks the form. */
bool owner_parse(const char *status, size_t depth, struct owner *out);

#endif
