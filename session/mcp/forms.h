/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the tools take and give, as forms: the front makes schemas of them, the stage checks arguments by them. Owner: session/mcp.
 * No threads.
 */
#ifndef MCP_FORMS_H
#define MCP_FORMS_H

#include "session/base/json.h"

/* Arguments beside session_id. */
extern const struct form mcp_look_form;    /* of computer, beside the members of an act */
extern const struct form mcp_command_form;
extern const struct form mcp_read_form;
extern const struct form mcp_write_form;
extern const struct form mcp_folder_form;
extern const struct form mcp_list_form;
extern const struct form mcp_none_form;

/* structuredContent. */
extern const struct form mcp_computer_output;
extern const struct form mcp_command_output;
extern const struct form mcp_read_output;
extern const struct form mcp_write_output;
extern const struct form mcp_folder_output;
extern const struct form mcp_session_output;
extern const struct form mcp_sessions_output;
extern const struct form mcp_end_output;

#endif
