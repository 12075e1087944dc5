/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Resource limits of a jail's first process, which its children inherit. */
#ifndef JAIL_RIGHTS_H
#define JAIL_RIGHTS_H

#include <stddef.h>
#include <sys/resource.h>

#include "session/base/err.h"

struct rights_limit {
	int resource; /* RLIMIT_… */
	rlim_t value; /* soft and hard; not above what the warden has */
};

int rights_limit(const struct rights_limit *limits, size_t n, struct err *e);

#endif
