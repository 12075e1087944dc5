/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SOCKS5 (RFC 1928) as far as this proxy speaks it: without authentication, CONNECT alone. Owner: sandbox/egress. No threads. */
#ifndef EGRESS_SOCKS_H
#define EGRESS_SOCKS_H

#include <sys/types.h>

#include "session/base/egress/egress_host.h"

#define SOCKS_VERSION 5

enum socks_reply {
	SOCKS_GRANTED = 0,
	SOCKS_FAILED = 1,
	SOCKS_NOT_ALLOWED = 2,
	SOCKS_NO_NETWORK = 3,
	SOCKS_NO_HOST = 4,
	SOCKS_REFUSED = 5,
	SOCKS_EXPIRED = 6,
	SOCKS_NO_COMMAND = 7,
	SOCKS_NO_ADDRESS_TYPE = 8,
};

#define SOCKS_GREETING_BYTES 2
#define SOCKS_REPLY_BYTES 10

/*
 * The client's greeting: how many bytes it has, 0 if more must be read, -1 if it is none. out is the answer, which takes "no authentication" (0)
 * or, when the client offers others alone, refuses (0xFF).
 */
ssize_t socks_greeting(const void *data, size_t len, uint8_t out[SOCKS_GREETING_BYTES]);

/*
 * The client's request: as above. On -1, *fault is what to reply. The host may be of any kind but BAD; names are taken by their length, whatever is in them.
 */
ssize_t socks_request(const void *data, size_t len, struct egress_host *host, uint16_t *port, enum socks_reply *fault);

/* A reply; the address in it is all zeroes, which clients pass over. */
void socks_reply(enum socks_reply reply, uint8_t out[SOCKS_REPLY_BYTES]);

#endif
