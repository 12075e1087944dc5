/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bytes that come in pieces. */
#include "session/cli/buffer.h"

#include <string.h>

#include "session/base/util.h"

const char *buffer_text(const struct buffer *buffer)
{
	return buffer->data ? buffer->data + buffer->start : "";
}

void buffer_add(struct buffer *buffer, const char *bytes, size_t len)
{
	/* What is moved was paid for by what was taken away before it: else a large buffer that is nearly full would be moved each time. */
	if (buffer->data && buffer->start >= buffer->len && buffer->start + buffer->len + len + 1 > buffer->size) {
		memmove(buffer->data, buffer->data + buffer->start, buffer->len);
		buffer->start = 0;
	}
	if (buffer->start + buffer->len + len + 1 > buffer->size) {
		buffer->size = (buffer->start + buffer->len + len + 1) * 2;
		buffer->data = util_realloc(buffer->data, buffer->size);
	}
	memcpy(buffer->data + buffer->start + buffer->len, bytes, len);
	buffer->len += len;
	buffer->data[buffer->start + buffer->len] = '\0';
}

void buffer_drop(struct buffer *buffer, size_t len)
{
	if (len > buffer->len)
		DIE("more is dropped than there is");
	buffer->start += len;
	buffer->len -= len;
	if (buffer->len == 0)
		buffer_clear(buffer);
}

void buffer_clear(struct buffer *buffer)
{
	buffer->start = 0;
	buffer->len = 0;
	if (buffer->data)
		buffer->data[0] = '\0';
}

void buffer_finish(struct buffer *buffer)
{
	free(buffer->data);
	*buffer = (struct buffer){0};
}
