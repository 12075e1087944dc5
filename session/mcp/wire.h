/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of MCP that both ends write: the server (session/mcp) and `glovebox mcp` (session/cli), which links nothing of the first. Follows
 * the Streamable HTTP transport of 2026-07-28. Owner: session/mcp.
 */
#ifndef MCP_WIRE_H
#define MCP_WIRE_H

#include <stddef.h>
#include <string.h>

/* Members of _meta. */
#define MCP_META "io.modelcontextprotocol/"
#define MCP_META_VERSION MCP_META "protocolVersion"
#define MCP_META_CAPABILITIES MCP_META "clientCapabilities"
#define MCP_META_LOG_LEVEL MCP_META "logLevel"
#define MCP_META_SERVER MCP_META "serverInfo"

/* Before the name of an argument that a header field repeats, and what stands around a value in base64. */
#define MCP_PARAM_FIELD "Mcp-Param-"
#define MCP_BASE64_BEFORE "=?base64?"
#define MCP_BASE64_AFTER "?="

/* Methods, and the member of their params that the header Mcp-Name repeats. */
#define MCP_NAME_ROWS(X)           \
	X("tools/call", "name")    \
	X("prompts/get", "name")   \
	X("resources/read", "uri") \
	X("tasks/get", "taskId")   \
	X("tasks/update", "taskId") \
	X("tasks/cancel", "taskId")

/* That member; NULL when the method has none. */
static inline const char *mcp_name_member(const char *method)
{
#define MCP_NAME_ROW(name, member) \
	if (strcmp(method, name) == 0) \
		return member;
	MCP_NAME_ROWS(MCP_NAME_ROW)
#undef MCP_NAME_ROW
	return NULL;
}

#endif
