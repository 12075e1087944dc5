/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The revisions of MCP that are spoken, and which of them a request is of. Those to 2025-11-25 begin with initialize and have sessions
 * ("legacy"); since 2026-07-28 each request says all of itself ("modern"). Both come to the same address. Owner: session/mcp. No threads.
 */
#ifndef MCP_REVISIONS_H
#define MCP_REVISIONS_H

#include <stdbool.h>

#include "session/base/limits.h"
#include "session/mcp/envelope.h"
#include "session/mcp/wire.h"

struct revision {
	const char *name;
	bool modern;
	bool batches;      /* several messages in one body */
	bool urls;         /* a client may be asked to open an address */
	bool structured;   /* results may have structuredContent, and tools an output schema and a title */
};

extern const struct revision revisions[]; /* the newest first */
extern const size_t revisions_n;

const struct revision *revision_find(const char *name); /* NULL: none of ours; also for NULL */
const struct revision *revision_newest_legacy(void);
const struct revision *revision_assumed(void); /* of a legacy request that does not say */
json_t *revisions_list(void); /* their names; the caller's reference */

/* The header fields of a request that mean something to MCP; borrowed, NULL when they are not there. */
struct mcp_param {
	const char *name; /* after "Mcp-Param-" */
	const char *value;
};

struct mcp_head {
	const char *version;  /* MCP-Protocol-Version */
	const char *method;   /* Mcp-Method */
	const char *name;     /* Mcp-Name */
	const char *session;  /* Mcp-Session-Id */
	struct mcp_param params[LIMIT_MCP_PARAMS];
	size_t n_params;
};

/*
 * Which revision a message is of; `of_session` is the one that its session agreed on, or NULL. In a modern request what must be there is
 * checked: MCP_NO_META, MCP_HEADER, MCP_VERSION. In a legacy one MCP_VERSION for a version that is not known, except in initialize, where
 * it is agreed on whatever the header says.
 */
int revision_of(const struct envelope *envelope, const struct mcp_head *head, const struct revision *of_session,
                const struct revision **out, struct mcp_error *e);

/* The same of a body that holds several messages: revisions without batches refuse them (MCP_INVALID). */
int revision_of_batch(const struct mcp_head *head, const struct revision *of_session, const struct revision **out, struct mcp_error *e);

/*
 * Is what a header field says the same as `expected`? Blanks around it do not count; "=?base64?…?=" is decoded. MCP_HEADER with the
 * field's name.
 */
int revision_check_header(const char *field, const char *value, const char *expected, struct mcp_error *e);

#endif
