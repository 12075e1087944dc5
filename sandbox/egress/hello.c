/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records are put together to one message, which is then taken apart: every length is checked against what is left. */
#include "sandbox/egress/hello.h"

#include <string.h>

#include "session/base/util.h"

#define RECORD_HEAD 5
#define RECORD_HANDSHAKE 22
#define RECORD_MAX 16384
#define MESSAGE_HEAD 4
#define CLIENT_HELLO 1
#define RANDOM_BYTES 32
#define EXTENSION_SERVER_NAME 0
#define NAME_IS_HOST 0

/* Bytes that are still to be read; broken once more was wanted than there is. */
struct reader {
	const uint8_t *at;
	size_t left;
	bool broken;
};

static const uint8_t *take(struct reader *reader, size_t n)
{
	const uint8_t *at = reader->at;

	if (reader->broken || n > reader->left) {
		reader->broken = true;
		return NULL;
	}
	reader->at += n;
	reader->left -= n;
	return at;
}

static size_t take_number(struct reader *reader, size_t bytes)
{
	const uint8_t *at = take(reader, bytes);
	size_t value = 0;

	for (size_t i = 0; at && i < bytes; i++)
		value = value << 8 | at[i];
	return value;
}

/* What has its length, of so many bytes, before it. */
static struct reader take_vector(struct reader *reader, size_t bytes)
{
	size_t len = take_number(reader, bytes);
	const uint8_t *at = take(reader, len);

	return (struct reader){.at = at, .left = at ? len : 0, .broken = reader->broken};
}

/* Exactly one name, of a host. */
static bool read_name(struct reader extension, struct hello *out)
{
	struct reader list = take_vector(&extension, 2);
	size_t kind = take_number(&list, 1);
	struct reader name = take_vector(&list, 2);

	if (name.broken || list.left > 0 || extension.left > 0 || kind != NAME_IS_HOST || name.left == 0 || name.left >= sizeof(out->name) ||
	    memchr(name.at, '\0', name.left))
		return false;
	memcpy(out->name, name.at, name.left);
	out->name[name.left] = '\0';
	return true;
}

static bool read_extensions(struct reader extensions, struct hello *out)
{
	bool has_name = false;

	while (extensions.left > 0) {
		size_t kind = take_number(&extensions, 2);
		struct reader extension = take_vector(&extensions, 2);

		if (extension.broken)
			return false;
		if (kind == EXTENSION_SERVER_NAME) {
			if (has_name || !read_name(extension, out))
				return false;
			has_name = true;
		}
	}
	return !extensions.broken;
}

static bool read_message(struct reader message, struct hello *out)
{
	struct reader extensions;

	*out = (struct hello){.name = ""};
	(void)take(&message, 2 + RANDOM_BYTES);
	(void)take_vector(&message, 1); /* session id */
	(void)take_vector(&message, 2); /* ciphers */
	(void)take_vector(&message, 1); /* compressions */
	if (message.broken)
		return false;
	if (message.left == 0)
		return true;
	extensions = take_vector(&message, 2);
	return !extensions.broken && message.left == 0 && read_extensions(extensions, out);
}

/* What is there of the message, without the heads of its records, in `to`: false when these are none of a handshake. */
static bool join_records(const uint8_t *data, size_t len, uint8_t *to, size_t *to_len)
{
	*to_len = 0;
	for (size_t at = 0; at < len;) {
		size_t size, n;

		if (data[at] != RECORD_HANDSHAKE || (len - at > 1 && data[at + 1] != 3))
			return false;
		if (len - at < RECORD_HEAD)
			return true;
		size = (size_t)data[at + 3] << 8 | data[at + 4];
		if (size == 0 || size > RECORD_MAX)
			return false;
		at += RECORD_HEAD;
		n = len - at < size ? len - at : size;
		memcpy(to + *to_len, data + at, n);
		*to_len += n;
		at += n;
		/* What comes behind the message is none of our business. */
		if (*to_len >= MESSAGE_HEAD && *to_len >= MESSAGE_HEAD + ((size_t)to[1] << 16 | (size_t)to[2] << 8 | to[3]))
			return true;
	}
	return true;
}

enum hello_result hello_read(const void *data, size_t len, struct hello *out)
{
	auto_free uint8_t *message = NULL;
	size_t there, size;

	if (len > LIMIT_EGRESS_HELLO_BYTES)
		len = LIMIT_EGRESS_HELLO_BYTES;
	message = util_alloc(len + 1);
	if (!join_records(data, len, message, &there) || (there > 0 && message[0] != CLIENT_HELLO))
		return HELLO_NONE;
	if (there < MESSAGE_HEAD)
		return HELLO_MORE;
	size = (size_t)message[1] << 16 | (size_t)message[2] << 8 | message[3];
	if (there - MESSAGE_HEAD < size)
		return MESSAGE_HEAD + size > LIMIT_EGRESS_HELLO_BYTES || len == LIMIT_EGRESS_HELLO_BYTES ? HELLO_NONE : HELLO_MORE;
	return read_message((struct reader){.at = message + MESSAGE_HEAD, .left = size}, out) ? HELLO_READ : HELLO_NONE;
}
