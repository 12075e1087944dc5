/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The front's connections to this stage and the calls on them (link.h, call.h): one call at a time on a connection, and a connection that closes
 * cancels its call, unless that has a key. Owner: the stage. One thread.
 */
#ifndef STAGE_CONNECTION_H
#define STAGE_CONNECTION_H

#include "session/base/loop.h"
#include "session/stage/call.h"

struct connections;

struct connections_ops {
	json_t *(*hello)(void *arg);               /* the envelope of HELLO; a reference that is taken */
	void (*call)(void *arg, struct call *call); /* a whole call has come; of one whose body comes its envelope */
	bool (*comes)(void *arg, const struct call *call); /* is its body taken as it comes? NULL: none is */
	int (*check_answer)(void *arg, const struct call *call, struct err *e); /* may its answer leave? Else this refusal does; NULL: it may */
	json_t *(*pass)(void *arg, const struct call *call, const json_t *value); /* what may leave in place of this JSON; a reference that is taken; NULL: all */
	void *arg;
};

/* Accepts on listen_fd (taken). */
struct connections *connections_create(struct loop *loop, int listen_fd, const struct connections_ops *ops);
void connections_destroy(struct connections *connections);

/* Bytes of answers that the front has not read yet. */
size_t connections_queued(const struct connections *connections);

#endif
