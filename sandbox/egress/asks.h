/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Questions about a first connection to a host and port, which the stage answers, or a person through it. Owner: sandbox/egress. One thread. */
#ifndef EGRESS_ASKS_H
#define EGRESS_ASKS_H

#include <stdbool.h>
#include <stdint.h>

#include "sandbox/egress/wire.h"
#include "session/base/err.h"

struct asks;

/* `send` puts a question; `method` is what asks ("CONNECT", "GET"). `leave` says that nobody waits for its answer any more. */
struct asks_ops {
	void (*send)(void *arg, uint64_t id, const char *host, uint16_t port, const char *method);
	void (*leave)(void *arg, uint64_t id);
};

struct asks *asks_create(const struct asks_ops *ops, void *arg);

/* Who asks, for what. */
struct asks_want {
	const char *host;
	uint16_t port;
	const char *method;
	struct wire *client;
};

/*
 * Waits, in a coroutine, for the answer about this host and port, which others that wait for it get, too; one that held for the session is not asked for again. *allows is set at 0.
 * ERR_TIMEOUT when none came in EGRESS_ASK_MS from the question on, as whoever is asked counts, ERR_LIMIT when there are LIMIT_EGRESS_ASKS questions, ERR_GONE when the client has ended its direction and an
 * answer is not there at once, so that a person's yes is not used up by a program that has given up; ERR_CANCELLED.
 */
int asks_ask(struct asks *asks, const struct asks_want *want, bool *allows, struct err *e);

/* An answer; of a question that is not open it is nothing. */
void asks_answer(struct asks *asks, uint64_t id, bool allows, bool session);

/* What held for the session does no more. */
void asks_forget(struct asks *asks);

#endif
