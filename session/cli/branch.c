/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A stream for git fast-import. */
#include "session/cli/branch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "session/base/json.h"
#include "session/base/util.h"

#define COMMIT_MAX 128
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

/* git, in the user's repository, without what it may run by itself; `in` and `out` -1 are /dev/null. The pid, or -1. */
static pid_t start_git(const char *folder, const char *const *words, int in, int out)
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

static bool went_well(pid_t pid)
{
	int status = -1;

	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

char *branch_commit_of(const char *folder)
{
	static const char *const words[] = {"rev-parse", "--verify", "--quiet", "HEAD^{commit}", NULL};
	auto_free char *git = util_printf("%s/.git", folder), *text = NULL;
	int ends[2];
	bool good;
	pid_t pid;

	if (access(git, F_OK) < 0 || pipe2(ends, O_CLOEXEC) < 0)
		return NULL;
	pid = start_git(folder, words, -1, ends[1]);
	util_close_fd(&ends[1]);
	good = util_read_file(ends[0], COMMIT_MAX, &text) > 0;
	util_close_fd(&ends[0]);
	if (!went_well(pid) || !good)
		return NULL;
	text[strcspn(text, "\n")] = '\0';
	return strspn(text, "0123456789abcdef") == strlen(text) ? steal_ptr(&text) : NULL;
}

/* --- the stream --- */

struct stream {
	FILE *to;
	const struct branch *branch;
	bool takes; /* the present file */
};

/* A path as fast-import reads any: quoted, every odd byte in octal. */
static void put_path(FILE *to, const char *path)
{
	fputc('"', to);
	for (; *path; path++) {
		unsigned char c = (unsigned char)*path;

		if (c < ' ' || c >= 0x7f || c == '"' || c == '\\')
			fprintf(to, "\\%03o", c);
		else
			fputc(c, to);
	}
	fputc('"', to);
}

static int put_entry(void *arg, const struct tar_entry *entry, struct err *e)
{
	struct stream *stream = arg;

	(void)e;
	stream->takes = *entry->name && stream->branch->wants(stream->branch->arg, entry) && !folder_has_git(entry->name) &&
	                (entry->kind != TAR_LINK || !folder_has_git(entry->target));
	if (!stream->takes)
		return 0;
	fprintf(stream->to, "M %s inline ", entry->kind == TAR_LINK ? "120000" : entry->mode & 0111 ? "100755" : "100644");
	put_path(stream->to, entry->name);
	if (entry->kind == TAR_LINK)
		fprintf(stream->to, "\ndata %zu\n%s\n", strlen(entry->target), entry->target);
	else
		fprintf(stream->to, "\ndata %llu\n%s", (unsigned long long)entry->size, entry->size == 0 ? "\n" : "");
	return 0;
}

static int put_data(void *arg, const void *data, size_t len, struct err *e)
{
	const struct stream *stream = arg;

	if (stream->takes && fwrite(data, 1, len, stream->to) != len)
		return err_set(e, ERR_BAD_REQUEST, NULL, "git does not read on");
	return 0;
}

static int put_all(FILE *to, const struct branch *branch, struct err *e)
{
	struct stream stream = {.to = to, .branch = branch};
	const struct tar_ops ops = {.entry = put_entry, .data = put_data, .arg = &stream};
	const json_t *change;
	size_t i;

	fprintf(to, "feature done\ncommit refs/heads/%s\ncommitter glovebox <glovebox@localhost> %lld +0000\ndata <<END\nChanges of the session %s\nEND\nfrom %s\n", branch->name,
	        (long long)time(NULL), branch->session, branch->commit);
	json_array_foreach(branch->changes, i, change) {
		if (strcmp(form_string(change, "change", ""), "deleted") != 0 || folder_has_git(form_string(change, "path", "")))
			continue;
		fputs("D ", to);
		put_path(to, form_string(change, "path", ""));
		fputc('\n', to);
	}
	if (folder_read(branch->archive, &ops, e) < 0)
		return -1;
	fputs("done\n", to);
	return 0;
}

static int check_name(const struct branch *branch, struct err *e)
{
	auto_free char *ref = util_printf("refs/heads/%s", branch->name);
	const char *const form[] = {"check-ref-format", ref, NULL}, *const there[] = {"show-ref", "--verify", "--quiet", ref, NULL};
	char shown[80];

	(void)err_quote(shown, sizeof(shown), branch->name, strlen(branch->name));
	if (branch->name[0] == '-' || !went_well(start_git(branch->folder, form, -1, -1)))
		return err_set(e, ERR_BAD_REQUEST, NULL, "%s is no name of a branch", shown);
	if (went_well(start_git(branch->folder, there, -1, -1)))
		return err_set(e, ERR_BAD_REQUEST, NULL, "there is a branch %s already", shown);
	return 0;
}

int branch_make(const struct branch *branch, struct err *e)
{
	static const char *const words[] = {"fast-import", "--quiet", NULL};
	int ends[2], rc;
	pid_t pid;
	FILE *to;

	if (check_name(branch, e) < 0)
		return -1;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_set(e, ERR_BAD_REQUEST, NULL, "no pipe for git");
	(void)signal(SIGPIPE, SIG_IGN); /* git may end before it has read all */
	pid = start_git(branch->folder, words, ends[0], -1);
	util_close_fd(&ends[0]);
	to = fdopen(ends[1], "w");
	if (!to)
		DIE("no memory for a stream");
	rc = put_all(to, branch, e);
	/* Without its last word the stream is not whole, and git makes nothing of it. */
	if (fclose(to) != 0 && rc == 0)
		rc = err_set(e, ERR_BAD_REQUEST, NULL, "git does not read on");
	if (!went_well(pid) && rc == 0)
		rc = err_set(e, ERR_BAD_REQUEST, NULL, "git has refused the changes, or is not there");
	return rc;
}
