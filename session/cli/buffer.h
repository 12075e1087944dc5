/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bytes that come in pieces: at the end more are added, at the front they are taken away. Zeroed memory is an empty one.
 * Owner: session/cli. No threads.
 */
#ifndef CLI_BUFFER_H
#define CLI_BUFFER_H

#include <stddef.h>

struct buffer {
	char *data; /* len bytes from `start` on, and a NUL once there are any */
	size_t start, len, size;
};

/* What is in it: `len` bytes with a NUL behind them; "" when it is empty. Valid until the next change. */
const char *buffer_text(const struct buffer *buffer);

void buffer_add(struct buffer *buffer, const char *bytes, size_t len);
/* Takes the first `len` bytes away; there must be so many. */
void buffer_drop(struct buffer *buffer, size_t len);
/* Empties it and keeps its memory. */
void buffer_clear(struct buffer *buffer);
void buffer_finish(struct buffer *buffer);

#endif
