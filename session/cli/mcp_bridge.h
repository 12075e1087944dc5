/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Between an MCP client on standard input and output and the server's /mcp: one JSON message a line there, one POST each here.
 *
 * Requests run beside each other; what a client must have said before something else (initialize, notifications, its own responses) is
 * answered before the next line is read. A request that is cancelled, and all of them when the client has left, lose their
 * connection: that is what stops their actions. Owner: session/cli. One thread.
 */
#ifndef CLI_MCP_BRIDGE_H
#define CLI_MCP_BRIDGE_H

#include <stdbool.h>

#include "session/cli/buffer.h"
#include "session/cli/client.h"
#include "session/cli/mcp_keep.h"
#include "session/cli/mcp_message.h"

struct post;

/* What the client is let into. */
struct bridge_door {
	/*
	 * Called before the first message that is more than server/discover, which clients use to try a server that they then start anew:
	 * 0 with the token that opens what the client may use, valid until bridge_run returns; or -1, and the next message tries again.
	 * It may set keep, which is served from then on.
	 */
	int (*open)(void *arg, const char **token, struct err *e);
	void *arg;
	struct keep keep;
};

struct bridge {
	const struct client *client; /* where the server is; borrowed */
	const char *token;           /* what opens it: the client's own until the door is open; borrowed */
	struct bridge_door *door;    /* borrowed */
	bool is_open;
	int in_fd, out_fd;
	void *multi;                 /* the transfers */
	struct buffer in, out;       /* of lines: read and not taken, made and not written */
	bool skips;                  /* the line that comes is longer than is allowed, and passed over */
	bool in_ended, out_gone;
	struct post *posts;          /* those that run */
	size_t n_posts, n_barriers;  /* and how many of them let no line pass */
	char *version, *mcp_session; /* of the era with sessions, once initialize was answered; or NULL */
	json_t *hello;               /* that initialize, to say it again to a server that has forgotten; or NULL */
	json_t *tools;               /* message_learn_tools */
};

/*
 * Carries messages until the client has left (end of input, nobody who reads the output) or SIGTERM, SIGINT or SIGHUP comes; what is under
 * way at the end of input has LIMIT_MCP_END_MS to be answered. ERR_INTERNAL when this machine does not give what it takes.
 */
int bridge_run(const struct client *client, struct bridge_door *door, int in_fd, int out_fd, struct err *e);

/* A message to the client (mcp_bridge.c): compact JSON, or its text as the server sent it. */
void bridge_emit(struct bridge *bridge, const json_t *message);
void bridge_emit_text(struct bridge *bridge, const char *text, size_t len);

#endif
