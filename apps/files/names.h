/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The entries of an archive so far, so that no later one goes through an earlier one that is no folder, or takes its name. Kept as hashes: two names that meet
 * by chance are refused, never taken. Owner: apps/files. No threads.
 */
#ifndef FILES_NAMES_H
#define FILES_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "session/base/tar.h"

/* Zero-initialised is ready to use. */
struct names {
	struct names_slot {
		uint64_t hash; /* 0: free */
		enum tar_kind kind;
	} *slots;
	size_t n, size;
};

/* Adds an entry. Why it may not stand behind those that came before, as a text that stays; NULL: it may. */
const char *names_add(struct names *names, const char *name, enum tar_kind kind);

void names_finish(struct names *names);

#endif
