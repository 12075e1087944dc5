/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * TLS before HTTP: what comes encrypted from a socket goes plain through a socketpair, and back.
 *
 * libmicrohttpd's own TLS takes a whole core while one client is silent in its handshake, so it never sees any. Nothing here is kept
 * beyond one record and what the kernel holds: each side is read only when the other takes more. TLS 1.2 and 1.3, HTTP/1.1 by ALPN, no
 * resumption, no renegotiation, no client certificates. Owner: session/front. One thread.
 */
#ifndef FRONT_TLS_H
#define FRONT_TLS_H

#include <stdbool.h>

#include "session/base/loop.h"

struct tls;        /* a certificate and its key */
struct tls_stream; /* one connection */

/*
 * Reads certificate (with its chain) and key, in PEM, from the beginning of two files, which stay the caller's. The buffers are locked in
 * memory and wiped; GnuTLS keeps its own copy of the key. ERR_BAD_REQUEST when one cannot be read, they do not belong together, or the
 * certificate is not valid now, unless it is `proven`: then it was when the server began with it. One that ends within two weeks is
 * logged.
 */
struct tls *tls_create(int certificate, int key, bool proven, struct err *e);
void tls_unref(struct tls *tls); /* NULL is fine; streams that live keep it */

struct tls_stream_ops {
	/* The handshake is done: `plain` is the other end, the callee's. */
	void (*open)(void *arg, int plain);
	/* It has ended, by itself, and is freed when this returns. */
	void (*closed)(void *arg);
};

/* Takes an accepted socket (non-blocking). The handshake must be done at `deadline_ms`. Calls back from the loop only. */
struct tls_stream *tls_accept(struct tls *tls, struct loop *loop, int fd, int64_t deadline_ms, const struct tls_stream_ops *ops,
                              void *arg);

/*
 * While `watched`, a peer that ends its sending half is passed on at once, even before what it sent was taken: nobody reads the plain end
 * then, but somebody waits for EPOLLRDHUP there.
 */
void tls_watch(struct tls_stream *stream, bool watched);

/* The plain end was closed: what is on its way still goes out until `deadline_ms`. */
void tls_finish(struct tls_stream *stream, int64_t deadline_ms);

/* Ends it at once, without `closed`. */
void tls_abort(struct tls_stream *stream);

#endif
