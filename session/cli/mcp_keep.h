/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps a session alive while its client is there: says its times again before they are over, so that they count anew. When `glovebox mcp` is
 * killed nobody does, and the session ends by itself. Owner: session/cli.
 */
#ifndef CLI_MCP_KEEP_H
#define CLI_MCP_KEEP_H

#include <stdint.h>

#include "session/cli/client.h"

struct keep {
	const struct client *client; /* borrowed; its token may change the session */
	void *multi;                 /* where the transfers run; borrowed */
	char *path, *body;           /* of the PATCH; path NULL: there is nothing to keep */
	int64_t every_ms, next_ms;
	void *curl, *headers;        /* of the transfer that runs, or NULL */
};

/*
 * Keeps the session of this answer of the server (create's), as far as its times are not the user's own: ttl_s and idle_s,
 * prolonged after a third of the shorter. *keep is zeroed memory.
 */
void keep_init(struct keep *keep, const struct client *client, const json_t *session, bool ttl, bool idle);
void keep_finish(struct keep *keep);

/* Prolongs when it is time to; returns the milliseconds until the next time, at most max_ms. */
int keep_turn(struct keep *keep, void *multi, int max_ms);

/* libcurl is done with a transfer: true if it was this one. After a refusal it is not tried again. */
bool keep_done(struct keep *keep, void *curl, int curl_code);

#endif
