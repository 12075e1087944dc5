/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The escape battery: what a hostile program in the app jail would try, a row each, with the layer that must stop it and the exact outcome.
 *
 * Each try is made in a process of its own, so that none spoils the next. No try does harm where it works: what the kernel would act
 * on has arguments that it refuses. One thread.
 */
#ifndef ESCAPE_BATTERY_H
#define ESCAPE_BATTERY_H

#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>

/* Who tries: an ordinary program, one that may nest namespaces as browsers do, and uid 0 of a user namespace that this one made. */
enum self { SELF_APP, SELF_BROWSER, SELF_ROOT, N_SELVES };

/* What came of a try: an errno, or one of these. */
enum outcome {
	SAME = 0,    /* in a row: as for SELF_APP */
	DONE = 1000, /* it worked */
	KILLED,      /* the filter ended the process */
	HIDDEN,      /* there is nothing, or nothing in it */
	HELD,        /* what was looked at is as it must be */
	REFUSED,     /* by the display */
	HUNG,
	DIED,        /* by another signal */
	NOT_TRIED,   /* in a row: not by this one */
};

#define PROBE_ARGS 6

struct probe {
	const char *name, *layer;
	int (*try)(const struct probe *probe); /* the outcome */
	long number, args[PROBE_ARGS];         /* of try_call; other tries read args[0] */
	const char *path;
	int expect[N_SELVES];
};

struct probe_table {
	const struct probe *probes;
	size_t n;
};

/* The tables, one for each file. */
extern const struct probe_table probes_namespaces, probes_kernel, probes_sockets, probes_rights, probes_files, probes_display;

/* errno of a call that said -1, else DONE. */
int outcome_of(long result);

/* Makes the call of the row. */
int try_call(const struct probe *probe);

#define CALL(text, wall, call, outcome, ...) \
	{.name = (text), .layer = (wall), .try = try_call, .number = (call), .args = {__VA_ARGS__}, .expect = {(outcome)}}
#define CALL_BY(text, wall, call, app, browser, root, ...) \
	{.name = (text), .layer = (wall), .try = try_call, .number = (call), .args = {__VA_ARGS__}, .expect = {(app), (browser), (root)}}
#define TRY(text, wall, how, outcome) {.name = (text), .layer = (wall), .try = (how), .expect = {(outcome)}}
#define TRY_BY(text, wall, how, app, browser, root) {.name = (text), .layer = (wall), .try = (how), .expect = {(app), (browser), (root)}}

/* The layers, as rows name them. */
#define FILTER "system call filter"
#define LIMITS_OF_NAMESPACES "limits of namespaces"
#define OWNERS "owners and modes"
#define NO_CAPABILITY "no capability"
#define ONE_UID "one mapped uid"
#define READ_ONLY "read-only mounts"
#define MASKS "masks of proc and sys"
#define NO_DEVICES "nodev, own dev"
#define NO_NETWORK "network namespace"
#define OWN_PROCESSES "pid namespace"
#define OWN_ROOT "own root"
#define LANDLOCK "landlock domain"
#define NO_PRIVILEGES "no_new_privs, nosuid"
#define RLIMITS "resource limits"
#define DISPLAY_TRUST "untrusted display"
#define DISPLAY_DOOR "door of the display"
#define KERNEL "the kernel's own rule"

#endif
