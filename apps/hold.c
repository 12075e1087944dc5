/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The agent's own programs while a person holds the controls. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "apps/state.h"
#include "session/base/limits.h"
#include "session/base/util.h"

#define GONE_EVERY_MS 5 /* between two looks whether who was ended has left the bus */
#define COMM_BYTES 64   /* a name has 15, those of the kernel's own threads more */
#define STAT_BYTES 1024 /* one line of some fifty numbers */
#define EXITING 4       /* among its flags, PF_EXITING: it runs no more, or so does its first thread */

void apps_hold(struct apps *apps, bool held)
{
	int64_t now_ms = util_now_ms();

	if (held == (apps->held_ms > 0))
		return;
	if (!held)
		apps->stood_ms += now_ms - apps->held_ms;
	apps->held_ms = held ? now_ms : 0;
}

int apps_sort(struct apps *apps, bool all, int64_t deadline_ms, struct err *e)
{
	return spawner_sort(apps->spawner, all, deadline_ms, e);
}

int64_t hold_clock_ms(const struct apps *apps)
{
	return (apps->held_ms > 0 ? apps->held_ms : util_now_ms()) - apps->stood_ms;
}

/* /proc/PID/stat: the program's name, or "" of one that is gone, or that has ended and is not taken away yet, as happens when init is slow. */
static void read_name(int proc, const char *pid, char out[COMM_BYTES])
{
	char path[32], text[STAT_BYTES];
	const char *name, *end;
	unsigned int flags = 0;
	auto_fd fd = -1;
	int n_threads = 0;
	ssize_t n;

	out[0] = '\0';
	(void)snprintf(path, sizeof(path), "%.12s/stat", pid);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = '\0';
	name = strchr(text, '(');
	end = strrchr(text, ')'); /* a name may have one, too */
	if (!name || !end || sscanf(end, ") %*c %*d %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %d", &flags, &n_threads) != 2)
		return;
	if (flags & EXITING && n_threads <= 1)
		return;
	(void)snprintf(out, COMM_BYTES, "%.*s", (int)(end - name - 1), name + 1);
	out[strcspn(out, "\n")] = '\0';
}

static void add_name(json_t *names, const char *name)
{
	const json_t *known;
	size_t i;

	json_array_foreach(names, i, known)
		if (strcmp(json_string_value(known), name) == 0)
			return;
	if (*name && json_array_size(names) < LIMIT_PROGRAMS)
		(void)json_array_append_new(names, json_string(name)); /* one that is no UTF-8 has no name */
}

/* --- on the accessibility bus --- */

/* Its number in the session's namespace; 0: it is gone. */
static int find_outer(const struct apps *apps, int pid)
{
	int fd = openat(apps->proc.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), found = 0;
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);

	for (const struct dirent *entry = folder ? readdir(folder) : NULL; entry && found == 0; entry = readdir(folder))
		if (strspn(entry->d_name, "0123456789") == strlen(entry->d_name) && owner_pid(&apps->proc, atoi(entry->d_name)) == pid)
			found = atoi(entry->d_name);
	if (folder)
		closedir(folder);
	else
		util_close_fd(&fd);
	return found;
}

/* Is it the agent's? So may be who holds the connection of one that is gone. */
static bool is_agents(const struct apps *apps, int pid, char name[COMM_BYTES])
{
	int outer = pid > 0 ? find_outer(apps, pid) : 0;
	char number[16];

	name[0] = '\0';
	if (outer == 0)
		return true;
	if (owner_group(&apps->proc, outer) != INIT_GROUP_AGENT)
		return false;
	(void)snprintf(number, sizeof(number), "%d", outer);
	read_name(apps->proc.fd, number, name);
	return true;
}

int apps_end_listeners(struct apps *apps, int64_t deadline_ms, json_t *ended, struct err *e)
{
	auto_free int *pids = util_alloc(LIMIT_ACCESS_CLIENTS * sizeof(*pids));
	char name[COMM_BYTES];
	size_t n, n_left;

	for (;;) {
		if (access_clients(&apps->access, deadline_ms, pids, &n, e) < 0)
			return -1;
		n_left = 0;
		for (size_t i = 0; i < n; i++) {
			if (!is_agents(apps, pids[i], name))
				continue;
			n_left++;
			add_name(ended, name);
			if (pids[i] > 0 && spawner_end(apps->spawner, pids[i], deadline_ms, e) < 0)
				return -1;
		}
		if (n_left == 0)
			return 0;
		if (util_now_ms() >= deadline_ms)
			return err_set(e, ERR_TIMEOUT, NULL, "programs of the agent are still on the accessibility bus");
		if (co_wait_until(util_now_ms() + GONE_EVERY_MS, e) < 0)
			return -1;
	}
}

json_t *apps_programs(const struct apps *apps)
{
	json_t *names = json_array();
	int fd = openat(apps->proc.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);

	for (const struct dirent *entry = folder ? readdir(folder) : NULL; entry; entry = readdir(folder)) {
		char name[COMM_BYTES];

		if (strspn(entry->d_name, "0123456789") != strlen(entry->d_name) || owner_group(&apps->proc, atoi(entry->d_name)) != INIT_GROUP_AGENT)
			continue;
		read_name(apps->proc.fd, entry->d_name, name);
		add_name(names, name);
	}
	if (folder)
		closedir(folder);
	else
		util_close_fd(&fd);
	return names;
}

json_t *apps_untrusted(const struct apps *apps)
{
	json_t *names = json_array();

	for (const struct launched *launched = apps->launched; launched; launched = launched->next)
		if (!launched->app->trusted && !launched->app->terminal && !launched->process->ended)
			add_name(names, launched->app->title);
	return names;
}

void apps_end_all(struct apps *apps)
{
	spawner_signal_group(apps->spawner, INIT_GROUP_AGENT, SIGKILL);
	spawner_signal_group(apps->spawner, INIT_GROUP_APPS, SIGKILL);
}

void apps_end_agents(struct apps *apps)
{
	spawner_signal_group(apps->spawner, INIT_GROUP_AGENT, SIGKILL);
}
