/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Outward connections: a host is looked up once, each of its addresses is checked, and exactly those are connected to. Owner: sandbox/egress. One thread. */
#ifndef EGRESS_DIAL_H
#define EGRESS_DIAL_H

#include <netinet/in.h>

#include "sandbox/egress/address.h"
#include "session/base/egress/egress_host.h"
#include "session/base/loop.h"

struct dialed {
	int fd;                          /* does not block; the caller's */
	char address[INET6_ADDRSTRLEN];  /* that it goes to; when all were refused, the last one of them; "" before one is known */
	const char *refusal;             /* set with ERR_FORBIDDEN: what that address is ("a private address") */
};

/*
 * Runs in a coroutine. `host` is a name or an address of the usual spelling. Further addresses are tried when one fails, or after LIMIT_EGRESS_NEXT_MS beside it. ERR_FORBIDDEN: no
 * address of it may be reached; ERR_NOT_FOUND: it has none; ERR_GONE: none of them answers, with sys_errno of the last one; ERR_TIMEOUT, ERR_CANCELLED, ERR_INTERNAL.
 */
int dial_host(struct loop *loop, const struct egress_host *host, uint16_t port, const struct address_list *permitted, int64_t deadline_ms, struct dialed *out,
              struct err *e);

/* ERR_FORBIDDEN: the host is an address that may not be reached. Nothing is looked up. */
int dial_check(const struct egress_host *host, const struct address_list *permitted, struct err *e);

#endif
