/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Going through the rows: trying in children, writing lines. */
#include "session/warden/probe.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session/base/util.h"

#define VALUE_MAX 400
#define PATIENCE_S 20 /* of a child */

static const char *const RESULTS[] = {[PROBE_OK] = "ok", [PROBE_WEAKER] = "weaker", [PROBE_MISSING] = "missing", [PROBE_UNKNOWN] = "unknown"};

/* The child's side: the value goes into the pipe, the answer is its exit status. */
static void look_and_exit(const struct probe *probe, struct probe_host *host, int out)
{
	char value[VALUE_MAX] = "";
	bool ok;

	(void)alarm(PATIENCE_S);
	ok = probe->look(host, probe->arg, value, sizeof(value));
	_exit(util_write_all(out, value, strlen(value)) == 0 && ok ? 0 : 1);
}

bool probe_in_child(const struct probe *probe, struct probe_host *host, char *value, size_t size)
{
	int ends[2], status = -1;
	size_t len = 0;
	ssize_t n;
	pid_t pid;

	if (pipe(ends) < 0)
		return false;
	pid = fork();
	if (pid == 0)
		look_and_exit(probe, host, ends[1]);
	util_close_fd(&ends[1]);
	while (pid > 0 && len < size - 1 && (n = read(ends[0], value + len, size - 1 - len)) > 0)
		len += (size_t)n;
	value[len] = '\0';
	util_close_fd(&ends[0]);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return false;
	if (WIFSIGNALED(status))
		(void)snprintf(value, size, "ended by signal %d", WTERMSIG(status)); /* SIGALRM: it hung */
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool probe_say_error(char *value, size_t size, const struct err *e)
{
	(void)snprintf(value, size, "%s%s%s", e->msg, e->sys_errno ? ": " : "", e->sys_errno ? strerror(e->sys_errno) : "");
	return false;
}

static void write_row(const struct probe *probe, enum probe_result result, char *value, FILE *to)
{
	bool good = result == PROBE_OK;

	for (char *c = value; *c; c++)
		if (*c == '\t' || *c == '\n')
			*c = ' ';
	fprintf(to, "%s\t%s\t%s\t%s\t%s\t%s\n", probe->name, probe->purpose, RESULTS[result], value,
	        good ? "" : result == PROBE_UNKNOWN ? "not looked at: this takes root" : probe->effect,
	        good ? "" : result == PROBE_UNKNOWN ? "sudo glovebox doctor" : probe->mend);
}

static void look(const struct probe *rows, size_t n, struct probe_host *host, FILE *to)
{
	for (size_t i = 0; i < n; i++) {
		enum probe_result result = PROBE_UNKNOWN;
		char value[VALUE_MAX] = "";

		if (!rows[i].root || geteuid() == 0) {
			bool ok = rows[i].tries ? probe_in_child(&rows[i], host, value, sizeof(value)) : rows[i].look(host, rows[i].arg, value, sizeof(value));

			result = ok ? PROBE_OK : rows[i].otherwise;
		}
		write_row(&rows[i], result, value, to);
	}
}

void probe_run(const struct options *options, FILE *to)
{
	struct probe_host host = {.options = options, .place = "/tmp/glovebox-probe-XXXXXX"};

	ceilings_default(&host.ceilings);
	if (!mkdtemp(host.place))
		host.place[0] = '\0';
	look(probe_host_rows, probe_host_n, &host, to);
	look(probe_kernel_rows, probe_kernel_n, &host, to);
	if (host.place[0])
		(void)rmdir(host.place);
}
