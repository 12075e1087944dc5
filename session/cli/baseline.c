/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Putting a new journal in place of an old one. */
#include "session/cli/baseline.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/replay/zip.h"

static const char *const files[] = {"journal.jsonl", "pictures", "session.json"};

static bool is_ours(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		if (strcmp(files[i], name) == 0)
			return true;
	return false;
}

static void remove_folder(const char *folder)
{
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		auto_free char *file = util_printf("%s/%s", folder, files[i]);

		(void)unlink(file);
	}
	(void)rmdir(folder);
}

static int refuse(struct err *e, const char *path)
{
	return err_set(e, ERR_BAD_REQUEST, NULL, "%s cannot be replaced: %s", path, strerror(errno));
}

/* What the user keeps beside the journal, such as ignore.json, goes to the new folder. */
static int move_others(const char *from, const char *to, struct err *e)
{
	DIR *folder = opendir(from);
	const struct dirent *entry;
	int rc = folder ? 0 : refuse(e, from);

	while (rc == 0 && (entry = readdir(folder))) {
		auto_free char *old = util_printf("%s/%s", from, entry->d_name), *new = util_printf("%s/%s", to, entry->d_name);

		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 && !is_ours(entry->d_name) && rename(old, new) < 0)
			rc = refuse(e, old);
	}
	if (folder)
		closedir(folder);
	return rc;
}

static int replace_folder(const char *made, const char *path, struct err *e)
{
	struct stat st;

	if (stat(path, &st) == 0)
		(void)chmod(made, st.st_mode & 0777);
	if (renameat2(AT_FDCWD, made, AT_FDCWD, path, RENAME_EXCHANGE) < 0)
		return refuse(e, path);
	/* `made` is the old one now. */
	if (move_others(made, path, e) < 0)
		return -1;
	remove_folder(made);
	return 0;
}

static int add_file(struct zip_writer *writer, const char *folder, const char *name, struct err *e)
{
	auto_free char *path = util_printf("%s/%s", folder, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct source source;
	int rc;

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return refuse(e, path);
	if (source_of_file(fd, LIMIT_FILE_BYTES, &source, e) < 0)
		return -1;
	rc = zip_writer_add(writer, name, &source, e);
	source_finish(&source);
	return rc;
}

static int replace_zip(const char *made, const char *path, struct err *e)
{
	auto_free char *file = util_printf("%s.XXXXXX", path);
	auto_fd fd = mkostemp(file, O_CLOEXEC);
	struct zip_writer *writer;
	struct stat st;
	int rc = 0;

	if (fd < 0)
		return refuse(e, path);
	writer = zip_writer_create(fd);
	for (size_t i = 0; rc == 0 && i < ARRAY_LEN(files); i++)
		rc = add_file(writer, made, files[i], e);
	if (rc == 0)
		rc = zip_writer_finish(writer, e);
	zip_writer_destroy(writer);
	if (rc == 0 && ((stat(path, &st) == 0 && fchmod(fd, st.st_mode & 0777) < 0) || fsync(fd) < 0 || rename(file, path) < 0))
		rc = refuse(e, path);
	if (rc < 0)
		(void)unlink(file);
	return rc;
}

int baseline_replace(struct play *play, const char *path, struct err *e)
{
	size_t len = strlen(path);
	auto_free char *plain = util_strdup(path), *made = NULL;
	struct stat st;
	int rc;

	while (len > 1 && plain[len - 1] == '/')
		plain[--len] = '\0';
	made = util_printf("%s.new-XXXXXX", plain);
	if (stat(plain, &st) < 0 || !mkdtemp(made))
		return refuse(e, plain);
	rc = play_save(play, made, e);
	if (rc == 0)
		rc = S_ISDIR(st.st_mode) ? replace_folder(made, plain, e) : replace_zip(made, plain, e);
	/* After a folder was exchanged nothing is left there, unless something of the user's could not be moved. */
	remove_folder(made);
	return rc;
}
