/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * request_human over MCP. A client that opens addresses for its user (elicitation with `url`) gets, in place of a result, the address of the session in
 * the console: in the stateless revision as what it must do first (input_required, after which it sends the call again), in 2025-11-25 as an error
 * (-32042). The address is no credential: whoever opens it logs in. What the client says of its user is nothing more than that; whether a person came and gave the controls back the lease says. Other clients
 * get the action's own result. Owner: session/front. One thread.
 */
#ifndef FRONT_MCP_HANDOVER_H
#define FRONT_MCP_HANDOVER_H

#include "session/mcp/call.h"

struct mcp_run;

/* What a request says of it. */
struct mcp_handover {
	bool opens;           /* the client can */
	bool declined;        /* its user will not */
	const char *state;    /* requestState, when it comes back: borrowed of the run's message; NULL: it does not */
};

/* Of a call of a tool; what is needed of it is kept in `message`. */
void mcp_handover_read(struct mcp_handover *handover, const struct mcp_call *call, json_t *message);

/* Has the call that was answered with these counts asked for a person, who can be told to its client? */
bool mcp_handover_wanted(const struct mcp_run *run, const json_t *counts);

/* The answer that asks the client to open the console; NULL when the agent has the controls again. In the coroutine of the run, as what follows. */
char *mcp_handover_ask(struct mcp_run *run, size_t *len);

enum mcp_handover_end {
	MCP_HANDOVER_ANSWERED, /* *text is the answer: a fault, or that it must still wait */
	MCP_HANDOVER_DECLINED, /* the controls are the agent's again, and no person came */
	MCP_HANDOVER_DONE,     /* they are, and it is to look */
};

/* The call has come back: waits for the controls, for some time. */
enum mcp_handover_end mcp_handover_resume(struct mcp_run *run, char **text, size_t *len);

#endif
