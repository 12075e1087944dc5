/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sessions of legacy clients of MCP: not desktops, but what initialize agreed on, named by Mcp-Session-Id. One is bound to the token
 * that made it. Their number is limited: the one of the same token that was used longest ago makes room, then any. Owner: session/mcp.
 * One thread.
 */
#ifndef MCP_SESSIONS_H
#define MCP_SESSIONS_H

#include <jansson.h>
#include <stdint.h>

#include "session/mcp/revisions.h"

struct mcp_session {
	char id[33];
	const char *token;              /* the id of the token that made it */
	const struct revision *revision;
	json_t *caps;                   /* of the client; an object */
};

struct mcp_sessions;

struct mcp_sessions *mcp_sessions_create(void);
void mcp_sessions_destroy(struct mcp_sessions *all); /* NULL is fine */

/* `caps` is borrowed. What is returned is valid until the next call of this function or mcp_sessions_end. */
const struct mcp_session *mcp_sessions_begin(struct mcp_sessions *all, const char *token, const struct revision *revision, const json_t *caps,
                                             int64_t now_ms);

/* The session of this id, if this token made it; NULL otherwise. Valid as above. */
const struct mcp_session *mcp_sessions_find(struct mcp_sessions *all, const char *token, const char *id, int64_t now_ms);

/* False when there is none of this id and token. */
bool mcp_sessions_end(struct mcp_sessions *all, const char *token, const char *id);

#endif
