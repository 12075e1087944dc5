/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looking through /proc. */
#include "apps/init/stray.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apps/init/proto.h"
#include "session/base/util.h"

#define TEXT_BYTES 8192
#define MOST_PASSES 16 /* one that forks is in the old group with its new child, until it is moved */

static bool read_file(const char *pid, const char *file, char text[TEXT_BYTES])
{
	char path[48];
	auto_fd fd = -1;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/%.12s/%s", pid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, TEXT_BYTES - 1);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* "/apps": the last part of its place in cgroup v2. */
static bool is_of(const char *cgroup, const char *last)
{
	const char *line = strncmp(cgroup, "0::", 3) == 0 ? cgroup : strstr(cgroup, "\n0::");
	size_t len;

	if (!line)
		return false;
	line += *line == '\n';
	len = strcspn(line, "\n");
	return len >= strlen(last) && memcmp(line + len - strlen(last), last, strlen(last)) == 0;
}

/* The kernel escapes newlines in the name of a process, which stands before this. */
static bool is_trusted(const char *status)
{
	const char *at = strstr(status, "\nGid:");

	return at && strtol(at + strlen("\nGid:"), NULL, 10) == INIT_TRUSTED_GID;
}

bool stray_may_be(const char *cgroup, const char *status)
{
	return is_of(cgroup, "/apps") && !is_trusted(status);
}

/* The folder of its program, with the "/" at its end. A process that has mounts of its own may call that as it likes: so it must be the same file here. */
static bool read_folder(pid_t pid, char out[PATH_MAX])
{
	struct stat named, there;
	char path[48];
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	n = readlink(path, out, PATH_MAX - 1);
	out[n > 0 ? n : 0] = '\0';
	if (n <= 0 || stat(path, &there) < 0 || stat(out, &named) < 0 || named.st_dev != there.st_dev || named.st_ino != there.st_ino)
		return false;
	*(strrchr(out, '/') + 1) = '\0';
	return true;
}

/* One of the programs that an app consists of: beside the app's own, in a folder that has no others. */
static bool is_part(pid_t pid, stray_is_job is_job, void *arg)
{
	char folder[PATH_MAX], jobs[PATH_MAX];
	pid_t leader = getsid(pid);

	return leader > 0 && is_job(arg, leader) && read_folder(pid, folder) && read_folder(leader, jobs) && strcmp(folder, jobs) == 0 &&
	       strncmp(folder, "/usr/lib/", strlen("/usr/lib/")) == 0;
}

static bool is_stray(const char *pid, stray_is_job is_job, void *arg)
{
	char cgroup[TEXT_BYTES], status[TEXT_BYTES];

	return strspn(pid, "0123456789") == strlen(pid) && !is_job(arg, (pid_t)strtol(pid, NULL, 10)) && read_file(pid, "cgroup", cgroup) &&
	       read_file(pid, "status", status) && stray_may_be(cgroup, status) && !is_part((pid_t)strtol(pid, NULL, 10), is_job, arg);
}

/* Who has ended meanwhile is in no group. */
static bool move(const struct child_groups *groups, const char *pid)
{
	bool is_moved = false;

	for (size_t i = 0; i < groups->n[INIT_GROUP_AGENT]; i++)
		is_moved |= write(groups->files[INIT_GROUP_AGENT][i], pid, strlen(pid)) == (ssize_t)strlen(pid);
	return is_moved;
}

/* How many were found and moved. */
static size_t pass(const struct child_groups *groups, stray_is_job is_job, void *arg)
{
	DIR *folder = opendir("/proc");
	size_t n = 0;

	for (const struct dirent *entry = folder ? readdir(folder) : NULL; entry; entry = readdir(folder))
		n += is_stray(entry->d_name, is_job, arg) && move(groups, entry->d_name);
	if (folder)
		(void)closedir(folder);
	return n;
}

void strays_move(const struct child_groups *groups, stray_is_job is_job, void *arg)
{
	for (int i = 0; i < MOST_PASSES && pass(groups, is_job, arg) > 0; i++)
		continue;
}

void stray_end(pid_t pid)
{
	char name[16], cgroup[TEXT_BYTES];

	(void)snprintf(name, sizeof(name), "%d", (int)pid);
	if (pid > 1 && read_file(name, "cgroup", cgroup) && is_of(cgroup, "/agent"))
		(void)kill(pid, SIGKILL);
}
