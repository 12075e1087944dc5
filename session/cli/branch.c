/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A stream for git fast-import. */
#include "session/cli/branch.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "session/base/json.h"
#include "session/base/util.h"
#include "session/cli/git.h"
#include "session/cli/repository.h"

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
	if (branch->name[0] == '-' || !git_ended_well(git_start(branch->folder, form, -1, -1)))
		return err_set(e, ERR_BAD_REQUEST, NULL, "%s is no name of a branch", shown);
	if (git_ended_well(git_start(branch->folder, there, -1, -1)))
		return err_set(e, ERR_BAD_REQUEST, NULL, "there is a branch %s already", shown);
	return 0;
}

/* The folder has the repository still that it had, and all of that is in its own place. */
static int check_place(const struct branch *branch, struct err *e)
{
	struct repository now = {0};
	int rc;

	if (repository_find(branch->folder, &now, e) < 0)
		return -1;
	if (strcmp(now.place, branch->place) != 0)
		rc = err_set(e, ERR_BAD_REQUEST, NULL, "%s was of the repository %s when it was sent, and is of %s now", branch->folder, branch->place, now.place);
	else if (repository_has_programs(branch->folder))
		rc = err_set(e, ERR_BAD_REQUEST, NULL, "the settings of the repository %s name a hook (hook.NAME.event, reference-transaction), which git may run", now.place);
	else
		rc = check_name(branch, e) < 0 ? -1 : repository_check_links(&now, branch->name, e);
	repository_finish(&now);
	return rc;
}

int branch_make(const struct branch *branch, struct err *e)
{
	/* As a pack, however small: single objects would go to folders that were not looked at. */
	static const char *const words[] = {"-c", "fastimport.unpackLimit=0", "fast-import", "--quiet", NULL};
	int ends[2], rc;
	pid_t pid;
	FILE *to;

	if (check_place(branch, e) < 0)
		return -1;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_set(e, ERR_BAD_REQUEST, NULL, "no pipe for git");
	(void)signal(SIGPIPE, SIG_IGN); /* git may end before it has read all */
	pid = git_start(branch->folder, words, ends[0], -1);
	util_close_fd(&ends[0]);
	to = fdopen(ends[1], "w");
	if (!to)
		DIE("no memory for a stream");
	rc = put_all(to, branch, e);
	/* Without its last word the stream is not whole, and git makes nothing of it. */
	if (fclose(to) != 0 && rc == 0)
		rc = err_set(e, ERR_BAD_REQUEST, NULL, "git does not read on");
	if (!git_ended_well(pid) && rc == 0)
		rc = err_set(e, ERR_BAD_REQUEST, NULL, "git has refused the changes, or is not there");
	return rc;
}
