/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writing zip archives: entries as they are, one after another, then the directory. */
#include <libdeflate.h>
#include <string.h>
#include <sys/param.h>

#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/replay/zip.h"
#include "session/replay/zip_format.h"

#define BLOCK_BYTES (256 * 1024)

struct zip_writer {
	int fd;
	uint64_t at; /* bytes so far */
	unsigned char *rows;
	size_t rows_len, n_rows;
};

struct bytes {
	unsigned char data[ZIP_ROW_BYTES];
	size_t len;
};

static void put16(struct bytes *to, unsigned value)
{
	to->data[to->len++] = (unsigned char)(value & 0xff);
	to->data[to->len++] = (unsigned char)(value >> 8 & 0xff);
}

static void put32(struct bytes *to, uint32_t value)
{
	put16(to, value & 0xffff);
	put16(to, value >> 16);
}

struct zip_writer *zip_writer_create(int fd)
{
	struct zip_writer *writer = util_zalloc(sizeof(*writer));

	writer->fd = fd;
	return writer;
}

void zip_writer_destroy(struct zip_writer *writer)
{
	if (!writer)
		return;
	free(writer->rows);
	free(writer);
}

static int put(struct zip_writer *writer, const void *data, size_t len, struct err *e)
{
	if (util_write_all(writer->fd, data, len) < 0)
		return err_sys(e, "the zip cannot be written");
	writer->at += len;
	return 0;
}

/* What local header and directory have in common, from the version that reads it on. */
static void put_common(struct bytes *to, uint32_t crc, uint32_t len, size_t name_len)
{
	put16(to, ZIP_VERSION);
	put16(to, ZIP_FLAG_UTF8);
	put16(to, ZIP_STORED);
	put16(to, 0); /* time */
	put16(to, ZIP_DATE);
	put32(to, crc);
	put32(to, len);
	put32(to, len);
	put16(to, (unsigned)name_len);
	put16(to, 0); /* extra */
}

static void add_row(struct zip_writer *writer, const char *name, uint32_t crc, uint32_t len, uint32_t at)
{
	struct bytes row = {.len = 0};
	size_t name_len = strlen(name);

	put32(&row, ZIP_ROW_SIGN);
	put16(&row, ZIP_VERSION);
	put_common(&row, crc, len, name_len);
	put16(&row, 0); /* comment */
	put16(&row, 0); /* part */
	put16(&row, 0);
	put32(&row, 0); /* attributes */
	put32(&row, at);
	writer->rows = util_realloc(writer->rows, writer->rows_len + row.len + name_len);
	memcpy(writer->rows + writer->rows_len, row.data, row.len);
	memcpy(writer->rows + writer->rows_len + row.len, name, name_len);
	writer->rows_len += row.len + name_len;
	writer->n_rows++;
}

static int sum(const struct source *content, char *block, uint32_t *crc, struct err *e)
{
	for (uint64_t at = 0; at < content->len; at += BLOCK_BYTES) {
		size_t n = (size_t)MIN(content->len - at, (uint64_t)BLOCK_BYTES);

		if (source_read(content, at, block, n, e) < 0)
			return -1;
		*crc = libdeflate_crc32(*crc, block, n);
	}
	return 0;
}

static int copy(struct zip_writer *writer, const struct source *content, char *block, struct err *e)
{
	for (uint64_t at = 0; at < content->len; at += BLOCK_BYTES) {
		size_t n = (size_t)MIN(content->len - at, (uint64_t)BLOCK_BYTES);

		if (source_read(content, at, block, n, e) < 0 || put(writer, block, n, e) < 0)
			return -1;
	}
	return 0;
}

int zip_writer_add(struct zip_writer *writer, const char *name, const struct source *content, struct err *e)
{
	auto_free char *block = util_alloc(BLOCK_BYTES);
	struct bytes local = {.len = 0};
	uint64_t at = writer->at;
	uint32_t crc = 0;

	if (writer->n_rows >= LIMIT_ZIP_ENTRIES || content->len >= UINT32_MAX || at + content->len >= UINT32_MAX - LIMIT_ZIP_DIRECTORY_BYTES)
		return err_set(e, ERR_INTERNAL, NULL, "this is too much for a zip");
	if (sum(content, block, &crc, e) < 0)
		return -1;
	put32(&local, ZIP_LOCAL_SIGN);
	put_common(&local, crc, (uint32_t)content->len, strlen(name));
	if (put(writer, local.data, local.len, e) < 0 || put(writer, name, strlen(name), e) < 0 || copy(writer, content, block, e) < 0)
		return -1;
	add_row(writer, name, crc, (uint32_t)content->len, (uint32_t)at);
	return 0;
}

int zip_writer_add_bytes(struct zip_writer *writer, const char *name, const void *data, size_t len, struct err *e)
{
	/* Only read. */
	const struct source content = {.fd = -1, .data = (char *)(uintptr_t)data, .len = len};

	return zip_writer_add(writer, name, &content, e);
}

int zip_writer_finish(struct zip_writer *writer, struct err *e)
{
	struct bytes end = {.len = 0};
	uint32_t from = (uint32_t)writer->at;

	put32(&end, ZIP_END_SIGN);
	put32(&end, 0); /* parts */
	put16(&end, (unsigned)writer->n_rows);
	put16(&end, (unsigned)writer->n_rows);
	put32(&end, (uint32_t)writer->rows_len);
	put32(&end, from);
	put16(&end, 0); /* comment */
	return put(writer, writer->rows, writer->rows_len, e) < 0 ? -1 : put(writer, end.data, end.len, e);
}
