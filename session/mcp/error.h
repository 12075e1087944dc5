/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is refused as a whole request of MCP: a JSON-RPC error, and the HTTP status that it goes with. What a tool refuses is a result
 * (result.h). Owner: session/mcp. No threads.
 */
#ifndef MCP_ERROR_H
#define MCP_ERROR_H

#include <jansson.h>

#include "session/base/err.h"

/* Symbol, code, HTTP status with a legacy revision, and with a modern one. What is ours is outside of -32768 to -32000, which are JSON-RPC's
 * and MCP's. */
#define MCP_FAULT_ROWS(X)                  \
	X(MCP_PARSE, -32700, 400, 400)         \
	X(MCP_INVALID, -32600, 400, 400)       \
	X(MCP_NO_METHOD, -32601, 200, 404)     \
	X(MCP_BAD_PARAMS, -32602, 200, 200)    \
	X(MCP_NO_META, -32602, 400, 400)       \
	X(MCP_INTERNAL, -32603, 200, 200)      \
	X(MCP_HEADER, -32020, 400, 400)        \
	X(MCP_NO_CAPABILITY, -32021, 400, 400) \
	X(MCP_VERSION, -32022, 400, 400)       \
	X(MCP_NO_SESSION, -32001, 404, 404)    \
	X(MCP_ELICIT, -32042, 200, 200)        \
	X(MCP_BUSY, -31003, 429, 429)

enum mcp_fault {
#define MCP_FAULT_ENUM(symbol, code, legacy, modern) symbol,
	MCP_FAULT_ROWS(MCP_FAULT_ENUM)
#undef MCP_FAULT_ENUM
	MCP_N_FAULTS
};

/* Zero-initialised is none. */
struct mcp_error {
	int status;  /* HTTP */
	int code;    /* JSON-RPC */
	char message[ERR_MSG_MAX];
	json_t *data; /* or NULL; ended by mcp_error_finish */
};

/* Fills *e and returns -1. data may be NULL; its reference is taken. */
int mcp_refuse(struct mcp_error *e, enum mcp_fault fault, bool modern, json_t *data, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

void mcp_error_finish(struct mcp_error *e);

#endif
