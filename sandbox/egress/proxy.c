/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Accepting, the link to the stage, and what all connections have in common. */
#include "sandbox/egress/proxy.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "sandbox/confine/confine.h"
#include "sandbox/egress/guest.h"
#include "sandbox/egress/labels.h"
#include "session/base/limits.h"
#include "session/base/log.h"
#include "session/base/util.h"

#define REPORT_MS 1000
#define AGAIN_MS 1000
#define SHARED_FOLDER "/run" /* the jail sees it as /run/egress, read-only */
#define TRUSTED "/certs/ca-certificates.crt"

/* --- guests --- */

static bool has_room(const struct proxy *proxy)
{
	return proxy->n_guests < proxy->policy.caps.connections + LIMIT_EGRESS_GUESTS;
}

static void on_again(void *arg)
{
	struct proxy *proxy = arg;

	proxy->again = NULL;
	proxy_make_room(proxy);
}

/* Those that come wait in the kernel. */
static void stop_listening(struct proxy *proxy)
{
	loop_remove(proxy->listening);
	proxy->listening = NULL;
}

static void on_guest(void *arg, uint32_t events)
{
	struct proxy *proxy = arg;

	(void)events;
	while (has_room(proxy)) {
		int fd = accept4(proxy->listen, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd >= 0) {
			guest_start(proxy, fd);
		} else if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED) {
			return;
		} else {
			log_warn("a connection of the session cannot be accepted: %s", strerror(errno));
			stop_listening(proxy);
			if (!proxy->again)
				proxy->again = loop_at(proxy->loop, util_now_ms() + AGAIN_MS, on_again, proxy);
			return;
		}
	}
	stop_listening(proxy);
}

void proxy_make_room(struct proxy *proxy)
{
	if (!proxy->listening && !proxy->again && has_room(proxy))
		proxy->listening = loop_add(proxy->loop, proxy->listen, EPOLLIN, on_guest, proxy);
}

/* --- the stage --- */

static void on_report(void *arg)
{
	struct proxy *proxy = arg;
	const struct talk_usage usage = {.connections = proxy->n_open, .up = proxy->meter.up, .down = proxy->meter.down, .allowed = proxy->allowed,
	                                 .denied = proxy->denied};

	proxy->report = NULL;
	proxy->reported_ms = util_now_ms();
	talk_usage(proxy->talk, &usage);
}

void proxy_changed(struct proxy *proxy)
{
	int64_t now_ms = util_now_ms(), at_ms = proxy->reported_ms + REPORT_MS;

	if (!proxy->report)
		proxy->report = loop_at(proxy->loop, at_ms > now_ms ? at_ms : now_ms, on_report, proxy);
}

/* The rules for secrets are others' to check; without them the policy does not hold. */
static int take_policy(struct proxy *proxy, const json_t *json, struct policy *policy, struct err *e)
{
	if (policy_read(json, proxy->ceiling, policy, e) < 0)
		return -1;
	if (inject_set(proxy->inject, json_object_get(json, "inject"), e) == 0)
		return 0;
	policy_finish(policy);
	return -1;
}

static int on_policy(void *arg, const json_t *json, struct err *e)
{
	struct proxy *proxy = arg;
	struct policy policy;

	if (take_policy(proxy, json, &policy, e) < 0)
		return -1;
	policy_finish(&proxy->policy);
	proxy->policy = policy;
	proxy->n_policies++;
	meter_limit(&proxy->meter, policy.caps.bytes_s, policy.caps.bytes);
	if (policy.cuts) {
		asks_forget(proxy->asks);
		guest_cut_all(proxy);
	}
	proxy_make_room(proxy);
	talk_ready(proxy->talk, inject_has_ca(proxy->inject));
	return 0;
}

static void on_verdict(void *arg, uint64_t id, bool allows, bool session)
{
	struct proxy *proxy = arg;

	asks_answer(proxy->asks, id, allows, session);
}

static void on_stage_gone(void *arg)
{
	struct proxy *proxy = arg;

	loop_stop(proxy->loop);
}

static const struct talk_ops TALK_OPS = {.policy = on_policy, .verdict = on_verdict, .closed = on_stage_gone};

static void send_question(void *arg, uint64_t id, const char *host, uint16_t port, const char *method)
{
	struct proxy *proxy = arg;
	struct egress_host read;
	const struct talk_decision asked = {.verdict = "ask", .host = &read, .port = port};

	egress_host_read(host, strlen(host), &read);
	talk_decision(proxy->talk, &asked);
	talk_ask(proxy->talk, id, host, port, method);
}

static void send_left(void *arg, uint64_t id)
{
	struct proxy *proxy = arg;

	talk_left(proxy->talk, id);
}

static const struct asks_ops ASKS_OPS = {.send = send_question, .leave = send_left};

/* --- the program --- */

static void on_warden(void *arg, uint32_t events)
{
	struct proxy *proxy = arg;

	(void)events;
	loop_stop(proxy->loop); /* nothing comes behind START: it is gone */
}

static void on_signal(void *arg, int signo)
{
	struct proxy *proxy = arg;

	(void)signo;
	loop_stop(proxy->loop);
}

static int take_secrets(struct proxy *proxy, struct labels *labels, struct err *e)
{
	proxy->inject = inject_create(SHARED_FOLDER, TRUSTED, steal_fd(&labels->keep), e);
	if (!proxy->inject)
		return -1;
	for (size_t i = 0; i < labels->n_secrets; i++)
		if (inject_take(proxy->inject, labels->secrets[i].name, steal_fd(&labels->secrets[i].fd), e) < 0)
			return -1;
	return 0;
}

static int start(struct proxy *proxy, struct labels *labels, struct err *e)
{
	static const int signals[] = {SIGTERM, SIGINT, 0};

	proxy->loop = loop_create(e);
	if (!proxy->loop || loop_signals(proxy->loop, signals, on_signal, proxy, e) < 0 || take_secrets(proxy, labels, e) < 0)
		return -1;
	proxy->policy.caps.connections = LIMIT_EGRESS_CONNECTIONS;
	proxy->dials.bytes_s = LIMIT_EGRESS_DIALS_S;
	proxy->ceiling = labels->ceiling;
	proxy->permitted = labels->permitted;
	labels->permitted = (struct address_list){.n = 0};
	proxy->listen = steal_fd(&labels->listen);
	proxy->asks = asks_create(&ASKS_OPS, proxy);
	proxy->talk = talk_create(proxy->loop, steal_fd(&labels->stage), &TALK_OPS, proxy);
	(void)loop_add(proxy->loop, CHILD_WARDEN, EPOLLIN, on_warden, proxy);
	proxy_make_room(proxy);
	return 0;
}

int proxy_main(void)
{
	struct proxy proxy = {.listen = -1};
	struct labels labels;
	struct err e = {0};

	if (confine_enter(&confine_proxy, &e) < 0 || labels_receive(&labels, CHILD_WARDEN, &e) < 0 || start(&proxy, &labels, &e) < 0) {
		log_err(LOG_ERROR, &e, "the way out does not start");
		return EXIT_FAILURE;
	}
	loop_run(proxy.loop);
	/* Its memory, secrets among it, goes with the process. */
	return EXIT_SUCCESS;
}
