/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The link between the front and glovebox-egress in its role of webhooks: records on SOCK_SEQPACKET, struct hook_event from the front,
 * struct hook_report back. The warden keeps both ends, so that either process can be started again with nothing of the link lost.
 *
 * The front says what happened and never where that goes: targets and signing keys are in a file that glovebox-egress alone reads.
 */
#ifndef EGRESS_HOOK_H
#define EGRESS_HOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/base/limits.h"

/* Kinds of events, in the order of their bits in struct target. */
#define HOOK_EVENTS "lease", "approval", "session"
#define HOOK_N_EVENTS 3

/* Strings are NUL-terminated; only the first `len` bytes of the body are sent. */
struct hook_event {
	uint32_t kind;    /* its place in HOOK_EVENTS */
	uint32_t len;
	char session[32]; /* those of one session are delivered in order */
	char id[40];      /* the same at each try and for each target */
	char body[LIMIT_HOOK_BYTES]; /* JSON, as it is signed and sent */
};

/* Is what came, `len` bytes of it, an event? Its texts end, then. */
bool hook_check(struct hook_event *event, size_t len);

/* What came of deliveries since the last report. */
struct hook_report {
	uint32_t delivered;
	uint32_t failed;  /* given up */
	uint32_t dropped; /* there was no room for them */
};

#endif
