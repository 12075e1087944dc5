/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening a journal: a folder or a zip. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/replay/reader.h"
#include "session/replay/archive.h"

/* The files of a journal. */
static const struct {
	const char *name;
	size_t part; /* offset of its source */
	uint64_t max;
	bool required;
} files[] = {
	{"journal.jsonl", offsetof(struct reader_parts, lines), LIMIT_REPLAY_LINES_BYTES, true},
	{"pictures", offsetof(struct reader_parts, pictures), LIMIT_FILE_BYTES, false},
	{"session.json", offsetof(struct reader_parts, session), LIMIT_BODY_BYTES, false},
};

static struct source *part_of(struct reader_parts *parts, size_t file)
{
	return (struct source *)(void *)((char *)parts + files[file].part);
}

static void finish(struct reader_parts *parts)
{
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		source_finish(part_of(parts, i));
}

static int open_file(int folder, size_t file, struct source *out, struct err *e)
{
	/* Without O_NONBLOCK a FIFO of that name would wait for its writer. */
	auto_fd fd = openat(folder, files[file].name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct err why = {0};

	if (fd < 0 && errno == ENOENT && !files[file].required)
		return 0;
	if (fd < 0)
		return err_set(e, ERR_BAD_REQUEST, NULL, "its %s cannot be read: %s", files[file].name, strerror(errno));
	if (source_of_file(steal_fd(&fd), files[file].max, out, &why) < 0)
		return err_set(e, why.code, NULL, "its %s cannot be read: %s", files[file].name, why.msg);
	return 0;
}

static int open_folder(int folder, struct reader_parts *parts, struct err *e)
{
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		if (open_file(folder, i, part_of(parts, i), e) < 0)
			return -1;
	return 0;
}

/* The folder in the zip in which journal.jsonl lies: *len bytes of its name, 0 at the top. */
static int find_folder(const struct archive *zip, const char **name, size_t *len, struct err *e)
{
	size_t tail = strlen(files[0].name), found = 0;

	for (size_t i = 0; i < archive_n_entries(zip); i++) {
		const char *entry = archive_name(zip, i);
		size_t before = strlen(entry) < tail ? 0 : strlen(entry) - tail;

		if (strlen(entry) < tail || strcmp(entry + before, files[0].name) != 0 || (before > 0 && entry[before - 1] != '/'))
			continue;
		*name = entry;
		*len = before;
		found++;
	}
	return found == 1 ? 0 : err_set(e, ERR_BAD_REQUEST, NULL, found ? "it has several journals" : "it has no journal.jsonl");
}

static int read_entry(const struct archive *zip, const char *folder, size_t len, size_t file, struct source *out, struct err *e)
{
	for (size_t i = 0; i < archive_n_entries(zip); i++) {
		const char *entry = archive_name(zip, i);

		if (strncmp(entry, folder, len) == 0 && strcmp(entry + len, files[file].name) == 0)
			return archive_read(zip, i, files[file].max, out, e);
	}
	return 0;
}

/* Takes the file. */
static int open_zip(struct source file, struct reader_parts *parts, struct err *e)
{
	const char *folder;
	size_t len;
	struct archive *zip;
	int rc;

	if (archive_open(file, &zip, e) < 0)
		return -1;
	rc = find_folder(zip, &folder, &len, e);
	for (size_t i = 0; rc == 0 && i < ARRAY_LEN(files); i++)
		rc = read_entry(zip, folder, len, i, part_of(parts, i), e);
	archive_close(zip);
	return rc;
}

static int open_parts(const char *path, struct reader_parts *parts, struct err *e)
{
	auto_fd fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct err unread = {0};
	struct source file;
	char head[2] = "";
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return err_set(e, ERR_BAD_REQUEST, NULL, "%s", strerror(errno));
	if (S_ISDIR(st.st_mode))
		return open_folder(fd, parts, e);
	if (source_of_file(steal_fd(&fd), UINT32_MAX, &file, e) < 0)
		return -1;
	(void)source_read(&file, 0, head, sizeof(head), &unread);
	if (open_zip(file, parts, e) == 0)
		return 0;
	return memcmp(head, "PK", sizeof(head)) == 0 ? -1 : err_set(e, ERR_BAD_REQUEST, NULL, "it is no zip; glovebox run plays a file of steps");
}

int reader_open(const char *path, struct reader **out, struct err *e)
{
	struct reader_parts parts = {source_none(), source_none(), source_none()};
	struct err why = {0};
	char quoted[160];

	if (open_parts(path, &parts, &why) == 0 && reader_read(&parts, out, &why) == 0)
		return 0;
	finish(&parts);
	return err_set(e, why.code, NULL, "%s cannot be read as a journal: %s", err_quote(quoted, sizeof(quoted), path, strlen(path)), why.msg);
}
