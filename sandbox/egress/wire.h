/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stream of bytes to one peer: a socket, or TLS over it once tls.h has begun that. One coroutine may read while another writes. Owner: sandbox/egress. One
 * thread. Deadlines are monotonic milliseconds; ERR_TIMEOUT and ERR_CANCELLED as in co.h; ERR_GONE for what the peer or the network did.
 */
#ifndef EGRESS_WIRE_H
#define EGRESS_WIRE_H

#include <openssl/types.h>
#include <sys/types.h>

#include "session/base/co.h"
#include "session/base/loop.h"

struct wire;

/* Takes the connected socket, which does not block, and closes it in the end. */
struct wire *wire_create(struct loop *loop, int fd);

/* Closes it without a word; NULL is fine. Nobody may wait in it. */
void wire_destroy(struct wire *wire);

/* At least one byte, at most max; 0 when the peer has ended its direction. -1 with an error: TLS that ends without saying so is one. */
ssize_t wire_read(struct wire *wire, void *bytes, size_t max, int64_t deadline_ms, struct err *e);

/* All of them. 0 or -1. */
int wire_write(struct wire *wire, const void *bytes, size_t len, int64_t deadline_ms, struct err *e);

/* They are read once more, before what comes from the peer: whoever read too far gives back. Not while others are there. Copied. */
void wire_unread(struct wire *wire, const void *bytes, size_t len);

/* Nothing will be written any more: the peer is told. */
void wire_shut(struct wire *wire);

/* Begins TLS over it with a session that is set up; takes that, also when it fails. From then on its bytes are what is within. */
int wire_begin_tls(struct wire *wire, SSL *ssl, bool accepts, int64_t deadline_ms, struct err *e);

/* Signals the event once the peer has ended its direction, or all of it, while nobody reads or writes; NULL: no more. */
void wire_watch_end(struct wire *wire, struct co_event *event);

/* It has, as far as that was watched. */
bool wire_has_ended(const struct wire *wire);

/* NULL before. Borrowed. */
SSL *wire_tls(const struct wire *wire);

#endif
