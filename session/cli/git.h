/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * git in a folder of this machine, whose repository may be anybody's: without the caller's settings for another one (GIT_…), and without what the
 * repository's own settings would have it run or fetch. Owner: session/cli. No threads.
 */
#ifndef CLI_GIT_H
#define CLI_GIT_H

#include <stdbool.h>
#include <sys/types.h>

/* Starts it with these words, which end in NULL; `in` and `out` -1 are /dev/null. The pid, or -1. */
pid_t git_start(const char *folder, const char *const *words, int in, int out);

/* Waits for its end: was all well? */
bool git_ended_well(pid_t pid);

/* The one value that it says, malloced; NULL: it says none, or has failed. */
char *git_says(const char *folder, const char *const *words);

#endif
