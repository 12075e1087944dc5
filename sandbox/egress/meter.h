/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a session's traffic amounts to, and how fast and how much it may be. Owner: sandbox/egress. One thread. */
#ifndef EGRESS_METER_H
#define EGRESS_METER_H

#include "sandbox/egress/bucket.h"
#include "session/base/co.h"

struct meter {
	struct bucket bucket;
	uint64_t cap;           /* bytes, both ways together; 0: any */
	uint64_t up, down;      /* bytes so far */
	struct co_event changed; /* of the rate */
};

enum meter_way { METER_UP, METER_DOWN };

/*
 * Counts bytes that were read from one side, and waits, in a coroutine, until they may be written to the other. ERR_LIMIT when there have been more than the
 * cap; ERR_CANCELLED.
 */
int meter_pay(struct meter *meter, enum meter_way way, size_t bytes, struct err *e);

/* From now on; who waits for a former rate waits no longer. */
void meter_limit(struct meter *meter, uint64_t bytes_s, uint64_t cap);

/* The cap is used up. */
bool meter_is_full(const struct meter *meter);

#endif
