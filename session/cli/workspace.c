/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Workspaces, there and back. */
#include "session/cli/workspace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session/base/json.h"
#include "session/base/util.h"
#include "session/cli/branch.h"
#include "session/cli/commands.h"
#include "session/cli/files.h"
#include "session/cli/folder.h"
#include "session/cli/repository.h"
#include "session/cli/show.h"

#define FOLDER "~/workspace"

/* --- there --- */

static char *kept_path(const char *id)
{
	const char *home = getenv("HOME");

	return util_printf("%s/.local/share/glovebox/workspaces/%s.tar", home ? home : "", id);
}

static void make_folders(const char *file)
{
	auto_free char *path = util_strdup(file);

	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		(void)mkdir(path, 0700);
		*slash = '/';
	}
}

void workspace_forget(const char *id)
{
	auto_free char *path = kept_path(id), *repository = util_printf("%s.json", path);

	(void)unlink(path);
	(void)unlink(repository);
}

/* Beside it: of which repository that was, and what was checked out; or why no branch can be made of it. */
static void keep_repository(const char *path, const char *folder)
{
	auto_free char *file = util_printf("%s.json", path), *whole = realpath(folder, NULL);
	struct repository repository = {0};
	json_auto_t *kept = NULL;
	struct err e = {0};

	if (!whole)
		return;
	kept = repository_find(whole, &repository, &e) < 0 ? json_pack("{s:s}", "fault", e.msg)
	                                                   : json_pack("{s:s,s:s,s:s}", "folder", whole, "repository", repository.place, "commit", repository.commit);
	(void)json_dump_file(kept, file, JSON_COMPACT);
	repository_finish(&repository);
}

static void keep(const char *id, int archive, const char *folder)
{
	auto_free char *path = kept_path(id);
	auto_fd out = -1;
	off_t at = 0;

	make_folders(path);
	out = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	while (out >= 0 && sendfile(out, archive, &at, 1 << 24) > 0)
		continue;
	if (out >= 0 && at == lseek(archive, 0, SEEK_END))
		keep_repository(path, folder);
	else
		fprintf(stderr, "what was sent cannot be kept in %s: changes cannot be told from it\n", path);
}

static void tell_pack(const char *folder, const struct folder_report *report)
{
	fprintf(stderr, "%s: %zu files and folders, %.1f MB\n", folder, report->n, (double)report->bytes / 1e6);
	files_show_left_out(report->left_out);
}

/* The options as entries of an archive are called. One that names nothing would leave out, without a word, what somebody believes to have sent. */
static int read_named(const struct args *args, const char *folder, char *named[ARGS_MAX + 1], struct err *e)
{
	const char *word, *fault;
	size_t at = 0, n = 0;
	struct stat st;

	while ((word = args_next(args, "include", &at))) {
		auto_free char *path = NULL;

		named[n] = util_strdup(word);
		if (word[0] != '/')
			util_tidy_path(named[n]);
		fault = tar_name_fault(named[n], strlen(named[n]));
		path = util_printf("%s/%s", folder, named[n++]);
		if (!fault && lstat(path, &st) < 0)
			fault = strerror(errno);
		if (fault)
			return err_set(e, ERR_BAD_REQUEST, NULL, "--include %.200s: %s in %.200s (it is a path from there on)", word, fault, folder);
	}
	return 0;
}

int workspace_pack(const struct args *args, int *archive, struct err *e)
{
	const char *folder = args_get(args, "workspace");
	char *named[ARGS_MAX + 1] = {NULL};
	const struct folder_rules rules = {.is_workspace = true, .named = (const char *const *)named};
	struct folder_report report = {0};
	int rc;

	*archive = -1;
	if (!folder)
		return args_get(args, "include") ? err_set(e, ERR_BAD_REQUEST, NULL, "--include is of a --workspace") : 0;
	rc = read_named(args, folder, named, e) < 0 || files_temporary(archive, e) < 0 ? -1 : folder_pack(folder, &rules, *archive, &report, e);
	if (rc == 0)
		tell_pack(folder, &report);
	json_decref(report.left_out);
	for (size_t i = 0; named[i]; i++)
		free(named[i]);
	return rc;
}

static int send_one(struct cli *cli, const json_t *session, int archive)
{
	const char *id = form_string(session, "id", "");
	auto_free char *word = util_printf("%s:" FOLDER, id), *path = NULL;
	auto_reply reply = {0};
	struct err e = {0};
	int status;

	if (files_path(word, &path, &e))
		return cli_fail(cli, CLI_REFUSED, &e);
	status = files_send_folder(cli, path, archive, &reply);
	if (status == CLI_DONE)
		keep(id, archive, args_get(&cli->args, "workspace"));
	else
		fprintf(stderr, "the session %s is there, but without the workspace\n", id);
	return status;
}

int workspace_send(struct cli *cli, const json_t *answer, int archive)
{
	const json_t *sessions = json_object_get(answer, "sessions"), *session;
	int status = sessions ? CLI_DONE : send_one(cli, answer, archive);
	size_t i;

	json_array_foreach(sessions, i, session)
		if (status == CLI_DONE)
			status = send_one(cli, session, archive);
	return status;
}

/* --- back --- */

struct change {
	json_t *before, *now; /* entries by name, as folder_digest tells them */
};

/* "NAME: why", malloced, of what does not come here: a repository, named once with all that is in it, and a link into one; NULL: it comes. */
static char *why_not(const char *name, const json_t *now)
{
	static const char link[] = "link ";
	const char *git = folder_git_end(name), *entry = json_string_value(now);

	if (git)
		return util_printf("%.*s: a repository that was made, changed or taken away in the session stays as it is, there and here", (int)(git - name), name);
	if (entry && strncmp(entry, link, strlen(link)) == 0 && folder_has_git(entry + strlen(link)))
		return util_printf("%s: a link into a repository", name);
	return NULL;
}

/* New, or another. */
static bool is_changed(void *arg, const struct tar_entry *entry)
{
	const struct change *change = arg;
	const json_t *now = json_object_get(change->now, entry->name);
	auto_free char *why = why_not(entry->name, now);

	return entry->kind != TAR_FOLDER && !why && !json_equal(json_object_get(change->before, entry->name), now);
}

static bool is_no_git(void *arg, const struct tar_entry *entry)
{
	(void)arg;
	return !folder_has_git(entry->name);
}

/* [{"path","change"}…] by name, and ["NAME: why"…] of what was changed and does not come here; the caller's references. */
static json_t *list_changes(const struct change *change, json_t **left_out)
{
	json_auto_t *all = json_copy(change->before), *lines = json_object();
	json_t *list = json_array(), *value;
	const char *name;

	(void)json_object_update_missing(all, change->now);
	json_object_foreach(all, name, value) {
		const json_t *before = json_object_get(change->before, name), *now = json_object_get(change->now, name);
		auto_free char *why = json_equal(before, now) ? NULL : why_not(name, now);

		if (why)
			(void)json_object_set_new(lines, why, json_null());
		else if (!json_equal(before, now))
			(void)json_array_append_new(list, json_pack("{s:s,s:s}", "path", name, "change", !before ? "added" : !now ? "deleted" : "changed"));
	}
	*left_out = json_array();
	json_object_foreach(lines, name, value)
		(void)json_array_append_new(*left_out, json_string(name));
	return list;
}

static void show_changes(const struct cli *cli, const json_t *list, const json_t *left_out)
{
	const json_t *one;
	size_t i;

	if (cli->json) {
		json_auto_t *out = json_pack("{s:O,s:O}", "changes", (json_t *)(uintptr_t)list, "left_out", (json_t *)(uintptr_t)left_out);

		show_json(out);
		return;
	}
	json_array_foreach(list, i, one) {
		fprintf(stderr, "%-9s", form_string(one, "change", ""));
		show_value(stderr, json_object_get(one, "path"), 0);
		fputc('\n', stderr);
	}
	if (i == 0)
		fputs(json_array_size(left_out) > 0 ? "nothing else has changed\n" : "nothing has changed\n", stderr);
	files_show_left_out(left_out);
}

static void become_git(const char *folder, int out) __attribute__((noreturn));
static void become_git(const char *folder, int out)
{
	static const char *const argv[] = {"git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "diff.external=", "-c", "core.attributesFile=/dev/null", "--no-pager",
	                             "diff", "--no-index", "--no-ext-diff", "--no-textconv", "--no-color", "--no-prefix", "--binary", "--no-renames", "a", "b", NULL};
	/* No settings but these: neither the user's, nor what lies in the folders or above them. */
	auto_free char *ceiling = util_printf("GIT_CEILING_DIRECTORIES=%.*s", (int)(strrchr(folder, '/') - folder), folder);
	const char *const env[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C", "HOME=/nonexistent", "XDG_CONFIG_HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1",
	                           "GIT_CONFIG_GLOBAL=/dev/null", "GIT_ATTR_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", ceiling, NULL};

	if (chdir(folder) == 0 && dup2(out, STDOUT_FILENO) >= 0)
		(void)execvpe(argv[0], (char *const *)(uintptr_t)argv, (char *const *)(uintptr_t)env);
	_exit(127);
}

/* All that git says, for it does not look whether it could write it. */
static int take_patch(int from, int out)
{
	char piece[4096];
	ssize_t n;
	int failed = 0;

	while ((n = read(from, piece, sizeof(piece))) > 0 || (n < 0 && errno == EINTR))
		if (n > 0 && !failed && util_write_all(out, piece, (size_t)n) < 0)
			failed = errno;
	return n < 0 ? errno : failed;
}

/* git tells whether they differ by its status, 0 or 1. */
static int run_git(const char *folder, int out, struct err *e)
{
	int ends[2], status = 0, failed;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_set(e, ERR_BAD_REQUEST, NULL, "no pipe for git");
	pid = fork();
	if (pid == 0)
		become_git(folder, ends[1]);
	util_close_fd(&ends[1]);
	failed = take_patch(ends[0], out);
	util_close_fd(&ends[0]);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	if (failed)
		return err_set(e, ERR_BAD_REQUEST, NULL, "the patch cannot be written: %s", strerror(failed));
	if (pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) <= 1)
		return 0;
	return err_set(e, ERR_BAD_REQUEST, NULL, "git, which makes the patch, has failed or is not there");
}

static void remove_tree(const char *folder)
{
	const char *const argv[] = {"rm", "-rf", "--", folder, NULL};
	pid_t pid = fork();

	if (pid == 0) {
		(void)execvp(argv[0], (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
}

/* Both as they were and are, side by side in a new folder, in which no repository is. */
static int make_patch(int before, int now, const char *file, struct err *e)
{
	const char *tmp = getenv("TMPDIR");
	auto_free char *folder = util_printf("%s/glovebox-XXXXXX", tmp && *tmp ? tmp : "/tmp"), *a = NULL, *b = NULL;
	struct folder_report one = {0}, other = {0};
	auto_fd out = strcmp(file, "-") == 0 ? dup(STDOUT_FILENO) : open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	int rc;

	if (out < 0 || !mkdtemp(folder))
		return err_set(e, ERR_BAD_REQUEST, NULL, "%s cannot be written: %s", file, strerror(errno));
	a = util_printf("%s/a", folder);
	b = util_printf("%s/b", folder);
	rc = folder_unpack(before, a, is_no_git, NULL, &one, e);
	if (rc == 0)
		rc = folder_unpack(now, b, is_no_git, NULL, &other, e);
	if (rc == 0)
		rc = run_git(folder, out, e);
	remove_tree(folder);
	json_decref(one.left_out);
	json_decref(other.left_out);
	return rc;
}

static int make_branch(const struct cli *cli, struct change *change, const json_t *list, int now, struct err *e)
{
	const char *id = cli->args.words[0];
	auto_free char *kept = kept_path(id), *file = util_printf("%s.json", kept);
	json_auto_t *repository = json_load_file(file, 0, NULL);
	const char *fault = form_string(repository, "fault", NULL);
	const struct branch branch = {.folder = form_string(repository, "folder", NULL), .place = form_string(repository, "repository", NULL), .commit = form_string(repository, "commit", NULL),
	                              .name = args_get(&cli->args, "branch"), .session = id, .changes = list, .archive = now, .wants = is_changed, .arg = change};

	if (!branch.folder || !branch.place || !branch.commit)
		return err_set(e, ERR_BAD_REQUEST, NULL, "%s; -o and --patch bring changes here as well", fault ? fault : "what was sent had no repository of git");
	return branch_make(&branch, e);
}

static int bring(struct cli *cli, struct change *change, int before, int now)
{
	const char *folder = args_get(&cli->args, "output"), *patch = args_get(&cli->args, "patch");
	struct folder_report report = {0};
	json_auto_t *list = NULL, *left_out = NULL;
	struct err e = {0};
	int rc = 0;

	if (folder_digest(before, &change->before, &e) || folder_digest(now, &change->now, &e))
		return cli_fail(cli, CLI_REFUSED, &e);
	list = list_changes(change, &left_out);
	if (folder)
		rc = folder_unpack(now, folder, is_changed, change, &report, &e);
	if (rc == 0 && patch)
		rc = make_patch(before, now, patch, &e);
	if (rc == 0 && args_get(&cli->args, "branch"))
		rc = make_branch(cli, change, list, now, &e);
	if (rc == 0)
		show_changes(cli, list, left_out);
	json_decref(report.left_out);
	return rc < 0 ? cli_fail(cli, CLI_REFUSED, &e) : CLI_DONE;
}

static const struct arg_option workspace_options[] = {
	{"output", 'o', "FOLDER", false, "put what is new or changed into this new folder"},
	{"branch", 0, "NAME", false, "make a branch of them in the repository that was sent: one commit on what was checked out then; nothing is checked out"},
	{"patch", 0, "FILE", false, "write all changes as a patch for git apply (- is standard output)"},
};

static int run_workspace(struct cli *cli)
{
	const char *id = cli->args.words[0];
	auto_free char *word = util_printf("%s:" FOLDER, id), *path = NULL, *kept = kept_path(id);
	struct change change = {0};
	auto_fd before = open(kept, O_RDONLY | O_CLOEXEC);
	auto_fd now = -1;
	struct err e = {0};
	int status;

	if (files_path(word, &path, &e))
		return cli_fail(cli, CLI_USAGE, &e);
	if (before < 0)
		(void)err_set(&e, ERR_BAD_REQUEST, NULL, "nothing that was sent to it is kept here (%s): it got no workspace from this machine, or was removed; of one that lives "
		              "glovebox cp -r %.40s:workspace FOLDER fetches all of it", kept, id);
	if (before < 0 || files_temporary(&now, &e))
		return cli_fail(cli, CLI_USAGE, &e);
	status = files_fetch_folder(cli, path, now);
	if (status == CLI_DONE)
		status = bring(cli, &change, before, now);
	json_decref(change.before);
	json_decref(change.now);
	return status;
}

const struct cli_command workspace_get = {
	"workspace", "ID [-o FOLDER] [--patch FILE] [--branch NAME]", "tell what was changed in a session's workspace, and bring it here", workspace_options, ARRAY_LEN(workspace_options), 1, 1,
	ARGS_MAX, run_workspace,
};
