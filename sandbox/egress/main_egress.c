/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * glovebox-egress: the only program of Glovebox with a way out to the network. "glovebox-egress proxy SESSION" is the way out of one session (proxy.h). Without
 * that it takes events from the front and delivers them, signed, to the receivers of the operator's file, which nobody else reads. Either ends when the warden ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>

#include "sandbox/confine/confine.h"
#include "sandbox/egress/lanes.h"
#include "sandbox/egress/proxy.h"
#include "session/base/ipc.h"
#include "session/base/log.h"
#include "session/base/util.h"
#include "session/warden/proto.h"

#define EXIT_USAGE 2 /* gloveboxd tells it from a file that is wrong */
#define PAUSE_MS 1000
#define HOST_CA "/certs/ca-certificates.crt" /* the host's, as the warden shows them */
#define OWN_CA "/tmp/ca.pem"
#define REPORT_AGAIN_MS 1000

struct egress {
	struct loop *loop;
	struct targets targets;
	struct poster poster;
	struct lanes_ops ops;
	struct lanes *lanes;
	struct hook_report unsent; /* while the front does not read */
	struct loop_timer *again;
	struct loop_source *source;
	bool finishing;
};

static void send_report(void *arg)
{
	struct egress *egress = arg;

	loop_cancel(egress->again);
	egress->again = NULL;
	if (ipc_send(CHILD_WARDEN, &egress->unsent, sizeof(egress->unsent), NULL, 0, NULL) == 0)
		egress->unsent = (struct hook_report){0};
	else
		egress->again = loop_at(egress->loop, util_now_ms() + REPORT_AGAIN_MS, send_report, egress);
}

static void on_report(void *arg, const struct hook_report *report)
{
	struct egress *egress = arg;

	egress->unsent.delivered += report->delivered;
	egress->unsent.failed += report->failed;
	egress->unsent.dropped += report->dropped;
	send_report(egress);
}

static void on_idle(void *arg)
{
	struct egress *egress = arg;

	if (egress->finishing)
		loop_stop(egress->loop);
}

/* Nobody is left who could send: what waits is delivered, for as long as the warden has patience. */
static void finish(struct egress *egress)
{
	loop_remove(egress->source);
	egress->source = NULL;
	egress->finishing = true;
	if (lanes_are_empty(egress->lanes))
		loop_stop(egress->loop);
}

static void on_event(void *arg, uint32_t events)
{
	struct egress *egress = arg;
	struct hook_event event;
	size_t n_fds;
	ssize_t len;

	(void)events;
	while ((len = ipc_recv(CHILD_WARDEN, &event, sizeof(event), NULL, 0, &n_fds, NULL)) > 0)
		if (hook_check(&event, (size_t)len))
			lanes_add(egress->lanes, &event);
		else
			log_warn("a record of the front is refused");
	if (len == 0)
		finish(egress);
}

static void on_signal(void *arg, int signo)
{
	struct egress *egress = arg;

	(void)signo;
	loop_stop(egress->loop);
}

/* GnuTLS under libcurl takes certificates from files alone. */
static int write_ca(const char *ca, struct err *e)
{
	auto_fd fd = open(OWN_CA, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	return fd < 0 || util_write_all(fd, ca, strlen(ca)) < 0 ? err_sys(e, "the certificates of the file of webhooks") : 0;
}

static int start(struct egress *egress, struct err *e)
{
	static const int signals[] = {SIGTERM, SIGINT, 0};
	struct faults one = {.list = e, .max = 1};

	egress->loop = loop_create(e);
	if (!egress->loop || loop_signals(egress->loop, signals, on_signal, egress, e) < 0 ||
	    targets_read(CHILD_CONFIG, &egress->targets, &one) < 0 || (egress->targets.ca && write_ca(egress->targets.ca, e) < 0))
		return -1;
	egress->poster = (struct poster){.loop = egress->loop, .transfers = transfers_create(egress->loop), .targets = &egress->targets,
	                                 .ca = egress->targets.ca ? OWN_CA : HOST_CA};
	egress->ops = (struct lanes_ops){.report = on_report, .post = post_event, .idle = on_idle, .pause_ms = PAUSE_MS, .arg = egress};
	egress->lanes = lanes_create(&egress->poster, &egress->ops);
	egress->source = loop_add(egress->loop, CHILD_WARDEN, EPOLLIN, on_event, egress);
	return 0;
}

int main(int argc, char **argv)
{
	bool is_proxy = argc >= 2 && strcmp(argv[1], "proxy") == 0;
	struct egress egress = {.loop = NULL};
	struct err e = {0};

	log_init("glovebox-egress", argc == 3 && is_proxy ? argv[2] : NULL);
	(void)signal(SIGPIPE, SIG_IGN);
	if (is_proxy)
		return proxy_main();
	if (argc == 3 && strcmp(argv[1], "--check-config") == 0) {
		if (confine_enter_check(&confine_egress, &e) == 0)
			return targets_check_only(CHILD_CONFIG, argv[2]);
		log_err(LOG_ERROR, &e, "checking the file of webhooks");
		return EXIT_USAGE;
	}
	if (confine_enter(&confine_egress, &e) < 0 || start(&egress, &e) < 0) {
		log_err(LOG_ERROR, &e, "webhooks do not start");
		return EXIT_FAILURE;
	}
	loop_run(egress.loop);
	/* Its memory, keys among it, goes with the process. */
	return EXIT_SUCCESS;
}
