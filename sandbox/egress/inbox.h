/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was read of a wire and not used yet. Owner: sandbox/egress. One thread. */
#ifndef EGRESS_INBOX_H
#define EGRESS_INBOX_H

#include "sandbox/egress/wire.h"

struct inbox {
	struct wire *wire; /* borrowed */
	char *data;
	size_t at, len;    /* `len` bytes from data + at */
	unsigned n_reads;
};

void inbox_init(struct inbox *inbox, struct wire *wire);
void inbox_finish(struct inbox *inbox); /* what is left is forgotten */

static inline const char *inbox_data(const struct inbox *inbox)
{
	return inbox->data + inbox->at;
}

/* Reads more behind what is there: 1, 0 at the end of it, -1 as wire_read; ERR_TOO_LARGE when there is no more room: LIMIT_HEAD_BYTES. What was borrowed moves. */
int inbox_more(struct inbox *inbox, int64_t deadline_ms, struct err *e);

/* The first bytes are used. */
void inbox_take(struct inbox *inbox, size_t len);

/* What is left goes back to the wire: whoever reads that next gets it. */
void inbox_give_back(struct inbox *inbox);

#endif
