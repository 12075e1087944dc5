/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The repository of a folder, as long as it is that folder's own. The folder may be anybody's, as one that was fetched from somewhere: what its .git
 * says of a repository elsewhere is no reason to write into that. A worktree or a submodule is another matter: there the repository names the folder.
 * Owner: session/cli. No threads.
 */
#ifndef CLI_REPOSITORY_H
#define CLI_REPOSITORY_H

#include <stdbool.h>

#include "session/base/err.h"

/* All malloced, the caller's. */
struct repository {
	char *dir;    /* what is of this folder alone: of a worktree it is within `place`, else that */
	char *place;  /* where branches and objects are: no link on the way */
	char *commit; /* what is checked out in the folder */
};

/*
 * `folder` is absolute and without links. ERR_BAD_REQUEST: there is no .git in it, no commit, or its repository is elsewhere and does not name it as
 * its own, as git does of a worktree (worktrees/NAME/gitdir) and of a submodule (core.worktree).
 */
int repository_find(const char *folder, struct repository *repository, struct err *e);

void repository_finish(struct repository *repository);

/* Would a new branch, or why there is none, be written where a link leads, or what the branch's file names? ERR_BAD_REQUEST. */
int repository_check_links(const struct repository *repository, const char *branch, struct err *e);

/* Do the repository's own settings name a hook of what is done to make a branch? A git of 2.54 and later runs it, wherever it is told to look for others. */
bool repository_has_programs(const char *folder);

#endif
