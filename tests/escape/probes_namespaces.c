/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Namespaces, mounts, and ways out of a root. */
#include <fcntl.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/base/util.h"
#include "tests/escape/battery.h"

#ifndef SYS_statmount
#define SYS_statmount 457
#define SYS_listmount 458
#endif
#ifndef SYS_open_tree_attr
#define SYS_open_tree_attr 467
#endif

#define P(pointer) ((long)(uintptr_t)(pointer))

static const struct clone_args PLAIN_CLONE = {.exit_signal = SIGCHLD};
static const struct clone_args USER_CLONE = {.flags = CLONE_NEWUSER | CLONE_NEWNS, .exit_signal = SIGCHLD};
static const struct mount_attr WRITABLE = {.attr_clr = 0x1}; /* MOUNT_ATTR_RDONLY */

static int try_mount_call(const struct probe *probe)
{
	static const struct {
		const char *type, *data;
	} kinds[] = {{"tmpfs", NULL}, {"proc", NULL}, {"sysfs", NULL}, {"overlay", "lowerdir=/etc,upperdir=/tmp,workdir=/tmp"}, {"cgroup", "memory"},
	             {"cgroup2", NULL}, {"devpts", NULL}, {"mqueue", NULL}, {"debugfs", NULL}, {"fuse", "fd=0,rootmode=40000,user_id=0,group_id=0"}};

	return outcome_of(mount("battery", "/tmp", kinds[probe->args[0]].type, 0, kinds[probe->args[0]].data));
}

#define MOUNT(text, kind, wall) {.name = "mount " text, .layer = (wall), .try = try_mount_call, .args = {(kind)}, .expect = {EPERM}}

static int try_enter(const struct probe *probe)
{
	auto_fd fd = open(probe->path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? errno : outcome_of(setns(fd, 0));
}

#define ENTER(text, where, wall, app) {.name = (text), .layer = (wall), .try = try_enter, .path = (where), .expect = {(app)}}

static int try_enter_by_pidfd(const struct probe *probe)
{
	auto_fd fd = (int)syscall(SYS_pidfd_open, (long)getppid() > 0 ? getppid() : 1, 0);

	(void)probe;
	return fd < 0 ? errno : outcome_of(setns(fd, CLONE_NEWNS | CLONE_NEWNET));
}

/* The old way out: a folder that is held open lies outside of the new root. The tree above it must still be the jail's. */
static int try_chroot_escape(const struct probe *probe)
{
	auto_fd outside = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)probe;
	if (outside < 0 || (mkdir("/tmp/battery-root", 0700) < 0 && errno != EEXIST) || chroot("/tmp/battery-root") < 0 || fchdir(outside) < 0)
		return errno;
	for (int i = 0; i < 64; i++)
		if (chdir("..") < 0)
			return errno;
	if (chroot(".") < 0)
		return errno;
	return access("/run/glovebox/bin/glovebox-battery", X_OK) == 0 && access("/var/lib/glovebox", F_OK) < 0 ? HELD : DONE;
}

static int try_handle(const struct probe *probe)
{
	struct {
		struct file_handle head;
		unsigned char bytes[128];
	} handle = {.head.handle_bytes = sizeof(handle.bytes)};
	int mount_id;

	(void)probe;
	return outcome_of(name_to_handle_at(AT_FDCWD, "/", &handle.head, &mount_id, 0));
}

/* Folders above the root by a descriptor. */
static int try_above(const struct probe *probe)
{
	char text[4096];
	auto_fd fd = open("/../../../../..", O_PATH | O_CLOEXEC);

	(void)probe;
	if (fd < 0 || fchdir(fd) < 0 || !getcwd(text, sizeof(text)))
		return errno;
	return strcmp(text, "/") == 0 ? HELD : DONE;
}

static const struct probe probes[] = {
	CALL("unshare mount", FILTER, SYS_unshare, EPERM, CLONE_NEWNS),
	CALL("unshare uts", FILTER, SYS_unshare, EPERM, CLONE_NEWUTS),
	CALL("unshare cgroup", FILTER, SYS_unshare, EPERM, CLONE_NEWCGROUP),
	CALL("unshare time", FILTER, SYS_unshare, EPERM, CLONE_NEWTIME),
	CALL("unshare user and mount", FILTER, SYS_unshare, EPERM, CLONE_NEWUSER | CLONE_NEWNS),
	CALL("unshare user and uts", FILTER, SYS_unshare, EPERM, CLONE_NEWUSER | CLONE_NEWUTS),
	CALL("unshare user and cgroup", FILTER, SYS_unshare, EPERM, CLONE_NEWUSER | CLONE_NEWCGROUP),
	CALL("unshare user and time", FILTER, SYS_unshare, EPERM, CLONE_NEWUSER | CLONE_NEWTIME),
	CALL("unshare mount, high bits", FILTER, SYS_unshare, EPERM, CLONE_NEWNS | (1L << 32)),
	CALL_BY("unshare user", FILTER, SYS_unshare, EPERM, DONE, DONE, CLONE_NEWUSER),
	CALL_BY("unshare user and net", FILTER, SYS_unshare, EPERM, DONE, DONE, CLONE_NEWUSER | CLONE_NEWNET),
	CALL_BY("unshare net", FILTER, SYS_unshare, EPERM, EPERM, DONE, CLONE_NEWNET),
	CALL_BY("unshare pid", FILTER, SYS_unshare, EPERM, EPERM, DONE, CLONE_NEWPID),
	CALL_BY("unshare ipc", FILTER, SYS_unshare, EPERM, EPERM, DONE, CLONE_NEWIPC),
	CALL("clone user and mount", FILTER, SYS_clone, EPERM, CLONE_NEWUSER | CLONE_NEWNS | SIGCHLD),
	CALL("clone uts", FILTER, SYS_clone, EPERM, CLONE_NEWUTS | SIGCHLD),
	CALL("clone cgroup", FILTER, SYS_clone, EPERM, CLONE_NEWUSER | CLONE_NEWCGROUP | SIGCHLD),
	CALL_BY("clone user and net", FILTER, SYS_clone, EPERM, DONE, DONE, CLONE_NEWUSER | CLONE_NEWNET | SIGCHLD),
	CALL_BY("clone user and pid", FILTER, SYS_clone, EPERM, DONE, DONE, CLONE_NEWUSER | CLONE_NEWPID | SIGCHLD),
	CALL("clone a process", "none: programs start others", SYS_clone, DONE, SIGCHLD),
	CALL("clone3 a process", FILTER, SYS_clone3, ENOSYS, P(&PLAIN_CLONE), sizeof(PLAIN_CLONE)),
	CALL("clone3 user and mount", FILTER, SYS_clone3, ENOSYS, P(&USER_CLONE), sizeof(USER_CLONE)),
	MOUNT("tmpfs", 0, FILTER), MOUNT("proc", 1, FILTER), MOUNT("sysfs", 2, FILTER), MOUNT("overlay", 3, FILTER), MOUNT("cgroup", 4, FILTER),
	MOUNT("cgroup2", 5, FILTER), MOUNT("devpts", 6, FILTER), MOUNT("mqueue", 7, FILTER), MOUNT("debugfs", 8, FILTER), MOUNT("fuse", 9, FILTER),
	CALL("mount a bind", FILTER, SYS_mount, EPERM, P("/etc"), P("/tmp"), 0, MS_BIND),
	CALL("mount a move", FILTER, SYS_mount, EPERM, P("/tmp"), P("/var/tmp"), 0, MS_MOVE),
	CALL("remount the root writable", FILTER, SYS_mount, EPERM, 0, P("/"), 0, MS_REMOUNT | MS_BIND),
	CALL("mounts shared again", FILTER, SYS_mount, EPERM, 0, P("/"), 0, MS_REC | MS_SHARED),
	CALL("umount proc", FILTER, SYS_umount2, EPERM, P("/proc"), 0),
	CALL("umount a mask", FILTER, SYS_umount2, EPERM, P("/proc/kcore"), MNT_DETACH),
	CALL("pivot_root", FILTER, SYS_pivot_root, EPERM, P("/tmp"), P("/tmp")),
	CALL("fsopen", FILTER, SYS_fsopen, EPERM, P("tmpfs"), 0),
	CALL("fspick", FILTER, SYS_fspick, EPERM, AT_FDCWD, P("/"), 0),
	CALL("fsconfig", FILTER, SYS_fsconfig, EPERM, -1, 6),
	CALL("fsmount", FILTER, SYS_fsmount, EPERM, -1, 0, 0),
	CALL("open_tree clone", FILTER, SYS_open_tree, EPERM, AT_FDCWD, P("/"), OPEN_TREE_CLONE),
	CALL("move_mount", FILTER, SYS_move_mount, EPERM, AT_FDCWD, P("/tmp"), AT_FDCWD, P("/var/tmp")),
	CALL("mount_setattr writable", FILTER, SYS_mount_setattr, EPERM, AT_FDCWD, P("/"), 0, P(&WRITABLE), sizeof(WRITABLE)),
	CALL("statmount", FILTER, SYS_statmount, ENOSYS, 0),
	CALL("listmount", FILTER, SYS_listmount, ENOSYS, 0),
	CALL("open_tree_attr", FILTER, SYS_open_tree_attr, ENOSYS, AT_FDCWD, P("/"), OPEN_TREE_CLONE),
	ENTER("enter pid 1's mounts", "/proc/1/ns/mnt", OWNERS, EACCES),
	ENTER("enter pid 1's network", "/proc/1/ns/net", OWNERS, EACCES),
	ENTER("enter pid 1's user namespace", "/proc/1/ns/user", OWNERS, EACCES),
	ENTER("enter one's own mounts", "/proc/self/ns/mnt", FILTER, EPERM),
	ENTER("enter one's own network", "/proc/self/ns/net", FILTER, EPERM),
	ENTER("enter one's own user namespace", "/proc/self/ns/user", FILTER, EPERM),
	TRY("enter by a pidfd", FILTER, try_enter_by_pidfd, EPERM),
	CALL_BY("chroot", NO_CAPABILITY, SYS_chroot, EPERM, EPERM, DONE, P("/tmp")),
	TRY_BY("leave a chroot", OWN_ROOT, try_chroot_escape, EPERM, EPERM, HELD),
	TRY("name_to_handle_at", FILTER, try_handle, EPERM),
	CALL("open_by_handle_at", FILTER, SYS_open_by_handle_at, EPERM, AT_FDCWD, P("\0\0\0\0"), O_RDONLY),
	TRY("folders above the root", OWN_ROOT, try_above, HELD),
};

const struct probe_table probes_namespaces = {probes, ARRAY_LEN(probes)};
