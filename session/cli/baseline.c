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

#include "session/base/util.h"
#include "session/replay/export.h"

/* What a folder that was made has in it. */
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

/* The archive that `glovebox export` would make of the folder, as `file`. */
static int write_zip(const char *made, const char *path, const char *file, struct err *e)
{
	auto_free char *name = cli_folder_name(path);
	struct archive_writer *writer = NULL;
	struct export_count count = {0};
	struct reader *reader;
	int rc;

	if (reader_open(made, &reader, e) < 0)
		return -1;
	rc = archive_writer_create(file, &writer, e);
	if (rc == 0)
		rc = export_page(reader, name, writer, &count, e) == 0 ? archive_writer_finish(writer, e) : -1;
	archive_writer_destroy(writer);
	reader_close(reader);
	return rc;
}

/* The file is on the disk before it takes the name of the old one, and is for whom that was. */
static int replace_zip(const char *made, const char *path, struct err *e)
{
	auto_free char *file = util_printf("%s/new.zip", made);
	auto_fd fd = -1;
	struct stat st;
	int rc = write_zip(made, path, file, e);

	if (rc < 0)
		return -1;
	fd = open(file, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || (stat(path, &st) == 0 && fchmod(fd, st.st_mode & 0777) < 0) || fsync(fd) < 0 || rename(file, path) < 0)
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
