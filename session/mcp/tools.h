/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tools, as a table: name, what it does, whose route's rights it needs, what it takes and gives. Schemas are made once, from the
 * action rows and forms, so that no client drops a tool: of type object, nothing combined at the top, every property of one type.
 * Owner: session/mcp. No threads.
 */
#ifndef MCP_TOOLS_H
#define MCP_TOOLS_H

#include <jansson.h>
#include <stdbool.h>

#include "session/base/json.h"
#include "session/mcp/revisions.h"

struct mcp_call;

enum tool_hint {
	TOOL_READS = 1 << 0,   /* changes nothing */
	TOOL_ENDS = 1 << 1,    /* may destroy something */
	TOOL_AGAIN = 1 << 2,   /* doing it twice is like doing it once */
	TOOL_SESSION = 1 << 3, /* it is of one session: takes session_id */
	TOOL_STAGE = 1 << 4,   /* its arguments go unread to the session's stage, which answers */
	TOOL_FILES = 1 << 5,   /* it is done by a call for files (files.h) */
};

struct tool {
	const char *name, *title, *doc;
	const char *method, *path; /* of the route whose rights it needs */
	unsigned int flags;        /* enum tool_hint */
	const struct form *input;  /* beside session_id; NULL: made elsewhere, see tools_create */
	const struct form *output;
};

extern const struct tool tools_rows[];
extern const size_t tools_n;

/* All tools with their schemas. */
struct tools;

/*
 * `actions` is the document of GET /v1/actions, `spec` the form of a session. Arguments of `computer` are made from the first, those of
 * `session_create` from the second.
 */
struct tools *tools_create(const json_t *actions, const struct form *spec);
void tools_destroy(struct tools *tools);

/* What one caller may use. */
struct tools_view {
	const struct tools *tools;
	bool (*may)(void *arg, const char *method, const char *path);
	void *arg;
};

/* The list for tools/list, in the order of the table; the caller's reference. */
json_t *tools_list(const struct tools_view *view, const struct revision *revision);

/*
 * The tool of a call, NULL when it has none of this name that the caller may use (then it is as if there were none): MCP_BAD_PARAMS. Checks the
 * arguments to be an object, and in modern revisions the Mcp-Param-… headers: MCP_HEADER. *arguments is NULL without any (borrowed).
 */
const struct tool *tools_find(const struct tools_view *view, const struct mcp_call *call, const struct mcp_head *head,
                              const json_t **arguments, struct mcp_error *e);

/* Only the check of Mcp-Param-… against an input schema. */
int tools_check_params(const json_t *schema, const json_t *arguments, const struct mcp_head *head, struct mcp_error *e);

#endif
