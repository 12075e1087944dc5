/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Changes of a workspace as a branch of the repository that it was copied from: one commit on what was checked out then. They go in as a stream
 * (git fast-import): nothing is checked out, no filter, attribute or hook is run, and no branch is moved that is there. Owner: session/cli. No threads.
 */
#ifndef CLI_BRANCH_H
#define CLI_BRANCH_H

#include <jansson.h>

#include "session/base/err.h"
#include "session/cli/folder.h"

struct branch {
	const char *folder;          /* that was sent */
	const char *place, *commit;  /* its repository then */
	const char *name;            /* of the new branch */
	const char *session;
	const json_t *changes;       /* [{"path","change"}…] */
	int archive;                 /* how it is now */
	folder_wants_fn *wants;      /* what of that is new or changed */
	void *arg;
};

/* ERR_BAD_REQUEST: a repository that is not the folder's own, or another than then; a name that is none or taken; and what git refuses. */
int branch_make(const struct branch *branch, struct err *e);

#endif
