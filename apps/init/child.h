/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Starting one process of the jail, in its group, with nothing of init's own but the descriptors that it was given.
 */
#ifndef INIT_CHILD_H
#define INIT_CHILD_H

#include <sys/types.h>

#include "apps/init/domain.h"
#include "apps/init/request.h"

#define CHILD_GROUP_FILES 8 /* cgroup.procs of one group: v2, and v1 controllers beside it */

/* The cgroup.procs of each group, open for writing. */
struct child_groups {
	int files[INIT_N_GROUPS][CHILD_GROUP_FILES];
	size_t n[INIT_N_GROUPS];
	int score;     /* init's own oom_score_adj, open; -1: it is not there */
	int own_score; /* what it says of init at first: without a right nobody goes below that */
};

/* What the child writes into its fault pipe when it does not get to its program. */
struct child_fault {
	int32_t step; /* enum init_step */
	int32_t error;
};

/* Takes the descriptors that the warden sends on `sock` until end of file. Blocks: the warden has sent them already. */
int child_take_groups(int sock, struct child_groups *groups, struct err *e);

/*
 * Forks, into the group and a domain of its own, as one that the kernel ends sooner than init when memory is at its end. `pipes` are the descriptors that came with the request (they stay the caller's). *fault is the reading end of a pipe, non-blocking
 * and the caller's: a struct child_fault comes out of it, or end of file once the program runs. Returns the pid, or -1.
 */
pid_t child_start(const struct request *request, const int *pipes, const struct child_groups *groups, const struct domains *domains, int *fault,
                  struct err *e);

#endif
