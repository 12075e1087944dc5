/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading /proc. */
#include "session/stage/xvfb.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "session/base/util.h"

#define FILE_BYTES 1024
#define PIDS 64 /* it is among the first processes of its namespace */

static bool read_file(int proc_fd, int pid, const char *name, char text[FILE_BYTES])
{
	char path[32];
	auto_fd fd = -1;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "%d/%s", pid, name);
	fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, FILE_BYTES - 1);
	if (n <= 0)
		return false;
	text[n] = '\0';
	return true;
}

/* "pid (Xvfb) state 1 …": a child of the first process of the session. A name may hold brackets of its own. */
static bool is_it(int proc_fd, int pid)
{
	char text[FILE_BYTES];
	const char *name, *end;
	int parent = 0;

	if (!read_file(proc_fd, pid, "stat", text))
		return false;
	name = strchr(text, '(');
	end = strrchr(text, ')');
	return name && end && strncmp(name, "(Xvfb)", (size_t)(end + 1 - name)) == 0 && sscanf(end, ") %*c %d", &parent) == 1 && parent == 1;
}

void xvfb_begin(struct xvfb *server, int proc_fd)
{
	*server = (struct xvfb){.proc_fd = proc_fd < 0 ? -1 : fcntl(proc_fd, F_DUPFD_CLOEXEC, 0)};
}

void xvfb_end(struct xvfb *server)
{
	util_close_fd(&server->proc_fd);
}

bool xvfb_look(struct xvfb *server, uint64_t *pages)
{
	char text[FILE_BYTES];

	for (int pid = 2; server->pid == 0 && server->proc_fd >= 0 && pid < PIDS; pid++)
		if (is_it(server->proc_fd, pid))
			server->pid = pid;
	if (server->pid == 0)
		return false;
	return read_file(server->proc_fd, server->pid, "statm", text) && sscanf(text, "%" SCNu64, pages) == 1 && *pages > 0;
}
