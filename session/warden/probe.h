/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gloveboxd --probe: what this host can and cannot do for sessions, by the code that sessions are made with. `glovebox doctor` shows it.
 *
 * A line per row on standard output, six fields with a tab between: name, what it is for, result (ok, weaker: a session runs without
 * it; missing: none can; unknown: it takes root to look), the value seen, and unless the result is ok what follows and what mends it.
 * What has to be tried is tried in a child, in namespaces and control groups of its own; nothing is left behind, and a server that runs
 * is not touched.
 */
#ifndef WARDEN_PROBE_H
#define WARDEN_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "session/base/err.h"
#include "session/warden/ceilings.h"
#include "session/warden/options.h"

/* What the rows look at. */
struct probe_host {
	const struct options *options;
	struct ceilings ceilings; /* the defaults where the operator's cannot be had */
	uint32_t groups;          /* enum cgroup_bit that a session would get */
	char place[64];           /* an empty folder for the children, once one is needed */
};

enum probe_result { PROBE_OK, PROBE_WEAKER, PROBE_MISSING, PROBE_UNKNOWN };

struct probe {
	const char *name, *purpose;
	bool (*look)(struct probe_host *host, unsigned long arg, char *value, size_t size); /* true for ok; writes the value seen */
	unsigned long arg;
	bool root, tries;              /* it takes root; it is done in a child */
	enum probe_result otherwise;   /* what it is when it is not ok */
	const char *effect, *mend;
};

/* The rows of the kernel's own offers and of the machine's amounts, in probe_kernel.c and probe_host.c. */
extern const struct probe probe_kernel_rows[], probe_host_rows[];
extern const size_t probe_kernel_n, probe_host_n;

/* Looks in a child, which may change all about itself; it is given 20 seconds. */
bool probe_in_child(const struct probe *probe, struct probe_host *host, char *value, size_t size);

/* An error as the value seen; false. */
bool probe_say_error(char *value, size_t size, const struct err *e);

/* Looks at everything and writes the lines. */
void probe_run(const struct options *options, FILE *to);

#endif
