/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One viewer program on a socket of this machine, carried to a view of a session. Blocks. */
#ifndef CLI_VIEW_BRIDGE_H
#define CLI_VIEW_BRIDGE_H

#include "session/cli/client.h"

struct view_wish {
	const char *path;     /* "/v1/sessions/ID/rfb" */
	const json_t *body;   /* of the POST that makes the ticket */
};

/*
 * Makes a ticket, opens the WebSocket with it, and carries bytes until either side ends; `fd` stays the caller's. 0 when the viewer left; -1 with
 * *e, what the server said among it.
 */
int view_bridge(struct client *client, const struct view_wish *wish, int fd, struct err *e);

#endif
