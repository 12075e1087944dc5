/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Server-sent events (HTML standard, part 9.2) taken apart as they arrive: the data of each event. Names and ids of events, comments and
 * reconnection times are passed over: what is read with it is the answer to one request. Owner: session/cli. No threads.
 */
#ifndef CLI_SSE_H
#define CLI_SSE_H

#include <stdbool.h>

#include "session/cli/buffer.h"

/* Zeroed memory is a stream of which nothing has come. */
struct sse {
	struct buffer line, data;
	bool has_data;  /* the event that comes has some */
	bool after_cr;  /* the last byte was a CR: an LF right after it belongs to it */
};

/* The lines of data of one event, with LF between them. */
typedef void sse_fn(void *arg, const char *data, size_t len);

/* Takes the next bytes and calls fn for each event that is complete. -1 when a line or an event is longer than `max` bytes. */
int sse_take(struct sse *sse, const char *bytes, size_t len, size_t max, sse_fn *fn, void *arg);
void sse_finish(struct sse *sse);

#endif
