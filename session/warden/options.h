/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line of gloveboxd. */
#ifndef WARDEN_OPTIONS_H
#define WARDEN_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/base/err.h"
#include "session/base/limits.h"

#define OPTIONS_MANY LIMIT_HOSTS

/* The values of an option that may be given again. */
struct options_list {
	const char *items[OPTIONS_MANY];
	size_t n;
};

/* Pointers into argv, or the defaults; NULL where there is none. */
struct options {
	struct options_list listen, hosts;
	const char *state, *images, *config, *webhooks, *ceilings;
	const char *entered;             /* --entered UID: by the server to itself, see user.h */
	const char *tls_cert, *tls_key;  /* both or none */
	bool insecure;                   /* --insecure-plain-http */
	const char *request_timeout;
	uint32_t request_ms;
	enum options_wish { OPTIONS_RUN, OPTIONS_CHECK_CONFIG, OPTIONS_PROBE, OPTIONS_VERSION, OPTIONS_HELP } wish;
};

/* Reads the command line: "--name VALUE" or "--name=VALUE". The last of several holds, but of those that may be
 * given again. -1 for what is unknown, without its value, out of its range or given too often. */
int options_parse(struct options *options, int argc, char **argv, struct err *e);

/* The text of --help. */
extern const char options_help[];

#endif
