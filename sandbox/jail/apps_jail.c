/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a clone of the warden to uid 1000 of the app jail; the order of the steps is the point (sandbox/README.md). */
#include "sandbox/jail/apps_jail.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/confine/confine.h"
#include "sandbox/jail/apps_root.h"
#include "sandbox/jail/mounts.h"
#include "sandbox/jail/rights.h"
#include "sandbox/jail/skel.h"
#include "session/base/layer.h"
#include "session/base/util.h"

#define HOSTNAME "glovebox"
#define INSIDE_UID 1000
#define INSIDE_TRUSTED 1001 /* INIT_TRUSTED_GID */

/* Of the jail's user namespace, and so of all below it: mounts and names are never made anew; the rest is what browsers' own
 * sandboxes take, one per tab. */
static const struct {
	const char *name, *value;
} NAMESPACE_LIMITS[] = {
	{"mnt", "0"}, {"uts", "0"}, {"cgroup", "0"}, {"time", "0"}, {"user", "512"}, {"net", "512"}, {"ipc", "512"}, {"pid", "512"},
};

static int raise_loopback(struct err *e)
{
	auto_fd sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq lo = {.ifr_name = "lo"};

	if (sock < 0 || ioctl(sock, SIOCGIFFLAGS, &lo) < 0)
		return err_sys(e, "looking at lo");
	lo.ifr_flags = (short)(lo.ifr_flags | IFF_UP);
	return ioctl(sock, SIOCSIFFLAGS, &lo) < 0 ? err_sys(e, "raising lo") : 0;
}

/* The cgroup namespace begins at the group `jail`, so that inside a process sees "/base", "/apps" or "/agent" and no host path. */
static int enter_groups(const struct apps_jail *jail, struct err *e)
{
	if (unshare(CLONE_NEWCGROUP) < 0)
		return err_sys(e, "a control group namespace");
	if (jail->base_group >= 0 && write(jail->base_group, "0", 1) != 1)
		return err_sys(e, "entering the group base");
	return 0;
}

/*
 * The uid changes before the user namespace is made, so that the namespace and what it counts (inotify instances, nested
 * namespaces) are this session's uid's, not root's, which all sessions would share.
 */
static int change_uid(uid_t uid, struct err *e)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct caps[2];

	if (setgroups(0, NULL) < 0 || setresgid(uid, uid, uid) < 0 || prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0 || setresuid(uid, uid, uid) < 0)
		return err_sys(e, "becoming uid %u", uid);
	/* Hosts that keep user namespaces from ordinary users ask for the capability. */
	if (syscall(SYS_capget, &head, caps) < 0)
		return err_sys(e, "capget");
	for (size_t i = 0; i < ARRAY_LEN(caps); i++)
		caps[i].effective = caps[i].permitted;
	return syscall(SYS_capset, &head, caps) < 0 ? err_sys(e, "capset") : 0;
}

static int limit_namespaces(int proc, struct err *e)
{
	char path[64];

	for (size_t i = 0; i < ARRAY_LEN(NAMESPACE_LIMITS) && !layer_is_off("namespace limits"); i++) {
		auto_fd fd = -1;

		(void)snprintf(path, sizeof(path), "sys/user/max_%s_namespaces", NAMESPACE_LIMITS[i].name);
		fd = openat(proc, path, O_WRONLY | O_CLOEXEC);
		if (fd < 0 && errno == ENOENT)
			continue; /* an older kernel has none of the kind */
		if (fd < 0 || util_write_all(fd, NAMESPACE_LIMITS[i].value, strlen(NAMESPACE_LIMITS[i].value)) < 0)
			return err_sys(e, "limiting %s namespaces", NAMESPACE_LIMITS[i].name);
	}
	return 0;
}

static int drop_rights(struct err *e)
{
	static const unsigned long bits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP | SECBIT_NO_SETUID_FIXUP_LOCKED |
	                                  SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;

	/* init gives the gid of trusted programs to some of its children: there is no other in its namespace, and no way to add groups. */
	if (confine_raise_ambient(CAP_SETGID, e) < 0)
		return -1;
	if (!layer_is_off("capabilities") && prctl(PR_SET_SECUREBITS, bits, 0, 0, 0) < 0)
		return err_sys(e, "locking the securebits");
	if (!layer_is_off("capabilities") && confine_drop_caps_but(CAP_SETGID, e) < 0)
		return -1;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? err_sys(e, "no_new_privs") : 0;
}

int apps_jail_build(void *arg, int sync, struct err *e)
{
	struct apps_jail *jail = arg;
	/* A core limit of 1 stops pipe handlers too, 0 does not. */
	const struct rights_limit limits[] = {{RLIMIT_CORE, 1}, {RLIMIT_NOFILE, jail->open_files}};
	auto_fd proc = -1;

	if (enter_groups(jail, e) < 0)
		return -1;
	if (sethostname(HOSTNAME, strlen(HOSTNAME)) < 0)
		return err_sys(e, "sethostname");
	if (raise_loopback(e) < 0 || apps_root_build(jail, e) < 0)
		return -1;
	/* A proc without the masks, for the limits; nothing can be mounted any more once the user namespace is made. */
	if (mounts_new("proc", "proc", NULL, MOUNTS_DATA, &proc, e) < 0 || rights_limit(limits, layer_is_off("resource limits") ? 0 : ARRAY_LEN(limits), e) < 0 ||
	    change_uid(jail->uid, e) < 0)
		return -1;
	if (unshare(CLONE_NEWUSER) < 0)
		return err_sys(e, "a user namespace");
	if (child_pause(sync, e) < 0 || limit_namespaces(proc, e) < 0 || drop_rights(e) < 0 ||
	    (!layer_is_off("filters") && confine_load(&confine_app_deny, e) < 0) || skel_copy("/etc/skel", "/home/user", e) < 0)
		return -1;
	return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 ? err_sys(e, "prctl") : 0;
}

static int write_map(int proc, pid_t pid, const char *file, const char *text, struct err *e)
{
	char path[64];
	auto_fd fd = -1;

	(void)snprintf(path, sizeof(path), "%d/%s", pid, file);
	fd = openat(proc, path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || util_write_all(fd, text, strlen(text)) < 0)
		return err_sys(e, "writing %s", file);
	return 0;
}

int apps_jail_attend(void *arg, struct child_birth *birth, struct err *e)
{
	static const char *const options[] = {"subset=pid", NULL};
	const struct apps_jail *jail = arg;
	auto_fd proc = -1;
	char uids[64], gids[64];

	(void)snprintf(uids, sizeof(uids), "%d %u 1\n", INSIDE_UID, jail->uid);
	(void)snprintf(gids, sizeof(gids), "%d %u 1\n%d %u 1\n", INSIDE_UID, jail->uid, INSIDE_TRUSTED, jail->trusted);
	if (mounts_new("proc", "proc", options, MOUNTS_DATA, &proc, e) < 0 || write_map(proc, birth->pid_inside, "setgroups", "deny", e) < 0 ||
	    write_map(proc, birth->pid_inside, "uid_map", uids, e) < 0 || write_map(proc, birth->pid_inside, "gid_map", gids, e) < 0 ||
	    mounts_restrict(proc, MOUNT_ATTR_RDONLY, e) < 0)
		return -1;
	birth->fd = steal_fd(&proc);
	return 0;
}
