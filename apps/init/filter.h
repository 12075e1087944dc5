/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compiled system call filters (struct sock_filter arrays) as the warden passes them. */
#ifndef INIT_FILTER_H
#define INIT_FILTER_H

#include <linux/filter.h>

#include "session/base/err.h"

struct filter {
	struct sock_fprog program; /* its rows are on the heap */
};

/* Reads one whole, whatever the offset: other jails may share the open file. An empty or broken one is refused: ERR_BAD_REQUEST. */
int filter_read(int fd, struct filter *out, struct err *e);

/* Loads it on the calling process, for good. -1 with errno. Allocates nothing. */
int filter_load(const struct filter *filter);

void filter_finish(struct filter *filter);

#endif
