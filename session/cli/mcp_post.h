/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One message of the client, and its POSTs to /mcp: mostly one; more when the server must be told something first. Owner: session/cli.
 */
#ifndef CLI_MCP_POST_H
#define CLI_MCP_POST_H

#include "session/cli/mcp_bridge.h"

/* Sends a message; its reference is taken. What comes of it goes to the client or, where it gets no answer, to the log. */
void post_start(struct bridge *bridge, json_t *taken);

/* Takes note of what libcurl has finished. */
void post_reap(struct bridge *bridge);

/* The request of this id that runs, or NULL. */
struct post *post_find(struct bridge *bridge, const json_t *id);
bool post_is_modern(const struct post *post);
/* Nothing more of it goes to the client. */
void post_silence(struct post *post);
/* Breaks its connection off, and forgets it. */
void post_drop(struct post *post);
/* The next of those that run; NULL after the last. */
struct post *post_next(const struct post *post);
/* It waits for an answer that comes by itself: not one of subscriptions/listen, which has no end. */
bool post_will_end(const struct post *post);

/* Tells the server that a session of the MCP transport is over, if there is one. Waits for it, a short time. */
void post_goodbye(struct bridge *bridge);

#endif
