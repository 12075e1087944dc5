/* SPDX-License-Identifier: GPL-2.0-or-later */
/* "bytes=0-99", "bytes=100-", "bytes=-100": one range; others are not heeded, as HTTP lets a server do. */
#include "session/stage/files.h"

#include <string.h>

static const char *read_number(const char *text, uint64_t *out, bool *has)
{
	uint64_t value = 0;

	*has = false;
	for (; *text >= '0' && *text <= '9'; text++) {
		if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, (uint64_t)(*text - '0'), &value))
			value = UINT64_MAX;
		*has = true;
	}
	*out = value;
	return text;
}

int files_range(const char *text, uint64_t size, struct files_part *out, struct err *e)
{
	uint64_t from, to;
	bool has_from, has_to;

	*out = (struct files_part){0, size};
	if (!text || strncmp(text, "bytes=", 6) != 0)
		return 1;
	text = read_number(text + 6, &from, &has_from);
	if (*text != '-')
		return 1;
	text = read_number(text + 1, &to, &has_to);
	if (*text || (!has_from && !has_to) || (has_from && has_to && to < from))
		return 1;
	if (!has_from) {
		from = to < size ? size - to : 0;
		to = size;
		has_to = false;
	}
	if (from >= size)
		return err_set(e, ERR_RANGE, NULL, "the range begins behind the end of the file, which has %llu bytes", (unsigned long long)size);
	out->from = from;
	out->len = has_to && to < size - 1 ? to - from + 1 : size - from;
	return 0;
}
