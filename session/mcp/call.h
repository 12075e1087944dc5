/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One request of MCP on its way, as those who answer it get it. Owner: session/mcp. */
#ifndef MCP_CALL_H
#define MCP_CALL_H

#include <jansson.h>

#include "session/mcp/error.h"
#include "session/mcp/revisions.h"

struct mcp_call {
	const json_t *id;
	const char *method;
	const json_t *params;         /* an object, empty when the request had none */
	const struct revision *revision;
	const json_t *caps;           /* what the client can: of _meta, or of its initialize; NULL is none */
	const char *log_level;        /* of _meta, or NULL */
	const json_t *progress_token; /* a string or an integer, or NULL */
	const char *session;          /* its Mcp-Session-Id, or NULL */
	/* Sends a message of JSON-RPC (taken) ahead of the answer. NULL: there is no way. */
	void (*send)(struct mcp_call *call, json_t *message);
	void *front;                  /* the front's */
};

/* A notification ahead of the answer. Dropped where the client takes none. `params` is taken. */
void mcp_notify(struct mcp_call *call, const char *method, json_t *params);

/* Tells progress, if it was asked for: numbers that grow. total 0 is unknown; message may be NULL. */
void mcp_progress(struct mcp_call *call, double progress, double total, const char *message);

/* Fills in what a request says of itself beside id, method and params; `caps` are those of its legacy session, or NULL. */
void mcp_call_read(struct mcp_call *call, const json_t *caps);

/* What each result of this call begins with: {} for legacy revisions. The caller's reference. */
json_t *mcp_result_members(const struct mcp_call *call);

#endif
