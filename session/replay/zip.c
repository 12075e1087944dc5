/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading zip archives. */
#include "session/replay/zip.h"

#include <fcntl.h>
#include <libdeflate.h>
#include <string.h>
#include <sys/param.h>

#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/replay/zip_format.h"

struct entry {
	char *name;
	uint16_t method;
	uint32_t crc, packed, len; /* bytes in the archive, and of the content */
	uint64_t at;               /* its local header */
};

struct zip {
	struct source file;
	struct entry *entries;
	size_t n_entries;
};

static unsigned get16(const unsigned char *at)
{
	return (unsigned)at[0] | (unsigned)at[1] << 8;
}

static uint32_t get32(const unsigned char *at)
{
	return get16(at) | (uint32_t)get16(at + 2) << 16;
}

static int refuse(struct err *e, const char *why)
{
	return err_set(e, ERR_BAD_REQUEST, NULL, "this zip cannot be read: %s", why);
}

/* The record at the end, behind which there may be a comment. */
static int find_end(const struct source *file, unsigned char end[ZIP_END_BYTES], uint64_t *at, struct err *e)
{
	size_t len = (size_t)MIN(file->len, (uint64_t)(ZIP_END_BYTES + UINT16_MAX));
	auto_free unsigned char *tail = util_alloc(len);

	if (len < ZIP_END_BYTES || source_read(file, file->len - len, tail, len, e) < 0)
		return refuse(e, "it is too short");
	for (size_t i = len - ZIP_END_BYTES + 1; i-- > 0;) {
		if (get32(tail + i) != ZIP_END_SIGN || get16(tail + i + 20) != len - ZIP_END_BYTES - i)
			continue;
		memcpy(end, tail + i, ZIP_END_BYTES);
		*at = file->len - len + i;
		return 0;
	}
	return refuse(e, "it has no directory at its end");
}

/* Nothing that would lead out of a folder, also for a program that makes files of it. */
static bool is_plain(const char *name, size_t len)
{
	if (len == 0 || len > ZIP_NAME_MAX || !util_utf8_valid(name, len) || name[0] == '/' || memchr(name, '\\', len) || memchr(name, '\0', len))
		return false;
	for (size_t at = 0; at < len;) {
		const char *slash = memchr(name + at, '/', len - at);
		size_t part = slash ? (size_t)(slash - name) - at : len - at;

		if ((part == 0 && at < len) || (part == 1 && name[at] == '.') || (part == 2 && memcmp(name + at, "..", 2) == 0))
			return false;
		at += part + 1;
	}
	return true;
}

static int check_entry(const struct zip *zip, const struct entry *entry, unsigned flags, struct err *e)
{
	char quoted[80];

	if (flags & ZIP_FLAG_ENCRYPTED)
		return refuse(e, "it is encrypted");
	if (entry->packed == UINT32_MAX || entry->len == UINT32_MAX || entry->at == UINT32_MAX)
		return refuse(e, "zip64 is not read");
	if (entry->method != ZIP_STORED && entry->method != ZIP_DEFLATED)
		return refuse(e, "it has an entry that is neither stored nor deflated");
	/* No byte of deflate makes more than 1,032. */
	if (entry->method == ZIP_STORED ? entry->packed != entry->len : (uint64_t)entry->packed * 1032 + 64 < entry->len)
		return refuse(e, "the sizes of an entry do not fit each other");
	if (entry->at + ZIP_LOCAL_BYTES > zip->file.len || entry->packed > zip->file.len - entry->at - ZIP_LOCAL_BYTES)
		return refuse(e, "an entry lies outside of the file");
	for (size_t i = 0; i < zip->n_entries; i++)
		if (strcmp(zip->entries[i].name, entry->name) == 0)
			return err_set(e, ERR_BAD_REQUEST, NULL, "this zip cannot be read: it has %s twice",
			               err_quote(quoted, sizeof(quoted), entry->name, strlen(entry->name)));
	return 0;
}

/* One row of the directory; *len is how many bytes it takes. */
static int read_row(struct zip *zip, const unsigned char *row, size_t left, size_t *len, struct err *e)
{
	size_t name_len = left >= ZIP_ROW_BYTES ? get16(row + 28) : 0;
	struct entry *entry = &zip->entries[zip->n_entries];

	if (left < ZIP_ROW_BYTES || get32(row) != ZIP_ROW_SIGN)
		return refuse(e, "its directory is damaged");
	*len = ZIP_ROW_BYTES + name_len + get16(row + 30) + get16(row + 32);
	if (*len > left)
		return refuse(e, "its directory is damaged");
	if (!is_plain((const char *)row + ZIP_ROW_BYTES, name_len))
		return refuse(e, "the name of an entry is no plain path below a folder");
	*entry = (struct entry){.method = (uint16_t)get16(row + 10), .crc = get32(row + 16), .packed = get32(row + 20),
	                        .len = get32(row + 24), .at = get32(row + 42),
	                        .name = util_printf("%.*s", (int)name_len, (const char *)row + ZIP_ROW_BYTES)};
	if (check_entry(zip, entry, get16(row + 8), e) < 0) {
		free(entry->name);
		return -1;
	}
	zip->n_entries++;
	return 0;
}

static int read_directory(struct zip *zip, struct err *e)
{
	unsigned char end[ZIP_END_BYTES] = {0};
	auto_free char *rows = NULL;
	uint64_t end_at, from;
	size_t n, size, at = 0;

	if (find_end(&zip->file, end, &end_at, e) < 0)
		return -1;
	n = get16(end + 10);
	size = get32(end + 12);
	from = get32(end + 16);
	if (get16(end + 4) != 0 || get16(end + 6) != 0 || get16(end + 8) != n)
		return refuse(e, "it is in several parts");
	if (from > end_at || size > end_at - from || n > LIMIT_ZIP_ENTRIES || size > LIMIT_ZIP_DIRECTORY_BYTES)
		return refuse(e, "its directory is damaged or too large");
	rows = util_alloc(size + 1);
	zip->entries = util_zalloc((n + 1) * sizeof(*zip->entries));
	if (source_read(&zip->file, from, rows, size, e) < 0)
		return -1;
	for (size_t i = 0, len = 0; i < n; i++, at += len)
		if (read_row(zip, (const unsigned char *)rows + at, size - at, &len, e) < 0)
			return -1;
	return 0;
}

int zip_open(struct source file, struct zip **out, struct err *e)
{
	struct zip *zip = util_zalloc(sizeof(*zip));

	zip->file = file;
	if (read_directory(zip, e) < 0) {
		zip_close(zip);
		return -1;
	}
	*out = zip;
	return 0;
}

void zip_close(struct zip *zip)
{
	if (!zip)
		return;
	for (size_t i = 0; i < zip->n_entries; i++)
		free(zip->entries[i].name);
	free(zip->entries);
	source_finish(&zip->file);
	free(zip);
}

size_t zip_n_entries(const struct zip *zip)
{
	return zip->n_entries;
}

const char *zip_name(const struct zip *zip, size_t entry)
{
	return zip->entries[entry].name;
}

/* Where the bytes of an entry begin: behind its local header, whose name must be the directory's. */
static int find_content(const struct zip *zip, const struct entry *entry, uint64_t *at, struct err *e)
{
	unsigned char local[ZIP_LOCAL_BYTES];
	char name[ZIP_NAME_MAX];
	size_t name_len = strlen(entry->name);

	if (source_read(&zip->file, entry->at, local, sizeof(local), e) < 0)
		return -1;
	if (get32(local) != ZIP_LOCAL_SIGN || get16(local + 26) != name_len)
		return refuse(e, "an entry is not where the directory says");
	if (source_read(&zip->file, entry->at + ZIP_LOCAL_BYTES, name, name_len, e) < 0)
		return -1;
	*at = entry->at + ZIP_LOCAL_BYTES + name_len + get16(local + 28);
	if (memcmp(name, entry->name, name_len) != 0 || *at > zip->file.len || entry->packed > zip->file.len - *at)
		return refuse(e, "an entry is not where the directory says");
	return 0;
}

static int unpack(const struct entry *entry, const char *packed, char **out, struct err *e)
{
	struct libdeflate_decompressor *inflate = libdeflate_alloc_decompressor();
	auto_free char *data = util_alloc((size_t)entry->len + 1);
	bool good;

	if (!inflate)
		DIE("no memory to unpack a zip");
	good = libdeflate_deflate_decompress(inflate, packed, entry->packed, data, entry->len, NULL) == LIBDEFLATE_SUCCESS;
	libdeflate_free_decompressor(inflate);
	if (!good)
		return refuse(e, "an entry cannot be unpacked");
	*out = steal_ptr(&data);
	return 0;
}

static int read_memory(const struct zip *zip, const struct entry *entry, uint64_t at, struct source *out, struct err *e)
{
	auto_free char *packed = util_alloc((size_t)entry->packed + 1), *data = NULL;

	if (source_read(&zip->file, at, packed, entry->packed, e) < 0)
		return -1;
	if (entry->method == ZIP_STORED)
		data = steal_ptr(&packed);
	else if (unpack(entry, packed, &data, e) < 0)
		return -1;
	if (libdeflate_crc32(0, data, entry->len) != entry->crc)
		return refuse(e, "the sum of an entry is wrong");
	*out = source_of_memory(steal_ptr(&data), entry->len);
	return 0;
}

int zip_read(const struct zip *zip, size_t index, uint64_t max, struct source *out, struct err *e)
{
	const struct entry *entry = &zip->entries[index];
	uint64_t at;
	int fd;

	if (entry->len > max)
		return err_set(e, ERR_TOO_LARGE, NULL, "%s in this zip has %u bytes; at most %ju are read", entry->name, entry->len, (uintmax_t)max);
	if (find_content(zip, entry, &at, e) < 0)
		return -1;
	if (entry->method == ZIP_DEFLATED || zip->file.fd < 0)
		return read_memory(zip, entry, at, out, e);
	fd = fcntl(zip->file.fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return err_sys(e, "no descriptor is left");
	*out = (struct source){.fd = fd, .from = zip->file.from + at, .len = entry->len};
	return 0;
}
