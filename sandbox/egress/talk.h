/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is said between a session's glovebox-egress and its stage (link.h). Owner: sandbox/egress. One thread. */
#ifndef EGRESS_TALK_H
#define EGRESS_TALK_H

#include <jansson.h>
#include <stdint.h>

#include "session/base/egress/egress_host.h"
#include "session/base/loop.h"

struct talk;

struct talk_ops {
	int (*policy)(void *arg, const json_t *policy, struct err *e); /* -1: it breaks the form, and the link ends */
	void (*verdict)(void *arg, uint64_t id, bool allows, bool session);
	void (*closed)(void *arg); /* the stage is gone, or broke the form */
};

/* Takes the descriptor. */
struct talk *talk_create(struct loop *loop, int fd, const struct talk_ops *ops, void *arg);
/* Not from a callback, nor while something waits. NULL is fine. */
void talk_destroy(struct talk *talk);

/* Waits, in a coroutine, until the stage has read enough of what it was told: before anything that it must be told about. ERR_TIMEOUT, ERR_CANCELLED. */
int talk_wait(struct talk *talk, int64_t deadline_ms, struct err *e);

struct talk_decision {
	const char *verdict;  /* "allow", "deny", "ask" */
	const struct egress_host *host; /* its text is empty, and port 0, where what was asked for has none */
	uint16_t port;
	/* NULL or "": there is none */
	const char *method;   /* of a request that could be read, or CONNECT */
	const char *rule, *address, *reason;
	const char *secret;   /* what was added to the request: its name, or names with commas */
};

void talk_decision(struct talk *talk, const struct talk_decision *decision);
void talk_closed(struct talk *talk, const struct egress_host *host, uint16_t port, uint64_t up, uint64_t down, int64_t ms);
void talk_ask(struct talk *talk, uint64_t id, const char *host, uint16_t port, const char *method);
void talk_left(struct talk *talk, uint64_t id);
void talk_ready(struct talk *talk, bool ca);

struct talk_usage {
	uint64_t connections, up, down, allowed, denied;
};

void talk_usage(struct talk *talk, const struct talk_usage *usage);

#endif
