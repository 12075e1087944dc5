/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of a session, as words of the command line: ID:PATH, from the home on or absolute. Owner: session/cli. No threads. */
#ifndef CLI_FILES_H
#define CLI_FILES_H

#include "session/cli/cli.h"

/* Is it such a word? What has a slash before its first colon is a file of this machine. */
bool files_is_remote(const char *word);

/* The path of the API, malloced. ERR_BAD_REQUEST. */
int files_path(const char *word, char **path, struct err *e);

/* A file without a name, for an archive. ERR_BAD_REQUEST. */
int files_temporary(int *fd, struct err *e);

/* Fetches a folder of a session as an archive into such a file. An exit status, as cli_call. */
int files_fetch_folder(struct cli *cli, const char *path, int archive);

/* Sends an archive, from its start, to be unpacked there. */
int files_send_folder(struct cli *cli, const char *path, int archive, struct client_reply *reply);

/* Tells a person what a folder_report has as left out. */
void files_show_left_out(const json_t *left_out);

#endif
