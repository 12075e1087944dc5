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

static bool read_status(const struct owner_proc *proc, int pid, char text[STATUS_BYTES])
{
	char name[32];
	auto_fd fd = -1;
	ssize_t n;

	(void)snprintf(name, sizeof(name), "%d/status", pid);
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

	if (!read_status(&opened, init_pid, text) || !(pids = find_field(text, "\nNSpid:"))) {
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

void owner_read(const struct owner_proc *proc, int outer_pid, struct owner_line *out)
{
	char text[STATUS_BYTES];

	for (out->n = 0; out->n < OWNER_ANCESTORS && outer_pid > 0; out->n++) {
		struct owner *owner = &out->of[out->n];

		if (!read_status(proc, outer_pid, text) || !owner_parse(text, proc->depth, owner) || owner->pid == 0)
			return;
		outer_pid = owner->parent;
	}
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
