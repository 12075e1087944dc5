/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * glovebox-files from inside: finding places beneath the home and /tmp, and what is done there. Every path is looked up from a folder's descriptor, no symbolic
 * link of it is followed, and no mount is crossed. Owner: apps/files. One thread; blocks.
 */
#ifndef FILES_FILES_H
#define FILES_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "apps/files/proto.h"

/* --- talk.c: frames --- */

/* Sends a frame of up to two parts. -1: nobody reads. */
int talk_send(enum files_op op, const void *head, size_t head_len, const void *rest, size_t rest_len);

/* Reads the next frame's head, and its bytes into data[max]; 0, or -1 at end of file and for a frame that is too long. */
int talk_receive(struct files_head *head, void *data, size_t max);

/* The fault of a system call that has failed. */
enum files_fault talk_fault(int error);

/* Sends a whole pass of an open file: DATA, then PASS. What is not there any more is not sent. */
int talk_pass(int fd, const struct files_range *range);

/* Serves RANGE for an open file until another frame comes, whose op it returns; FILES_QUIT at end of file. */
enum files_op talk_ranges(int fd);

/* --- place.c --- */

/* A path, split; ended by place_finish. */
struct place {
	int root;       /* the home or /tmp */
	char *rel;      /* beneath it; "" is the root itself */
	char *name;     /* last segment of it, in `rel` */
};

/* The path must be absolute and beneath one of the roots. */
enum files_fault place_open(const char *path, struct place *out);
void place_finish(struct place *place);

/* Opens what a relative path of plain segments names ("" or ".": the folder itself); -1 with errno. */
int place_at(int folder, const char *rel, int flags, unsigned int mode);

/* The deepest folder on the way to the last segment that is there; *rest is what is left of `rel` from there, with the last segment. */
enum files_fault place_ancestor(const struct place *place, int *folder, const char **rest);

/* Makes the folders of a path but for its last segment, and opens the one that has it; *name is that segment. */
enum files_fault place_make(int folder, const char *path, int *parent, const char **name);

/* May a file, or link, take this name in the folder? FILES_FAULT_MISSING: nothing is there. */
enum files_fault place_check_file(int folder, const char *name, struct stat *st);

/* A new name that nothing has, for what is not whole yet. */
#define PLACE_TEMPORARY_SIZE 32
void place_temporary(char out[PLACE_TEMPORARY_SIZE]);

/* The names in a folder, sorted, malloced as one list that ends in NULL; NULL with errno. `fd` stays the caller's. ERANGE: more than `most`. */
char **place_names(int fd, size_t most, size_t *n);
void place_names_finish(char **names);

/* --- what is done; each sends its frames, and returns a fault to be sent, or none --- */
enum files_fault get_run(const char *path, bool head);
enum files_fault pack_run(const char *path);
enum files_fault put_run(const char *path, int mode, bool parents); /* mode -1: as it is, 0644 for a new one */
enum files_fault unpack_run(const char *path, bool parents, char why[ERR_MSG_MAX]);
enum files_fault drop_run(const char *path, bool tree);

/* Deletes what has this name in the folder, and all in it; *n counts. */
enum files_fault drop_tree(int parent, const char *name, uint32_t *n);

#endif
