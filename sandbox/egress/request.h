/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a request of a session's program asks for: CONNECT, a request with an address (http://…), or on an intercepted connection one with a path. All
 * that may be read in two ways is refused before anything is judged or looked up. Owner: sandbox/egress. No threads.
 */
#ifndef EGRESS_REQUEST_H
#define EGRESS_REQUEST_H

#include "sandbox/egress/body.h"
#include "sandbox/egress/head.h"
#include "session/base/egress/egress_host.h"

/* Texts are borrowed from the head. */
struct request {
	const char *method;
	struct egress_host host;
	uint16_t port;
	const char *target;   /* path with query, from "/" on; of CONNECT NULL */
	char path[LIMIT_HEAD_BYTES]; /* without the query */
	struct body body;
	bool is_connect;
	bool is_v11;
	bool keeps;           /* the client's connection goes on behind it */
	bool expects;         /* it waits for 100 before it sends its body */
	bool wants_websocket;
	bool says_other;      /* a field names another method or path than the first line */
};

/* Whom an intercepted connection goes to. */
struct request_peer {
	const struct egress_host *host;
	uint16_t port;
};

/* NULL, or what is wrong: a constant. `peer` is NULL for requests to a proxy. */
const char *request_read(const struct head *head, const struct request_peer *peer, struct request *out);

/* Reads "host:port" or "host", where `fallback` is the port (0: there must be one). The host may be of any kind but BAD; false for all else. */
bool request_authority(const char *text, size_t len, uint16_t fallback, struct egress_host *host, uint16_t *port);

#endif
