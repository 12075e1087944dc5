/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sessions of a server, as it lists them: which of them, and page by page. Owner: session/cli. No threads. */
#ifndef CLI_LIST_H
#define CLI_LIST_H

#include "session/cli/cli.h"

/* Adds what the options image and label (several) say to a path (malloced). ERR_BAD_REQUEST. */
int list_filter(const struct args *args, char **path, struct err *e);

/* All that are listed at `path`, in their order: an array, the caller's. As cli_call; *sessions is NULL unless it is CLI_DONE. */
int list_sessions(struct cli *cli, const char *path, json_t **sessions);

#endif
