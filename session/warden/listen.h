/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The listening socket of the API, which the warden makes and the front serves. */
#ifndef WARDEN_LISTEN_H
#define WARDEN_LISTEN_H

#include <stddef.h>

#include "session/base/err.h"

/*
 * Listens on "ADDR:PORT" ("[::1]:PORT" for IPv6, "localhost"). Only loopback addresses: others need TLS, which this version does not
 * have. *fd is the caller's; url gets "http://ADDR:PORT" with the port that was picked. ERR_BAD_REQUEST for a malformed address,
 * ERR_CONFLICT with the holder's pid and program for a taken port.
 */
int listen_open(const char *where, int *fd, char *url, size_t url_size, struct err *e);

#endif
