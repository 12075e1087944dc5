/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading the stage's spawn records as if they were hostile. No threads, no system calls.
 */
#ifndef INIT_REQUEST_H
#define INIT_REQUEST_H

#include <stddef.h>
#include <stdint.h>

#include "apps/init/proto.h"
#include "session/base/err.h"
#include "session/base/limits.h"

/* The longest record that can be in order. */
#define REQUEST_MAX (sizeof(struct init_spawn) + LIMIT_SPAWN_BYTES)

struct request {
	uint32_t tag;
	enum init_group group;
	unsigned int flags; /* enum init_flag */
	char *folder;       /* the working directory; points into the record, as all strings here */
	char **argv, **env, **runs; /* each ends in NULL */
	char **strings;     /* the memory of the lists */
};

/*
 * Reads an INIT_SPAWN record of len bytes that came with n_fds descriptors. `record` must live as long as *out; the caller ends *out
 * with request_finish. -1 with ERR_BAD_REQUEST if anything breaks the form: nothing is to be freed then.
 */
int request_parse(char *record, size_t len, size_t n_fds, struct request *out, struct err *e);
void request_finish(struct request *request);

#endif
