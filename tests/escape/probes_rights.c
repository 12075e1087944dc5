/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Users, capabilities, limits, and other processes. */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "session/base/util.h"
#include "tests/escape/battery.h"

#define P(pointer) ((long)(uintptr_t)(pointer))
#define OF_THE_HOST 3999999 /* a process number that no jail comes to */
#define IOPRIO_REALTIME (1 << 13)

static const gid_t GROUP = 1000;

static int try_capset(const struct probe *probe)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	const uint32_t bit = 1U << (probe->args[0] % 32);
	struct __user_cap_data_struct caps[2] = {{0}, {0}};

	caps[probe->args[0] / 32] = (struct __user_cap_data_struct){.permitted = bit, .effective = bit};
	return outcome_of(syscall(SYS_capset, &head, caps));
}

/* uid 0 of a namespace of its own has all, over that namespace. */
#define CAPSET(text, cap) {.name = "take " text, .layer = NO_CAPABILITY, .try = try_capset, .args = {(cap)}, .expect = {EPERM, SAME, DONE}}

static int try_bounding_set(const struct probe *probe)
{
	(void)probe;
	for (unsigned long cap = 0; cap < 64; cap++)
		if (prctl(PR_CAPBSET_READ, cap, 0, 0, 0) > 0)
			return DONE;
	return HELD;
}

static int try_ambient(const struct probe *probe)
{
	(void)probe;
	return outcome_of(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_SETGID, 0, 0));
}

static int try_securebits(const struct probe *probe)
{
	(void)probe;
	return outcome_of(prctl(PR_SET_SECUREBITS, 0, 0, 0, 0));
}

static int try_no_new_privs(const struct probe *probe)
{
	(void)probe;
	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 && prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0) < 0 ? HELD : DONE;
}

static int try_filter_mode(const struct probe *probe)
{
	(void)probe;
	return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == 2 ? HELD : DONE;
}

static int try_nosuid(const struct probe *probe)
{
	static const char *const places[] = {"/", "/home", "/tmp", "/run", "/var/tmp", "/dev", "/dev/shm", "/proc", "/sys"};
	struct statvfs st;

	(void)probe;
	for (size_t i = 0; i < ARRAY_LEN(places); i++)
		if (statvfs(places[i], &st) < 0 || !(st.f_flag & ST_NOSUID))
			return DONE;
	return HELD;
}

static int try_realtime(const struct probe *probe)
{
	const struct sched_param most = {.sched_priority = 1};

	return outcome_of(sched_setscheduler(0, (int)probe->args[0], &most));
}

static int try_deadline(const struct probe *probe)
{
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} attr = {.size = sizeof(attr), .policy = 6, .runtime = 10000000, .deadline = 30000000, .period = 30000000};

	(void)probe;
	return outcome_of(syscall(SYS_sched_setattr, 0, &attr, 0));
}

static int try_nice(const struct probe *probe)
{
	(void)probe;
	return outcome_of(setpriority(PRIO_PROCESS, 0, -5));
}

static int try_raise_limit(const struct probe *probe)
{
	struct rlimit now;

	if (getrlimit((__rlimit_resource_t)probe->args[0], &now) < 0)
		return errno;
	now.rlim_max++;
	return outcome_of(setrlimit((__rlimit_resource_t)probe->args[0], &now));
}

/* 1 keeps the handler of core files from being called, 0 is what is left where even root may not raise it. */
static int try_core(const struct probe *probe)
{
	struct rlimit core;

	(void)probe;
	return getrlimit(RLIMIT_CORE, &core) == 0 && core.rlim_max <= 1 ? HELD : DONE;
}

static int try_limit_is(const struct probe *probe)
{
	struct rlimit now;

	return getrlimit((__rlimit_resource_t)probe->args[0], &now) == 0 && now.rlim_max <= (rlim_t)probe->args[1] ? HELD : DONE;
}

static int try_write(const struct probe *probe)
{
	auto_fd fd = open(probe->path, O_WRONLY | O_CLOEXEC);
	const char *text = (const char *)(uintptr_t)probe->args[0]; // NOLINT

	return fd < 0 ? errno : outcome_of(write(fd, text, strlen(text)));
}

#define WRITE(text, where, what, wall, app, root) \
	{.name = (text), .layer = (wall), .try = try_write, .args = {P(what)}, .path = (where), .expect = {(app), SAME, (root)}}

/* Signals to pid 1 of the own namespace end nothing. */
static int try_kill_init(const struct probe *probe)
{
	(void)probe;
	(void)kill(1, SIGKILL);
	(void)kill(1, SIGSTOP);
	return (kill(1, 0) == 0 || errno == EPERM) && access("/proc/1", F_OK) == 0 ? HELD : DONE;
}

static int try_parent_of_init(const struct probe *probe)
{
	FILE *status = fopen("/proc/1/status", "re");
	char line[256];
	int outcome = DONE;

	(void)probe;
	while (status && fgets(line, sizeof(line), status))
		if (strcmp(line, "PPid:\t0\n") == 0)
			outcome = HELD;
	if (status)
		(void)fclose(status);
	return outcome;
}

/* The session of a process, as this proc numbers it: another pid namespace than its mounter's would count otherwise. 0: unknown. */
static int session_of(const char *pid)
{
	char path[64], text[1024];
	const char *after_name;
	int session = 0;
	auto_fd fd = -1;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/%s/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = '\0';
	after_name = strrchr(text, ')');
	return after_name && sscanf(after_name, ") %*c %*d %*d %d", &session) == 1 ? session : 0;
}

/* Calls look for each process but pid 1 and those of this program; the worst of what it says. */
static int for_others(int (*look)(const char *pid, const char *file), const char *file)
{
	DIR *proc = opendir("/proc");
	int own = session_of("self");
	int worst = HIDDEN;

	for (const struct dirent *entry = proc ? readdir(proc) : NULL; entry; entry = readdir(proc)) {
		int outcome;

		if (atoi(entry->d_name) <= 1 || session_of(entry->d_name) == own)
			continue;
		outcome = look(entry->d_name, file);
		if (worst == HIDDEN || outcome == DONE)
			worst = outcome;
		if (worst == DONE)
			break;
	}
	if (proc)
		(void)closedir(proc);
	return worst;
}

static int look_file(const char *pid, const char *file)
{
	char path[64], byte;
	auto_fd fd = -1;

	(void)snprintf(path, sizeof(path), "/proc/%s/%s", pid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	/* Memory has nothing at 0, but open it is. */
	return fd < 0 ? errno : strcmp(file, "mem") == 0 ? DONE : read(fd, &byte, 1) > 0 ? DONE : errno;
}

static int look_link(const char *pid, const char *file)
{
	char path[64], to[PATH_MAX];

	(void)snprintf(path, sizeof(path), "/proc/%s/%s", pid, file);
	return outcome_of(readlink(path, to, sizeof(to)));
}

static int look_folder(const char *pid, const char *file)
{
	char path[64];
	DIR *dir;
	int outcome = HIDDEN;

	/* Its numbers may be listed; what they are may not be seen. */
	(void)snprintf(path, sizeof(path), "/proc/%s/%s", pid, file);
	dir = opendir(path);
	if (!dir)
		return errno;
	errno = 0;
	for (const struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
		auto_fd fd = entry->d_name[0] == '.' ? -1 : openat(dirfd(dir), entry->d_name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

		outcome = entry->d_name[0] == '.' ? outcome : fd < 0 ? errno : DONE;
		if (outcome == DONE)
			break;
		errno = 0;
	}
	if (errno)
		outcome = errno;
	(void)closedir(dir);
	return outcome;
}

static int try_others(const struct probe *probe)
{
	static int (*const looks[])(const char *pid, const char *file) = {look_file, look_link, look_folder};

	return for_others(looks[probe->args[0]], probe->path);
}

#define OTHERS(how, file, outcome) \
	{.name = "another program's " file, .layer = LANDLOCK, .try = try_others, .args = {(how)}, .path = (file), .expect = {(outcome)}}

/* No variable of who started the server. */
static int try_environment(const struct probe *probe)
{
	static const char *const names[] = {"AWS_", "SSH_", "LD_", "SUDO_", "GLOVEBOX_", "INVOCATION_ID=", "JOURNAL_STREAM=", "NOTIFY_SOCKET=", "CANARY_"};

	(void)probe;
	for (char **at = environ; *at; at++)
		for (size_t i = 0; i < ARRAY_LEN(names); i++)
			if (strncmp(*at, names[i], strlen(names[i])) == 0)
				return DONE;
	return HELD;
}

/* Beside the standard ones, and the pipe that the outcome goes into, nothing was left open; and of these none is a file of the host. */
static int try_descriptors(const struct probe *probe)
{
	char path[64], to[PATH_MAX];

	(void)probe;
	for (int fd = 0; fd < 1024; fd++) {
		ssize_t n;

		if (fd == STDERR_FILENO + 1)
			continue;
		(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		n = readlink(path, to, sizeof(to) - 1);
		if (n < 0)
			continue;
		to[n] = '\0';
		if (fd > STDERR_FILENO || (strncmp(to, "pipe:", 5) != 0 && strcmp(to, "/dev/null") != 0))
			return DONE;
	}
	return HELD;
}

static int try_groups(const struct probe *probe)
{
	(void)probe;
	return outcome_of(setgroups(1, &GROUP));
}

static const struct probe probes[] = {
	CALL_BY("become uid 0", ONE_UID, SYS_setuid, EINVAL, EINVAL, DONE, 0),
	CALL("become uid 1", ONE_UID, SYS_setuid, EINVAL, 1),
	CALL("become the nobody of others", ONE_UID, SYS_setresuid, EINVAL, 65534, 65534, 65534),
	CALL_BY("become gid 0", ONE_UID, SYS_setgid, EINVAL, EINVAL, DONE, 0),
	CALL_BY("become trusted by gid", NO_CAPABILITY, SYS_setgid, EPERM, DONE, EINVAL, 1001),
	CALL("become trusted by file system gid", NO_CAPABILITY, SYS_setresgid, EINVAL, 1, 1, 1),
	TRY("take a group", NO_CAPABILITY, try_groups, EPERM),
	CAPSET("CAP_SYS_ADMIN", CAP_SYS_ADMIN), CAPSET("CAP_SETGID", CAP_SETGID), CAPSET("CAP_DAC_OVERRIDE", CAP_DAC_OVERRIDE),
	CAPSET("CAP_NET_ADMIN", CAP_NET_ADMIN), CAPSET("CAP_SYS_PTRACE", CAP_SYS_PTRACE), CAPSET("CAP_SYS_CHROOT", CAP_SYS_CHROOT),
	TRY_BY("capabilities in the bounding set", NO_CAPABILITY, try_bounding_set, HELD, HELD, DONE),
	TRY_BY("raise an ambient capability", NO_CAPABILITY, try_ambient, EPERM, EPERM, EPERM),
	TRY_BY("unlock the securebits", NO_CAPABILITY, try_securebits, EPERM, EPERM, DONE),
	TRY("take no_new_privs back", NO_PRIVILEGES, try_no_new_privs, HELD),
	TRY("set-uid programs", NO_PRIVILEGES, try_nosuid, HELD),
	TRY("the filter is there", FILTER, try_filter_mode, HELD),
	{.name = "real time, first come", .layer = NO_CAPABILITY, .try = try_realtime, .args = {SCHED_FIFO}, .expect = {EPERM}},
	{.name = "real time, in turns", .layer = NO_CAPABILITY, .try = try_realtime, .args = {SCHED_RR}, .expect = {EPERM}},
	TRY("deadlines", NO_CAPABILITY, try_deadline, EPERM),
	TRY("a better priority", NO_CAPABILITY, try_nice, EACCES),
	CALL("real time of disks", NO_CAPABILITY, SYS_ioprio_set, EPERM, 1, 0, IOPRIO_REALTIME),
	{.name = "more open files", .layer = RLIMITS, .try = try_raise_limit, .args = {RLIMIT_NOFILE}, .expect = {EPERM}},
	{.name = "more of a core", .layer = RLIMITS, .try = try_raise_limit, .args = {RLIMIT_CORE}, .expect = {EPERM}},
	TRY("core files", RLIMITS, try_core, HELD),
	{.name = "the limit of open files", .layer = RLIMITS, .try = try_limit_is, .args = {RLIMIT_NOFILE, 8192}, .expect = {HELD}},
	WRITE("be spared by the OOM killer", "/proc/self/oom_score_adj", "-500", NO_CAPABILITY, EACCES, EACCES),
	WRITE("map uids again", "/proc/self/uid_map", "0 1000 1", NO_CAPABILITY, EPERM, EPERM),
	WRITE("map pid 1's uids", "/proc/1/uid_map", "0 0 1", OWNERS, EACCES, EACCES),
	WRITE("allow setgroups", "/proc/self/setgroups", "allow", NO_CAPABILITY, EACCES, EPERM),
	WRITE("more user namespaces", "/proc/sys/user/max_user_namespaces", "100000", READ_ONLY, EACCES, EROFS),
	WRITE("more mount namespaces", "/proc/sys/user/max_mnt_namespaces", "10", READ_ONLY, EACCES, EROFS),
	TRY_BY("end pid 1", OWN_PROCESSES, try_kill_init, HELD, HELD, NOT_TRIED),
	CALL("signal a process of the host", OWN_PROCESSES, SYS_kill, ESRCH, OF_THE_HOST, 0),
	CALL("a pidfd of the host", OWN_PROCESSES, SYS_pidfd_open, ESRCH, OF_THE_HOST, 0),
	TRY("the parent of pid 1", OWN_PROCESSES, try_parent_of_init, HELD),
	OTHERS(0, "mem", EACCES), OTHERS(0, "environ", EACCES), OTHERS(0, "maps", EACCES), OTHERS(0, "auxv", EACCES), OTHERS(0, "syscall", EPERM),
	OTHERS(0, "stack", EACCES), OTHERS(1, "root", EACCES), OTHERS(1, "cwd", EACCES), OTHERS(1, "exe", EACCES), OTHERS(1, "ns/mnt", EACCES),
	OTHERS(2, "fd", EACCES), OTHERS(2, "fdinfo", EACCES), OTHERS(2, "map_files", EACCES),
	TRY("variables of the host", OWN_ROOT, try_environment, HELD),
	TRY("descriptors that were left open", OWN_ROOT, try_descriptors, HELD),
};

const struct probe_table probes_rights = {probes, ARRAY_LEN(probes)};
