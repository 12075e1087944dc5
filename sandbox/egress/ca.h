/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The certificate authority of one session: made for it, trusted inside of it alone, and good for the hosts alone whose requests get a secret (critical name
 * constraints, RFC 5280 part 4.2.1.10). Its key never leaves the process and the memory file that outlives a restart of it. Owner: sandbox/egress. No threads.
 */
#ifndef EGRESS_CA_H
#define EGRESS_CA_H

#include <openssl/types.h>
#include <stdbool.h>
#include <stddef.h>

#include "session/base/err.h"

struct ca;

/* Makes key and certificate. `hosts` are n names in lower case, at least one, of at most CA_HOST_MAX characters. ERR_INTERNAL. */
#define CA_HOST_MAX 253
struct ca *ca_create(const char *const *hosts, size_t n, struct err *e);
/* NULL is fine. */
void ca_destroy(struct ca *ca);

/* Is this one of its hosts? */
bool ca_covers(const struct ca *ca, const char *host);

/*
 * Writes it to the beginning of a file, and reads it from there: *out is NULL for a file of zeros. ERR_INTERNAL for a file that is too small, or holds
 * something else.
 */
int ca_save(const struct ca *ca, int fd, struct err *e);
int ca_load(int fd, struct ca **out, struct err *e);

/* Its certificate: in PEM, and in Base64 of DER without line ends. Malloced, the caller's. */
char *ca_pem(const struct ca *ca);
char *ca_base64(const struct ca *ca);

/* A certificate for one of its hosts with a key of its own, put into the context. ERR_FORBIDDEN for another host, ERR_INTERNAL. */
int ca_sign(const struct ca *ca, const char *host, SSL_CTX *context, struct err *e);

#endif
