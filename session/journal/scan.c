/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading headers of records. */
#include "session/journal/scan.h"

#include <jansson.h>
#include <string.h>
#include <sys/param.h>
#include <unistd.h>

#include "session/base/limits.h"

/* Of all parts; -1 when this is no header. */
static off_t part_bytes(const char *line, size_t len)
{
	json_auto_t *header = json_loadb(line, len, JSON_REJECT_DUPLICATES, NULL);
	const json_t *parts = json_object_get(header, "parts"), *part;
	off_t sum = 0;
	size_t i;

	if (json_array_size(parts) < 1 || json_array_size(parts) > LIMIT_CHANGED)
		return -1;
	json_array_foreach(parts, i, part) {
		json_int_t bytes = json_integer_value(json_object_get(part, "bytes"));

		if (bytes < 1 || bytes > LIMIT_FILE_BYTES)
			return -1;
		sum += bytes;
	}
	return sum;
}

bool scan_record(int fd, off_t at, off_t size, off_t *next)
{
	char line[LIMIT_PICTURE_HEADER_BYTES];
	ssize_t n = at < size ? pread(fd, line, (size_t)MIN(size - at, (off_t)sizeof(line)), at) : 0;
	const char *end = n > 0 ? memchr(line, '\n', (size_t)n) : NULL;
	off_t bytes = end ? part_bytes(line, (size_t)(end - line)) : -1;
	off_t behind = end ? at + (end - line) + 1 + bytes : 0;

	if (bytes < 0 || behind > size)
		return false;
	*next = behind;
	return true;
}
