/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the front serves with, as the operator asked for it: listening sockets, certificate and key, names of hosts. */
#ifndef WARDEN_SERVE_H
#define WARDEN_SERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/warden/listen.h"
#include "session/warden/options.h"

/* Copies of a certificate with its chain and of its key, which only the front looks into; -1 is none. */
struct pem_pair {
	int certificate, key;
};

struct serve {
	struct listener listeners[LIMIT_LISTENERS];
	size_t n_listeners;
	struct pem_pair tls;              /* what the front serves with; without TLS nothing */
	struct pem_pair asked;            /* read later, and not taken by the front yet */
	bool front_serves;                /* the front that runs has come up, with `tls` */
	bool proven;                      /* one has */
	const struct options *options;    /* borrowed */
};

/* Opens all that the options name; they must outlive it. What is open after a failure is closed by serve_close. */
int serve_open(struct serve *serve, const struct options *options, struct err *e);

/* Sends it to a front that was just started. */
int serve_tell(struct serve *serve, int sock, struct err *e);

/* Reads certificate and key again and sends them, if there is TLS; else nothing. The front that runs, and each that is started, goes on with
 * the old ones until it has taken them. */
int serve_renew(struct serve *serve, int sock, struct err *e);

/* The front serves with what it was sent last. */
void serve_taken(struct serve *serve, int sock);

/* Closes everything and removes the files of Unix sockets. */
void serve_close(struct serve *serve);

/* The URL that a browser can open, or NULL. */
const char *serve_browser_url(const struct serve *serve);

#endif
