/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Starting the three parts of a session, and what the stage gets of the other two. */
#include "session/warden/parts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "apps/init/proto.h"
#include "sandbox/jail/apps_jail.h"
#include "sandbox/jail/daemon_jail.h"
#include "sandbox/jail/display_jail.h"
#include "session/base/ipc.h"
#include "session/base/layer.h"
#include "session/base/util.h"
#include "session/warden/egress.h"
#include "session/warden/secrets.h"

#define DISPLAY_IMAGE "display"
#define JAIL_LOG_BYTES (256 * 1024)
#define STAGE_LOG_BYTES (16 * 1024 * 1024)
#define HASH_IN_NAME 12 /* digits of an image's hash in its folder's name */

/* Files that the stage can write to, and one that tells it what came of it. */
static const struct {
	const char *name, *file;
	int access;
} SWITCHES[] = {
	{"jail/freeze", "desk/jail/cgroup.freeze", O_WRONLY},
	{"jail/events", "desk/jail/cgroup.events", O_RDONLY},
	{"apps/freeze", "desk/jail/apps/cgroup.freeze", O_WRONLY},
	{"apps/kill", "desk/jail/apps/cgroup.kill", O_WRONLY},
	{"agent/freeze", "desk/jail/agent/cgroup.freeze", O_WRONLY},
	{"agent/kill", "desk/jail/agent/cgroup.kill", O_WRONLY},
	{"agent/events", "desk/jail/agent/cgroup.events", O_RDONLY},
};

static const char *const LEAVES[INIT_N_GROUPS] = {
	[INIT_GROUP_BASE] = "desk/jail/base", [INIT_GROUP_APPS] = "desk/jail/apps", [INIT_GROUP_AGENT] = "desk/jail/agent"};

/* A root that is taken as an image, and the folders that it lies in, must be root's alone to write: else their owner would choose what
 * runs in jails. */
static int check_image(const struct warden *warden, const char *folder, struct err *e)
{
	struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC, .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
	auto_fd dir = open(warden->images, O_PATH | O_DIRECTORY | O_CLOEXEC);
	char root[256];
	const char *const places[] = {".", folder, root};

	(void)snprintf(root, sizeof(root), "%s/root", folder);
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		auto_fd place = dir < 0 ? -1 : (int)syscall(SYS_openat2, dir, places[i], &how, sizeof(how));
		struct stat st;

		if (place < 0 || fstat(place, &st) < 0)
			return err_set(e, ERR_NO_IMAGE, NULL, "image %s is not there", folder);
		if ((st.st_uid != 0 && st.st_uid != warden->user.host_root) || (st.st_mode & 022))
			return err_set(e, ERR_NO_IMAGE, NULL, "image %s can be written by others than root", folder);
	}
	return 0;
}

static int session_image(const struct session *session, char *path, size_t size, struct err *e)
{
	char folder[IMAGE_NAME_SIZE + HASH_IN_NAME + 1];

	(void)snprintf(folder, sizeof(folder), "%s-%.*s", session->spec.image, HASH_IN_NAME, session->spec.image_hash);
	(void)snprintf(path, size, "%s/%s/root", session->warden->images, folder);
	return check_image(session->warden, folder, e);
}

/* The newest root of displays. */
static int display_image(const struct session *session, char *path, size_t size, struct err *e)
{
	const char *images = session->warden->images;
	DIR *stream = opendir(images);
	char newest[64] = "";
	struct timespec when = {0};

	for (struct dirent *entry = stream ? readdir(stream) : NULL; entry; entry = readdir(stream)) {
		const char *hash = entry->d_name + strlen(DISPLAY_IMAGE) + 1;
		struct stat st;

		if (strncmp(entry->d_name, DISPLAY_IMAGE "-", strlen(DISPLAY_IMAGE) + 1) != 0 || strlen(hash) != HASH_IN_NAME ||
		    strspn(hash, "0123456789abcdef") != HASH_IN_NAME || fstatat(dirfd(stream), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (st.st_mtim.tv_sec > when.tv_sec || (st.st_mtim.tv_sec == when.tv_sec && st.st_mtim.tv_nsec >= when.tv_nsec)) {
			when = st.st_mtim;
			(void)snprintf(newest, sizeof(newest), "%.60s", entry->d_name);
		}
	}
	if (stream)
		(void)closedir(stream);
	if (!newest[0])
		return err_set(e, ERR_NO_IMAGE, NULL, "the image display is not there: glovebox image build display");
	(void)snprintf(path, size, "%s/%s/root", images, newest);
	return check_image(session->warden, newest, e);
}

/* Starts a part in its group of the session. The plan's name, seat and the like are filled in here. */
static int start_part(struct session *session, enum part_kind kind, const char *what, const char *group, struct child_plan *plan,
                      const struct child_ops *ops, struct err *e)
{
	struct part *part = &session->parts[kind];
	struct cgroup_seat seat;
	char path[96], name[64];

	(void)snprintf(path, sizeof(path), "%s/%s", session->id, group);
	(void)snprintf(name, sizeof(name), "%s of %s", what, session->id);
	if (cgroup_seat_init(&seat, session->warden->cgroups, path, e) < 0)
		return -1;
	plan->name = name;
	plan->seat = &seat;
	part->child = child_start(session->warden->loop, plan, ops, part, e);
	cgroup_seat_finish(&seat);
	return part->child ? 0 : -1;
}

static char *x11_path(const struct session *session, char *path, size_t size)
{
	return state_path(&session->warden->state, path, size, "share/x11", session->id);
}

int parts_start_display(struct session *session, const struct child_ops *ops, struct err *e)
{
	struct warden *warden = session->warden;
	char image[700], x11[600], width[16], height[16], name[] = "glovebox-display";
	struct display_jail jail = {.place = warden->build, .image_root = image, .x11 = x11_path(session, x11, sizeof(x11)),
	                            .uid = warden_uid(warden, session->slot, SLOT_DISPLAY), .x_mb = session->spec.x_mb, .cookie = session->cookie};
	char *argv[] = {name, width, height, NULL}, *envp[] = {layer_env(), NULL};
	struct child_plan plan = {.log_bytes_max = JAIL_LOG_BYTES, .namespaces = DISPLAY_JAIL_NAMESPACES,
	                          .program = warden->programs[PROGRAM_DISPLAY], .argv = argv, .envp = envp, .umask = 022,
	                          .build = display_jail_build, .inside = -1, .arg = &jail};

	(void)snprintf(width, sizeof(width), "%u", session->spec.width_px);
	(void)snprintf(height, sizeof(height), "%u", session->spec.height_px);
	if (display_image(session, image, sizeof(image), e) < 0)
		return -1;
	return start_part(session, PART_DISPLAY, "display", "desk/display", &plan, ops, e);
}

/* Sends the leaves' cgroup.procs through a socket; *end is the side that init reads. */
static int send_groups(const struct session *session, int *end, struct err *e)
{
	auto_fd ours = -1;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return err_sys(e, "socketpair");
	ours = ends[0];
	*end = ends[1];
	for (uint8_t group = 0; group < INIT_N_GROUPS && (session->isolation & ISOLATION_FREEZE); group++) {
		auto_fd procs = -1;
		char path[96];

		(void)snprintf(path, sizeof(path), "%s/%s/cgroup.procs", session->id, LEAVES[group]);
		if (cgroup_open_v2(session->warden->cgroups, path, O_WRONLY, &procs, e) < 0 || ipc_send(ours, &group, 1, &procs, 1, e) < 0)
			return -1;
	}
	return 0;
}

/* The process of the jail begins in its leaf `base`. */
static int open_base(const struct session *session, int *fd, struct err *e)
{
	char path[96];

	if (!(session->isolation & ISOLATION_FREEZE))
		return 0;
	(void)snprintf(path, sizeof(path), "%s/%s/cgroup.procs", session->id, LEAVES[INIT_GROUP_BASE]);
	return cgroup_open_v2(session->warden->cgroups, path, O_WRONLY, fd, e);
}

int parts_start_apps(struct session *session, const struct child_ops *ops, struct err *e)
{
	struct warden *warden = session->warden;
	char image[700], x11[600], bin[600], egress[600], name[] = "glovebox-init", path[] = "PATH=/usr/local/bin:/usr/bin:/bin";
	struct apps_jail jail = {.place = warden->build, .image_root = image, .x11 = x11_path(session, x11, sizeof(x11)),
	                         .bin = warden->has_tools ? state_path(&warden->state, bin, sizeof(bin), "share/bin", "") : NULL,
	                         .egress = session->egress ? state_path(&warden->state, egress, sizeof(egress), "share/egress", session->id) : NULL,
	                         .uid = warden_uid(warden, session->slot, SLOT_APPS),
	                         .trusted = warden_uid(warden, session->slot, SLOT_TRUSTED),
	                         .disk_mb = session->spec.disk_mb, .inodes = session->spec.inodes, .open_files = session->spec.open_files,
	                         .store = -1, .base_group = -1};
	auto_fd link = -1;
	auto_fd groups = -1;
	auto_fd base = -1;
	auto_fd store = -1;
	char *argv[] = {name, NULL}, *envp[] = {path, layer_env(), NULL};
	int *const fds[] = {&link, &groups}; /* enum init_fd */
	int *const tools[] = {&jail.base_group, &jail.store};
	struct child_plan plan = {.log_bytes_max = JAIL_LOG_BYTES, .namespaces = APPS_JAIL_NAMESPACES & ~(layer_is_off("network") ? CLONE_NEWNET : 0UL),
	                          .program = warden->programs[PROGRAM_INIT], .argv = argv, .envp = envp, .umask = 022, .fds = fds,
	                          .n_fds = ARRAY_LEN(fds), .tools = tools, .n_tools = ARRAY_LEN(tools), .build = apps_jail_build,
	                          .inside = child_pidfd(session->parts[PART_DISPLAY].child),
	                          .attend = apps_jail_attend, .arg = &jail};
	int ends[2];

	if (session_image(session, image, sizeof(image), e) < 0 || send_groups(session, &groups, e) < 0 || open_base(session, &base, e) < 0)
		return -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return err_sys(e, "socketpair");
	session->init = ends[0];
	link = ends[1];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0)
		return err_sys(e, "socketpair");
	session->store = ends[0];
	store = ends[1];
	jail.store = store;
	jail.base_group = base;
	return start_part(session, PART_APPS, "apps", "desk/jail", &plan, ops, e);
}

int parts_start_stage(struct session *session, const struct child_ops *ops, struct err *e)
{
	struct warden *warden = session->warden;
	char x11[600], uid[32], name[] = "glovebox-stage";
	const struct daemon_bind binds[] = {{.source = x11_path(session, x11, sizeof(x11)), .target = "tmp/.X11-unix"}};
	struct daemon_jail jail = {.place = warden->build, .binds = binds, .n_binds = ARRAY_LEN(binds)};
	auto_fd channel = -1;
	char *argv[] = {name, NULL}, *envp[3 + WARDEN_LOG_ENV] = {uid, layer_env()};
	int *const fds[] = {&channel, &session->listen}; /* enum child_fd */
	struct child_plan plan = {.log_is_ours = true, .log_bytes_max = STAGE_LOG_BYTES, .namespaces = DAEMON_JAIL_NAMESPACES,
	                          .program = warden->programs[PROGRAM_STAGE], .argv = argv, .envp = envp, .umask = 077, .fds = fds,
	                          .n_fds = ARRAY_LEN(fds), .build = daemon_jail_build, .inside = -1, .arg = &jail};
	int ends[2], result;

	(void)snprintf(uid, sizeof(uid), "GLOVEBOX_UID=%u", warden_uid(warden, session->slot, SLOT_STAGE));
	warden_add_log_env(warden, envp + (envp[1] ? 2 : 1));
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return err_sys(e, "socketpair");
	session->label = ends[0];
	channel = ends[1];
	/* One way: the stage has nothing to say to the warden. */
	if (shutdown(session->label, SHUT_RD) < 0)
		return err_sys(e, "shutdown");
	result = start_part(session, PART_STAGE, "stage", "stage", &plan, ops, e);
	util_close_fd(&session->listen);
	return result;
}

/* Sends a label with its descriptor, which is the stage's from now on. */
static int hand(struct session *session, enum stage_label_kind kind, const char *name, int *fd, struct err *e)
{
	struct stage_label label = {.kind = (uint32_t)kind};

	(void)snprintf(label.name, sizeof(label.name), "%s", name);
	(void)snprintf(label.session, sizeof(label.session), "%s", session->id);
	if (ipc_send(session->label, &label, sizeof(label), fd, 1, e) < 0)
		return -1;
	util_close_fd(fd);
	return 0;
}

static int hand_switches(struct session *session, struct err *e)
{
	for (size_t i = 0; i < ARRAY_LEN(SWITCHES) && (session->isolation & ISOLATION_FREEZE); i++) {
		auto_fd fd = -1;
		char path[96];

		(void)snprintf(path, sizeof(path), "%s/%s", session->id, SWITCHES[i].file);
		if (cgroup_open_v2(session->warden->cgroups, path, SWITCHES[i].access, &fd, e) < 0 ||
		    hand(session, STAGE_SWITCH, SWITCHES[i].name, &fd, e) < 0)
			return -1;
	}
	return 0;
}

/* What counts: files of the groups, and one of the jail's own disk, which sent it before its program began. */
static int hand_meters(struct session *session, struct err *e)
{
	const char *name;
	auto_fd disk = -1;
	size_t n_fds = 0;
	char byte;

	for (size_t i = 0; i < cgroup_n_meters; i++) {
		auto_fd fd = cgroup_open_meter(session->warden->cgroups, session->id, i, &name);

		if (fd >= 0 && hand(session, STAGE_METER, name, &fd, e) < 0)
			return -1;
	}
	if (ipc_recv(session->store, &byte, sizeof(byte), &disk, 1, &n_fds, NULL) != 1 || n_fds != 1)
		return err_set(e, ERR_INTERNAL, NULL, "the jail did not show its disk");
	util_close_fd(&session->store);
	return hand(session, STAGE_METER, "jail/disk", &disk, e);
}

/* As they are now: what is stored later is for later sessions. */
static int hand_secrets(struct session *session, struct err *e)
{
	for (size_t i = 0; i < LIMIT_SECRETS && session->spec.secrets[i][0]; i++) {
		auto_fd fd = -1;

		if (secrets_copy(&session->warden->state, session->spec.secrets[i], &fd, e) < 0 ||
		    hand(session, STAGE_SECRET, session->spec.secrets[i], &fd, e) < 0)
			return -1;
	}
	return 0;
}

int parts_hand_over(struct session *session, struct err *e)
{
	struct stage_label start = {.kind = STAGE_START, .width_px = session->spec.width_px, .height_px = session->spec.height_px,
	                            .apps_pid = session->apps_pid, .trusted = warden_uid(session->warden, session->slot, SLOT_TRUSTED)};

	if (hand(session, STAGE_INIT, "", &session->init, e) < 0 || hand(session, STAGE_JOURNAL, "", &session->files[STATE_JOURNAL], e) < 0 ||
	    hand(session, STAGE_SESSION_JSON, "", &session->files[STATE_SESSION_JSON], e) < 0 ||
	    hand(session, STAGE_PICTURES, "", &session->files[STATE_PICTURES], e) < 0 ||
	    hand(session, STAGE_PROC, "", &session->proc, e) < 0 || hand_switches(session, e) < 0 ||
	    hand_meters(session, e) < 0 || hand_secrets(session, e) < 0 || egress_hand_over(session->egress, e) < 0)
		return -1;
	(void)snprintf(start.session, sizeof(start.session), "%s", session->id);
	memcpy(start.cookie, session->cookie, sizeof(start.cookie));
	return ipc_send(session->label, &start, sizeof(start), NULL, 0, e);
}
