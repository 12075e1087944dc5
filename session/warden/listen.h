/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The listening sockets of the API, which the warden makes and the front serves. */
#ifndef WARDEN_LISTEN_H
#define WARDEN_LISTEN_H

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#include "session/base/err.h"

/* Zero-initialised with fd -1 it is none. */
struct listener {
	int fd;
	char url[128]; /* "http://127.0.0.1:7070", with the port that was picked; "https://…"; "unix:/path" */
	ino_t ino;     /* of a Unix socket: the file that is to be removed; with the time it was made, since numbers are used again */
	struct timespec made;
};

/* How addresses are served. */
struct listen_way {
	bool tls;
	bool insecure; /* plain HTTP also where others can listen on the way */
};

/*
 * Listens on "ADDR:PORT" ("[::1]:PORT" for IPv6, "localhost") or "unix:PATH" (absolute). ERR_BAD_REQUEST for a malformed place,
 * ERR_UNSUPPORTED for an address that is not loopback without TLS, ERR_CONFLICT with the holder's pid and program for a taken port, and
 * for a path where somebody listens or that is no socket.
 *
 * A Unix socket that nobody listens on is replaced. It is for root alone (0600), or for the user behind sudo, to whom it belongs then.
 */
int listen_open(const char *where, const struct listen_way *way, struct listener *listener, struct err *e);

/* Closes it and removes the file of a Unix socket, unless another has taken its place. */
void listen_close(struct listener *listener);

#endif
