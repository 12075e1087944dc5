/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The operator's file of webhooks: where events go, the keys that sign them, and which addresses of its own networks may be reached. It
 * is read once, at the start, and checked whole. Addresses may hold secrets, too: a log names a target by its number and host.
 * Owner: sandbox/egress. No threads.
 */
#ifndef EGRESS_TARGETS_H
#define EGRESS_TARGETS_H

#include <jansson.h>

#include "sandbox/egress/address.h"
#include "session/base/faults.h"

struct target {
	char name[128];      /* "webhook 1 (hooks.example.org)" */
	const char *url, *key;
	char host[256];      /* "hooks.example.org", "192.0.2.1", "::1" */
	char port[8];
	bool is_plain;       /* http: its address must be this machine's */
	unsigned events;     /* a bit for each of HOOK_EVENTS */
};

struct targets {
	json_t *document;
	struct target *list;
	size_t n;
	struct address_list allowed;
	const char *ca;      /* certificates in PEM that are trusted instead of the host's, or NULL */
	int tries;           /* of one delivery */
};

/* Reads the file from the beginning of `fd`, which stays the caller's. Keys and addresses are in no text of an error. */
int targets_read(int fd, struct targets *targets, struct faults *faults);
void targets_finish(struct targets *targets);

/* gloveboxd --check-config: the whole program. Says on standard output what is in the file called `name`, or on standard error what is wrong
 * with it. Returns the exit status. */
int targets_check_only(int fd, const char *name);

#endif
