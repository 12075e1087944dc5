/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * glovebox-battery [--root] [--out FILE] [--skip TEXT]…: tries everything from inside the jail and prints a line for each row, five fields with a tab between:
 * name, layer, expected, got, "ok" or "WRONG"; at last "SELF N probes, M wrong". Status 0 if all was as expected, 1 if not, 2 if this is no
 * app jail. Who it is, app or browser, it finds by its gid. --root: as uid 0 of a user namespace that it makes, which takes a browser. With
 * --out the status is 1 in any case: so whoever launches it as an app waits for no window. --skip: without the rows whose name has TEXT in it.
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apps/init/proto.h"
#include "session/base/util.h"
#include "tests/escape/battery.h"

#define TRY_S 10
#define SKIPS 8

static const struct probe_table *const TABLES[] = {&probes_namespaces, &probes_kernel, &probes_sockets, &probes_rights, &probes_files,
                                                   &probes_display};
static const char *const SELVES[N_SELVES] = {[SELF_APP] = "app", [SELF_BROWSER] = "browser", [SELF_ROOT] = "root"};
static const struct {
	enum outcome outcome;
	const char *name;
} NAMES[] = {{DONE, "done"}, {KILLED, "killed"}, {HIDDEN, "hidden"}, {HELD, "held"}, {REFUSED, "refused"}, {HUNG, "hung"}, {DIED, "died"}};

int outcome_of(long result)
{
	return result < 0 ? errno : DONE;
}

int try_call(const struct probe *probe)
{
	const long *args = probe->args;
	long result = syscall(probe->number, args[0], args[1], args[2], args[3], args[4], args[5]);

	if (result == 0 && (probe->number == SYS_clone || probe->number == SYS_clone3 || probe->number == SYS_fork))
		_exit(0); /* the new process */
	return outcome_of(result);
}

static const char *name_of(int outcome)
{
	for (size_t i = 0; i < ARRAY_LEN(NAMES); i++)
		if ((int)NAMES[i].outcome == outcome)
			return NAMES[i].name;
	return strerrorname_np(outcome) ? strerrorname_np(outcome) : "?";
}

/* The try in a child, which says the outcome on descriptor 3. */
static int run(const struct probe *probe)
{
	int ends[2], outcome = 0, status = 0;
	pid_t pid;

	if (pipe(ends) < 0)
		return errno;
	pid = fork();
	if (pid == 0) {
		(void)dup3(ends[1], STDERR_FILENO + 1, O_CLOEXEC);
		(void)close_range(STDERR_FILENO + 2, ~0U, 0);
		(void)alarm(TRY_S);
		outcome = probe->try(probe);
		_exit(write(STDERR_FILENO + 1, &outcome, sizeof(outcome)) == sizeof(outcome) ? 0 : 1);
	}
	util_close_fd(&ends[1]);
	if (pid < 0 || read(ends[0], &outcome, sizeof(outcome)) != sizeof(outcome))
		outcome = 0;
	util_close_fd(&ends[0]);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return ECHILD;
	if (WIFSIGNALED(status))
		/* A kernel without the 32-bit gate ends its callers itself. */
		return WTERMSIG(status) == SIGSYS || WTERMSIG(status) == SIGSEGV ? KILLED : WTERMSIG(status) == SIGALRM ? HUNG : DIED;
	return outcome;
}

static int expected(const struct probe *probe, enum self self)
{
	if (probe->expect[self] != SAME)
		return probe->expect[self];
	/* Root is what a browser can become. */
	return self == SELF_ROOT && probe->expect[SELF_BROWSER] == NOT_TRIED ? NOT_TRIED : probe->expect[SELF_APP];
}

/* What the command line says. */
struct wish {
	enum self self;
	FILE *to;
	const char *skips[SKIPS];
	size_t n_skips;
};

static bool is_skipped(const struct wish *wish, const struct probe *probe)
{
	for (size_t i = 0; i < wish->n_skips; i++)
		if (strstr(probe->name, wish->skips[i]))
			return true;
	return expected(probe, wish->self) == NOT_TRIED;
}

static int run_all(const struct wish *wish)
{
	FILE *to = wish->to;
	size_t n = 0, wrong = 0;

	for (size_t t = 0; t < ARRAY_LEN(TABLES); t++)
		for (size_t i = 0; i < TABLES[t]->n; i++) {
			const struct probe *probe = &TABLES[t]->probes[i];
			int wanted = expected(probe, wish->self), got;

			if (is_skipped(wish, probe))
				continue;
			got = run(probe);
			n++;
			wrong += got != wanted;
			(void)fprintf(to, "%s\t%s\t%s\t%s\t%s\n", probe->name, probe->layer, name_of(wanted), name_of(got), got == wanted ? "ok" : "WRONG");
			(void)fflush(to);
		}
	(void)fprintf(to, "%s %zu probes, %zu wrong\n", SELVES[wish->self], n, wrong);
	return fclose(to) == 0 && wrong == 0 && to == stdout ? 0 : 1;
}

/* One uid, 1000, is mapped: it is in an app jail, and not somewhere that it could do harm. */
static bool is_in_jail(void)
{
	FILE *map = fopen("/proc/self/uid_map", "re");
	unsigned inside = 0, outside = 0, n = 0;
	bool jailed = map && fscanf(map, "%u %u %u", &inside, &outside, &n) == 3 && inside == 1000 && n == 1;

	if (map)
		(void)fclose(map);
	return jailed;
}

static int write_text(const char *path, const char *text)
{
	auto_fd fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd < 0 ? -1 : util_write_all(fd, text, strlen(text));
}

/* Goes on as pid 1 and uid 0 of namespaces of its own. */
static int become_root(void)
{
	char uids[32], gids[32];
	int status = 0;
	pid_t pid;

	(void)snprintf(uids, sizeof(uids), "0 %u 1", geteuid());
	(void)snprintf(gids, sizeof(gids), "0 %u 1", getegid());
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWPID) < 0)
		return -1;
	if (write_text("/proc/self/uid_map", uids) < 0 || write_text("/proc/self/setgroups", "deny") < 0 || write_text("/proc/self/gid_map", gids) < 0)
		return -1;
	pid = fork();
	if (pid <= 0)
		return (int)pid;
	if (waitpid(pid, &status, 0) != pid)
		return -1;
	exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

static int read_words(struct wish *wish, int argc, char **argv)
{
	*wish = (struct wish){.self = getegid() == INIT_TRUSTED_GID ? SELF_BROWSER : SELF_APP, .to = stdout};
	for (int i = 1; i < argc; i++) {
		bool more = i + 1 < argc;

		if (strcmp(argv[i], "--root") == 0)
			wish->self = SELF_ROOT;
		else if (strcmp(argv[i], "--out") == 0 && more)
			wish->to = fopen(argv[++i], "we");
		else if (strcmp(argv[i], "--skip") == 0 && more && wish->n_skips < SKIPS)
			wish->skips[wish->n_skips++] = argv[++i];
		else
			return -1;
	}
	return wish->to ? 0 : -1;
}

int main(int argc, char **argv)
{
	struct wish wish;

	if (!is_in_jail()) {
		(void)fprintf(stderr, "glovebox-battery: this is no app jail, and nothing was tried: glovebox selftest runs it in one\n");
		return 2;
	}
	if (read_words(&wish, argc, argv) < 0) {
		(void)fprintf(stderr, "usage: glovebox-battery [--root] [--out FILE] [--skip TEXT]…\n");
		return 2;
	}
	if (wish.self == SELF_ROOT && become_root() < 0) {
		(void)fprintf(wish.to, "root of a nested user namespace: %s\n", strerrorname_np(errno));
		return 1;
	}
	return run_all(&wish);
}
