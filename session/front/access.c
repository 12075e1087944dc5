/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counting requests. */
#include "session/front/access.h"

#include "session/base/util.h"
#include "session/front/metrics.h"
#include "session/front/request.h"

void access_answered(const struct request *request)
{
	struct metrics *metrics = request->front->metrics;

	metrics_answered(metrics, request->route, request->reply.status, util_now_us() - request->started_us);
	if (request->refused)
		metrics_refused(metrics, request->refusal.code);
}

void access_closed(const struct request *request)
{
	/* What libmicrohttpd refuses before it shows the head is not even known by its route. */
	if (request->phase == REQUEST_BODY || request->phase == REQUEST_WORKING)
		metrics_abandoned(request->front->metrics, request->route);
	metrics_bytes(request->front->metrics, request->body_len + request->drained, request->n_sent);
}
