/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One process after another behind a socket that stays. */
#include "session/warden/egress.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/param.h>
#include <sys/socket.h>
#include <unistd.h>

#include "session/base/ipc.h"
#include "session/base/log.h"
#include "session/base/util.h"
#include "session/warden/outward.h"
#include "session/warden/sealed.h"
#include "session/warden/secrets.h"

#define LOG_BYTES (256 * 1024)
#define RESTART_MS 100      /* after the first end; twice as long after each other */
#define RESTART_MAX_MS 5000
#define LIVED_MS 60000      /* one that has lived for so long does not end again and again */

struct egress {
	struct session *session;
	struct child *child;       /* NULL while it is down */
	int listen, keep, settings; /* what each process gets a copy of */
	int stage;                 /* the stage's end, until it has it */
	int channel;               /* our end of its labels: its end is ours */
	struct loop_timer *timer;
	int64_t pause_ms, started_ms;
	bool ending;
};

static int make_settings(const struct warden *warden, int *fd, struct err *e)
{
	auto_free char *permit = util_strdup(warden->ceilings.permit), *text = util_strdup("");
	char *save = NULL;

	for (const char *item = strtok_r(permit, ", \t", &save); item; item = strtok_r(NULL, ", \t", &save)) {
		auto_free char *before = text;

		text = util_printf("%spermit = %s\n", before, item);
	}
	return sealed_copy("the settings of egress", text, strlen(text), fd, e);
}

/* Its size is fixed: a process can write there, and no more. */
static int make_keep(int *fd, struct err *e)
{
	*fd = memfd_create("keep", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	return *fd < 0 || ftruncate(*fd, EGRESS_KEEP_BYTES) < 0 || fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0
	               ? err_sys(e, "what egress keeps") : 0;
}

int egress_create(struct session *session, struct err *e)
{
	struct warden *warden = session->warden;
	struct egress *egress;

	if (session->spec.egress == EGRESS_NONE)
		return 0;
	egress = util_zalloc(sizeof(*egress));
	*egress = (struct egress){.session = session, .listen = -1, .keep = -1, .settings = -1, .stage = -1, .channel = -1, .pause_ms = RESTART_MS};
	session->egress = egress;
	if (make_settings(warden, &egress->settings, e) < 0 || make_keep(&egress->keep, e) < 0)
		return -1;
	return state_make_egress(&warden->state, session->id, warden_uid(warden, session->slot, SLOT_EGRESS), &egress->listen, e);
}

static int send_label(const struct egress *egress, enum egress_label_kind kind, const char *name, int fd, struct err *e)
{
	struct egress_label label;

	memset(&label, 0, sizeof(label));
	label.kind = (uint32_t)kind;
	label.ceiling = MIN(egress->session->spec.egress, egress->session->warden->ceilings.egress);
	(void)snprintf(label.name, sizeof(label.name), "%s", name);
	memcpy(label.session, egress->session->id, sizeof(label.session));
	return ipc_send(egress->channel, &label, sizeof(label), &fd, fd >= 0, e);
}

static int send_secrets(const struct egress *egress, struct err *e)
{
	const struct session *session = egress->session;

	for (size_t i = 0; i < LIMIT_SECRETS && session->spec.secrets[i][0]; i++) {
		auto_fd fd = -1;

		if (!(session->spec.injected >> i & 1))
			continue;
		if (secrets_copy(&session->warden->state, session->spec.secrets[i], &fd, e) < 0 ||
		    send_label(egress, EGRESS_SECRET, session->spec.secrets[i], fd, e) < 0)
			return -1;
	}
	return 0;
}

/* A link between a new process and the stage, and all else that a process begins with; it waits in the channel until it is read. */
static int send_labels(struct egress *egress, struct err *e)
{
	auto_fd theirs = -1;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0)
		return err_sys(e, "socketpair");
	util_close_fd(&egress->stage);
	egress->stage = ends[0];
	theirs = ends[1];
	if (send_label(egress, EGRESS_LISTEN, "", egress->listen, e) < 0 || send_label(egress, EGRESS_STAGE, "", theirs, e) < 0 ||
	    send_label(egress, EGRESS_KEEP, "", egress->keep, e) < 0 || send_label(egress, EGRESS_SETTINGS, "", egress->settings, e) < 0 ||
	    send_secrets(egress, e) < 0)
		return -1;
	return send_label(egress, EGRESS_START, "", -1, e);
}

static void on_timer(void *arg);

static void plan_restart(struct egress *egress)
{
	struct loop *loop = egress->session->warden->loop;

	egress->timer = loop_at(loop, util_now_ms() + egress->pause_ms, on_timer, egress);
	egress->pause_ms = MIN(2 * egress->pause_ms, RESTART_MAX_MS);
}

static void on_started(void *arg)
{
	(void)arg;
}

static void on_failed(void *arg, const struct err *why)
{
	const struct egress *egress = arg;

	log_err(LOG_ERROR, why, "session %s: " OUTWARD_PROGRAM " could not be started", egress->session->id);
}

static void on_gone(void *arg, const char *how, int status)
{
	struct egress *egress = arg;
	struct session *session = egress->session;

	(void)status;
	egress->child = NULL;
	util_close_fd(&egress->channel);
	if (egress->ending) {
		session->egress_gone(session);
		return;
	}
	log_warn("session %s: " OUTWARD_PROGRAM " ended: %s; what went through it is cut", session->id, how);
	if (util_now_ms() - egress->started_ms >= LIVED_MS)
		egress->pause_ms = RESTART_MS;
	plan_restart(egress);
}

static const struct child_ops OPS = {.started = on_started, .failed = on_failed, .gone = on_gone};

static int clone_child(struct egress *egress, int channel, struct err *e)
{
	struct session *session = egress->session;
	struct warden *warden = session->warden;
	char uid[32], group[96], label[64], run[600], name[] = OUTWARD_PROGRAM, role[] = "proxy";
	struct outward outward;
	char *argv[] = {name, role, session->id, NULL}, *envp[2 + WARDEN_LOG_ENV] = {uid};
	int *const fds[] = {&channel}, *const tools[] = {&warden->net};
	struct cgroup_seat seat;
	struct child_plan plan = {.name = label, .log_is_ours = true, .log_bytes_max = LOG_BYTES, .namespaces = OUTWARD_NAMESPACES, .seat = &seat,
	                          .program = warden->programs[PROGRAM_EGRESS], .argv = argv, .envp = envp, .umask = 022, .fds = fds,
	                          .n_fds = ARRAY_LEN(fds), .tools = tools, .n_tools = ARRAY_LEN(tools), .build = daemon_jail_build, .inside = -1,
	                          .arg = &outward.jail};

	outward_init(&outward, warden->build, &warden->net, state_path(&warden->state, run, sizeof(run), "share/egress", session->id));
	(void)snprintf(uid, sizeof(uid), "GLOVEBOX_UID=%u", warden_uid(warden, session->slot, SLOT_EGRESS));
	(void)snprintf(group, sizeof(group), "%s/egress", session->id);
	(void)snprintf(label, sizeof(label), "egress of %s", session->id);
	warden_add_log_env(warden, envp + 1);
	if (cgroup_seat_init(&seat, warden->cgroups, group, e) < 0)
		return -1;
	egress->child = child_start(warden->loop, &plan, &OPS, egress, e);
	cgroup_seat_finish(&seat);
	return egress->child ? 0 : -1;
}

int egress_start(struct egress *egress, struct err *e)
{
	auto_fd theirs = -1;
	int ends[2];

	if (!egress)
		return 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return err_sys(e, "socketpair");
	egress->channel = ends[0];
	theirs = ends[1];
	egress->started_ms = util_now_ms();
	/* One way: it has nothing to say to the warden. */
	if (shutdown(egress->channel, SHUT_RD) < 0)
		return err_sys(e, "shutdown");
	if (send_labels(egress, e) == 0 && clone_child(egress, theirs, e) == 0)
		return 0;
	util_close_fd(&egress->channel);
	return -1;
}

int egress_hand_over(struct egress *egress, struct err *e)
{
	struct stage_label label;

	if (!egress || egress->stage < 0)
		return 0;
	memset(&label, 0, sizeof(label));
	label.kind = STAGE_EGRESS;
	memcpy(label.session, egress->session->id, sizeof(label.session));
	if (ipc_send(egress->session->label, &label, sizeof(label), &egress->stage, 1, e) < 0)
		return -1;
	util_close_fd(&egress->stage);
	return 0;
}

static void on_timer(void *arg)
{
	struct egress *egress = arg;
	struct err e = {0};

	egress->timer = NULL;
	if (egress_start(egress, &e) == 0 && egress_hand_over(egress, &e) == 0)
		return;
	log_err(LOG_ERROR, &e, "session %s: " OUTWARD_PROGRAM, egress->session->id);
	/* One that the stage does not know would let nothing through. */
	if (egress->child)
		child_kill(egress->child);
	else
		plan_restart(egress);
}

void egress_end(struct egress *egress)
{
	if (!egress)
		return;
	egress->ending = true;
	loop_cancel(egress->timer);
	egress->timer = NULL;
	if (egress->child)
		child_kill(egress->child);
}

bool egress_runs(const struct egress *egress)
{
	return egress && egress->child;
}

void egress_destroy(struct egress *egress)
{
	if (!egress)
		return;
	state_remove_egress(&egress->session->warden->state, egress->session->id);
	util_close_fd(&egress->listen);
	util_close_fd(&egress->keep);
	util_close_fd(&egress->settings);
	util_close_fd(&egress->stage);
	util_close_fd(&egress->channel);
	free(egress);
}
