/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a route takes and says, as rows: the OpenAPI document is made of them (openapi.h), and tests validate what is sent by them. Each route has
 * one (routes.c), in the ops_*.c of its group. What follows from the flags of a route (token, body, key, session of the path) is not said here
 * again: the document adds those parameters, headers and errors. Owner: session/front. No threads.
 */
#ifndef FRONT_OPERATION_H
#define FRONT_OPERATION_H

#include "session/base/json.h"
#include "session/base/shape.h"

/* Of the query, or a header field of the request. */
struct parameter {
	const char *name;    /* "x.*" stands for all that begin with "x." */
	const char *type;    /* shape.h */
	const char *doc;     /* or NULL, when the type says it */
	const char *example; /* as it stands in the query; of many names the value of one */
};

/* A reply that is no refusal. */
struct said {
	int status;
	const char *media;   /* type of the body; several with spaces between them; NULL: without */
	const char *type;    /* of a body in JSON (shape.h), or of each line; of events "NAME Shape, NAME Shape"; NULL: text or bytes */
	const char *headers; /* names of headers beside those of every reply (openapi.c knows them), with spaces between them, or NULL */
	const char *doc;     /* one line */
	const char *example; /* the body: JSON, or as it is sent; NULL for bytes */
};

struct operation {
	const char *id;      /* operationId: stays, for clients are made of it */
	const char *tag;     /* one of those of openapi.c */
	const struct parameter *query;
	size_t n_query;
	const char *headers; /* of the request, that it heeds: names with spaces between them, or NULL */
	const char *body;    /* of a JSON body: its type (shape.h), or NULL */
	const char *request; /* an example of the body, as JSON */
	const struct said *said;
	size_t n_said;
	const char *errors;  /* codes of refusals that do not follow from the flags, with spaces between them */
	const char *doc;     /* more than the line of the route says, or NULL */
};

/* What a call that a stage answers can meet. */
#define OPERATION_STAGE_ERRORS "not_ready session_gone session_failed paused cancelled timeout display_silent"

/* And one that is made as agent. */
#define OPERATION_LEASE_ERRORS " lease_held lease_lost"

/* Each row of routes.c names one of these. */
extern const struct operation op_page, op_page_file, op_live, op_ready, op_metrics, op_openapi, op_about, op_actions, op_images,
	op_trade_code; /* ops_server.c */
extern const struct operation op_list, op_create, op_show, op_change, op_delete, op_pause, op_resume, op_journal, op_recording, op_drop_journal; /* ops_sessions.c */
extern const struct operation op_act, op_computer, op_cancel, op_events, op_screenshot, op_thumbnail, op_stream, op_lease, op_change_lease; /* ops_calls.c */
extern const struct operation op_get_file, op_put_file, op_drop_file; /* ops_files.c */
extern const struct operation op_make_token, op_make_ticket, op_list_tokens, op_revoke_token; /* ops_tokens.c */
extern const struct operation op_make_view, op_open_view, op_list_viewers, op_throw_out, op_make_share, op_list_shares, op_revoke_share; /* ops_views.c */
extern const struct operation op_list_secrets, op_put_secret, op_drop_secret; /* ops_secrets.c */
extern const struct operation op_approvals, op_approval, op_approval_crop, op_answer_approval, op_approval_rules; /* ops_approvals.c */
extern const struct operation op_mcp, op_mcp_end; /* ops_mcp.c */

/* A form that callers send, by the name that `body` has for it. */
struct named_form {
	const char *name;
	const struct form *form;
};
extern const struct named_form operation_forms[]; /* ops_forms.c */
extern const size_t operation_n_forms;
extern const struct form form_code, form_token, form_ticket, form_view, form_share;

/* What the front says. */
extern const struct shape shapes_front[]; /* shapes.c */
extern const size_t shapes_n_front;

/* Does the operation take this parameter in its query? */
bool operation_has_parameter(const struct operation *operation, const char *name);

/* The names of its parameters with spaces between them: malloced, the caller's; NULL when it has none. */
char *operation_parameters(const struct operation *operation);

#endif
