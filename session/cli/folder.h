/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Folders of this machine as archives, and archives as folders. What is packed is the user's own, read with the user's rights; what is unpacked came out of a
 * session and is anybody's: it goes into a new folder, through no link, and nothing of it is called .git. Owner: session/cli. No threads.
 */
#ifndef CLI_FOLDER_H
#define CLI_FOLDER_H

#include <jansson.h>
#include <stdbool.h>

#include "session/base/tar.h"

/* What became of one. Lists of names are the caller's references. */
struct folder_report {
	size_t n;         /* files, folders and links that were taken */
	uint64_t bytes;   /* of files */
	json_t *left_out; /* ["NAME: why"…] */
};

/* Of a workspace: keys and credentials stay here, unless they are named, and .git is read-only and without hooks. */
struct folder_rules {
	bool is_workspace;
	const char *const *named; /* paths within it that are taken all the same; ends in NULL */
};

/* Writes the archive of a folder to a file. ERR_BAD_REQUEST when it cannot be read or written. */
int folder_pack(const char *folder, const struct folder_rules *rules, int out, struct folder_report *report, struct err *e);

/* Is an entry to be unpacked? */
typedef bool folder_wants_fn(void *arg, const struct tar_entry *entry);

/* Unpacks an archive, from the start of the file, into a folder that must not be there yet. `wants` NULL: all. ERR_BAD_REQUEST. */
int folder_unpack(int archive, const char *folder, folder_wants_fn *wants, void *arg, struct folder_report *report, struct err *e);

/* Is this what git, or a file system that git runs on, could take for ".git"? */
bool folder_is_git(const char *part, size_t len);

/* The same of any part of a path; and where the first of them ends, or NULL. */
bool folder_has_git(const char *path);
const char *folder_git_end(const char *path);

/* Reads an archive from the start of a file. ERR_BAD_REQUEST, and what the functions return. */
int folder_read(int archive, const struct tar_ops *ops, struct err *e);

/* Each entry of an archive: {"NAME": "what it is"}; files by a digest of their content. ERR_BAD_REQUEST. */
int folder_digest(int archive, json_t **entries, struct err *e);

#endif
