/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses of clients, as far as they are counted. Owner: session/front. No threads. */
#ifndef FRONT_ADDRESS_H
#define FRONT_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>

/* Who a client is. */
struct address {
	struct in6_addr bytes; /* IPv4 in its mapped form; of IPv6 the network part alone, since a client has all of it */
	bool near;             /* loopback, or a Unix socket: all of this machine */
};

struct address address_of(const struct sockaddr *from);
bool address_same(const struct address *a, const struct address *b);

#endif
