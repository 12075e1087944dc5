/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What this machine and its operator give: accounts, folders, amounts, the port, the programs. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "session/base/util.h"
#include "session/warden/listen.h"
#include "session/warden/prepare.h"
#include "session/warden/probe.h"
#include "session/warden/settle.h"
#include "session/warden/user.h"

#define MIB (1024 * 1024ULL)
#define JAIL_FILES 8192
#define NOTHING_RUNS "no session can run"

/* The operator's ceilings too: later rows use them. */
static bool look_uids(struct probe_host *host, unsigned long arg, char *value, size_t size)
{
	struct ceilings ceilings;
	struct err e = {0};

	(void)arg;
	if (prepare_ceilings(&ceilings, host->options->ceilings, &e) < 0)
		return probe_say_error(value, size, &e);
	host->ceilings = ceilings;
	(void)snprintf(value, size, "%u..%u, for %u sessions", ceilings.uid_base,
	               ceilings.uid_base + CEILINGS_SLOT_UIDS * (ceilings.sessions + 1) - 1, ceilings.sessions);
	return true;
}

static bool look_programs(struct probe_host *host, unsigned long arg, char *value, size_t size)
{
	int programs[N_PROGRAMS], tools[N_STATE_TOOLS], n = 0;
	char missing[80] = "";
	struct err e = {0};

	(void)host, (void)arg;
	if (prepare_programs(programs, tools, &e) < 0)
		return probe_say_error(value, size, &e);
	for (int i = 0; i < N_STATE_TOOLS; i++)
		if (tools[i] >= 0)
			n++;
		else
			err_list(missing, sizeof(missing), ", no ", STATE_TOOL_FILES[i]);
	(void)snprintf(value, size, "%d, beside this one%s%s", N_PROGRAMS + n, missing[0] ? "; no " : "", missing);
	return n == N_STATE_TOOLS;
}

static bool look_subids(struct probe_host *host, unsigned long arg, char *value, size_t size)
{
	(void)arg;
	return user_look(host->options, value, size);
}

static bool look_rights(struct probe_host *host, unsigned long arg, char *value, size_t size)
{
	char lost[256];
	size_t n = settle_missing_rights(lost, sizeof(lost));

	(void)host, (void)arg;
	(void)snprintf(value, size, "%s%s", n ? "not there: " : "all of those that the server keeps", lost);
	return n == 0;
}

/* A jail sets hard limits of its own, which may not be above ours. */
static bool look_rlimit(struct probe_host *host, unsigned long resource, char *value, size_t size)
{
	rlim_t wanted = resource == RLIMIT_CORE ? 1 : JAIL_FILES;
	struct rlimit limit;

	(void)host;
	if (getrlimit((__rlimit_resource_t)resource, &limit) < 0)
		return false;
	if (limit.rlim_max == RLIM_INFINITY)
		(void)snprintf(value, size, "unlimited");
	else
		(void)snprintf(value, size, "at most %ju", (uintmax_t)limit.rlim_max);
	return limit.rlim_max >= wanted;
}

static bool look_core_pattern(struct probe_host *host, unsigned long arg, char *value, size_t size)
{
	auto_fd fd = open("/proc/sys/kernel/core_pattern", O_RDONLY | O_CLOEXEC);
	auto_free char *text = NULL;

	(void)host, (void)arg;
	if (fd < 0 || util_read_file(fd, 4096, &text) < 0)
		return false;
	text[strcspn(text, "\n")] = '\0';
	(void)snprintf(value, size, "\"%.200s\": %s", text,
	               text[0] == '|' ? "a program, which jails never start" : "files, which jails never write");
	return true;
}

/* The folder, or the nearest one above it that is there. */
static int stat_space(const char *dir, struct statvfs *space)
{
	auto_free char *path = util_strdup(dir);
	char *slash;

	while (statvfs(path, space) < 0) {
		slash = errno == ENOENT ? strrchr(path, '/') : NULL;
		if (!slash || slash == path)
			return statvfs("/", space);
		*slash = '\0';
	}
	return 0;
}

static bool look_disk(struct probe_host *host, unsigned long wanted_mb, char *value, size_t size)
{
	struct statvfs space;
	uint64_t free_mb;

	if (stat_space(host->options->state, &space) < 0)
		return false;
	free_mb = (uint64_t)space.f_bavail * space.f_frsize / MIB;
	(void)snprintf(value, size, "%" PRIu64 " MB free in %s", free_mb, host->options->state);
	return free_mb >= wanted_mb;
}

static bool look_memory(struct probe_host *host, unsigned long wanted_mb, char *value, size_t size)
{
	auto_fd fd = open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
	auto_free char *text = NULL;
	const char *line;
	unsigned long available_kb = 0;

	(void)host;
	if (fd < 0 || util_read_file(fd, 65536, &text) < 0)
		return false;
	line = strstr(text, "MemAvailable:");
	if (line)
		available_kb = strtoul(line + strlen("MemAvailable:"), NULL, 10);
	(void)snprintf(value, size, "%lu MB available", available_kb / 1024);
	return available_kb / 1024 >= wanted_mb;
}

/* By the pid that a server leaves in its lock file; the lock itself is not tried, which could keep a server from starting. */
static bool look_state(struct probe_host *host, unsigned long arg, char *value, size_t size)
{
	auto_free char *file = util_printf("%s/lock", host->options->state);
	auto_fd lock = open(file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	auto_free char *pid = NULL;
	auto_free char *name = NULL;
	bool used = false;

	(void)arg;
	if (lock >= 0 && util_read_file(lock, 64, &pid) > 0) {
		auto_free char *comm = util_printf("/proc/%d/comm", atoi(pid));
		auto_fd fd = open(comm, O_RDONLY | O_CLOEXEC);

		used = fd >= 0 && util_read_file(fd, 64, &name) > 0 && strcmp(name, "gloveboxd\n") == 0;
	}
	if (used)
		(void)snprintf(value, size, "%s, used by the server with pid %d", host->options->state, atoi(pid));
	else
		(void)snprintf(value, size, "%s, not in use", host->options->state);
	return true;
}

static bool look_port(struct probe_host *host, unsigned long arg, char *value, size_t size)
{
	const struct listen_way way = {.tls = host->options->tls_cert, .insecure = host->options->insecure};
	size_t used = 0;

	(void)arg;
	for (size_t i = 0; i < host->options->listen.n && used < size; i++) {
		struct listener listener = {.fd = -1};
		struct err e = {0};

		if (listen_open(host->options->listen.items[i], &way, &listener, &e) < 0)
			return probe_say_error(value, size, &e);
		used += (size_t)snprintf(value + used, size - used, "%s%s is free", i ? ", " : "", listener.url);
		listen_close(&listener);
	}
	return true;
}

static bool look_network(struct probe_host *host, unsigned long arg, char *value, size_t size)
{
	(void)host, (void)arg;
	(void)snprintf(value, size, "none: no registry is asked, and Debian's mirror only while packages are installed and images are built");
	return true;
}

const struct probe probe_host_rows[] = {
	{"programs", "what the server starts", look_programs, 0, false, false, PROBE_MISSING,
	 NOTHING_RUNS, "make, or make install: all programs lie in one folder"},
	{"uids", "no session's uid is an account's", look_uids, 0, false, false, PROBE_MISSING, "the server does not start",
	 "uid_base = NUMBER in the file of --ceilings"},
	{"capabilities", "what the server does as root", look_rights, 0, true, false, PROBE_WEAKER,
	 "what is named fails", "start it with all capabilities of root"},
	{"open files", "8,192 for a jail", look_rlimit, RLIMIT_NOFILE, false, false, PROBE_MISSING,
	 NOTHING_RUNS, "ulimit -Hn 65536, LimitNOFILE in a unit"},
	{"subordinate ids", "uids of the sessions, where an ordinary user starts the server", look_subids, 0, false, false, PROBE_MISSING,
	 "this user cannot start the server", "as root: usermod --add-subuids FIRST-LAST --add-subgids FIRST-LAST USER; apt install uidmap"},
	{"core limit", "jails are given 1, which keeps handlers from being run", look_rlimit, RLIMIT_CORE, false, false, PROBE_MISSING,
	 NOTHING_RUNS,
	 "ulimit -Hc unlimited, LimitCORE=infinity in a unit"},
	{"core pattern", "to know", look_core_pattern, 0, false, false, PROBE_WEAKER, "", ""},
	{"state folder", "journals, tokens, images", look_state, 0, true, false, PROBE_WEAKER, "", ""},
	{"disk space", "journals, 1 GB at least", look_disk, 1024, false, false, PROBE_WEAKER,
	 "sessions stop when a journal cannot be written",
	 "make room, or choose another folder with --state"},
	{"memory", "a session with a browser, 1 GB at least", look_memory, 1024, false, false, PROBE_WEAKER,
	 "sessions run out of memory", "more memory, or limits.memory_mb of a session"},
	{"port", "where the API is served", look_port, 0, true, false, PROBE_WEAKER,
	 "no second server can serve there", "end what holds it, or --listen 127.0.0.1:PORT"},
	{"network", "what is needed of it", look_network, 0, false, false, PROBE_WEAKER, "", ""},
};
const size_t probe_host_n = ARRAY_LEN(probe_host_rows);
