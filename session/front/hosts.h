/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names that this server answers to: what Host and Origin may say. A web page can have its own name lead to this server's address
 * (DNS rebinding), so a name that nobody gave is refused. Owner: session/front. No threads.
 */
#ifndef FRONT_HOSTS_H
#define FRONT_HOSTS_H

#include <stdbool.h>
#include <stddef.h>

#include "session/base/err.h"
#include "session/base/limits.h"

/* An address that is listened on, or a name that the operator gave. */
struct host {
	char address[256]; /* "127.0.0.1", "[::1]" or a name */
	char port[8];      /* of a name: "" is any, as a proxy may have another */
	bool wildcard;     /* all addresses: any numeric one is then right */
};

/* Zero-initialised it knows nobody. */
struct hosts {
	struct host places[LIMIT_LISTENERS], names[LIMIT_HOSTS + LIMIT_CONFIG_HOSTS];
	size_t n_places, n_names;
	bool secure; /* it is served by TLS */
};

/* Adds a place that is listened on: "http://ADDRESS:PORT", "https://ADDRESS:PORT" or "unix:PATH" (which has no name). -1 with
 * ERR_INTERNAL when it is none of these. */
int hosts_listen(struct hosts *hosts, const char *url, struct err *e);

/*
 * Adds a name of the operator's: "NAME", good with every port, or "NAME:PORT" with that port alone (80 and 443 a client may leave out).
 * ERR_BAD_FIELD when it is not of that form, ERR_LIMIT when there are too many.
 */
int hosts_add(struct hosts *hosts, const char *name, struct err *e);

/* Is this the name or the numeric address of a host (IPv6 in brackets), without a port? */
bool hosts_is_name(const char *text);

/*
 * `value` is a Host field. Over TCP: an address that is listened on, localhost, 127.0.0.1 or [::1], with a port of ours, or a name that was
 * added. Over a Unix socket (`local`): localhost, 127.0.0.1 or [::1] with any port, or a name that was added.
 */
bool hosts_has(const struct hosts *hosts, const char *value, bool local);

/*
 * `origin` is an Origin field of a request with this Host, which is right. Over TCP: http:// or https:// as it is served, and one of
 * these hosts; with a name that was added either scheme, since TLS may end before us. Over a Unix socket: exactly that Host.
 */
bool hosts_has_origin(const struct hosts *hosts, const char *origin, const char *host, bool local);

/* Writes the hosts that are right, for a refusal. Returns out. */
char *hosts_describe(const struct hosts *hosts, bool local, char *out, size_t size);

#endif
