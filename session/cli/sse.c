/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Server-sent events taken apart as they arrive. */
#include "session/cli/sse.h"

#include <string.h>

#define FIELD "data"

/* One line without its end: an empty one ends the event. */
static void take_line(struct sse *sse, sse_fn *fn, void *arg)
{
	const char *text = buffer_text(&sse->line);
	size_t len = sse->line.len, name = strlen(FIELD);

	if (len == 0) {
		if (sse->has_data)
			fn(arg, buffer_text(&sse->data), sse->data.len);
		buffer_clear(&sse->data);
		sse->has_data = false;
		return;
	}
	if (len < name || memcmp(text, FIELD, name) != 0 || (len > name && text[name] != ':'))
		return;
	name += len > name ? 1 : 0;
	name += len > name && text[name] == ' ' ? 1 : 0;
	if (sse->has_data)
		buffer_add(&sse->data, "\n", 1);
	buffer_add(&sse->data, text + name, len - name);
	sse->has_data = true;
}

int sse_take(struct sse *sse, const char *bytes, size_t len, size_t max, sse_fn *fn, void *arg)
{
	while (len > 0) {
		size_t n = 0;

		if (sse->after_cr && *bytes == '\n') {
			bytes++;
			len--;
			sse->after_cr = false;
			continue;
		}
		sse->after_cr = false;
		while (n < len && bytes[n] != '\n' && bytes[n] != '\r')
			n++;
		if (sse->line.len + sse->data.len + n > max)
			return -1;
		buffer_add(&sse->line, bytes, n);
		if (n == len)
			break;
		take_line(sse, fn, arg);
		buffer_clear(&sse->line);
		sse->after_cr = bytes[n] == '\r';
		bytes += n + 1;
		len -= n + 1;
	}
	return 0;
}

void sse_finish(struct sse *sse)
{
	buffer_finish(&sse->line);
	buffer_finish(&sse->data);
}
