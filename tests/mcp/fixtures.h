/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the official conformance suite of MCP asks of a server that it can test: tools, prompts and resources of fixed names and texts. They are
 * linked into a front that only tests start (build/fixtures/glovebox-front), in the place of session/mcp/no_more.c.
 *
 * Owner: tests/mcp. One thread; each `run` is in the coroutine of its request.
 */
#ifndef TESTS_MCP_FIXTURES_H
#define TESTS_MCP_FIXTURES_H

#include "session/mcp/more.h"

typedef int fixture_fn(struct mcp_call *call, json_t **result, struct mcp_error *e);

struct fixture_tool {
	const char *name;
	const char *schema; /* inputSchema as JSON text; NULL: no arguments */
	const char *result; /* as JSON text; or NULL, and `run` makes it */
	fixture_fn *run;
};

struct fixture_tools {
	const struct fixture_tool *rows;
	size_t n_rows;
};

extern const struct fixture_tools fixture_plain;  /* plain.c: they answer at once */
extern const struct fixture_tools fixture_asking; /* asking.c: they ask the client by requests of their own, in legacy revisions */
extern const struct fixture_tools fixture_needing; /* needing.c: they answer what they need to know first, in modern revisions */
extern const struct fixture_tools fixture_changing; /* listen.c: they change lists that others listen to */

/* JSON text of this folder; DIE when it is none. The caller's reference. */
json_t *fixture_json(const char *text);

/* A result of one text; the caller's reference. */
json_t *fixture_text(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* What the client says that it can: of the name "sampling", "elicitation", …. */
bool fixture_can(const struct mcp_call *call, const char *capability);

/* One method each. */
fixture_fn fixture_list_prompts, fixture_get_prompt;                                            /* prompts.c */
fixture_fn fixture_list_resources, fixture_list_templates, fixture_read_resource;               /* resources.c */
fixture_fn fixture_listen;                                                                      /* listen.c */

/* A client's response to a request that a tool of asking.c has sent. */
void fixture_response(const struct mcp_call *call, const json_t *message);

/* A tool that is listed now and then (listen.c). */
bool fixture_has_extra_tool(void);

#endif
