/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events out, numbers back. */
#include "session/front/hooks.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>

#include "sandbox/egress/hook.h"
#include "session/base/ipc.h"
#include "session/base/log.h"
#include "session/base/util.h"
#include "session/front/metrics.h"

#define ID_BYTES 16

static const char *const KINDS[HOOK_N_EVENTS] = {HOOK_EVENTS};

static void on_report(void *arg, uint32_t events)
{
	struct hooks *hooks = arg;
	struct hook_report report;
	size_t n_fds;

	(void)events;
	while (ipc_recv(hooks->fd, &report, sizeof(report), NULL, 0, &n_fds, NULL) == (ssize_t)sizeof(report)) {
		metrics_webhooks(hooks->metrics, "delivered", report.delivered);
		metrics_webhooks(hooks->metrics, "failed", report.failed);
		metrics_webhooks(hooks->metrics, "dropped", report.dropped);
	}
}

void hooks_start(struct hooks *hooks, struct loop *loop, struct metrics *metrics, const char *console)
{
	hooks->metrics = metrics;
	hooks->console = console;
	if (hooks->fd >= 0)
		hooks->source = loop_add(loop, hooks->fd, EPOLLIN, on_report, hooks);
}

static void drop(struct hooks *hooks, const char *session, const char *why)
{
	if (!hooks->drops)
		log_warn("events for webhooks are dropped, the first one of session %s: %s", session, why);
	hooks->drops = true;
	metrics_webhooks(hooks->metrics, "dropped", 1);
}

/* The body's length, or 0 when it has no room. */
static size_t write_body(const struct hooks *hooks, struct hook_event *event, const char *member, json_t *value)
{
	char at[25], url[400];
	uint8_t id[ID_BYTES];
	json_auto_t *body = NULL;
	size_t len;

	util_random(id, sizeof(id));
	event->id[0] = 'd';
	util_hex(event->id + 1, id, sizeof(id));
	(void)snprintf(url, sizeof(url), "%s/#session=%s", hooks->console, event->session);
	body = json_pack("{s:s,s:s,s:s,s:s,s:s,s:O}", "id", event->id, "event", KINDS[event->kind], "session", event->session, "at",
	                 util_wall_time(at, sizeof(at)), "url", url, member, value);
	len = body ? json_dumpb(body, event->body, sizeof(event->body), JSON_COMPACT) : 0;
	return len <= sizeof(event->body) ? len : 0;
}

void hooks_say(struct hooks *hooks, enum hooks_kind kind, const char *session, const char *member, json_t *value)
{
	struct hook_event event;
	struct err e = {0};

	if (hooks && hooks->fd >= 0) {
		memset(&event, 0, offsetof(struct hook_event, body));
		event.kind = (uint32_t)kind;
		(void)snprintf(event.session, sizeof(event.session), "%s", session);
		event.len = (uint32_t)write_body(hooks, &event, member, value);
		if (event.len == 0)
			drop(hooks, session, "it is too large");
		else if (ipc_send(hooks->fd, &event, offsetof(struct hook_event, body) + event.len, NULL, 0, &e) < 0)
			drop(hooks, session, "glovebox-egress does not take them");
		else
			hooks->drops = false;
	}
	json_decref(value);
}
