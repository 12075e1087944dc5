/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The origin of a page: scheme, host and port of its address (RFC 6454). Owner: session/base. No threads. */
#ifndef BASE_ORIGIN_H
#define BASE_ORIGIN_H

#include <stdbool.h>

#define ORIGIN_SIZE 288

/* Writes the origin of an address: "https://example.com", with the port where it is not the scheme's own, in lower case. False, and "" in out, for an address
 * that is not http or https, or is malformed: it has no origin that anything could be granted to. */
bool origin_of(const char *url, char out[ORIGIN_SIZE]);

/* The text is an origin as origin_of writes it. */
bool origin_is(const char *text);

#endif
