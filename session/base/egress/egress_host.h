/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a host of the outside may be written as, in entries of allow lists and in requests of a session's programs: a name in ASCII, or an
 * address in its one usual spelling. Owner: session/base. No threads.
 */
#ifndef BASE_EGRESS_HOST_H
#define BASE_EGRESS_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EGRESS_HOST_SIZE 256

enum egress_host_kind {
	EGRESS_HOST_NAME,  /* ok.test */
	EGRESS_HOST_V4,    /* 192.0.2.1 */
	EGRESS_HOST_V6,    /* [2001:db8::1]; `text` is without brackets, in its shortest form */
	EGRESS_HOST_LOCAL, /* localhost, and all below it */
	EGRESS_HOST_ODD,   /* an address in a spelling that only some take for one: 127.1, 0x7f.1, 2130706433, [fe80::1%25lo] */
	EGRESS_HOST_BAD,   /* neither: a character, a label or a length that no name has; `text` is empty */
};

struct egress_host {
	enum egress_host_kind kind;
	char text[EGRESS_HOST_SIZE]; /* in lower case, without a dot at its end */
	uint8_t address[16];         /* of V4 the first four bytes; network order */
};

/*
 * Reads a host of `len` bytes, which may hold anything. One dot at the end of a name is taken off. Names are letters, digits, "-" and "_" in labels of
 * 1..63, at most 253 together; of other alphabets only their A-labels (xn--…).
 */
void egress_host_read(const char *text, size_t len, struct egress_host *out);

/* The host that these 4 or 16 bytes are the address of. */
void egress_host_of_address(const uint8_t *bytes, size_t len, struct egress_host *out);

/* "host:port", with brackets where IPv6 needs them, without a port that is `usual`. */
#define EGRESS_AUTHORITY_SIZE (EGRESS_HOST_SIZE + 9)
const char *egress_host_authority(const struct egress_host *host, uint16_t port, uint16_t usual, char out[EGRESS_AUTHORITY_SIZE]);

/* A decimal port of 1..65535, all of the text; 0 if it is none. */
uint16_t egress_port_read(const char *text, size_t len);

#endif
