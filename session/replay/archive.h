/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Zip archives, by libzip, as far as journals need them: entries that are stored or deflated, below 4 GiB, in one file.
 *
 * The reader trusts nothing: it bounds what the directory may hold, refuses names that are no plain relative paths, names that come twice and entries
 * that are no files, and never makes a file of one. Owner: session/replay. No threads.
 */
#ifndef REPLAY_ARCHIVE_H
#define REPLAY_ARCHIVE_H

#include <stddef.h>
#include <stdint.h>

#include "session/replay/source.h"

struct archive;

/* Reads the directory of `file` (taken, also on failure). ERR_BAD_REQUEST: it is no zip, is damaged, or is of a kind that is not read. */
int archive_open(struct source file, struct archive **out, struct err *e);
void archive_close(struct archive *archive); /* NULL is fine */

size_t archive_n_entries(const struct archive *archive);
const char *archive_name(const struct archive *archive, size_t entry); /* borrowed, valid UTF-8 */

/* The content of an entry, at most max bytes, whose sum is right, into *out (the caller's): a temporary file. ERR_TOO_LARGE, ERR_BAD_REQUEST. */
int archive_read(const struct archive *archive, size_t entry, uint64_t max, struct source *out, struct err *e);

struct archive_writer;

/*
 * Makes an archive that will be the file `path`, in place of what is there, once archive_writer_finish succeeds; until then nothing is at that name that was
 * not before. All times in it are 1980-01-01: the same content is the same bytes. ERR_BAD_REQUEST: no file can be there; ERR_INTERNAL: there is no temporary file.
 */
int archive_writer_create(const char *path, struct archive_writer **out, struct err *e);

/* Adds an entry, stored as it is: all of `content`, which stays the caller's until the writer is destroyed. ERR_TOO_LARGE: it is too large for this kind of
 * archive; ERR_BAD_REQUEST. */
int archive_writer_add(struct archive_writer *writer, const char *name, const struct source *content, struct err *e);

/* The same of `len` bytes of memory, which are copied (into a temporary file). ERR_INTERNAL: they could not be written. */
int archive_writer_add_bytes(struct archive_writer *writer, const char *name, const void *data, size_t len, struct err *e);

/* Writes the file. Nothing may be added after that. ERR_BAD_REQUEST: it could not be written, or content could not be read. */
int archive_writer_finish(struct archive_writer *writer, struct err *e);
void archive_writer_destroy(struct archive_writer *writer); /* NULL is fine */

#endif
