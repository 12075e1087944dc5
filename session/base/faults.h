/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All faults of one body, so that a caller can mend them at once: the first `max` of them, in the order in which they were found.
 * Owner: session/base. No threads.
 */
#ifndef BASE_FAULTS_H
#define BASE_FAULTS_H

#include "session/base/err.h"

struct faults {
	struct err *list; /* room for `max`, the user's; NULL when only their number is wanted */
	size_t max;
	size_t n;         /* in the list so far */
};

/* The place of the next fault, to be filled by err_set; NULL, which err_set takes, when there is no more room. */
struct err *faults_next(struct faults *faults);

/* Adds a fault that was found by code that knows only one; its path gets `prefix` (a JSON pointer or "") before it. */
void faults_add(struct faults *faults, const struct err *e, const char *prefix);

/* No further fault would be kept: there is no use in looking for one. */
bool faults_full(const struct faults *faults);

#endif
