/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages of MCP as `glovebox mcp` sees them: what kind they are, of which era, and the HTTP headers that go with them.
 *
 * Pure: no I/O. Owner: session/cli. No threads. Follows the Streamable HTTP transport of MCP 2025-03-26 to 2026-07-28.
 */
#ifndef CLI_MCP_MESSAGE_H
#define CLI_MCP_MESSAGE_H

#include <jansson.h>
#include <stdbool.h>

/* JSON-RPC's own codes, and MCP's for headers that do not fit the body. */
enum { MCP_PARSE_ERROR = -32700, MCP_INVALID_REQUEST = -32600, MCP_INTERNAL_ERROR = -32603, MCP_HEADER_MISMATCH = -32020 };

enum message_kind {
	MESSAGE_REQUEST,      /* a method and an id */
	MESSAGE_NOTIFICATION, /* a method */
	MESSAGE_RESPONSE,     /* an id, and a result or an error */
	MESSAGE_OTHER,        /* an array or anything else: the server is to judge it */
};

struct message {
	json_t *json;        /* borrowed, as all that follows */
	enum message_kind kind;
	const char *method;  /* "" when there is none */
	const json_t *id;    /* NULL when there is none */
	const json_t *params;
	const char *version; /* that its _meta names, or NULL */
	bool is_modern;      /* stateless, 2026-07-28 and later: it names its version, or asks for it */
};

struct message message_read(json_t *json);

/* A member of an object that is a string, or NULL. */
const char *message_string(const json_t *object, const char *name);

/*
 * The headers of a modern request, as ["Name: value"…]: the version, the method, what it is about, and what `tools` (made by
 * message_learn_tools, or NULL) says of its arguments. The caller's reference.
 */
json_t *message_headers(const struct message *message, const json_t *tools);

/*
 * Adds the tools of a result of tools/list to `known`, {"tool": [{"header", "path": ["name"…]}…]}: which arguments are to be
 * repeated in headers (x-mcp-header).
 */
void message_learn_tools(json_t *known, const json_t *result);

/* A response that is an error; `id` may be NULL. The caller's reference. */
json_t *message_error(const json_t *id, int code, const char *text, const json_t *data);

#endif
