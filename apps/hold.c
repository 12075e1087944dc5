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

#define COMM_BYTES 64 /* /proc/PID/comm: 15 and a newline */

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

/* The program's name, or "". */
static void read_name(int proc, const char *pid, char out[COMM_BYTES])
{
	char path[32];
	auto_fd fd = -1;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "%.12s/comm", pid);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, out, COMM_BYTES - 1);
	out[n > 0 ? n : 0] = '\0';
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
