/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The front: its jail, its socket, its queue, its restarts. */
#include "session/warden/front.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/param.h>
#include <sys/socket.h>

#include "sandbox/jail/child.h"
#include "sandbox/jail/daemon_jail.h"
#include "session/base/ipc.h"
#include "session/base/locked.h"
#include "session/base/log.h"
#include "session/base/util.h"
#include "session/warden/hooks.h"
#include "session/warden/requests.h"

/* A new one comes at once, as callers wait for it; one that dies again and again is not to take the processor for itself. */
#define RESTARTS_AT_ONCE 16
#define RESTART_EVERY_MS 500 /* then */
#define STOP_MS 2000
#define QUEUE_MAX 4096       /* events; a front that leaves so many unread is stuck */

/* An event that its socket has not taken yet. */
struct queued {
	struct warden_event event;
	int fd; /* that goes with it; -1: none */
};

/* What it sends. */
union record {
	struct warden_request request;
	struct warden_secret secret;
};

struct front {
	struct warden *warden;
	union record *record; /* the one that came last, while it is worked on; locked */
	const struct front_ops *ops;
	struct child *child; /* NULL while it is down */
	int sock;
	struct loop_source *source;
	struct loop_timer *timer; /* restart, or the end of patience */
	struct queued *queue;
	size_t n_queued;
	int64_t restart_ms; /* when the restarts so far, one each RESTART_EVERY_MS, would be over */
	bool served, stopping;
};

static void start(struct front *front);

static void close_socket(struct front *front)
{
	loop_remove(front->source);
	front->source = NULL;
	util_close_fd(&front->sock);
	for (size_t i = 0; i < front->n_queued; i++)
		util_close_fd(&front->queue[i].fd);
	free(front->queue);
	front->queue = NULL;
	front->n_queued = 0;
}

static bool send_queued(int sock, struct queued *queued)
{
	if (ipc_send(sock, &queued->event, sizeof(queued->event), &queued->fd, queued->fd >= 0, NULL) < 0)
		return false;
	util_close_fd(&queued->fd);
	return true;
}

/* Sends what waits, as far as the socket takes it. */
static void flush(struct front *front)
{
	size_t sent = 0;

	while (sent < front->n_queued && send_queued(front->sock, &front->queue[sent]))
		sent++;
	front->n_queued -= sent;
	memmove(front->queue, front->queue + sent, front->n_queued * sizeof(*front->queue));
	loop_modify(front->source, EPOLLIN | (front->n_queued ? EPOLLOUT : 0));
}

void front_send(struct front *front, const struct warden_event *event)
{
	int none = -1;

	front_send_with(front, event, &none);
}

void front_send_with(struct front *front, const struct warden_event *event, int *fd)
{
	if (!front->source) {
		util_close_fd(fd);
		return;
	}
	if (front->n_queued == QUEUE_MAX) {
		log_error("the front reads nothing any more: it is ended");
		child_kill(front->child);
		close_socket(front);
		util_close_fd(fd);
		return;
	}
	front->queue = util_realloc(front->queue, (front->n_queued + 1) * sizeof(*front->queue));
	front->queue[front->n_queued++] = (struct queued){*event, steal_fd(fd)};
	flush(front);
}

void front_answer(struct front *front, uint32_t tag, const char *session, int rc, const struct err *e)
{
	struct warden_event event = {.op = rc < 0 ? WARDEN_REFUSED : WARDEN_DONE, .tag = tag};

	if (rc < 0) {
		event.code = (uint32_t)e->code;
		(void)snprintf(event.path, sizeof(event.path), "%.31s", e->path);
		(void)snprintf(event.detail, sizeof(event.detail), "%.150s", e->msg);
	}
	(void)snprintf(event.session, sizeof(event.session), "%.*s", SESSION_ID_LEN, session);
	front_send(front, &event);
}

static void take_secret(struct front *front, const struct warden_secret *secret, size_t len)
{
	struct err e = {0};

	if (requests_check_secret(secret, len, &e) == 0) {
		front->ops->secret(front->warden, secret);
		return;
	}
	log_err(LOG_WARN, &e, "a record of the front is refused");
	front_answer(front, secret->tag, "", -1, &e);
}

static void take_request(struct front *front, const struct warden_request *request, size_t len)
{
	struct warden_event refusal = {0};
	struct err e = {0};

	if (requests_check(request, len, &front->warden->ceilings, &e) < 0) {
		log_err(LOG_WARN, &e, "a record of the front is refused");
		if (len != sizeof(*request))
			return;
		refusal.op = request->op == WARDEN_CREATE ? WARDEN_FAILED : WARDEN_REFUSED;
		refusal.tag = request->tag;
		refusal.code = (uint32_t)e.code;
		(void)snprintf(refusal.session, sizeof(refusal.session), "%.*s", SESSION_ID_LEN, request->session);
		(void)snprintf(refusal.path, sizeof(refusal.path), "%.31s", e.path);
		(void)snprintf(refusal.detail, sizeof(refusal.detail), "%.150s", e.msg);
		front_send(front, &refusal);
	} else if (request->op != WARDEN_HELLO) {
		front->ops->request(front->warden, request);
	} else {
		serve_taken(&front->warden->serve, front->sock);
		if (!front->served)
			front->ops->serving(front->warden);
		front->served = true;
	}
}

static void on_socket(void *arg, uint32_t events)
{
	struct front *front = arg;
	union record *record = front->record;
	struct err e = {0};
	size_t n_fds = 0;
	ssize_t n;

	if (events & EPOLLOUT)
		flush(front);
	n = ipc_recv(front->sock, record, sizeof(*record), NULL, 0, &n_fds, &e);
	if (n == sizeof(record->secret))
		take_secret(front, &record->secret, (size_t)n);
	else if (n > 0)
		take_request(front, &record->request, (size_t)n);
	else if (n == 0 || errno == EMSGSIZE) {
		/* It closed its end, or breaks the form: either way there is no use in it. */
		child_kill(front->child);
		close_socket(front);
	}
	explicit_bzero(record, sizeof(*record));
}

static void on_timer(void *arg)
{
	struct front *front = arg;

	front->timer = NULL;
	if (front->stopping)
		child_kill(front->child);
	else
		start(front);
}

static void plan_restart(struct front *front)
{
	int64_t now = util_now_ms();

	front->restart_ms = MAX(front->restart_ms, now) + RESTART_EVERY_MS;
	front->timer = loop_at(front->warden->loop, MAX(now, front->restart_ms - RESTARTS_AT_ONCE * RESTART_EVERY_MS), on_timer, front);
}

static void on_failed(void *arg, const struct err *why)
{
	(void)arg;
	log_err(LOG_ERROR, why, "the front could not be started");
}

static void on_started(void *arg)
{
	(void)arg;
}

static void on_gone(void *arg, const char *how, int status)
{
	struct front *front = arg;

	front->child = NULL;
	close_socket(front);
	loop_cancel(front->timer);
	front->timer = NULL;
	if (!front->stopping || status != 0)
		log_warn("the front ended: %s", how);
	/* What it was told once, a console's code, a new one must not honour again. */
	front->warden->hello.restarts++;
	memset(front->warden->hello.code_sha256, 0, sizeof(front->warden->hello.code_sha256));
	if (!front->stopping && front->served)
		plan_restart(front);
	front->ops->gone(front->warden, front->served);
}

static const struct child_ops CHILD_OPS = {.started = on_started, .failed = on_failed, .gone = on_gone};

/* Clones the front with its end of the socket. */
static struct child *clone_front(struct front *front, int *end, struct err *e)
{
	struct warden *warden = front->warden;
	char run[600], journals[600], store[600], manifests[600], uid[32], name[] = "glovebox-front";
	const struct daemon_bind binds[] = {
		{.source = state_path(&warden->state, run, sizeof(run), "run", ""), .target = "run"},
		{.source = state_path(&warden->state, journals, sizeof(journals), "journals", ""), .target = "journals"},
		{.source = state_path(&warden->state, store, sizeof(store), "front", ""), .target = "front", .writable = true},
		{.source = manifests, .target = "images"},
	};
	struct daemon_jail jail = {.place = warden->build, .binds = binds, .n_binds = ARRAY_LEN(binds)};
	char *argv[] = {name, NULL}, *envp[2 + WARDEN_LOG_ENV] = {uid};
	int *const fds[] = {end, &warden->config};
	struct cgroup_seat seat;
	struct child_plan plan = {.name = "front", .log_is_ours = true, .namespaces = DAEMON_JAIL_NAMESPACES, .seat = &seat,
	                          .program = warden->programs[PROGRAM_FRONT], .argv = argv, .envp = envp, .umask = 077, .fds = fds,
	                          .n_fds = ARRAY_LEN(fds), .build = daemon_jail_build, .inside = -1, .arg = &jail};
	struct child *child;

	(void)snprintf(manifests, sizeof(manifests), "%s/manifests", warden->images);
	(void)snprintf(uid, sizeof(uid), "GLOVEBOX_UID=%u", warden_uid(warden, 0, SLOT_FRONT));
	warden_add_log_env(warden, envp + 1);
	if (cgroup_seat_init(&seat, warden->cgroups, "front", e) < 0)
		return NULL;
	child = child_start(warden->loop, &plan, &CHILD_OPS, front, e);
	cgroup_seat_finish(&seat);
	return child;
}

static void start(struct front *front)
{
	struct err e = {0};
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0) {
		(void)err_sys(&e, "socketpair");
	} else {
		front->child = clone_front(front, &ends[1], &e);
		util_close_fd(&ends[1]);
		front->sock = ends[0];
	}
	if (!front->child) {
		log_err(LOG_ERROR, &e, "the front could not be started");
		util_close_fd(&front->sock);
		plan_restart(front);
		return;
	}
	front->source = loop_add(front->warden->loop, front->sock, EPOLLIN, on_socket, front);
	if (serve_tell(&front->warden->serve, front->sock, &e) < 0 || hooks_tell(front->warden->hooks, front->sock, &e) < 0 ||
	    ipc_send(front->sock, &front->warden->hello, sizeof(front->warden->hello), NULL, 0, &e) < 0)
		log_err(LOG_ERROR, &e, "greeting the front");
}

struct front *front_create(struct warden *warden, const struct front_ops *ops)
{
	struct front *front = util_zalloc(sizeof(*front));

	*front = (struct front){.warden = warden, .ops = ops, .sock = -1, .record = locked_alloc(sizeof(*front->record))};
	start(front);
	return front;
}

void front_destroy(struct front *front)
{
	if (!front)
		return;
	loop_cancel(front->timer);
	close_socket(front);
	locked_free(front->record, sizeof(*front->record));
	free(front);
}

void front_renew(struct front *front)
{
	struct err e = {0};

	/* One that is down gets them when it starts. */
	if (serve_renew(&front->warden->serve, front->sock, &e) < 0 && front->sock >= 0)
		log_err(LOG_ERROR, &e, "the certificate stays as it is");
	else
		log_info("certificate and key were opened again");
}

void front_stop(struct front *front)
{
	front->stopping = true;
	close_socket(front);
	loop_cancel(front->timer);
	front->timer = NULL;
	if (front->child)
		front->timer = loop_at(front->warden->loop, util_now_ms() + STOP_MS, on_timer, front);
	else
		front->ops->gone(front->warden, front->served);
}
