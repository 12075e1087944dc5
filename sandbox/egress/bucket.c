/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is taken moves one moment on: there is nothing to fill by a timer. */
#include "sandbox/egress/bucket.h"

#define SAVED_US 250000
#define US 1000000

int64_t bucket_take(struct bucket *bucket, uint64_t bytes, int64_t now_us)
{
	int64_t from = now_us - SAVED_US;

	if (bucket->bytes_s == 0)
		return now_us;
	if (bucket->free_us < from)
		bucket->free_us = from;
	bucket->free_us += (int64_t)(bytes * US / bucket->bytes_s);
	return bucket->free_us > now_us ? bucket->free_us : now_us;
}
