/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a build for tests adds to MCP: fixtures of the conformance suite. Programs that are installed have no_more.c in its place, where
 * this is NULL. Owner: session/mcp. One thread.
 */
#ifndef MCP_MORE_H
#define MCP_MORE_H

#include "session/mcp/call.h"

struct mcp_more {
	/* Appends rows to the list of tools/list, prompts/list, …. */
	void (*list)(const char *what, bool modern, json_t *array);
	void (*capabilities)(bool modern, json_t *capabilities);
	/* Does it answer this request? Asked first, once envelope and headers are found good. */
	bool (*takes)(const struct mcp_call *call);
	/* Answers, in a coroutine that is cancelled when the caller leaves. *result is the caller's. */
	int (*run)(struct mcp_call *call, json_t **result, struct mcp_error *e);
	/* A client answered a request of ours. */
	void (*response)(const struct mcp_call *call, const json_t *message);
};

extern const struct mcp_more *const mcp_more;

#endif
