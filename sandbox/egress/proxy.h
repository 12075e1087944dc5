/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The way out of one session: its programs' connections come in by a Unix socket, which is who they are; its stage says what they may reach.
 * Owner: glovebox-egress of a session. One thread.
 */
#ifndef EGRESS_PROXY_H
#define EGRESS_PROXY_H

#include "sandbox/egress/address.h"
#include "sandbox/egress/asks.h"
#include "sandbox/egress/inject.h"
#include "sandbox/egress/meter.h"
#include "sandbox/egress/policy.h"
#include "sandbox/egress/talk.h"
#include "session/base/loop.h"

struct guest;

struct proxy {
	struct loop *loop;
	struct talk *talk;
	struct asks *asks;
	struct inject *inject;
	struct policy policy;
	uint64_t n_policies;           /* so far: the number of the one that is in force */
	uint32_t ceiling;
	struct address_list permitted; /* networks of the operator's own that may be reached where the list names the host */
	struct meter meter;
	struct bucket dials;           /* of them one is taken for each */
	size_t n_open;                 /* outward connections */
	uint64_t allowed, denied;      /* decisions so far */
	struct guest *guests;          /* connections of the session's programs */
	size_t n_guests;
	int listen;
	struct loop_source *listening; /* NULL while there are too many */
	struct loop_timer *again;      /* of accepting, when the machine has no room */
	struct loop_timer *report;     /* of the usage, when it has changed */
	int64_t reported_ms;
};

/* Something of its numbers has changed: the stage is told, once a second at most. */
void proxy_changed(struct proxy *proxy);

/* A guest's connection has ended: there is room for another one. */
void proxy_make_room(struct proxy *proxy);

/* The whole program, from the labels of the warden to its end: the exit status. */
int proxy_main(void);

#endif
