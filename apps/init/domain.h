/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Landlock domain that each program of the jail gets of its own. No two domains see each other's memory, environment or
 * descriptors in /proc, and none but that of a trusted program reads what lies in INIT_TRUSTED_FOLDER. A trusted program signals nobody
 * outside of its domain and reaches no abstract socket of theirs, where the kernel has that (ABI 6); the others may signal each other: a command
 * ends what an earlier one has started. All but trusted ones get a filter more, which keeps them from namespaces of their own.
 */
#ifndef INIT_DOMAIN_H
#define INIT_DOMAIN_H

#include <stdbool.h>
#include <stddef.h>

#include "session/base/err.h"

#define DOMAIN_PLACES 128 /* entries of /, /run and /run/glovebox */

/* The places that every program may read. Their list is made once: none can be added, since those folders cannot be written. */
struct domains {
	bool there; /* false: the kernel has no Landlock that will do */
	int places[DOMAIN_PLACES]; /* O_PATH */
	size_t n;
	int abi; /* of the kernel's Landlock */
};

/* Fills *out, also where there is no Landlock. Errors: ERR_LIMIT, those of the system. */
int domains_open(struct domains *out, struct err *e);

/*
 * Puts the calling process, which has no_new_privs, into a new domain; to be called between fork and exec: allocates nothing. `trusted` is the program's absolute
 * path if it is a trusted one: it reads INIT_TRUSTED_FOLDER and executes nothing but itself and `runs`, files and folders that are
 * there (the list ends in NULL). Else it is NULL, and the filter app_alone is loaded. -1 with errno.
 */
int domain_enter(const struct domains *domains, const char *trusted, char *const *runs);

#endif
