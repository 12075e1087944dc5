/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The repository of a folder, as long as it is that folder's own. The folder may be anybody's, as one that was fetched from somewhere: what its .git
 * says of a repository elsewhere is no reason to write into that. A worktree or a submodule is another matter: there the repository names the folder.
 * Owner: session/cli. No threads.
 */
#ifndef CLI_REPOSITORY_H
#define CLI_REPOSITORY_H

#include "session/base/err.h"

/* Both malloced, the caller's. */
struct repository {
	char *place;  /* where branches and objects are: no link on the way */
	char *commit; /* what is checked out in the folder */
};

/*
 * `folder` is absolute and without links. ERR_BAD_REQUEST: there is no .git in it, no commit, or its repository is elsewhere and does not name it as
 * its own, as git does of a worktree (worktrees/NAME/gitdir) and of a submodule (core.worktree).
 */
int repository_find(const char *folder, struct repository *repository, struct err *e);

void repository_finish(struct repository *repository);

/* Would a new branch be written where a link leads? ERR_BAD_REQUEST. */
int repository_check_links(const struct repository *repository, const char *branch, struct err *e);

#endif
