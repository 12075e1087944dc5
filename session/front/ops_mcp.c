/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The operations of the Model Context Protocol. */
#include "session/base/util.h"
#include "session/front/operation.h"

static const struct said mcp_said[] = {
	{200, "application/json", "JsonRpc|JsonRpc[]", "Mcp-Session-Id", "the response, a list of them for a batch; or as events, with what is told before it",
	 "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"},
	{200, "text/event-stream", "message JsonRpc", "X-Accel-Buffering", "the same",
	 "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n"},
	{202, NULL, NULL, NULL, "a notification or a response was taken", NULL},
	{400, "application/json", "JsonRpc|JsonRpc[]", NULL, "what is wrong with the message", "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32600,\"message\":\"jsonrpc must be \\\"2.0\\\"\"}}"},
	{404, "application/json", "JsonRpc", NULL, "the session of the client, or the method, is not there", "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32601,\"message\":\"the method x is not offered in revision 2026-07-28\"}}"},
	{429, "application/json", "JsonRpc", "Retry-After", "too much is at work", "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-31003,\"message\":\"512 requests are at work already; try again later\"}}"},
};
const struct operation op_mcp = {
	.id = "mcp",
	.tag = "mcp",
	.headers = "MCP-Protocol-Version Mcp-Session-Id",
	.body = "JsonRpc|JsonRpc[]",
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
