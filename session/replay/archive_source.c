/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What libzip reads. */
#include "session/replay/archive_source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "session/base/util.h"

/* One that is being read. */
struct reading {
	const struct source *content;
	uint64_t at;
	uint64_t *budget;
	zip_error_t error;
};

static zip_int64_t fail(struct reading *reading, int zip_errno, int sys_errno)
{
	zip_error_set(&reading->error, zip_errno, sys_errno);
	return -1;
}

static zip_int64_t read_some(struct reading *reading, void *data, zip_uint64_t len)
{
	size_t n = (size_t)MIN(len, reading->content->len - reading->at);
	struct err ignored;

	if (reading->budget && n > *reading->budget)
		return fail(reading, ZIP_ER_INCONS, 0);
	if (source_read(reading->content, reading->at, data, n, &ignored) < 0)
		return fail(reading, ZIP_ER_READ, EIO);
	if (reading->budget)
		*reading->budget -= n;
	reading->at += n;
	return (zip_int64_t)n;
}

static zip_int64_t seek(struct reading *reading, void *data, zip_uint64_t len)
{
	zip_int64_t at = zip_source_seek_compute_offset(reading->at, reading->content->len, data, len, &reading->error);

	if (at < 0)
		return -1;
	reading->at = (uint64_t)at;
	return 0;
}

static zip_int64_t tell_size(const struct reading *reading, void *data)
{
	zip_stat_t *stat = data;

	zip_stat_init(stat);
	stat->size = reading->content->len;
	stat->valid = ZIP_STAT_SIZE;
	return sizeof(*stat);
}

static zip_int64_t answer(void *arg, void *data, zip_uint64_t len, zip_source_cmd_t command)
{
	struct reading *reading = arg;

	switch ((int)command) {
	case ZIP_SOURCE_OPEN:
		reading->at = 0;
		return 0;
	case ZIP_SOURCE_READ:
		return read_some(reading, data, len);
	case ZIP_SOURCE_CLOSE:
		return 0;
	case ZIP_SOURCE_STAT:
		return tell_size(reading, data);
	case ZIP_SOURCE_SEEK:
		return seek(reading, data, len);
	case ZIP_SOURCE_TELL:
		return (zip_int64_t)reading->at;
	case ZIP_SOURCE_ERROR:
		return zip_error_to_data(&reading->error, data, len);
	case ZIP_SOURCE_SUPPORTS:
		return ZIP_SOURCE_SUPPORTS_SEEKABLE;
	case ZIP_SOURCE_FREE:
		zip_error_fini(&reading->error);
		free(reading);
		return 0;
	default:
		return fail(reading, ZIP_ER_OPNOTSUPP, 0);
	}
}

zip_source_t *archive_source(const struct source *content, uint64_t *budget)
{
	struct reading *reading = util_zalloc(sizeof(*reading));
	zip_source_t *source;

	reading->content = content;
	reading->budget = budget;
	zip_error_init(&reading->error);
	source = zip_source_function_create(answer, reading, NULL);
	if (!source)
		DIE("no memory for an archive");
	return source;
}
