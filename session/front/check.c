/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the header fields to the session: what of a request is refused before its body is read. */
#include "session/front/check.h"

#include <string.h>
#include <strings.h>

#include "session/base/json.h"
#include "session/base/limits.h"
#include "session/base/secret.h"
#include "session/base/util.h"
#include "session/front/audit.h"
#include "session/front/operation.h"
#include "session/front/request.h"
#include "session/front/upgrade.h"

#define SHOWN_MAX 80

struct reading {
	struct head *head;
	struct err *e;
	bool failed;
};

static enum MHD_Result on_header(void *cls, enum MHD_ValueKind kind, const char *name, size_t name_len, const char *value,
                                 size_t value_len)
{
	struct reading *reading = cls;

	(void)kind;
	reading->failed = head_add(reading->head, name, name_len, value ? value : "", value ? value_len : 0, reading->e) < 0;
	return reading->failed ? MHD_NO : MHD_YES;
}

static int read_head(struct request *request, struct MHD_Connection *mhd, struct err *e)
{
	struct reading reading = {.head = &request->head, .e = e};

	(void)MHD_get_connection_values_n(mhd, MHD_HEADER_KIND, on_header, &reading);
	if (reading.failed || head_finish(&request->head, e) < 0) {
		request->reply.must_close = true;
		return -1;
	}
	return target_parse(request->raw_target, &request->target, e);
}

static int check_hosts(const struct request *request, struct err *e)
{
	const struct hosts *hosts = &request->front->hosts;
	const struct head *head = &request->head;
	bool local = conn_is_local(request->conn);
	char shown[SHOWN_MAX], right[SHOWN_MAX * 2];

	if (!head->host)
		return err_set(e, ERR_BAD_REQUEST, NULL, "the Host header is missing");
	if (!hosts_has(hosts, head->host, local))
		return err_set(e, ERR_MISDIRECTED, NULL, "the host %s is not this server; it answers to %s and to the names that its operator gave it",
		               err_quote(shown, sizeof(shown), head->host, strlen(head->host)), hosts_describe(hosts, local, right, sizeof(right)));
	if (head->origin && !hosts_has_origin(hosts, head->origin, head->host, local))
		return err_set(e, ERR_BAD_ORIGIN, NULL, "the origin %s is not this server",
		               err_quote(shown, sizeof(shown), head->origin, strlen(head->origin)));
	return 0;
}

static int find_route(struct request *request, const char *method, const char **id, struct err *e)
{
	char allow[64];

	request->is_head = strcmp(method, "HEAD") == 0;
	request->route = routes_find(method, &request->target, id, allow, sizeof(allow), e);
	if (request->route)
		return 0;
	if (allow[0])
		reply_header(&request->reply, "Allow", allow);
	return -1;
}

/* The caller is who got the ticket, which is used up by this. */
static int check_ticket(struct request *request, const char *id, struct err *e)
{
	char *text = upgrade_ticket(&request->head);
	bool is_good = text && tickets_take(request->front->tickets, TICKET_VIEW, text, store_now_ms(), &request->ticket) &&
	               strcmp(request->ticket.session, id) == 0 && !ticket_owner_expired(&request->ticket, store_now_ms());

	secret_wipe(text);
	if (!is_good) {
		audit_count(request->front->audit, AUDIT_UNAUTHORIZED);
		return err_set(e, ERR_UNAUTHORIZED, NULL,
		               "send a ticket of POST to this path in Sec-WebSocket-Protocol; it is good once, within %d s, for this session",
		               LIMIT_VIEW_TICKET_MS / 1000);
	}
	request->who = request->ticket.who;
	return routes_permit(request->route, &request->who, id, e);
}

static int check_upgrade(struct request *request, const char *id, struct err *e)
{
	bool is_get = strcmp(request->route->method, "GET") == 0 && !request->is_head;

	return upgrade_check(&request->head, is_get, request->is_http_11, e) < 0 ? -1 : check_ticket(request, id, e);
}

static int check_token(struct request *request, const char *id, struct err *e)
{
	const char *token = head_bearer(&request->head);

	if (request->route->flags & ROUTE_UPGRADE)
		return check_upgrade(request, id, e);
	if (request->route->flags & ROUTE_PUBLIC)
		return 0;
	if (!token)
		return err_set(e, ERR_UNAUTHORIZED, NULL, "send the header Authorization: Bearer TOKEN");
	if (!tokens_find(request->front->tokens, token, &request->who)) {
		audit_count(request->front->audit, AUDIT_UNAUTHORIZED);
		return err_set(e, ERR_UNAUTHORIZED, NULL, "this token is not known, or has expired");
	}
	return routes_permit(request->route, &request->who, id, e);
}

static int check_query(const struct request *request, struct err *e)
{
	const char *name;
	json_t *value;
	char shown[SHOWN_MAX], pointer[ERR_PATH_MAX] = "";

	json_object_foreach(request->target.query, name, value) {
		auto_free char *names = NULL;

		if (operation_has_parameter(request->route->operation, name))
			continue;
		names = operation_parameters(request->route->operation);
		(void)form_pointer_add(pointer, name);
		return err_set(e, ERR_UNKNOWN_FIELD, pointer, "the query parameter %s is not known here; this path takes: %s",
		               err_quote(shown, sizeof(shown), name, strlen(name)), names ? names : "none");
	}
	return 0;
}

size_t check_body_limit(const struct request *request)
{
	if (request->route->flags & ROUTE_PUBLIC)
		return LIMIT_PUBLIC_BODY_BYTES;
	if (request->route->flags & ROUTE_BYTES)
		return LIMIT_SECRET_BYTES;
	if (request->route->flags & ROUTE_UPLOAD)
		return LIMIT_UPLOAD_BYTES;
	return request->route->flags & ROUTE_LARGE ? LIMIT_ACT_BODY_BYTES : LIMIT_BODY_BYTES;
}

/* A key that would not be honoured is refused, unless the request may be repeated as it is. */
static int check_key(struct request *request, struct err *e)
{
	if (request->route->flags & ROUTE_KEY)
		return head_key(&request->head, request->key, e);
	if (!request->head.idempotency_key || strcmp(request->route->method, "POST") != 0 || request->route->flags & ROUTE_REPEATABLE)
		return 0;
	return err_set(e, ERR_UNSUPPORTED, NULL, "this path does not offer Idempotency-Key; send the request without it");
}

/* A part would replace the whole, and a condition that is not heeded would be broken. */
static int check_upload(const struct head *head, struct err *e)
{
	const char *unheeded = head->content_range ? "Content-Range" : head->if_match ? "If-Match" : head->if_none_match ? "If-None-Match" : NULL;

	if (unheeded)
		return err_set(e, ERR_BAD_REQUEST, NULL, "%s is not heeded here: a file is sent, and replaced, as a whole", unheeded);
	if (head->content_encoding && strcasecmp(head->content_encoding, "identity") != 0)
		return err_set(e, ERR_MEDIA_TYPE, NULL, "a file is taken as it is: send it without Content-Encoding");
	if (!head->content_type || head_is_bytes(head) || head_is_tar(head))
		return 0;
	return err_set(e, ERR_MEDIA_TYPE, NULL, "the Content-Type must be application/octet-stream for a file, or application/x-tar for what is to be unpacked");
}

static int check_body(const struct request *request, struct err *e)
{
	const struct head *head = &request->head;

	if (head->length > check_body_limit(request))
		return err_set(e, ERR_TOO_LARGE, NULL, "the body has %llu bytes; at most %zu are allowed", (unsigned long long)head->length,
		               check_body_limit(request));
	if (request->route->flags & ROUTE_UPLOAD)
		return check_upload(head, e);
	if (head->has_body && !(request->route->flags & (ROUTE_BODY | ROUTE_BYTES)))
		return err_set(e, ERR_BAD_REQUEST, NULL, "this path takes no body");
	if (head->chunked && request->route->flags & ROUTE_BYTES)
		return err_set(e, ERR_BAD_REQUEST, NULL, "the body must come with its Content-Length, not in chunks");
	if (head->has_body && request->route->flags & ROUTE_BYTES)
		return head_is_bytes(head) ? 0 : err_set(e, ERR_MEDIA_TYPE, NULL, "the Content-Type must be application/octet-stream: the body is taken as it is");
	if (head->has_body && !head_is_json(head))
		return err_set(e, ERR_MEDIA_TYPE, NULL, "the Content-Type must be application/json, in UTF-8");
	return 0;
}

static int find_session(struct request *request, const char *id, struct err *e)
{
	char shown[SHOWN_MAX];
	struct session *session = id ? sessions_find(&request->front->sessions, id) : NULL;

	if (id && (!session || !session_is_shown_to(session, &request->who)))
		return err_set(e, ERR_NOT_FOUND, NULL, "there is no session %s", err_quote(shown, sizeof(shown), id, strlen(id)));
	request->session = session ? session_ref(session) : NULL;
	return 0;
}

/* Before the body comes: a client that asks whether it may send it gets its answer. */
static int check_size(const struct request *request, struct err *e)
{
	const json_t *limits = request->session ? json_object_get(request->session->spec, "limits") : NULL;
	long most_mb = form_int(limits, "disk_mb", 0);

	if (!(request->route->flags & ROUTE_UPLOAD) || most_mb == 0 || request->head.length <= (uint64_t)most_mb * 1024 * 1024)
		return 0;
	return err_set(e, ERR_TOO_LARGE, NULL, "the body has %llu bytes; all files of this session may have %ld MiB (limits.disk_mb)",
	               (unsigned long long)request->head.length, most_mb);
}

int check_head(struct request *request, struct MHD_Connection *mhd, const char *method, struct err *e)
{
	const char *id = NULL;

	if (read_head(request, mhd, e) < 0 || check_hosts(request, e) < 0 || find_route(request, method, &id, e) < 0 ||
	    check_token(request, id, e) < 0 || check_query(request, e) < 0 || check_body(request, e) < 0 ||
	    check_key(request, e) < 0)
		return -1;
	return find_session(request, id, e) < 0 ? -1 : check_size(request, e);
}
