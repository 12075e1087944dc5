/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Zip archives (PKWARE APPNOTE 6.3), as far as journals need them: entries that are stored or deflated, below 4 GiB, in one file.
 *
 * The reader trusts nothing: it reads the directory at the end, refuses what does not fit together, names that are no plain relative paths,
 * and names that come twice, and never makes a file of an entry. Owner: session/replay. No threads.
 */
#ifndef REPLAY_ZIP_H
#define REPLAY_ZIP_H

#include <stddef.h>
#include <stdint.h>

#include "session/replay/source.h"

struct zip;

/* Reads the directory of `file` (taken, also on failure). ERR_BAD_REQUEST: it is no zip, is damaged, or is of a kind that is not read. */
int zip_open(struct source file, struct zip **out, struct err *e);
void zip_close(struct zip *zip); /* NULL is fine */

size_t zip_n_entries(const struct zip *zip);
const char *zip_name(const struct zip *zip, size_t entry); /* borrowed, valid UTF-8 */

/*
 * The content of an entry, at most max bytes, into *out (the caller's). One that is deflated is unpacked into memory and its sum checked;
 * one that is stored is a part of the file, on a descriptor of its own, or a copy. ERR_TOO_LARGE, ERR_BAD_REQUEST.
 */
int zip_read(const struct zip *zip, size_t entry, uint64_t max, struct source *out, struct err *e);

struct zip_writer;

/* Writes an archive to fd (stays the caller's), which is empty. All times in it are 1980-01-01: the same content is the same bytes. */
struct zip_writer *zip_writer_create(int fd);

/* Adds an entry, stored as it is: all of `content`. ERR_INTERNAL: it could not be written, or is too large for this kind of archive. */
int zip_writer_add(struct zip_writer *writer, const char *name, const struct source *content, struct err *e);

/* The same of `len` bytes of memory. */
int zip_writer_add_bytes(struct zip_writer *writer, const char *name, const void *data, size_t len, struct err *e);

/* Writes the directory. Nothing may be added after that. */
int zip_writer_finish(struct zip_writer *writer, struct err *e);
void zip_writer_destroy(struct zip_writer *writer); /* NULL is fine */

#endif
