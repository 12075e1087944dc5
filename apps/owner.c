/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/PID/status of the session's pid namespace. */
#include "apps/owner.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apps/init/proto.h"
#include "session/base/util.h"

#define STATUS_BYTES 8192

/* The field's values start after "\nNAME:"; a process name cannot fake one, since the kernel escapes its newlines. */
static const char *find_field(const char *status, const char *name)
{
	const char *at = strstr(status, name);

	return at ? at + strlen(name) : NULL;
}

/* The number at place `depth` of a field; 0 if there are fewer, -1 if it is no number. */
static int number_at(const char *at, size_t depth)
{
	for (;; depth--) {
		char *end;
		long value;

		while (*at == ' ' || *at == '\t')
			at++;
		if (*at == '\n' || *at == '\0')
			return 0;
		errno = 0;
		value = strtol(at, &end, 10);
		if (end == at || errno != 0 || value < 0 || value > INT_MAX)
			return -1;
		if (depth == 0)
			return (int)value;
		at = end;
	}
}

bool owner_parse(const char *status, size_t depth, struct owner *out)
{
	const char *parent = find_field(status, "\nPPid:");
	const char *pids = find_field(status, "\nNSpid:");
	const char *sessions = find_field(status, "\nNSsid:");
	struct owner read;

	if (!parent || !pids || !sessions)
		return false;
	read = (struct owner){.pid = number_at(pids, depth), .session = number_at(sessions, depth), .parent = number_at(parent, 0)};
	if (read.pid < 0 || read.session < 0 || read.parent < 0)
		return false;
	*out = read;
	return true;
}

static bool read_file(const struct owner_proc *proc, int pid, const char *file, char text[STATUS_BYTES])
{
	char name[32];
	auto_fd fd = -1;
	ssize_t n;

	(void)snprintf(name, sizeof(name), "%d/%s", pid, file);
	fd = openat(proc->fd, name, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, STATUS_BYTES - 1);
	if (n <= 0)
		return false;
	text[n] = '\0';
	return true;
}

int owner_open(struct owner_proc *proc, int fd, int init_pid, struct err *e)
{
	struct owner_proc opened = {.fd = fd};
	char text[STATUS_BYTES];
	const char *pids;

	if (!read_file(&opened, init_pid, "status", text) || !(pids = find_field(text, "\nNSpid:"))) {
		util_close_fd(&opened.fd);
		return err_set(e, ERR_GONE, NULL, "the session's programs are gone");
	}
	/* Init itself is in the app jail: its last number is of there. */
	while (number_at(pids, opened.depth + 1) > 0)
		opened.depth++;
	*proc = opened;
	return 0;
}

void owner_close(struct owner_proc *proc)
{
	util_close_fd(&proc->fd);
}

static bool read_one(const struct owner_proc *proc, int outer_pid, struct owner *out)
{
	char text[STATUS_BYTES];

	return outer_pid > 0 && read_file(proc, outer_pid, "status", text) && owner_parse(text, proc->depth, out) && out->pid != 0;
}

void owner_read(const struct owner_proc *proc, int outer_pid, struct owner_line *out)
{
	for (out->n = 0; out->n < OWNER_ANCESTORS && read_one(proc, outer_pid, &out->of[out->n]); out->n++)
		outer_pid = out->of[out->n].parent;
}

int owner_pid(const struct owner_proc *proc, int outer_pid)
{
	struct owner owner;

	return read_one(proc, outer_pid, &owner) ? owner.pid : 0;
}

int owner_parse_group(const char *text)
{
	static const char *const names[INIT_N_GROUPS] = {"base", "apps", "agent"}; /* enum init_group */
	const char *line = strncmp(text, "0::", 3) == 0 ? text : strstr(text, "\n0::");
	const char *end, *last;

	if (!line)
		return -1;
	line += line == text ? 0 : 1;
	end = line + strcspn(line, "\n");
	last = memrchr(line, '/', (size_t)(end - line));
	for (int group = 0; last && group < INIT_N_GROUPS; group++)
		if (strlen(names[group]) == (size_t)(end - last - 1) && memcmp(names[group], last + 1, (size_t)(end - last - 1)) == 0)
			return group;
	return -1;
}

int owner_group(const struct owner_proc *proc, int outer_pid)
{
	char text[STATUS_BYTES];

	return outer_pid > 0 && read_file(proc, outer_pid, "cgroup", text) ? owner_parse_group(text) : -1;
}

/* The 22nd field; the second, a name in brackets, may hold anything. */
uint64_t owner_started(const struct owner_proc *proc, int outer_pid)
{
	char text[STATUS_BYTES];
	const char *at;

	if (outer_pid <= 0 || !read_file(proc, outer_pid, "stat", text) || !(at = strrchr(text, ')')))
		return 0;
	for (int field = 2; field < 22 && at; field++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at, NULL, 10) : 0;
}

static bool is(const struct owner *owner, int jail_pid)
{
	return owner->pid == jail_pid || owner->session == jail_pid;
}

bool owner_is(const struct owner_line *line, int jail_pid)
{
	return line->n > 0 && is(&line->of[0], jail_pid);
}

bool owner_descends(const struct owner_line *line, int jail_pid)
{
	for (size_t i = 0; i < line->n; i++)
		if (is(&line->of[i], jail_pid))
			return true;
	return false;
}
