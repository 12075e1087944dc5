/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * glovebox-front: the only process that speaks HTTP. Started by gloveboxd with its listening sockets; it ends when the warden ends,
 * and the sessions outlive it: a front that starts again finds them in its store.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "sandbox/confine/confine.h"
#include "session/base/limits.h"
#include "session/base/log.h"
#include "session/base/util.h"
#include "session/front/anchor.h"
#include "session/front/audit.h"
#include "session/front/conn.h"
#include "session/front/front.h"
#include "session/front/mcp.h"
#include "session/front/metrics.h"
#include "session/front/request.h"
#include "session/front/routes.h"

#define EXIT_USAGE 2 /* gloveboxd tells it from a configuration that is wrong */

static int on_label(void *arg, const struct front_label *label, int fd, struct err *e)
{
	struct front *front = arg;

	if (label->kind == FRONT_HOOKS) {
		front->hooks.fd = fd;
		return 0;
	}
	if (listeners_label(&front->listeners, label, fd, e) < 0)
		return -1;
	/* A renewed pair: the warden keeps the old one until it hears this. */
	return front->conns && label->kind == FRONT_KEY ? warden_serving(front->warden, e) : 0;
}

static void on_ended(void *arg, const struct warden_event *event)
{
	struct front *front = arg;

	sessions_on_ended(&front->sessions, event);
}

static void on_used(void *arg, const struct warden_event *event)
{
	struct front *front = arg;

	usage_take(&front->usage, &front->sessions, event);
}

static void on_warden_gone(void *arg)
{
	struct front *front = arg;

	log_info("the warden is gone");
	front->stopping = true;
}

static void on_signal(void *arg, int signo)
{
	struct front *front = arg;

	(void)signo;
	front->stopping = true;
}

/* What the configuration says, once the tokens are there. */
static int settle_config(struct front *front, struct err *e)
{
	const struct config *config = &front->config;
	const json_t *name;
	char text[96];
	size_t n;

	json_array_foreach(config->hosts, n, name)
		if (hosts_add(&front->hosts, json_string_value(name), e) < 0)
			return -1;
	for (size_t i = 0; i < config->n_keys; i++)
		tokens_add_key(front->tokens, config->keys[i].hash, config->keys[i].role, config->keys[i].name);
	if (config->document)
		log_info("the configuration %.16s: %s", config->sha256, config_summary(config, text, sizeof(text)));
	return 0;
}

/* The record of what happens outside of sessions, with this start in it. */
static int open_audit(struct front *front, struct err *e)
{
	front->audit = audit_open(front->loop, FRONT_AUDIT, LIMIT_AUDIT_BYTES, e);
	if (!front->audit)
		return -1;
	/* A full disk must not keep it from coming up: sessions live. */
	audit_note(front->audit, "start", json_pack("{s:s,s:i,s:s?,s:i}", "version", GLOVEBOX_VERSION, "restarts", (int)front->restarts,
	                                             "config_sha256", front->config.document ? front->config.sha256 : NULL, "keys",
	                                             (int)front->config.n_keys));
	return 0;
}

/* Opens the store and the link to the warden, and finds the sessions that live. */
static int start(struct front *front, const struct warden_ops *ops, struct err *e)
{
	static const int signals[] = {SIGTERM, SIGINT, 0};
	struct warden_hello hello;

	front->loop = loop_create(e);
	if (!front->loop || routes_check(routes, routes_n, e) < 0 || openapi_init(&front->openapi, e) < 0 || metrics_check(e) < 0 ||
	    loop_signals(front->loop, signals, on_signal, front, e) < 0 || config_read(CHILD_CONFIG, &front->config, e) < 0 ||
	    warden_hello(CHILD_WARDEN, ops, &hello, e) < 0)
		return -1;
	front->request_ms = hello.request_ms;
	front->store = store_open(FRONT_STORE, e);
	front->tokens = front->store ? tokens_create(front->store, hello.operator_token_sha256, e) : NULL;
	front->tickets = tickets_create();
	front->shares = front->tokens ? shares_create(front->store, e) : NULL;
	if (!front->shares || tokens_note_code(front->tokens, hello.code_sha256, e) < 0 || settle_config(front, e) < 0)
		return -1;
	front->warden = warden_create(front->loop, CHILD_WARDEN, ops);
	front->usage.warden = front->warden;
	front->restarts = hello.restarts;
	front->started_ms = store_now_ms();
	front->metrics = metrics_create();
	hooks_start(&front->hooks, front->loop, front->metrics, front->config.public_url ? front->config.public_url : front->listeners.url);
	front->mcp = mcp_create(front);
	if (open_audit(front, e) < 0)
		return -1;
	front->images = FRONT_IMAGES;
	front->journals = FRONT_JOURNALS;
	front->sessions = (struct sessions){.loop = front->loop, .warden = front->warden, .store = front->store, .tokens = front->tokens, .shares = front->shares, .audit = front->audit,
	                                    .metrics = front->metrics, .hooks = &front->hooks, .run = FRONT_RUN, .max_live = hello.max_sessions};
	if (store_undo_creates(front->store, e) < 0 || sessions_restore(&front->sessions, e) < 0)
		return -1;
	while (sessions_restoring(&front->sessions) && !front->stopping)
		(void)loop_turn(front->loop, -1);
	return 0;
}

int main(int argc, char **argv)
{
	struct front front = {.listeners = {.hosts = &front.hosts, .certificate = -1}, .hooks = {.fd = -1}};
	struct warden_ops warden_ops = {.label = on_label, .ended = on_ended, .used = on_used, .gone = on_warden_gone, .arg = &front};
	struct conns_ops conns_ops = request_ops(&front);
	struct err e;

	log_init("glovebox-front", NULL);
	util_keep_freed(LIMIT_FRONT_FREED_BYTES);
	(void)signal(SIGPIPE, SIG_IGN);
	if (argc == 3 && strcmp(argv[1], "--check-config") == 0) {
		if (confine_enter_check(&confine_front, &e) == 0)
			return config_check_only(CHILD_CONFIG, argv[2]);
		log_err(LOG_ERROR, &e, "checking the configuration");
		return EXIT_USAGE;
	}
	if (confine_enter(&confine_front, &e) == 0 && start(&front, &warden_ops, &e) == 0)
		front.conns = conns_create(front.loop, front.request_ms, &conns_ops, &e);
	if (!front.conns || listeners_start(&front.listeners, front.loop, front.conns, &e) < 0 || warden_serving(front.warden, &e) < 0) {
		log_err(LOG_ERROR, &e, "the front does not start");
		return EXIT_FAILURE;
	}
	anchor_start(&front);
	log_gather(true);
	while (!front.stopping) {
		conns_turn(front.conns);
		log_flush();
	}
	viewers_say_goodbye(&front.viewers);
	audit_note(front.audit, "stop", NULL);
	audit_close(front.audit);
	log_gather(false);
	/* What is still open is closed by the kernel; everything that must last is in the store already. */
	return EXIT_SUCCESS;
}
