/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * TLS on both sides of a host whose requests get a secret: towards the session with a certificate of its own authority, towards the host as any client, which
 * trusts what the machine trusts. HTTP/1.1 alone is spoken in it. Owner: sandbox/egress. One thread.
 */
#ifndef EGRESS_TLS_H
#define EGRESS_TLS_H

#include "sandbox/egress/ca.h"
#include "sandbox/egress/wire.h"

struct tls;

/* `trusted` is a file of certificates in PEM; it is read now. ERR_INTERNAL. */
struct tls *tls_create(const char *trusted, struct err *e);
void tls_destroy(struct tls *tls);

/* The authority that tls_accept signs with; borrowed, once. */
void tls_set_ca(struct tls *tls, const struct ca *ca);

/*
 * Takes the session's side of a connection that is for `host` (lower case): the server name must be it. Runs in a coroutine. ERR_FORBIDDEN for a host that the
 * authority is not for; else the errors of wire.h.
 */
int tls_accept(struct tls *tls, struct wire *wire, const char *host, int64_t deadline_ms, struct err *e);

/* The other side: the certificate must be the host's. Runs in a coroutine. */
int tls_connect(struct tls *tls, struct wire *wire, const char *host, int64_t deadline_ms, struct err *e);

#endif
