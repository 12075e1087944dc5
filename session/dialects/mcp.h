/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tools of MCP that are acts of a session's stage (mcp.c), and that of them which is a command in the jail (mcp_commands.c). Owner: session/dialects.
 * No threads.
 */
#ifndef DIALECTS_MCP_H
#define DIALECTS_MCP_H

#include <jansson.h>

#include "session/base/err.h"

/* One tool: its arguments (an object) as an act, and what came of that as a result of MCP. */
struct mcp_tool {
	const char *name;
	int (*ask)(const json_t *arguments, json_t **act, struct err *e);
	json_t *(*answer)(const json_t *arguments, const json_t *reply);
};

int mcp_command_ask(const json_t *arguments, json_t **act, struct err *e);
json_t *mcp_command_answer(const json_t *arguments, const json_t *reply);

/* What an action that failed says: a result with isError; NULL when this one went well. */
json_t *mcp_failure(const json_t *result);

/* A list or an object that a client has sent as its text: the value, a new reference. What is no such text is itself. */
json_t *mcp_unwrap(const json_t *value);

#endif
