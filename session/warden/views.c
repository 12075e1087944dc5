/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Starting views. */
#include "session/warden/views.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "display/view/proto.h"
#include "sandbox/jail/daemon_jail.h"
#include "session/base/ipc.h"
#include "session/base/log.h"
#include "session/base/util.h"
#include "session/warden/sealed.h"

#define VIEW_LOG_BYTES (64 * 1024)

struct view {
	struct session *session;
	struct view *next;
	unsigned place; /* among the session's, from 0: its uid */
	struct child *child;
};

/* What its three sides get; -1 once somebody has it. */
struct ends {
	int stream, rfb;                 /* the front's and the view's */
	int stage[N_VIEWER_ENDS], socket; /* the stage's, and the view's of the socket */
	int pixels, taken, start;        /* the view's */
};

static void ends_close(struct ends *ends)
{
	int *const all[] = {&ends->stream, &ends->rfb,    &ends->stage[VIEWER_SOCKET], &ends->stage[VIEWER_PIXELS], &ends->stage[VIEWER_TAKEN],
	                    &ends->socket, &ends->pixels, &ends->taken,                &ends->start};

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		util_close_fd(all[i]);
}

static int make_pair(int type, int *ours, int *theirs, struct err *e)
{
	int pair[2];

	if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(e, "socketpair");
	*ours = pair[0];
	*theirs = pair[1];
	return 0;
}

/* Made at its largest and sealed; the view's descriptor is another one, which only reads. */
static int make_segment(const struct session *session, struct ends *ends, struct err *e)
{
	auto_fd fd = memfd_create("viewer", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	char path[40];

	if (fd < 0 || ftruncate(fd, (off_t)view_segment_bytes(session->spec.width_px, session->spec.height_px)) < 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		return err_sys(e, "making the segment of a viewer");
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ends->pixels = open(path, O_RDONLY | O_CLOEXEC);
	if (ends->pixels < 0)
		return err_sys(e, "opening the segment of a viewer");
	ends->stage[VIEWER_PIXELS] = steal_fd(&fd);
	return 0;
}

static int make_ends(const struct session *session, const struct warden_viewer *viewer, struct ends *ends, struct err *e)
{
	struct view_start start;
	int rc;

	memset(&start, 0, sizeof(start));
	start.max_width_px = session->spec.width_px;
	start.max_height_px = session->spec.height_px;
	start.controls = viewer->controls;
	memcpy(start.password, viewer->password, sizeof(start.password));
	if (make_pair(SOCK_STREAM, &ends->stream, &ends->rfb, e) < 0 ||
	    make_pair(SOCK_SEQPACKET, &ends->stage[VIEWER_SOCKET], &ends->socket, e) < 0 || make_segment(session, ends, e) < 0)
		return -1;
	/* One who only looks has no way to ask for anything: neither the view nor the stage can open this direction again. */
	if (!viewer->controls && shutdown(ends->stage[VIEWER_SOCKET], SHUT_RD) < 0)
		return err_sys(e, "shutdown");
	ends->taken = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ends->stage[VIEWER_TAKEN] = fcntl(ends->taken, F_DUPFD_CLOEXEC, 0);
	if (ends->taken < 0 || ends->stage[VIEWER_TAKEN] < 0)
		return err_sys(e, "eventfd");
	rc = sealed_copy("how a view starts", &start, sizeof(start), &ends->start, e);
	explicit_bzero(&start, sizeof(start));
	return rc;
}

static void on_started(void *arg)
{
	(void)arg;
}

static void on_failed(void *arg, const struct err *why)
{
	const struct view *view = arg;

	log_err(LOG_ERROR, why, "session %s: a view could not be started", view->session->id);
}

/* Its ends close with it: stage and front see that. */
static void on_gone(void *arg, const char *how, int status)
{
	struct view *view = arg, **place = &view->session->views;
	struct session *session = view->session;

	if (status != 0)
		log_info("session %s: a view ended: %s", session->id, how);
	while (*place != view)
		place = &(*place)->next;
	*place = view->next;
	free(view);
	session->view_gone(session);
}

static const struct child_ops OPS = {.started = on_started, .failed = on_failed, .gone = on_gone};

static int start(struct view *view, struct ends *ends, struct err *e)
{
	struct session *session = view->session;
	struct warden *warden = session->warden;
	char uid[32], group[96], label[64], name[] = "glovebox-view";
	struct daemon_jail jail = {.place = warden->build};
	char *argv[] = {name, NULL}, *envp[2 + WARDEN_LOG_ENV] = {uid};
	int *const fds[] = {&ends->rfb, &ends->socket, &ends->pixels, &ends->taken, &ends->start}; /* enum view_fd */
	struct cgroup_seat seat;
	struct child_plan plan = {.name = label, .log_is_ours = true, .log_bytes_max = VIEW_LOG_BYTES, .namespaces = DAEMON_JAIL_NAMESPACES,
	                          .seat = &seat, .program = warden->programs[PROGRAM_VIEW], .argv = argv, .envp = envp, .umask = 077,
	                          .fds = fds, .n_fds = ARRAY_LEN(fds), .build = daemon_jail_build, .inside = -1, .arg = &jail};

	(void)snprintf(uid, sizeof(uid), "GLOVEBOX_UID=%u", warden_uid(warden, session->slot, SLOT_VIEWS) + view->place);
	(void)snprintf(group, sizeof(group), "%s/views", session->id);
	(void)snprintf(label, sizeof(label), "view of %s", session->id);
	warden_add_log_env(warden, envp + 1);
	if (cgroup_seat_init(&seat, warden->cgroups, group, e) < 0)
		return -1;
	view->child = child_start(warden->loop, &plan, &OPS, view, e);
	cgroup_seat_finish(&seat);
	return view->child ? 0 : -1;
}

static int tell_stage(struct session *session, const struct warden_viewer *viewer, const struct ends *ends, struct err *e)
{
	struct stage_label label = {.kind = STAGE_VIEWER, .viewer = viewer->number, .controls = viewer->controls};
	struct err why;

	memcpy(label.session, session->id, sizeof(label.session));
	if (ipc_send(session->label, &label, sizeof(label), ends->stage, N_VIEWER_ENDS, &why) == 0)
		return 0;
	log_err(LOG_WARN, &why, "session %s: the stage is not told of a viewer", session->id);
	return err_set(e, ERR_BUSY, NULL, "the session does not answer now");
}

/* The lowest place that none of them has; -1: all are taken. */
static int free_place(const struct session *session)
{
	for (unsigned place = 0; place < LIMIT_VIEWERS; place++) {
		const struct view *view = session->views;

		while (view && view->place != place)
			view = view->next;
		if (!view)
			return (int)place;
	}
	return -1;
}

int views_add(struct session *session, const struct warden_viewer *viewer, int *stream, struct err *e)
{
	struct ends ends = {-1, -1, {-1, -1, -1}, -1, -1, -1, -1};
	int place = free_place(session), rc;
	struct view *view;

	if (place < 0)
		return err_set(e, ERR_VIEWER_LIMIT, NULL, "%d watch this session, which is the most that may", LIMIT_VIEWERS);
	view = util_zalloc(sizeof(*view));
	*view = (struct view){.session = session, .place = (unsigned)place};
	rc = make_ends(session, viewer, &ends, e);
	if (rc == 0)
		rc = start(view, &ends, e);
	if (rc < 0) {
		free(view);
	} else {
		view->next = session->views;
		session->views = view;
		/* One that the stage does not know sees at once that nobody is there: its ends close here. */
		rc = tell_stage(session, viewer, &ends, e);
	}
	if (rc == 0)
		*stream = steal_fd(&ends.stream);
	ends_close(&ends);
	return rc;
}

void views_kill(struct session *session)
{
	for (struct view *view = session->views; view; view = view->next)
		child_kill(view->child);
}
