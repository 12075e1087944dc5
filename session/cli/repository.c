/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whose a repository is. */
#include "session/cli/repository.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "session/base/util.h"
#include "session/cli/git.h"

/* Without links; `path` is from `folder` on, or absolute. NULL: it is not there. */
static char *real_path(const char *folder, const char *path)
{
	auto_free char *whole = path && path[0] == '/' ? util_strdup(path) : util_printf("%s/%s", folder, path ? path : "");

	return path ? realpath(whole, NULL) : NULL;
}

static bool is_path(const char *path, const char *folder, const char *name)
{
	auto_free char *wanted = util_printf("%s/%s", folder, name);

	return strcmp(path, wanted) == 0;
}

/* `dir` is one of the repository's own worktrees, and has the path of that one's .git in a file. Outside of the repository anybody could have made such a file. */
static bool is_worktree(const char *dir, const char *place, const char *folder)
{
	auto_free char *file = util_printf("%s/gitdir", dir), *above = util_printf("%s/worktrees", place), *text = NULL, *real = NULL;
	auto_fd fd = open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	size_t len = strlen(above);
	char *end;

	if (strncmp(dir, above, len) != 0 || dir[len] != '/' || strchr(dir + len + 1, '/') || fd < 0 || util_read_file(fd, PATH_MAX, &text) < 0)
		return false;
	text[strcspn(text, "\n")] = '\0';
	end = strrchr(text, '/');
	if (!end || strcmp(end, "/.git") != 0)
		return false;
	*end = '\0';
	real = real_path(dir, text);
	return real && strcmp(real, folder) == 0;
}

/* The repository's own settings name the folder. */
static bool is_in_settings(const char *place, const char *folder)
{
	auto_free char *file = util_printf("%s/config", place);
	const char *const words[] = {"config", "--file", file, "--get", "core.worktree", NULL};
	auto_free char *named = git_says(folder, words), *real = real_path(place, named);

	return real && strcmp(real, folder) == 0;
}

/* Where git itself would look and write, judged. */
static int find_places(const char *folder, struct repository *found, struct err *e)
{
	static const char *const dir_words[] = {"rev-parse", "--absolute-git-dir", NULL}, *const place_words[] = {"rev-parse", "--path-format=absolute", "--git-common-dir", NULL};
	auto_free char *git = util_printf("%s/.git", folder), *said_dir = NULL, *said_place = NULL, *dir = NULL, *place = NULL;
	struct stat st;

	if (lstat(git, &st) < 0)
		return err_set(e, ERR_BAD_REQUEST, NULL, "there is no .git in %s", folder);
	said_dir = git_says(folder, dir_words);
	said_place = git_says(folder, place_words);
	dir = real_path(folder, said_dir);
	place = real_path(folder, said_place);
	if (!dir || !place)
		return err_set(e, ERR_BAD_REQUEST, NULL, "git finds no repository by the .git in %s", folder);
	if (strcmp(dir, place) == 0 ? !is_path(place, folder, ".git") && !is_in_settings(place, folder) : !is_worktree(dir, place, folder))
		return err_set(e, ERR_BAD_REQUEST, NULL, "git takes %s for the repository of %s: it is elsewhere and does not name that folder as its worktree or submodule, so nothing is written into it", place, folder);
	*found = (struct repository){.dir = steal_ptr(&dir), .place = steal_ptr(&place)};
	return 0;
}

int repository_find(const char *folder, struct repository *repository, struct err *e)
{
	static const char *const words[] = {"rev-parse", "--verify", "--quiet", "HEAD^{commit}", NULL};
	struct repository found = {0};

	if (find_places(folder, &found, e) < 0)
		return -1;
	found.commit = git_says(folder, words);
	if (!found.commit || strspn(found.commit, "0123456789abcdef") != strlen(found.commit)) {
		repository_finish(&found);
		return err_set(e, ERR_BAD_REQUEST, NULL, "the repository of %s has no commit", folder);
	}
	*repository = found;
	return 0;
}

void repository_finish(struct repository *repository)
{
	free(repository->dir);
	free(repository->place);
	free(repository->commit);
	*repository = (struct repository){0};
}

/* Where a fast-import that fails tells why: by its pid, through a link too. */
static int check_reports(const struct repository *repository, struct err *e)
{
	static const char report[] = "fast_import_crash_";
	DIR *all = opendir(repository->dir);
	const struct dirent *one;
	struct stat st;
	int rc = all ? 0 : err_set(e, ERR_BAD_REQUEST, NULL, "%s: %s", repository->dir, strerror(errno));

	while (rc == 0 && (one = readdir(all)))
		if (strncmp(one->d_name, report, strlen(report)) == 0 && (fstatat(dirfd(all), one->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode)))
			rc = err_set(e, ERR_BAD_REQUEST, NULL, "nothing is written to %s/%s: a link is on the way", repository->dir, one->d_name);
	if (all)
		(void)closedir(all);
	return rc;
}

/* A file of the branch that git finds no commit by may name another one, and that lead anywhere; git would write there. */
static int check_free(const struct repository *repository, const char *path, int file, struct err *e)
{
	struct stat st;

	if (file < 0 || (fstat(file, &st) == 0 && S_ISDIR(st.st_mode)))
		return 0;
	return err_set(e, ERR_BAD_REQUEST, NULL, "nothing is written to %s/%s: it is there already, and no branch", repository->place, path);
}

int repository_check_links(const struct repository *repository, const char *branch, struct err *e)
{
	static const struct {
		const char *path;
		bool is_of_branch, is_new;
	} written[] = {{"objects/pack", false, false}, {"refs/heads/", true, true}, {"logs/refs/heads/", true, false}, {"reftable/tables.list", false, false}};
	const struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS};
	auto_fd place = open(repository->place, O_PATH | O_DIRECTORY | O_CLOEXEC);

	for (size_t i = 0; i < ARRAY_LEN(written); i++) {
		auto_free char *path = util_printf("%s%s", written[i].path, written[i].is_of_branch ? branch : "");
		auto_fd fd = (int)syscall(SYS_openat2, place, path, &how, sizeof(how));

		if (fd < 0 && errno != ENOENT && errno != ENOTDIR)
			return err_set(e, ERR_BAD_REQUEST, NULL, "nothing is written to %s/%s: %s", repository->place, path, errno == ELOOP ? "a link is on the way" : strerror(errno));
		if (written[i].is_new && check_free(repository, path, fd, e) < 0)
			return -1;
	}
	return check_reports(repository, e);
}

bool repository_has_programs(const char *folder)
{
	static const char *const scopes[] = {"--local", "--worktree"};
	bool has = false;

	for (size_t i = 0; i < ARRAY_LEN(scopes) && !has; i++) {
		const char *const words[] = {"config", "--includes", scopes[i], "--get-regexp", "^hook\\..*\\.event$", "reference-transaction", NULL};

		has = git_ended_well(git_start(folder, words, -1, -1));
	}
	return has;
}
