/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Questions about a first connection to a host and port, which the stage answers, or a person through it. Owner: sandbox/egress. One thread. */
#ifndef EGRESS_ASKS_H
#define EGRESS_ASKS_H

#include <stdbool.h>
#include <stdint.h>

#include "session/base/err.h"

struct asks;

/* `send` puts a question; `method` is what asks ("CONNECT", "GET"). */
typedef void asks_send_fn(void *arg, uint64_t id, const char *host, uint16_t port, const char *method);

struct asks *asks_create(asks_send_fn *send, void *arg);

/*
 * Waits, in a coroutine, for the answer about this host and port, which others that wait for it get, too; one that held for the session is not asked for again. *allows is set at 0.
 * ERR_TIMEOUT when none came in EGRESS_ASK_MS from the question on, as whoever is asked counts, ERR_LIMIT when there are LIMIT_EGRESS_ASKS questions, ERR_CANCELLED.
 */
int asks_ask(struct asks *asks, const char *host, uint16_t port, const char *method, bool *allows, struct err *e);

/* An answer; of a question that is not open it is nothing. */
void asks_answer(struct asks *asks, uint64_t id, bool allows, bool session);

/* What held for the session does no more. */
void asks_forget(struct asks *asks);

#endif
