/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A workspace: a folder of this machine that is copied into a session, and what was changed in it. What was sent is kept in
 * ~/.local/share/glovebox/workspaces/ID.tar, to compare with, until the session is removed. Owner: session/cli. No threads.
 */
#ifndef CLI_WORKSPACE_H
#define CLI_WORKSPACE_H

#include "session/cli/cli.h"

/* Packs the folder of --workspace, and says what and how much; *archive is -1 without that option. ERR_BAD_REQUEST. */
int workspace_pack(const struct args *args, int *archive, struct err *e);

/* Sends it to the session that was made, or to each of several; an exit status. */
int workspace_send(struct cli *cli, const json_t *answer, int archive);

/* Deletes what was kept of what was sent to a session, which has ended. */
void workspace_forget(const char *id);

#endif
