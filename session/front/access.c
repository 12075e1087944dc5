/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counting requests, and a line for each: never the path as it was sent, its query, a body or a token. */
#include "session/front/access.h"

#include <string.h>

#include "session/base/log.h"
#include "session/base/util.h"
#include "session/front/metrics.h"
#include "session/front/request.h"

/* Health checks come every second, and readings of the console nearly so. */
static enum log_level level_of(const struct request *request)
{
	return request->route && strcmp(request->route->method, "GET") == 0 && !request->refused ? LOG_DEBUG : LOG_INFO;
}

/* The session that the route names, or the first that the request made. */
static const char *session_of(const struct request *request)
{
	if (request->session)
		return request->session->id;
	return request->n_born > 0 ? request->born[0].session->id : "";
}

static void write_line(const struct request *request, const char *message, int64_t status, int64_t elapsed_us)
{
	const struct route *route = request->route;
	const struct log_field fields[] = {
		{.name = "request", .text = request->id},
		{.name = "method", .text = route ? route->method : ""},
		{.name = "route", .text = route ? route->path : ""},
		{.name = "status", .number = status},
		{.name = "ms", .number = elapsed_us / 1000},
		{.name = "role", .text = request->who.name[0] ? role_name(request->who.role) : ""},
		{.name = "token", .text = request->who.name},
		{.name = "session", .text = session_of(request)},
		{.name = "code", .text = request->refused ? err_info(request->refusal.code)->wire : ""},
	};

	log_event(level_of(request), message, fields, ARRAY_LEN(fields));
}

void access_answered(const struct request *request)
{
	struct metrics *metrics = request->front->metrics;
	int64_t elapsed_us = util_now_us() - request->started_us;

	metrics_answered(metrics, request->route, request->reply.status, elapsed_us);
	write_line(request, "answered", request->reply.status, elapsed_us);
	if (request->refused)
		metrics_refused(metrics, request->refusal.code);
}

void access_closed(const struct request *request)
{
	/* What libmicrohttpd refuses before it shows the head is not even known by its route. */
	if (request->phase == REQUEST_BODY || request->phase == REQUEST_WORKING) {
		metrics_abandoned(request->front->metrics, request->route);
		write_line(request, "abandoned", 0, util_now_us() - request->started_us);
	}
	metrics_bytes(request->front->metrics, request->body_len + request->drained, request->n_sent);
}
