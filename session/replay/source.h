/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bytes that are read at any place: a part of a file, or memory. Owner: session/replay. No threads.
 */
#ifndef REPLAY_SOURCE_H
#define REPLAY_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/base/err.h"

struct source {
	int fd;        /* owned; -1: the bytes are in memory */
	char *data;    /* owned */
	uint64_t from; /* where its bytes begin in the file */
	uint64_t len;  /* bytes */
};

/* All of a regular file, whose descriptor is taken. ERR_BAD_REQUEST: it is none, or has more than max bytes. */
int source_of_file(int fd, uint64_t max, struct source *out, struct err *e);

/* A descriptor of an empty file in TMPDIR (/var/tmp) that goes with it, or -1. ERR_INTERNAL. */
int source_temporary(struct err *e);

/* `len` malloced bytes, which are taken. */
struct source source_of_memory(char *data, size_t len);

void source_finish(struct source *source); /* zeroed by source_none is fine */

/* Nothing: no bytes and nothing to free. */
struct source source_none(void);

/* Exactly `len` bytes from `at` on. ERR_BAD_REQUEST: they are not all there. */
int source_read(const struct source *source, uint64_t at, void *out, size_t len, struct err *e);

/* All of it, malloced with a NUL behind it, the caller's. ERR_TOO_LARGE beyond max bytes. */
int source_read_all(const struct source *source, size_t max, char **out, struct err *e);

#endif
