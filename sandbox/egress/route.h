/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the kernel would send something for an address: asked anew each time, so that what the host has become is known. Nothing is sent. Owner: sandbox/egress. No threads. */
#ifndef EGRESS_ROUTE_H
#define EGRESS_ROUTE_H

#include <stdbool.h>
#include <stdint.h>

enum route_kind {
	ROUTE_UNKNOWN, /* the kernel did not answer */
	ROUTE_NONE,    /* there is no way there */
	ROUTE_OUT,     /* to another machine */
	ROUTE_OWN,     /* to an address of this host, whichever of its interfaces has it */
	ROUTE_MANY,    /* to all in a network, or to any of several */
};

/* Of an address of IPv6; one of IPv4 is in its mapped form. `gateway`, of 16 bytes in the same form, is zeroed where the route has none; NULL is fine. */
enum route_kind route_to(const uint8_t address[16], uint8_t *gateway);

#endif
