/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One try to deliver one event to one target. Owner: sandbox/egress. One thread. */
#ifndef EGRESS_POST_H
#define EGRESS_POST_H

#include "sandbox/egress/hook.h"
#include "sandbox/egress/targets.h"
#include "sandbox/egress/transfers.h"

enum post_result {
	POST_DELIVERED, /* answered with 2xx */
	POST_LATER,     /* not answered, or with 408, 429 or 5xx: worth another try */
	POST_REFUSED,   /* answered with anything else, redirects too, or at an address that must not be reached */
};

/* What delivering needs; all borrowed. */
struct poster {
	struct loop *loop;
	struct transfers *transfers;
	const struct targets *targets;
	const char *ca; /* a file of trusted certificates */
};

/*
 * Signs the event for this moment and sends it. Runs in a coroutine, for at most LIMIT_HOOK_MS. `why` says what is wrong, without address and
 * key; it is "" when it was delivered.
 */
enum post_result post_event(const struct poster *poster, const struct target *target, const struct hook_event *event, char *why, size_t size);

#endif
