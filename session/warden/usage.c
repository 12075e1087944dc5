/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The numbers of control groups, as events. */
#include "session/warden/usage.h"

#include <stdio.h>
#include <string.h>

#include "session/base/util.h"
#include "session/warden/front.h"
#include "session/warden/parts.h"

/* The warden's bits are those of the groups (sandbox/jail/cgroup.h). */
static void tell(struct warden *warden, uint32_t tag, const char *session)
{
	struct warden_event event = {.op = WARDEN_USED, .tag = tag};
	struct cgroup_usage usage;

	cgroup_read_usage(warden->cgroups, session, &usage);
	event.usage = (struct warden_usage){
		.known = usage.known, .memory_bytes = usage.memory_bytes, .pids = usage.pids, .cpu_usec = usage.cpu_usec};
	if (session)
		memcpy(event.session, session, sizeof(event.session));
	front_send(warden->front, &event);
}

void usage_answer(struct warden *warden, const struct warden_request *request)
{
	int64_t now_ms = util_now_ms();

	if (warden->usage_ms && now_ms - warden->usage_ms < WARDEN_USAGE_MS) {
		struct warden_event refusal = {.op = WARDEN_REFUSED, .tag = request->tag, .code = ERR_BUSY};

		(void)snprintf(refusal.detail, sizeof(refusal.detail), "usage is told every %d ms at most", WARDEN_USAGE_MS);
		front_send(warden->front, &refusal);
		return;
	}
	warden->usage_ms = now_ms;
	for (const struct session *session = warden->sessions; session; session = session->next)
		if (session->state == SESSION_RUNNING)
			tell(warden, request->tag, session->id);
	tell(warden, request->tag, NULL);
}
