/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The body of a request: taken as it comes from libmicrohttpd, and read by its route as bytes, as JSON or by a form. */
#include <string.h>

#include "session/base/json.h"
#include "session/base/limits.h"
#include "session/base/locked.h"
#include "session/base/util.h"
#include "session/front/check.h"
#include "session/front/request_inner.h"

void request_free_body(struct request *request)
{
	if (request->route && request->route->flags & ROUTE_BYTES)
		locked_free(request->body, LIMIT_SECRET_BYTES);
	else
		free(request->body);
	request->body = NULL;
}

void request_refuse_body(struct request *request)
{
	(void)conn_hold(request->conn, 0);
	request_free_body(request);
	(void)err_set(&request->refusal, ERR_BUSY, NULL, "the calls that run take too much memory");
	request->refused = true;
}

/* A secret stays in no memory but ours, and there until it was handed on: where libmicrohttpd has read it to, it is wiped. */
static void take_secret(struct request *request, const char *data, size_t len)
{
	if (!request->body)
		request->body = locked_alloc(LIMIT_SECRET_BYTES);
	memcpy(request->body + request->body_len, data, len);
	request->body_len += len;
}

void request_take_coming(struct request *request, const char *data, size_t *len)
{
	size_t room = LIMIT_COMING_BYTES - request->n_coming, n = *len < room ? *len : room;

	if (n > 0)
		memcpy(request->coming + request->n_coming, data, n);
	request->n_coming += n;
	request->body_len += n;
	conn_received(request->conn, n);
	*len -= n;
	co_signal(&request->body_changed);
}

int request_body_read(struct request *request, const bool *over, char *out, size_t max, size_t *n, struct err *e)
{
	while (request->n_coming == 0 && !request->came && !*over)
		if (co_wait_event(&request->body_changed, CO_FOREVER, e) < 0)
			return -1;
	*n = request->n_coming < max ? request->n_coming : max;
	memcpy(out, request->coming, *n);
	request->n_coming -= *n;
	memmove(request->coming, request->coming + *n, request->n_coming);
	if (*n > 0 && !request->closed && !request->came && conn_suspended(request->conn))
		conn_resume(request->conn);
	return 0;
}

bool request_take_body(struct request *request, const char *data, size_t len)
{
	if (!request->refused && request->body_len + len > check_body_limit(request)) {
		(void)err_set(&request->refusal, ERR_TOO_LARGE, NULL, "the body has more than the %zu bytes that are allowed",
		              check_body_limit(request));
		request->refused = true;
	}
	if (request->refused) {
		request->drained += len;
		return request->drained <= LIMIT_DRAIN_BYTES;
	}
	if (request->route->flags & ROUTE_BYTES) {
		take_secret(request, data, len);
		return true;
	}
	if (request->body_len + len > request->body_size) {
		size_t twice = (request->body_len + len) * 2;

		request->body_size = twice < check_body_limit(request) ? twice : check_body_limit(request);
		if (!conn_hold(request->conn, request->body_size)) {
			request_refuse_body(request);
			return true;
		}
		request->body = util_realloc(request->body, request->body_size);
	}
	memcpy(request->body + request->body_len, data, len);
	request->body_len += len;
	return true;
}

int request_json(const struct request *request, json_t **object, struct err *e)
{
	if (request->body_len == 0)
		return err_set(e, ERR_BAD_JSON, NULL, "the body is empty; it must be a JSON object, {} at least");
	return json_parse(request->body, request->body_len, object, e);
}

struct faults *request_faults(struct request *request)
{
	if (!request->faults.list)
		request->faults = (struct faults){.list = util_alloc(LIMIT_FAULTS * sizeof(struct err)), .max = LIMIT_FAULTS};
	return &request->faults;
}

int request_form(struct request *request, const struct form *form, json_t **object, struct err *e)
{
	json_auto_t *value = NULL;
	struct faults *faults = request_faults(request);

	if (request_json(request, &value, e) < 0)
		return -1;
	if (form_check_all(form, value, "", NULL, faults) < 0) {
		*e = faults->list[0];
		return -1;
	}
	*object = json_incref(value);
	return 0;
}
