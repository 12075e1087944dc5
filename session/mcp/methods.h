/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The methods of MCP that are answered, as a table. Owner: session/mcp. No threads. */
#ifndef MCP_METHODS_H
#define MCP_METHODS_H

#include "session/mcp/call.h"
#include "session/mcp/tools.h"

enum method_kind {
	METHOD_PLAIN, /* answered by methods_answer */
	METHOD_BEGIN, /* initialize: the same, and it begins a session */
	METHOD_TOOL,  /* tools/call: the front runs the tool */
};

struct method {
	const char *name;
	bool legacy, modern; /* in which revisions it is */
	enum method_kind kind;
	int (*answer)(const struct mcp_call *call, const struct tools_view *view, json_t **result, struct mcp_error *e);
};

/* The method of this name in the call's revision. MCP_NO_METHOD. */
const struct method *method_find(const struct mcp_call *call, struct mcp_error *e);

/* Answers a method that is no tool: the members of its result beside those of mcp_result_members. The caller's reference. */
int methods_answer(const struct method *method, const struct mcp_call *call, const struct tools_view *view, json_t **result,
                   struct mcp_error *e);

/* {"name","title","version"}; the caller's reference. */
json_t *methods_server_info(void);

#endif
