/* SPDX-License-Identifier: GPL-2.0-or-later */
/* MCP's tools for files: by the calls that the routes of files make (api_files.c). Owner: session/front. One thread. */
#ifndef FRONT_MCP_FILES_H
#define FRONT_MCP_FILES_H

#include "session/front/mcp.h"
#include "session/front/stage.h"

/* In the coroutine of a run whose arguments are good: the stage's reply, as stage_call gives it. ERR_BAD_FIELD, and what calls_ask_stage sets. */
int mcp_files_ask(struct mcp_run *run, struct stage_reply **reply, struct err *e);

/* The tool's result of a reply that is no refusal; NULL: it is not understood. */
json_t *mcp_files_answer(const struct mcp_run *run, struct stage_reply *reply);

#endif
