/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A connection from inside: what connection.c, where frames become calls, and call.c, where a call is answered, have in common. */
#ifndef STAGE_CONNECTION_INNER_H
#define STAGE_CONNECTION_INNER_H

#include "session/base/ipc.h"
#include "session/stage/connection.h"

struct connection {
	struct connections *all;
	struct connection *next;
	struct ipc_stream *stream;
	struct call *call; /* that is being received, or worked on */
	bool receiving;    /* DATA frames are still to come */
	bool coming;       /* they are taken as they come */
};

/* Sends JSON in one frame of this kind (link.h). */
void connection_send(struct connection *connection, uint16_t kind, uint16_t flags, const json_t *envelope);

/* The peer is gone, or is to go: a call that is being worked on is told so and goes on until its handler has noticed. */
void connection_close(struct connection *connection);

/* Frees a call that no connection has any more. */
void call_free(struct call *call);

#endif
