/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One coroutine waits for what it has read itself, so that who reads slowly keeps nobody from his share. */
#include "sandbox/egress/meter.h"

#include "session/base/util.h"

bool meter_is_full(const struct meter *meter)
{
	return meter->cap > 0 && meter->up + meter->down >= meter->cap;
}

int meter_pay(struct meter *meter, enum meter_way way, size_t bytes, struct err *e)
{
	int64_t now_us = util_now_us(), from_us = bucket_take(&meter->bucket, bytes, now_us);

	if (way == METER_UP)
		meter->up += bytes;
	else
		meter->down += bytes;
	if (meter->cap > 0 && meter->up + meter->down > meter->cap)
		return err_set(e, ERR_LIMIT, NULL, "cap: bytes");
	/* What is waited for is the time. */
	if (from_us > now_us && co_wait_event(&meter->changed, util_now_ms() + (from_us - now_us + 999) / 1000, e) < 0 && e->code != ERR_TIMEOUT)
		return -1;
	return 0;
}

void meter_limit(struct meter *meter, uint64_t bytes_s, uint64_t cap)
{
	meter->cap = cap;
	if (meter->bucket.bytes_s == bytes_s)
		return;
	meter->bucket = (struct bucket){.bytes_s = bytes_s};
	co_signal(&meter->changed);
}
