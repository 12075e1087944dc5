/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Signatures of what is sent to the operator's own receivers. Owner: sandbox/egress. No threads. */
#ifndef EGRESS_SIGN_H
#define EGRESS_SIGN_H

#include <stddef.h>
#include <stdint.h>

/* "t=SECONDS,v1=" and 64 hexadecimal digits. */
#define SIGN_SIZE 104

/* Writes the value of Glovebox-Signature: HMAC-SHA256 with `key` over "SECONDS.BODY". Returns out. */
char *sign_body(const char *key, int64_t seconds, const char *body, size_t len, char out[SIGN_SIZE]);

#endif
