/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of hosts to addresses, by c-ares on the loop: the resolver of the C library would block it. Owner: sandbox/egress. One thread. */
#ifndef EGRESS_RESOLVE_H
#define EGRESS_RESOLVE_H

#include <stdint.h>
#include <sys/socket.h>

#include "session/base/limits.h"
#include "session/base/loop.h"

struct resolved {
	struct resolved_address {
		struct sockaddr_storage at; /* of IPv4 or IPv6, port 0 */
		socklen_t len;
	} list[LIMIT_EGRESS_ADDRESSES];
	size_t n; /* what a name has beyond these is left out */
};

/*
 * Looks a name up in /etc/hosts and asks the servers of /etc/resolv.conf, as these are now, once. The name is taken as it is: no domain is searched. Runs in a
 * coroutine. ERR_NOT_FOUND when it has no address, ERR_TIMEOUT, ERR_CANCELLED, ERR_INTERNAL.
 */
int resolve_name(struct loop *loop, const char *name, int64_t deadline_ms, struct resolved *out, struct err *e);

/* The same with the host's search domains; *addresses are "192.0.2.1,[2001:db8::1]", malloced, the caller's. */
int resolve_host(struct loop *loop, const char *host, int64_t deadline_ms, char **addresses, struct err *e);

#endif
