/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the front serves with, as the operator asked for it: listening sockets, certificate and key, names of hosts. */
#ifndef WARDEN_SERVE_H
#define WARDEN_SERVE_H

#include <stddef.h>
#include <stdint.h>

#include "session/warden/listen.h"
#include "session/warden/options.h"

struct serve {
	struct listener listeners[LIMIT_LISTENERS];
	size_t n_listeners;
	int certificate, key;             /* open files, which only the front reads; -1 without TLS */
	const struct options *options;    /* borrowed */
};

/* Opens all that the options name; they must outlive it. What is open after a failure is closed by serve_close. */
int serve_open(struct serve *serve, const struct options *options, struct err *e);

/* Sends it to a front that was just started. */
int serve_tell(const struct serve *serve, int sock, struct err *e);

/* Opens certificate and key again and sends them too, if there is TLS; else nothing. The old ones stay open when they cannot be opened. */
int serve_renew(struct serve *serve, int sock, struct err *e);

/* Closes everything and removes the files of Unix sockets. */
void serve_close(struct serve *serve);

/* The URL that a browser can open, or NULL. */
const char *serve_browser_url(const struct serve *serve);

#endif
