/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Its file, its jail, its socket, its restarts. */
#include "session/warden/hooks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "sandbox/jail/child.h"
#include "session/base/ipc.h"
#include "session/base/limits.h"
#include "session/base/log.h"
#include "session/base/util.h"
#include "session/warden/config.h"
#include "session/warden/outward.h"

#define PROGRAM_NAME OUTWARD_PROGRAM
#define RESTART_MS 1000

struct hooks {
	struct warden *warden;
	int file;           /* sealed */
	int front, own;     /* both ends of the socket, kept: what lies in it outlives either process */
	struct child *child;
	struct loop_timer *timer; /* restart, or the end of patience */
	void (*done)(struct warden *warden); /* set: it is to end */
};

int hooks_create(struct hooks **out, const char *path, int program, uid_t uid, bool only_checks, struct err *e)
{
	struct hooks *hooks;
	int rc, ends[2];

	*out = NULL;
	if (!path)
		return 0;
	hooks = util_zalloc(sizeof(*hooks));
	*hooks = (struct hooks){.file = -1, .front = -1, .own = -1};
	*out = hooks;
	if (config_copy(path, true, &hooks->file, e) < 0)
		return -1;
	rc = config_check(hooks->file, path, PROGRAM_NAME, program, uid, !only_checks, e);
	if (rc != 0)
		return rc < 0 ? -1 : err_set(e, ERR_BAD_FIELD, NULL, "the file of webhooks is wrong: nothing was started");
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0)
		return err_sys(e, "the ends of webhooks");
	hooks->front = ends[0];
	hooks->own = ends[1];
	return 0;
}

static void start(struct hooks *hooks);

static void on_timer(void *arg)
{
	struct hooks *hooks = arg;

	hooks->timer = NULL;
	if (hooks->done)
		child_kill(hooks->child);
	else
		start(hooks);
}

static void plan_restart(struct hooks *hooks)
{
	hooks->timer = loop_at(hooks->warden->loop, util_now_ms() + RESTART_MS, on_timer, hooks);
}

static void on_started(void *arg)
{
	(void)arg;
}

static void on_failed(void *arg, const struct err *why)
{
	(void)arg;
	log_err(LOG_ERROR, why, PROGRAM_NAME " could not be started");
}

static void on_gone(void *arg, const char *how, int status)
{
	struct hooks *hooks = arg;

	(void)status;
	hooks->child = NULL;
	loop_cancel(hooks->timer);
	hooks->timer = NULL;
	if (hooks->done) {
		hooks->done(hooks->warden);
		return;
	}
	log_warn(PROGRAM_NAME " ended: %s; events that it had taken and not delivered are lost", how);
	plan_restart(hooks);
}

static const struct child_ops CHILD_OPS = {.started = on_started, .failed = on_failed, .gone = on_gone};

static struct child *clone_child(struct hooks *hooks, struct err *e)
{
	struct warden *warden = hooks->warden;
	char uid[32], name[] = PROGRAM_NAME;
	struct outward outward;
	char *argv[] = {name, NULL}, *envp[2 + WARDEN_LOG_ENV] = {uid};
	int *const fds[] = {&hooks->own, &hooks->file}, *const tools[] = {&warden->net};
	struct cgroup_seat seat;
	struct child_plan plan = {.name = name, .log_is_ours = true, .namespaces = OUTWARD_NAMESPACES, .seat = &seat,
	                          .program = warden->programs[PROGRAM_EGRESS], .argv = argv, .envp = envp, .umask = 077, .fds = fds,
	                          .n_fds = ARRAY_LEN(fds), .tools = tools, .n_tools = ARRAY_LEN(tools), .build = daemon_jail_build, .inside = -1,
	                          .arg = &outward.jail};
	struct child *child;

	outward_init(&outward, warden->build, &warden->net, NULL);
	(void)snprintf(uid, sizeof(uid), "GLOVEBOX_UID=%u", warden_uid(warden, 0, SLOT_EGRESS));
	warden_add_log_env(warden, envp + 1);
	if (cgroup_seat_init(&seat, warden->cgroups, "egress", e) < 0)
		return NULL;
	child = child_start(warden->loop, &plan, &CHILD_OPS, hooks, e);
	cgroup_seat_finish(&seat);
	return child;
}

static void start(struct hooks *hooks)
{
	struct err e = {0};

	hooks->child = clone_child(hooks, &e);
	if (hooks->child)
		return;
	log_err(LOG_ERROR, &e, PROGRAM_NAME " could not be started");
	plan_restart(hooks);
}

void hooks_start(struct hooks *hooks, struct warden *warden)
{
	if (!hooks)
		return;
	hooks->warden = warden;
	start(hooks);
}

int hooks_tell(struct hooks *hooks, int front_sock, struct err *e)
{
	struct front_label label;

	if (!hooks)
		return 0;
	memset(&label, 0, sizeof(label));
	label.op = WARDEN_LABEL;
	label.kind = FRONT_HOOKS;
	return ipc_send(front_sock, &label, sizeof(label), &hooks->front, 1, e);
}

void hooks_stop(struct hooks *hooks, struct warden *warden, void (*done)(struct warden *warden))
{
	if (!hooks || !hooks->child) {
		done(warden);
		return;
	}
	hooks->done = done;
	/* The last copy of the front's end: now nobody is left who could send, and the child sees it. */
	util_close_fd(&hooks->front);
	loop_cancel(hooks->timer);
	hooks->timer = loop_at(warden->loop, util_now_ms() + LIMIT_HOOK_LAST_MS, on_timer, hooks);
}

void hooks_destroy(struct hooks *hooks)
{
	if (!hooks)
		return;
	if (hooks->warden)
		loop_cancel(hooks->timer);
	util_close_fd(&hooks->file);
	util_close_fd(&hooks->front);
	util_close_fd(&hooks->own);
	free(hooks);
}
