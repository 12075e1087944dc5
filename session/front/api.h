/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the routes run. Each fills request->reply and returns 0, or returns -1 with the refusal. Owner: session/front. */
#ifndef FRONT_API_H
#define FRONT_API_H

#include "session/base/err.h"

struct request;

/* The server (api_server.c). */
int api_live(struct request *request, struct err *e);
int api_ready(struct request *request, struct err *e);
int api_metrics(struct request *request, struct err *e);
int api_openapi(struct request *request, struct err *e);
int api_about(struct request *request, struct err *e);
int api_actions(struct request *request, struct err *e);
int api_images(struct request *request, struct err *e);
int api_trade_code(struct request *request, struct err *e);
int api_page(struct request *request, struct err *e);

/* Stored secrets (api_secrets.c). */
int api_list_secrets(struct request *request, struct err *e);
int api_put_secret(struct request *request, struct err *e);
int api_drop_secret(struct request *request, struct err *e);

/* Sessions (api_sessions.c). */
int api_create(struct request *request, struct err *e);
int api_list(struct request *request, struct err *e); /* api_list.c */
int api_show(struct request *request, struct err *e);
int api_delete(struct request *request, struct err *e);
int api_change(struct request *request, struct err *e); /* api_change.c */

/* Calls of a session's stage (api_calls.c). */
int api_act(struct request *request, struct err *e);
int api_computer(struct request *request, struct err *e);
int api_cancel(struct request *request, struct err *e);
int api_events(struct request *request, struct err *e);
int api_stream(struct request *request, struct err *e);
int api_screenshot(struct request *request, struct err *e);
int api_thumbnail(struct request *request, struct err *e);
int api_pause(struct request *request, struct err *e);
int api_resume(struct request *request, struct err *e);
int api_lease(struct request *request, struct err *e);
int api_change_lease(struct request *request, struct err *e);

/* Files of a session (api_files.c). */
int api_get_file(struct request *request, struct err *e);
int api_put_file(struct request *request, struct err *e);
int api_drop_file(struct request *request, struct err *e);

/* The Model Context Protocol (api_mcp.c). */
int api_mcp(struct request *request, struct err *e);
int api_mcp_end(struct request *request, struct err *e);

/* The journal of a session (api_journal.c). */
int api_journal(struct request *request, struct err *e);
int api_recording(struct request *request, struct err *e);
int api_drop_journal(struct request *request, struct err *e);

/* Questions to people (api_approvals.c). */
int api_approvals(struct request *request, struct err *e);
int api_approval(struct request *request, struct err *e);
int api_approval_crop(struct request *request, struct err *e);
int api_answer_approval(struct request *request, struct err *e);
int api_approval_rules(struct request *request, struct err *e);

/* Tokens of a session (api_tokens.c). */
int api_make_token(struct request *request, struct err *e);
int api_make_ticket(struct request *request, struct err *e);
int api_list_tokens(struct request *request, struct err *e);
int api_revoke_token(struct request *request, struct err *e);

/* Views (api_viewers.c). */
int api_make_view(struct request *request, struct err *e);
int api_open_view(struct request *request, struct err *e);
int api_list_viewers(struct request *request, struct err *e);
int api_throw_out(struct request *request, struct err *e);

/* Share links (api_shares.c). */
int api_make_share(struct request *request, struct err *e);
int api_list_shares(struct request *request, struct err *e);
int api_revoke_share(struct request *request, struct err *e);

#endif
