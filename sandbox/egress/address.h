/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where outward connections may go: addresses that anybody on the Internet could reach. Those of this host, of its networks and of clouds'
 * metadata services are refused, whatever form they are written in, unless the operator names them. Owner: sandbox/egress. No threads.
 */
#ifndef EGRESS_ADDRESS_H
#define EGRESS_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* The first `bits` of an address of IPv6; one of IPv4 is in its mapped form. */
struct address_prefix {
	uint8_t bytes[16];
	unsigned bits;
};

/* Reads "10.0.0.0/8", "192.0.2.1", "fd00::/8", "::1". False when it is none, or has bits behind its prefix. */
bool address_read_prefix(const char *text, struct address_prefix *out);

/* Prefixes of the operator's that may be reached all the same. */
struct address_list {
	struct address_prefix *list;
	size_t n;
};

/*
 * NULL if a connection may go to the address, else what it is, in a few words ("a private address"). Whether it is this host's own, or its
 * gateway's, the kernel is asked each time (route.h).
 */
const char *address_refusal(const struct sockaddr *address, socklen_t len, const struct address_list *allowed);

/* Is it this machine? */
bool address_is_loopback(const struct sockaddr *address);

#endif
