/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The routes of those who watch: a ticket, the view that it opens, who is there, and out. */
#include <stdio.h>
#include <string.h>

#include "session/base/json.h"
#include "session/base/json_text.h"
#include "session/base/limits.h"
#include "session/base/log.h"
#include "session/base/secret.h"
#include "session/base/util.h"
#include "session/front/api.h"
#include "session/front/audit.h"
#include "session/front/calls.h"
#include "session/front/describe.h"
#include "session/front/operation.h"
#include "session/front/request.h"
#include "session/front/upgrade.h"

/* Where a path of "/v1/sessions/{id}/viewers/{viewer}" has its viewer. */
#define VIEWER_SEGMENT 4

/* Asks the stage for a number for a viewer who comes with this token. */
static int ask_number(struct request *request, uint32_t *number, struct err *e)
{
	json_auto_t *who = json_pack("{s:s,s:s}", "token", request->who.name, "role", role_name(request->who.role)), *answer = NULL;
	struct stage_call call = {.name = "viewer", .role = "server", .request_id = request->id};
	auto_free char *body = json_text(who, &call.body_len);
	long value;

	call.body = body;
	if (stage_ask(request->session->stage, &call, util_now_ms() + LIMIT_STATE_MS, &answer, e) < 0)
		return calls_explain_end(request->session, e);
	value = form_int(answer, "viewer", 0);
	if (value < 1 || value > UINT32_MAX)
		return err_set(e, ERR_SESSION_FAILED, NULL, "the session gives no number to a viewer");
	*number = (uint32_t)value;
	return 0;
}

/* What was asked for, as far as this role may. */
static int take_wishes(const struct request *request, const json_t *body, struct ticket *ticket, struct err *e)
{
	bool may = request->who.role != ROLE_VIEWER;
	const json_t *controls = json_object_get(body, "controls");

	if (json_is_true(controls) && !may)
		return err_set(e, ERR_FORBIDDEN, "/controls", "a token of the role viewer looks, and never has the controls");
	ticket->controls = controls ? json_is_true(controls) : may;
	(void)snprintf(ticket->password, sizeof(ticket->password), "%s", form_string(body, "password", ""));
	for (const char *c = ticket->password; *c; c++)
		if (*c <= ' ' || *c > '~')
			return err_set(e, ERR_BAD_FIELD, "/password", "a password of VNC is 8 printable ASCII characters without blanks");
	return 0;
}

static json_t *describe_ticket(const struct ticket *ticket, const char *text)
{
	char name[VIEWER_NAME_SIZE];

	viewers_name(ticket->viewer, name);
	return json_pack("{s:s, s:s, s:s, s:b, s:o}", "viewer", name, "ticket", text, "protocol", UPGRADE_PROTOCOL, "controls", ticket->controls,
	                 "expires_at", describe_time(ticket->expires_ms));
}

int api_make_view(struct request *request, struct err *e)
{
	json_auto_t *body = NULL;
	struct ticket ticket = {.kind = TICKET_VIEW, .who = request->who};
	char *text;

	memcpy(ticket.session, request->session->id, sizeof(ticket.session));
	if (request_form(request, &form_view, &body, e) < 0 || take_wishes(request, body, &ticket, e) < 0 ||
	    calls_check_ready(request->session, e) < 0 || viewers_check_room(&request->front->viewers, &request->who, e) < 0 ||
	    ask_number(request, &ticket.viewer, e) < 0 || tickets_make(request->front->tickets, &ticket, store_now_ms(), &text, e) < 0)
		return -1;
	reply_json(&request->reply, 201, describe_ticket(&ticket, text));
	secret_wipe(text);
	explicit_bzero(ticket.password, sizeof(ticket.password));
	return 0;
}

int api_open_view(struct request *request, struct err *e)
{
	struct front *front = request->front;
	struct ticket *ticket = &request->ticket;
	struct warden_viewer viewer = {.number = ticket->viewer, .controls = ticket->controls};
	int fd, rc;

	if (calls_check_ready(request->session, e) < 0 || viewers_check_room(&front->viewers, &request->who, e) < 0)
		return -1;
	memcpy(viewer.password, ticket->password, sizeof(viewer.password));
	explicit_bzero(ticket->password, sizeof(ticket->password));
	rc = warden_add_viewer(front->warden, request->session->id, &viewer, util_now_ms() + LIMIT_STATE_MS, &fd, e);
	explicit_bzero(&viewer, sizeof(viewer));
	if (rc < 0)
		return -1;
	reply_websocket(&request->reply, request->head.websocket_key, UPGRADE_PROTOCOL, request_on_upgrade, fd);
	return 0;
}

int api_list_viewers(struct request *request, struct err *e)
{
	(void)e;
	reply_json(&request->reply, 200, viewers_describe(&request->front->viewers, request->session));
	return 0;
}

int api_throw_out(struct request *request, struct err *e)
{
	const char *name = request->target.segment[VIEWER_SEGMENT];
	json_t *fields;

	if (viewers_throw_out(&request->front->viewers, request->session, name, e) < 0)
		return -1;
	fields = audit_who(&request->who, request->id);
	(void)json_object_set_new(fields, "session", json_string(request->session->id));
	(void)json_object_set_new(fields, "viewer", json_string(name));
	audit_note(request->front->audit, "viewer_thrown_out", fields);
	reply_empty(&request->reply, 204);
	return 0;
}
