/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading zip archives. */
#include "session/replay/archive.h"

#include <string.h>
#include <sys/param.h>
#include <sys/stat.h>

#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/replay/archive_source.h"

#define NAME_MAX_BYTES 256
#define BLOCK_BYTES ((size_t)256 * 1024)

struct archive {
	struct source file;
	zip_t *zip;
	size_t n_entries;
	uint64_t budget; /* bytes that may still be read of the file */
};

static int refuse(struct err *e, const char *why)
{
	return err_set(e, ERR_BAD_REQUEST, NULL, "this zip cannot be read: %s", why);
}

static int refuse_as(struct err *e, zip_error_t *error)
{
	(void)refuse(e, zip_error_strerror(error));
	zip_error_fini(error);
	return -1;
}

/* Nothing that would lead out of a folder, also for a program that makes files of it. */
static bool is_plain(const char *name)
{
	size_t len = strlen(name);

	if (len == 0 || len > NAME_MAX_BYTES || !util_utf8_valid(name, len) || name[0] == '/' || strchr(name, '\\'))
		return false;
	for (size_t at = 0; at < len;) {
		size_t part = strcspn(name + at, "/");

		if (part == 0 || (part == 1 && name[at] == '.') || (part == 2 && memcmp(name + at, "..", 2) == 0))
			return false;
		at += part + 1;
	}
	return true;
}

/* A file or a folder, as far as the archive says what it is. */
static bool is_file(zip_t *zip, size_t index)
{
	zip_uint8_t system = ZIP_OPSYS_DOS;
	zip_uint32_t attributes = 0;

	(void)zip_file_get_external_attributes(zip, index, 0, &system, &attributes);
	if (system != ZIP_OPSYS_UNIX)
		return true;
	attributes = attributes >> 16 & S_IFMT;
	return attributes == 0 || attributes == S_IFREG || attributes == S_IFDIR;
}

static int check_entry(const struct archive *archive, size_t index, struct err *e)
{
	const char *name = zip_get_name(archive->zip, index, ZIP_FL_ENC_RAW);
	zip_stat_t stat;

	if (!name || !is_plain(name))
		return refuse(e, "the name of an entry is no plain path below a folder");
	if (!is_file(archive->zip, index))
		return refuse(e, "an entry is neither a file nor a folder");
	if (zip_stat_index(archive->zip, index, 0, &stat) < 0)
		return refuse(e, "its directory is damaged");
	if (stat.encryption_method != ZIP_EM_NONE)
		return refuse(e, "it is encrypted");
	if (stat.comp_method != ZIP_CM_STORE && stat.comp_method != ZIP_CM_DEFLATE)
		return refuse(e, "it has an entry that is neither stored nor deflated");
	return 0;
}

/* libzip looks whether the directory, the entries and each other fit together, and that no name comes twice. */
static int read_directory(struct archive *archive, struct err *e)
{
	zip_source_t *source = archive_source(&archive->file, &archive->budget);
	zip_int64_t n;
	zip_error_t error;

	zip_error_init(&error);
	archive->zip = zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &error);
	if (!archive->zip) {
		zip_source_free(source);
		return refuse_as(e, &error);
	}
	n = zip_get_num_entries(archive->zip, 0);
	if (n > LIMIT_ZIP_ENTRIES)
		return refuse(e, "it has too many entries");
	archive->n_entries = (size_t)n;
	for (size_t i = 0; i < archive->n_entries; i++)
		if (check_entry(archive, i, e) < 0)
			return -1;
	return 0;
}

int archive_open(struct source file, struct archive **out, struct err *e)
{
	struct archive *archive = util_zalloc(sizeof(*archive));

	archive->file = file;
	archive->budget = LIMIT_ZIP_DIRECTORY_BYTES;
	if (read_directory(archive, e) < 0) {
		archive_close(archive);
		return -1;
	}
	archive->budget = UINT64_MAX;
	*out = archive;
	return 0;
}

void archive_close(struct archive *archive)
{
	if (!archive)
		return;
	if (archive->zip)
		zip_discard(archive->zip);
	source_finish(&archive->file);
	free(archive);
}

size_t archive_n_entries(const struct archive *archive)
{
	return archive->n_entries;
}

const char *archive_name(const struct archive *archive, size_t entry)
{
	return zip_get_name(archive->zip, entry, ZIP_FL_ENC_RAW);
}

/* `len` bytes of an entry into a file. The read behind the last byte is where libzip looks at the sum. */
static int unpack(zip_file_t *entry, uint64_t len, int fd, struct err *e)
{
	auto_free char *block = util_alloc(BLOCK_BYTES);
	uint64_t done = 0;
	zip_int64_t n;

	while ((n = zip_fread(entry, block, BLOCK_BYTES)) > 0) {
		done += (uint64_t)n;
		if (done > len)
			return refuse(e, "an entry is longer than it says");
		if (util_write_all(fd, block, (size_t)n) < 0)
			return err_sys(e, "what is in a zip cannot be put into a temporary file");
	}
	if (n < 0)
		return refuse(e, zip_error_strerror(zip_file_get_error(entry)));
	return done == len ? 0 : refuse(e, "an entry is shorter than it says");
}

static int read_entry(const struct archive *archive, size_t index, uint64_t len, struct source *out, struct err *e)
{
	zip_file_t *entry = zip_fopen_index(archive->zip, index, 0);
	auto_fd fd = -1;
	int rc;

	if (!entry)
		return refuse(e, zip_error_strerror(zip_get_error(archive->zip)));
	fd = source_temporary(e);
	rc = fd < 0 ? -1 : unpack(entry, len, fd, e);
	(void)zip_fclose(entry);
	return rc < 0 ? -1 : source_of_file(steal_fd(&fd), len, out, e);
}

int archive_read(const struct archive *archive, size_t index, uint64_t max, struct source *out, struct err *e)
{
	zip_stat_t stat;

	if (zip_stat_index(archive->zip, index, 0, &stat) < 0)
		return refuse(e, "its directory is damaged");
	if (stat.size > max)
		return err_set(e, ERR_TOO_LARGE, NULL, "%s in this zip has %ju bytes; at most %ju are read", archive_name(archive, index),
		               (uintmax_t)stat.size, (uintmax_t)max);
	return read_entry(archive, index, stat.size, out, e);
}
