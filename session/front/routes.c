/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The routes of this version, and finding one. */
#include "session/front/routes.h"

#include <stdio.h>
#include <string.h>

#include "session/base/util.h"
#include "session/front/api.h"
#include "session/front/openapi.h"
#include "session/front/operation.h"

#define AGENT ROLES_OF(ROLE_AGENT)
#define CONTROLLER ROLES_OF(ROLE_CONTROLLER)
#define OPERATOR ROLES_OF(ROLE_OPERATOR)
/* Who makes sessions: the operator, and owners, each at their own sessions. */
#define MAKER (OPERATOR | ROLES_OF(ROLE_OWNER))
/* Who may look at a session as people do. */
#define WATCHER (ROLES_OF(ROLE_VIEWER) | CONTROLLER | MAKER)
#define ALL ROLES_ALL

#define SHOWN_MAX 80

const struct route routes[] = {
	{"GET", "/", ROUTE_PUBLIC, ALL, api_page, &op_page, "the console: a page that shows the sessions"},
	{"GET", "/console/{file}", ROUTE_PUBLIC, ALL, api_page, &op_page_file, "its scripts and style"},
	{"GET", "/livez", ROUTE_PUBLIC, ALL, api_live, &op_live, "200 while the server answers at all"},
	{"GET", "/readyz", ROUTE_PUBLIC, ALL, api_ready, &op_ready, "200 once the whole server is there"},
	{"GET", "/metrics", ROUTE_WAITS, OPERATOR, api_metrics, &op_metrics, "counters and gauges, in the text format of Prometheus"},
	{"GET", OPENAPI_PATH, 0, ALL, api_openapi, &op_openapi, "this interface as an OpenAPI document"},
	{"GET", "/v1", 0, ALL, api_about, &op_about, "version, limits, errors, routes"},
	{"GET", "/v1/actions", 0, ALL, api_actions, &op_actions, "every action with its JSON Schema"},
	{"GET", "/v1/images", 0, MAKER, api_images, &op_images, "the images that sessions can start from"},
	{"GET", "/v1/secrets", 0, OPERATOR, api_list_secrets, &op_list_secrets, "the stored secrets: names and rules, never values"},
	{"PUT", "/v1/secrets/{secret}", ROUTE_WAITS | ROUTE_BYTES, OPERATOR, api_put_secret, &op_put_secret, "stores a secret, or replaces it; the body is its value"},
	{"DELETE", "/v1/secrets/{secret}", ROUTE_WAITS, OPERATOR, api_drop_secret, &op_drop_secret, "removes it; sessions that run keep it until they end"},
	{"POST", "/v1/console", ROUTE_PUBLIC | ROUTE_BODY, ALL, api_trade_code, &op_trade_code, "trades a one-use code for a token"},
	{"GET", "/v1/sessions", 0, ALL, api_list, &op_list,
	 "the sessions that this token may see, oldest first"},
	{"POST", "/v1/sessions", ROUTE_WAITS | ROUTE_BODY | ROUTE_KEY, MAKER, api_create, &op_create, "makes a session; answers when it is ready"},
	{"GET", "/v1/sessions/{id}", ROUTE_WAITS, ALL, api_show, &op_show, "the state of a session, with what is held"},
	{"PATCH", "/v1/sessions/{id}", ROUTE_WAITS | ROUTE_BODY, MAKER, api_change, &op_change, "changes the size of its display, its labels, ttl_s and idle_s"},
	{"DELETE", "/v1/sessions/{id}", ROUTE_WAITS, AGENT | CONTROLLER | MAKER, api_delete, &op_delete,
	 "ends it; answers when its last process is gone"},
	{"POST", "/v1/sessions/{id}/act", ROUTE_WAITS | ROUTE_BODY | ROUTE_KEY | ROUTE_LARGE, AGENT | MAKER, api_act, &op_act, "runs a list of actions"},
	{"POST", "/v1/sessions/{id}/computer", ROUTE_WAITS | ROUTE_BODY | ROUTE_KEY, AGENT | MAKER, api_computer, &op_computer,
	 "runs what a model of another vendor sends, and answers in its form"},
	{"POST", "/v1/sessions/{id}/cancel", ROUTE_WAITS | ROUTE_REPEATABLE, AGENT | MAKER, api_cancel, &op_cancel, "stops the actions that run"},
	{"GET", "/v1/sessions/{id}/events", ROUTE_WAITS | ROUTE_STREAM, ALL, api_events, &op_events, "what happens in it, as server-sent events"},
	{"GET", "/v1/sessions/{id}/journal", 0, CONTROLLER | MAKER, api_journal, &op_journal, "the lines of its journal so far"},
	{"DELETE", "/v1/sessions/{id}/journal", ROUTE_WAITS, MAKER, api_drop_journal, &op_drop_journal,
	 "deletes the journal of a session that has ended, pictures and all"},
	{"GET", "/v1/sessions/{id}/recording", ROUTE_WAITS, CONTROLLER | MAKER, api_recording, &op_recording, "the pictures of its journal so far"},
	{"GET", "/v1/sessions/{id}/screenshot", ROUTE_WAITS, AGENT | MAKER, api_screenshot, &op_screenshot,
	 "a picture of the display"},
	{"GET", "/v1/sessions/{id}/thumbnail", ROUTE_WAITS, ROLES_OF(ROLE_VIEWER) | CONTROLLER | MAKER, api_thumbnail, &op_thumbnail,
	 "a small picture of the display, for people"},
	{"GET", "/v1/sessions/{id}/stream", ROUTE_WAITS | ROUTE_STREAM, AGENT | MAKER, api_stream, &op_stream,
	 "a picture of the display and then what changes in it, as server-sent events"},
	{"GET", "/v1/sessions/{id}/files/{path}", ROUTE_WAITS, AGENT | MAKER, api_get_file, &op_get_file, "a file of the session, what is in a folder, or all of it as a tar"},
	{"PUT", "/v1/sessions/{id}/files/{path}", ROUTE_WAITS | ROUTE_UPLOAD, AGENT | MAKER, api_put_file, &op_put_file,
	 "writes a file, or unpacks a tar into a folder; the body is its content"},
	{"DELETE", "/v1/sessions/{id}/files/{path}", ROUTE_WAITS, AGENT | MAKER, api_drop_file, &op_drop_file, "deletes a file or a folder"},
	{"POST", "/v1/sessions/{id}/pause", ROUTE_WAITS | ROUTE_REPEATABLE, CONTROLLER | MAKER, api_pause, &op_pause,
	 "stops what runs and freezes its processes"},
	{"POST", "/v1/sessions/{id}/resume", ROUTE_WAITS | ROUTE_REPEATABLE, CONTROLLER | MAKER, api_resume, &op_resume, "lets them go on"},
	{"GET", "/v1/sessions/{id}/lease", ROUTE_WAITS, ALL, api_lease, &op_lease, "who holds the controls, at once or when that changes"},
	{"POST", "/v1/sessions/{id}/lease", ROUTE_WAITS | ROUTE_BODY | ROUTE_REPEATABLE, AGENT | CONTROLLER | MAKER, api_change_lease, &op_change_lease,
	 "takes the controls, or gives them back"},
	{"POST", "/v1/sessions/{id}/rfb", ROUTE_WAITS | ROUTE_BODY, WATCHER, api_make_view, &op_make_view,
	 "makes a ticket that opens a view of the session, once and within 30 s"},
	{"GET", "/v1/sessions/{id}/rfb", ROUTE_WAITS | ROUTE_UPGRADE, WATCHER, api_open_view, &op_open_view,
	 "a view of the session: RFB (VNC) over a WebSocket, opened with a ticket"},
	{"GET", "/v1/sessions/{id}/viewers", 0, CONTROLLER | MAKER, api_list_viewers, &op_list_viewers, "who watches it now"},
	{"DELETE", "/v1/sessions/{id}/viewers/{viewer}", 0, CONTROLLER | MAKER, api_throw_out, &op_throw_out, "ends the view of one of them at once"},
	{"POST", "/v1/sessions/{id}/shares", ROUTE_BODY, CONTROLLER | MAKER, api_make_share, &op_make_share,
	 "makes a link to the session for a person, and a one-use code that opens it"},
	{"GET", "/v1/sessions/{id}/shares", 0, CONTROLLER | MAKER, api_list_shares, &op_list_shares, "its share links, but not their codes"},
	{"DELETE", "/v1/sessions/{id}/shares/{share}", ROUTE_WAITS, CONTROLLER | MAKER, api_revoke_share, &op_revoke_share,
	 "revokes one of them at once, with the tokens that came by it and what they have open"},
	{"POST", "/v1/sessions/{id}/tokens", ROUTE_BODY, MAKER, api_make_token, &op_make_token, "makes one more token for a session"},
	{"POST", "/v1/sessions/{id}/tickets", ROUTE_BODY, MAKER, api_make_ticket, &op_make_ticket, "makes a link that opens the console for one session"},
	{"GET", "/v1/sessions/{id}/tokens", 0, MAKER, api_list_tokens, &op_list_tokens, "its tokens, but not their text"},
	{"DELETE", "/v1/sessions/{id}/tokens/{token}", ROUTE_WAITS, MAKER, api_revoke_token, &op_revoke_token, "revokes one of them at once"},
	{"GET", "/v1/approvals", ROUTE_WAITS, CONTROLLER | MAKER, api_approvals, &op_approvals, "what waits for a person's yes, in all sessions that this token may see"},
	{"GET", "/v1/approvals/rules", 0, CONTROLLER | MAKER, api_approval_rules, &op_approval_rules, "the rules of the modes and of the configuration"},
	{"GET", "/v1/approvals/{approval}", ROUTE_WAITS, CONTROLLER | MAKER, api_approval, &op_approval, "one of them"},
	{"POST", "/v1/approvals/{approval}", ROUTE_WAITS | ROUTE_BODY | ROUTE_REPEATABLE, CONTROLLER | MAKER, api_answer_approval, &op_answer_approval,
	 "answers it"},
	{"GET", "/v1/approvals/{approval}/crop", ROUTE_WAITS, CONTROLLER | MAKER, api_approval_crop, &op_approval_crop,
	 "the part of the screen that it is about, with the target marked"},
	{"POST", "/mcp", ROUTE_WAITS | ROUTE_BODY, AGENT | MAKER, api_mcp, &op_mcp, "the Model Context Protocol: one message of JSON-RPC"},
	{"DELETE", "/mcp", 0, AGENT | MAKER, api_mcp_end, &op_mcp_end, "ends what a client of MCP began with initialize"},
};
const size_t routes_n = ARRAY_LEN(routes);

int routes_check(const struct route *rows, size_t n_rows, struct err *e)
{
	for (size_t i = 0; i < n_rows; i++) {
		const struct route *row = &rows[i];

		if (!row->method || !row->path || row->path[0] != '/' || !row->run || !row->operation || !row->doc || row->roles == 0 ||
		    (row->roles & ~ROLES_ALL))
			return err_set(e, ERR_INTERNAL, NULL, "the route %zu (%s) is not whole: it must say who may use it, and what it takes and says", i,
			               row->path ? row->path : "without a path");
	}
	return 0;
}

/* Does the path of the row match? Any segment does for one in braces, and all that are left for a last {path} or {file}; *id is that at {id}. */
static bool matches(const char *path, const struct target *target, const char **id)
{
	size_t n = 0;

	*id = NULL;
	while (*path == '/' && path[1]) {
		if (strcmp(path, "/{path}") == 0 || strcmp(path, "/{file}") == 0)
			return target->n_segments > n && target->n_segments <= TARGET_SEGMENTS;
		size_t len = strcspn(path + 1, "/");
		const char *segment = n < target->n_segments && n < TARGET_SEGMENTS ? target->segment[n] : NULL;

		if (!segment)
			return false;
		if (strncmp(path + 1, "{id}", len) == 0 && len == 4)
			*id = segment;
		else if (path[1] != '{' && (strlen(segment) != len || memcmp(segment, path + 1, len) != 0))
			return false;
		path += len + 1;
		n++;
	}
	return n == target->n_segments;
}

static bool has_method(const struct route *route, const char *method)
{
	return strcmp(route->method, method) == 0 || (strcmp(method, "HEAD") == 0 && strcmp(route->method, "GET") == 0);
}

static void allow_method(char *allow, size_t size, const char *method)
{
	size_t len = strlen(allow);

	(void)snprintf(allow + len, size - len, "%s%s%s", len > 0 ? ", " : "", method, strcmp(method, "GET") == 0 ? ", HEAD" : "");
}

const struct route *routes_find(const char *method, const struct target *target, const char **id, char *allow, size_t allow_size,
                                struct err *e)
{
	char shown[SHOWN_MAX];

	allow[0] = '\0';
	for (size_t i = 0; i < routes_n; i++) {
		if (!matches(routes[i].path, target, id))
			continue;
		if (has_method(&routes[i], method))
			return &routes[i];
		allow_method(allow, allow_size, routes[i].method);
	}
	*id = NULL;
	if (allow[0])
		(void)err_set(e, ERR_METHOD, NULL, "the method %s is refused; this path takes %s",
		              err_quote(shown, sizeof(shown), method, strlen(method)), allow);
	else
		(void)err_set(e, ERR_NOT_FOUND, NULL, "there is nothing at this path; GET /v1 lists the routes");
	return NULL;
}

const struct route *routes_row(const char *method, const char *path)
{
	for (size_t i = 0; i < routes_n; i++)
		if (strcmp(routes[i].method, method) == 0 && strcmp(routes[i].path, path) == 0)
			return &routes[i];
	return NULL;
}

int routes_permit(const struct route *route, const struct identity *who, const char *id, struct err *e)
{
	if (!(route->roles & ROLES_OF(who->role)))
		return err_set(e, ERR_FORBIDDEN, NULL, "a token of the role %s may not do this", role_name(who->role));
	/* Whether an owner's session is its own shows when it is looked up: another's is like one that is not there. */
	if (id && !(ROLES_OF(who->role) & MAKER) && strcmp(who->session, id) != 0)
		return err_set(e, ERR_FORBIDDEN, NULL, "this token is for another session");
	return 0;
}

json_t *routes_document(void)
{
	json_t *list = json_array();

	for (size_t i = 0; i < routes_n; i++) {
		json_t *roles = json_array();
		auto_free char *query = operation_parameters(routes[i].operation);

		for (enum role role = 0; role < N_ROLES; role++)
			if ((routes[i].roles & ROLES_OF(role)) && !(routes[i].flags & ROUTE_PUBLIC))
				(void)json_array_append_new(roles, json_string(role_name(role)));
		(void)json_array_append_new(list, json_pack("{s:s, s:s, s:o, s:s, s:s?}", "method", routes[i].method, "path", routes[i].path,
		                                            "roles", roles, "doc", routes[i].doc, "query", query));
	}
	return list;
}
