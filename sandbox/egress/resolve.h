/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of hosts to addresses, by c-ares on the loop: the resolver of the C library would block it. Owner: sandbox/egress. One thread. */
#ifndef EGRESS_RESOLVE_H
#define EGRESS_RESOLVE_H

#include <stdint.h>

#include "session/base/loop.h"

/*
 * Looks a name up in /etc/hosts and asks the servers of /etc/resolv.conf, as these are now. *addresses are "192.0.2.1,[2001:db8::1]", malloced,
 * the caller's. Runs in a coroutine. ERR_NOT_FOUND when it has none, ERR_TIMEOUT, ERR_CANCELLED, ERR_INTERNAL.
 */
int resolve_host(struct loop *loop, const char *host, int64_t deadline_ms, char **addresses, struct err *e);

#endif
