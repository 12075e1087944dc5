/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A rate of bytes that many share, in the order in which they ask. Owner: sandbox/egress. No threads. */
#ifndef EGRESS_BUCKET_H
#define EGRESS_BUCKET_H

#include <stdint.h>

struct bucket {
	uint64_t bytes_s; /* 0: any */
	int64_t free_us;  /* when all that was taken is paid for */
};

/* Takes so many; returns the moment (monotonic microseconds) from which they may be sent: now, for as long as a quarter of a second's bytes were saved. */
int64_t bucket_take(struct bucket *bucket, uint64_t bytes, int64_t now_us);

#endif
