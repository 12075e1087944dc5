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
#define PIDS 64        /* it is among the first processes of its namespace */
#define LEAST_MS 500   /* less says nothing */
#define NS_IN_MS 1000000

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

/* "ran waited slices", of which the first two are wanted; a kernel that does not count has no such file. */
static bool read_wait(const struct xvfb *server, struct xvfb_wait *out)
{
	char text[FILE_BYTES];

	out->at_ms = util_now_ms();
	return server->pid > 0 && read_file(server->proc_fd, server->pid, "schedstat", text) && sscanf(text, "%" SCNu64 " %" SCNu64, &out->ran_ns, &out->ns) == 2;
}

/* It is to run, or runs. */
static bool is_runnable(const struct xvfb *server)
{
	char text[FILE_BYTES];
	const char *end = read_file(server->proc_fd, server->pid, "stat", text) ? strrchr(text, ')') : NULL;

	return end && strncmp(end, ") R", 3) == 0;
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
	struct xvfb_wait now;

	for (int pid = 2; server->pid == 0 && server->proc_fd >= 0 && pid < PIDS; pid++)
		if (is_it(server->proc_fd, pid))
			server->pid = pid;
	if (server->pid == 0)
		return false;
	if (read_wait(server, &now) && now.at_ms - server->last.at_ms >= LEAST_MS) {
		server->before = server->last;
		server->last = now;
	}
	return read_file(server->proc_fd, server->pid, "statm", text) && sscanf(text, "%" SCNu64, pages) == 1 && *pages > 0;
}

bool xvfb_is_starved(const struct xvfb *server)
{
	const struct xvfb_wait *since = &server->last;
	struct xvfb_wait now;

	if (!read_wait(server, &now))
		return false;
	if (now.at_ms - since->at_ms < LEAST_MS)
		since = &server->before;
	/* A wait that goes on is not counted before its end. */
	if (since->at_ms > 0 && now.ns == since->ns && now.ran_ns == since->ran_ns)
		return is_runnable(server);
	return since->at_ms > 0 && now.ns > since->ns && (int64_t)((now.ns - since->ns) / NS_IN_MS) * 2 >= now.at_ms - since->at_ms;
}
