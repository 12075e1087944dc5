/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The operations of the Model Context Protocol. */
#include "session/base/util.h"
#include "session/front/operation.h"

static const struct said mcp_said[] = {
	{200, "application/json", "any", NULL, "the answer of JSON-RPC, a list of them for a batch; or as server-sent events, with what is told before it",
	 "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"},
	{202, NULL, NULL, NULL, "a notification or a response was taken", NULL},
};
const struct operation op_mcp = {
	.id = "mcp",
	.tag = "mcp",
	.headers = "MCP-Protocol-Version Mcp-Session-Id",
	.body = "any",
	.request = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}",
	.said = mcp_said,
	.n_said = ARRAY_LEN(mcp_said),
	.errors = "not_acceptable",
	.doc = "Revisions 2025-03-26 to 2026-07-28, by POST alone. What is wrong with a message is told as an error of JSON-RPC, also where the status is "
		"400 or 404. Closing the connection cancels the call.",
};

static const struct said mcp_end_said[] = {
	{204, NULL, NULL, NULL, "the session of the client is no more", NULL},
};
const struct operation op_mcp_end = {
	.id = "endMcp",
	.tag = "mcp",
	.headers = "MCP-Protocol-Version Mcp-Session-Id",
	.said = mcp_end_said,
	.n_said = ARRAY_LEN(mcp_end_said),
	.errors = "not_found method_not_allowed",
};
