/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writing zip archives. libzip writes when it closes: until then, content that came as memory lies in one temporary file. */
#include <string.h>

#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/replay/archive.h"
#include "session/replay/archive_source.h"

#define DATE_1980 0x21 /* 1980-01-01 as DOS writes it */

/* Content in the temporary file. */
struct kept {
	struct source source; /* its descriptor is the writer's */
	struct kept *next;
};

struct archive_writer {
	zip_t *zip;
	char *path;
	struct kept *kept;
	int fd;         /* the temporary file */
	uint64_t fd_len;
	uint64_t total; /* bytes of all content */
};

static int fail(struct err *e, const char *path, zip_error_t *error)
{
	return err_set(e, ERR_BAD_REQUEST, NULL, "%s cannot be written: %s", path, zip_error_strerror(error));
}

int archive_writer_create(const char *path, struct archive_writer **out, struct err *e)
{
	auto_fd fd = source_temporary(e);
	struct archive_writer *writer;
	zip_error_t error;
	zip_t *zip;
	int code;

	if (fd < 0)
		return -1;
	zip = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, &code);
	if (!zip) {
		zip_error_init_with_code(&error, code);
		(void)fail(e, path, &error);
		zip_error_fini(&error);
		return -1;
	}
	writer = util_zalloc(sizeof(*writer));
	writer->zip = zip;
	writer->path = util_strdup(path);
	writer->fd = steal_fd(&fd);
	*out = writer;
	return 0;
}

int archive_writer_add(struct archive_writer *writer, const char *name, const struct source *content, struct err *e)
{
	zip_source_t *source;
	zip_int64_t index;

	writer->total += content->len;
	if (zip_get_num_entries(writer->zip, 0) >= LIMIT_ZIP_ENTRIES || writer->total >= UINT32_MAX - LIMIT_ZIP_DIRECTORY_BYTES)
		return err_set(e, ERR_TOO_LARGE, NULL, "%s would have more than %d entries or 4 GiB", writer->path, LIMIT_ZIP_ENTRIES);
	source = archive_source(content, NULL);
	index = zip_file_add(writer->zip, name, source, ZIP_FL_ENC_UTF_8);
	if (index < 0) {
		zip_source_free(source);
		return fail(e, writer->path, zip_get_error(writer->zip));
	}
	if (zip_set_file_compression(writer->zip, (zip_uint64_t)index, ZIP_CM_STORE, 0) < 0 ||
	    zip_file_set_dostime(writer->zip, (zip_uint64_t)index, 0, DATE_1980, 0) < 0)
		return fail(e, writer->path, zip_get_error(writer->zip));
	return 0;
}

int archive_writer_add_bytes(struct archive_writer *writer, const char *name, const void *data, size_t len, struct err *e)
{
	struct kept *kept;

	if (util_write_all(writer->fd, data, len) < 0)
		return err_sys(e, "the content of the zip cannot be put into a temporary file");
	kept = util_zalloc(sizeof(*kept));
	kept->source = (struct source){.fd = writer->fd, .from = writer->fd_len, .len = len};
	kept->next = writer->kept;
	writer->kept = kept;
	writer->fd_len += len;
	return archive_writer_add(writer, name, &kept->source, e);
}

int archive_writer_finish(struct archive_writer *writer, struct err *e)
{
	if (zip_close(writer->zip) < 0)
		return fail(e, writer->path, zip_get_error(writer->zip));
	writer->zip = NULL;
	return 0;
}

void archive_writer_destroy(struct archive_writer *writer)
{
	if (!writer)
		return;
	if (writer->zip)
		zip_discard(writer->zip);
	while (writer->kept) {
		struct kept *kept = writer->kept;

		writer->kept = kept->next;
		free(kept);
	}
	util_close_fd(&writer->fd);
	free(writer->path);
	free(writer);
}
