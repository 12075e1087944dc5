/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel offers: by doing it, as a session would. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <grp.h>
#include <limits.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "apps/init/proto.h"
#include "sandbox/confine/confine.h"
#include "sandbox/jail/apps_root.h"
#include "sandbox/jail/cgroup.h"
#include "session/base/util.h"
#include "session/warden/prepare.h"
#include "session/warden/probe.h"
#include "session/warden/settle.h"

#define NOTHING_RUNS "no session can run"
#define NOT_ROOT "run it where root has CAP_SYS_ADMIN, not in a container without it"
#define UNLIMITED "no session is made: it could take all of the host"
#define DELEGATE "start the server by its unit, or a user's by systemd-run --user --scope -p Delegate=yes; or accept it, by unlimited = 1 in the file of --ceilings"
#define OTHER_KERNEL "a kernel of 5.14 or newer, such as Debian 12's own"

static bool say(char *value, size_t size, bool ok, const char *text)
{
	(void)snprintf(value, size, "%s", text);
	return ok;
}

static bool look_architecture(struct probe_host *host, unsigned long arg, char *value, size_t size)
{
	struct utsname name;

	(void)host, (void)arg;
	if (uname(&name) < 0)
		return say(value, size, false, strerror(errno));
	return say(value, size, strcmp(name.machine, "x86_64") == 0, name.machine);
}

static bool look_version(struct probe_host *host, unsigned long arg, char *value, size_t size)
{
	unsigned major = 0, minor = 0;
	struct utsname name;

	(void)host, (void)arg;
	if (uname(&name) < 0 || sscanf(name.release, "%u.%u", &major, &minor) != 2)
		return say(value, size, false, "it does not say its version");
	return say(value, size, major > 5 || (major == 5 && minor >= 14), name.release);
}

/* With arguments that do nothing: what the kernel has fails in another way than with ENOSYS. */
static bool look_calls(struct probe_host *host, unsigned long arg, char *value, size_t size)
{
	static const struct {
		const char *name;
		long number;
	} calls[] = {{"open_tree", SYS_open_tree}, {"move_mount", SYS_move_mount}, {"fsopen", SYS_fsopen}, {"mount_setattr", SYS_mount_setattr},
	             {"openat2", SYS_openat2}, {"close_range", SYS_close_range}, {"pidfd_open", SYS_pidfd_open}, {"clone3", SYS_clone3}};
	size_t used = 0;

	(void)host, (void)arg;
	for (size_t i = 0; i < ARRAY_LEN(calls); i++)
		if (syscall(calls[i].number, -1L, 0L, -1L, 0L, 0L, 0L) < 0 && errno == ENOSYS)
			used += (size_t)snprintf(value + used, size - used, "%s%s", used ? ", " : "not there: ", calls[i].name);
	return used ? false : say(value, size, true, "mounts as descriptors, openat2, close_range, pidfd, clone3");
}

static bool look_namespace(struct probe_host *host, unsigned long arg, char *value, size_t size)
{
	(void)host;
	if (unshare((int)arg) < 0)
		return say(value, size, false, strerror(errno));
	return say(value, size, true, "made one");
}

/* As a program in a jail is: no root, no capability. What it gets in its own user namespace must be worth something. */
static bool look_nested(struct probe_host *host, unsigned long arg, char *value, size_t size)
{
	uid_t uid = host->ceilings.uid_base + CEILINGS_SLOT_UIDS;

	(void)arg;
	if (setgroups(0, NULL) < 0 || setresgid(uid, uid, uid) < 0 || setresuid(uid, uid, uid) < 0)
		return say(value, size, false, strerror(errno));
	if (unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC) < 0)
		return say(value, size, false, strerror(errno));
	if (chroot("/proc/self/fdinfo") < 0)
		return say(value, size, false, "made, but without rights in it");
	return say(value, size, true, "made, with rights in it");
}

static long read_number(const char *path)
{
	auto_fd fd = open(path, O_RDONLY | O_CLOEXEC);
	auto_free char *text = NULL;

	return fd < 0 || util_read_file(fd, 256, &text) < 0 ? -1 : strtol(text, NULL, 10);
}

static bool look_apparmor(struct probe_host *host, unsigned long arg, char *value, size_t size)
{
	long restricted = read_number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns");
	long off = read_number("/proc/sys/kernel/unprivileged_userns_clone");

	(void)host, (void)arg;
	(void)snprintf(value, size, "%s", restricted > 0 ? "kernel.apparmor_restrict_unprivileged_userns = 1" :
	                                  off == 0 ? "kernel.unprivileged_userns_clone = 0" : "nothing restricts them");
	return restricted <= 0 && off != 0;
}

/* The root of an app jail over an image of this host, or over an empty folder where there is none. */
static bool look_root(struct probe_host *host, unsigned long arg, char *value, size_t size)
{
	char pattern[PATH_MAX], lower[PATH_MAX], place[128], x11[128], var[128];
	struct apps_jail jail = {.place = place, .x11 = x11, .uid = host->ceilings.uid_base, .trusted = host->ceilings.uid_base + 1,
	                         .disk_mb = 64, .inodes = 4096, .open_files = 1024, .store = -1};
	glob_t images = {0};
	struct err e = {0};

	(void)arg;
	if (host->options->images)
		(void)snprintf(pattern, sizeof(pattern), "%s/*-*/root", host->options->images);
	else
		(void)snprintf(pattern, sizeof(pattern), "%s/images/*-*/root", host->options->state);
	(void)snprintf(place, sizeof(place), "%s/place", host->place);
	(void)snprintf(x11, sizeof(x11), "%s/x11", host->place);
	(void)snprintf(lower, sizeof(lower), "%s/image", host->place);
	(void)snprintf(var, sizeof(var), "%s/image/var", host->place);
	if (unshare(CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNET) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("probe", host->place, "tmpfs", 0, "size=1m") < 0 || mkdir(place, 0755) < 0 || mkdir(x11, 0755) < 0 ||
	    mkdir(lower, 0755) < 0 || mkdir(var, 0755) < 0)
		return say(value, size, false, strerror(errno));
	jail.image_root = glob(pattern, GLOB_NOSORT, NULL, &images) == 0 ? images.gl_pathv[0] : lower;
	if (apps_root_build(&jail, &e) < 0)
		return probe_say_error(value, size, &e);
	return say(value, size, true, "overlay on tmpfs, dev, proc, pivot_root");
}

/* Makes the groups of a session as the server would from here; the bits are the value, for the rows of each limit. */
static bool look_groups(struct probe_host *host, unsigned long arg, char *value, size_t size)
{
	const struct cgroup_limits limits = {.memory_bytes = UINT64_C(1) << 30, .display_bytes = UINT64_C(1) << 30, .pids = 256,
	                                     .cpu_milli = 1000};
	struct cgroups *cgroups = NULL;
	char name[64], record[128], mount_place[128];
	uint32_t bits = 0;
	struct err e = {0};
	bool made;

	(void)arg;
	(void)snprintf(name, sizeof(name), "glovebox-probe-%d", getpid());
	(void)snprintf(record, sizeof(record), "%s/groups", host->place);
	(void)snprintf(mount_place, sizeof(mount_place), "%s/cgroup2", host->place);
	if (settle_mounts(&e) < 0 || mount("probe", host->place, "tmpfs", 0, "size=1m") < 0 || mkdir(mount_place, 0700) < 0)
		return say(value, size, false, e.code ? e.msg : strerror(errno));
	if (cgroup_create(&cgroups, name, record, mount_place, &e) < 0)
		return probe_say_error(value, size, &e);
	made = cgroup_make_session(cgroups, "probe", &limits, &bits, &e) == 0;
	(void)cgroup_remove_session(cgroups, "probe");
	cgroup_destroy(cgroups);
	if (!made)
		return probe_say_error(value, size, &e);
	(void)snprintf(value, size, "%u", bits);
	return true;
}

static bool has_swap(void)
{
	auto_fd fd = open("/proc/swaps", O_RDONLY | O_CLOEXEC);
	auto_free char *text = NULL;
	const char *line = fd < 0 || util_read_file(fd, 65536, &text) < 0 ? NULL : strchr(text, '\n');

	return line && line[1] != '\0';
}

/* A limit of a session, by its bit. */
static bool look_limit(struct probe_host *host, unsigned long bit, char *value, size_t size)
{
	bool holds = (host->groups & bit) != 0;

	(void)snprintf(value, size, "%s%s", holds ? "can be set" : "cannot be set",
	               bit != CGROUP_SWAP_OFF ? "" : has_swap() ? "; swap is on" : "; swap is off");
	return holds;
}

/* One without which no session is made, unless the operator has said otherwise. */
static bool look_needed_limit(struct probe_host *host, unsigned long bit, char *value, size_t size)
{
	if ((host->groups & bit) || !host->ceilings.unlimited)
		return look_limit(host, bit, value, size);
	(void)snprintf(value, size, "cannot be set, which the ceiling unlimited accepts");
	return true;
}

/* Tries the groups once, for the rows of all limits. */
static bool look_control_groups(struct probe_host *host, unsigned long arg, char *value, size_t size)
{
	static const struct probe try_groups = {.look = look_groups};

	(void)arg;
	if (!probe_in_child(&try_groups, host, value, size))
		return false;
	host->groups = (uint32_t)strtoul(value, NULL, 10);
	return host->groups ? say(value, size, true, "made and removed") : say(value, size, false, "none can be made");
}

static bool look_filters(struct probe_host *host, unsigned long arg, char *value, size_t size)
{
	static const uint32_t actions[] = {SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO, SECCOMP_RET_KILL_PROCESS};
	struct err e = {0};

	(void)host, (void)arg;
	for (size_t i = 0; i < ARRAY_LEN(actions); i++)
		if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &actions[i]) < 0)
			return say(value, size, false, "an action of filters is not there");
	/* As an app jail has them. */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || confine_load(&confine_app_deny, &e) < 0 || confine_load(&confine_app, &e) < 0)
		return probe_say_error(value, size, &e);
	return say(value, size, true, "allow, errno, kill process; those of a jail load");
}

/* What later versions of it have: `abi` is the first that has it. */
static bool look_landlock_version(struct probe_host *host, unsigned long abi, char *value, size_t size)
{
	(void)host;
	return say(value, size, confine_landlock_abi() >= (int)abi, confine_landlock_abi() >= (int)abi ? "there" : "not there");
}

static bool look_landlock(struct probe_host *host, unsigned long arg, char *value, size_t size)
{
	int abi = confine_landlock_abi();

	(void)host, (void)arg;
	if (abi < 0)
		return say(value, size, false, "not there");
	(void)snprintf(value, size, "ABI %d", abi);
	return abi >= INIT_LANDLOCK_ABI;
}

const struct probe probe_kernel_rows[] = {
	{"architecture", "what the programs are made for", look_architecture, 0, false, false, PROBE_MISSING, NOTHING_RUNS,
	 "a machine of amd64: there is nothing for others yet"},
	{"kernel", "its version", look_version, 0, false, false, PROBE_WEAKER, "a layer below may be missing", OTHER_KERNEL},
	{"system calls", "building roots, holding processes", look_calls, 0, false, true, PROBE_MISSING,
	 NOTHING_RUNS, OTHER_KERNEL},
	{"mount namespace", "a jail's own files", look_namespace, CLONE_NEWNS, true, true, PROBE_MISSING,
	 NOTHING_RUNS, NOT_ROOT},
	{"pid namespace", "a jail's own processes", look_namespace, CLONE_NEWPID, true, true, PROBE_MISSING,
	 NOTHING_RUNS, NOT_ROOT},
	{"net namespace", "no network in a jail", look_namespace, CLONE_NEWNET, true, true, PROBE_MISSING,
	 NOTHING_RUNS, NOT_ROOT},
	{"ipc namespace", "a jail's own queues and segments", look_namespace, CLONE_NEWIPC, true, true, PROBE_MISSING,
	 NOTHING_RUNS, NOT_ROOT},
	{"uts namespace", "a jail's own name", look_namespace, CLONE_NEWUTS, true, true, PROBE_MISSING,
	 NOTHING_RUNS, NOT_ROOT},
	{"cgroup namespace", "a jail sees no path of the host", look_namespace, CLONE_NEWCGROUP, true, true, PROBE_MISSING,
	 NOTHING_RUNS, NOT_ROOT},
	{"user namespace", "no root in a jail", look_namespace, CLONE_NEWUSER, true, true, PROBE_MISSING,
	 NOTHING_RUNS, "sysctl user.max_user_namespaces=10000"},
	{"nested namespaces", "the browsers' own sandboxes inside a jail", look_nested, 0, true, true, PROBE_WEAKER,
	 "Chromium does not start, Firefox runs with a weaker sandbox of its own", "sysctl kernel.unprivileged_userns_clone=1 user.max_user_namespaces=10000"},
	{"restrictions of namespaces", "the same, by setting", look_apparmor, 0, false, false, PROBE_WEAKER,
	 "Chromium does not start, Firefox runs with a weaker sandbox of its own",
	 "sysctl kernel.apparmor_restrict_unprivileged_userns=0 kernel.unprivileged_userns_clone=1"},
	{"files of a jail", "an overlay in memory over an image", look_root, 0, true, true, PROBE_MISSING, NOTHING_RUNS,
	 "modprobe overlay; put the images on ext4, xfs or btrfs"},
	{"control groups", "limits of a session", look_control_groups, 0, true, false, PROBE_WEAKER,
	 "sessions run without the limits below",
	 "mount cgroup v2 at /sys/fs/cgroup, writable; start the server by its unit"},
	{"memory limit", "memory in isolation_report", look_needed_limit, CGROUP_MEMORY, true, false, PROBE_MISSING, UNLIMITED, DELEGATE},
	{"process limit", "pids in isolation_report", look_needed_limit, CGROUP_PIDS, true, false, PROBE_MISSING, UNLIMITED, DELEGATE},
	{"cpu limit", "cpu in isolation_report", look_needed_limit, CGROUP_CPU, true, false, PROBE_MISSING, UNLIMITED, DELEGATE},
	{"no swap", "swap_off in isolation_report", look_limit, CGROUP_SWAP_OFF, true, false, PROBE_WEAKER,
	 "what is typed may get to the disk: swap_off is listed as missing in isolation_report", "swapoff -a, or swapaccount=1 on the kernel's command line"},
	{"freeze and kill", "freeze in isolation_report", look_limit, CGROUP_FREEZE, true, false, PROBE_WEAKER,
	 "sessions cannot be paused: freeze is listed as missing in isolation_report", "a cgroup v2 with cgroup.kill (kernel 5.14)"},
	{"system call filters", "what programs in a jail may ask of the kernel", look_filters, 0, false, true, PROBE_MISSING,
	 NOTHING_RUNS,
	 "a kernel with CONFIG_SECCOMP_FILTER"},
	{"landlock", "handover in isolation_report", look_landlock, 0, false, false, PROBE_WEAKER,
	 "programs of an agent can read what browsers hold, and see and send all input: handover is listed as missing in isolation_report",
	 "a kernel with Landlock (5.19), and landlock in the kernel's option lsm="},
	{"landlock of ports", "landlock_ports in isolation_report", look_landlock_version, CONFINE_PORTS_ABI, false, false, PROBE_WEAKER,
	 "that the server's own processes reach no TCP port rests on their network namespaces and filters alone", "a kernel of 6.7 or newer"},
	{"landlock of signals", "landlock_scopes in isolation_report", look_landlock_version, CONFINE_SCOPES_ABI, false, false, PROBE_WEAKER,
	 "that they and browsers signal nobody else, and reach no abstract socket, rests on their namespaces alone", "a kernel of 6.12 or newer"},
};
const size_t probe_kernel_n = ARRAY_LEN(probe_kernel_rows);
