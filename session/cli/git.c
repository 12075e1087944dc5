/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Running git. */
#include "session/cli/git.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session/base/util.h"

#define WORDS_MAX 8

/* Where the caller's own git is at work, as in a hook, is not where this one is to be. */
static void forget_settings(void)
{
	static const char prefix[] = "GIT_";

	for (char **at = environ; *at;) {
		auto_free char *name = strndup(*at, strcspn(*at, "="));

		if (name && strncmp(name, prefix, strlen(prefix)) == 0)
			(void)unsetenv(name); /* the next one is in its place */
		else
			at++;
	}
	/* A commit that is not there would be fetched, by a program that the repository's own settings name. */
	(void)setenv("GIT_ALLOW_PROTOCOL", "", 1);
}

pid_t git_start(const char *folder, const char *const *words, int in, int out)
{
	const char *argv[WORDS_MAX + 10] = {"git", "-C", folder, "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"};
	size_t n = 7;
	pid_t pid;

	for (; *words && n < WORDS_MAX + 9; words++)
		argv[n++] = *words;
	pid = fork();
	if (pid == 0) {
		int null = open("/dev/null", O_RDWR | O_CLOEXEC);

		(void)dup2(in >= 0 ? in : null, STDIN_FILENO);
		(void)dup2(out >= 0 ? out : null, STDOUT_FILENO);
		forget_settings();
		(void)execvp(argv[0], (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	return pid;
}

bool git_ended_well(pid_t pid)
{
	int status = -1;

	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

char *git_says(const char *folder, const char *const *words)
{
	auto_free char *text = NULL;
	int ends[2];
	ssize_t len;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return NULL;
	pid = git_start(folder, words, -1, ends[1]);
	util_close_fd(&ends[1]);
	len = util_read_file(ends[0], PATH_MAX, &text);
	util_close_fd(&ends[0]);
	if (!git_ended_well(pid) || len < 2 || text[len - 1] != '\n')
		return NULL;
	text[len - 1] = '\0';
	return strlen(text) + 1 == (size_t)len ? steal_ptr(&text) : NULL;
}
