/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which of the two forms of an answer a client takes: JSON, or a stream of events (RFC 9110, 12.5.1). Owner: session/front. No threads.
 */
#ifndef FRONT_ACCEPT_H
#define FRONT_ACCEPT_H

#include <stdbool.h>

/* What the ranges so far say of one type. */
struct accept_of {
	int closeness;  /* of the closest range: 0 none, 1 of all types, 2 of its main type, 3 its own */
	bool taken;     /* by it: its weight is not 0 */
};

/* Zero-initialised: no such field was sent, and everything is taken. */
struct accept {
	bool named; /* some range was */
	struct accept_of json, events, tar;
};

/* Adds one Accept field: what cannot be read of it does not count. */
void accept_add(struct accept *accept, const char *value);

bool accept_json(const struct accept *accept);   /* application/json */
bool accept_events(const struct accept *accept); /* text/event-stream */
bool accept_names_tar(const struct accept *accept); /* application/x-tar, by its name */

#endif
