/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts of clipboards to and from the wire. What is freed here is wiped before: a person copies passwords. */
#include "display/view/clip.h"

#include <string.h>
#include <sys/param.h>
#include <zlib.h>

#include "display/view/framer.h"
#include "session/base/limits.h"
#include "session/base/util.h"

#define SERVER_CUT_TEXT 3
#define HEAD_BYTES 8
#define INFLATED_MOST 1032 /* bytes that one of a deflated stream can stand for */

static void wipe(void *bytes, size_t n)
{
	explicit_bzero(bytes, n);
	free(bytes);
}

static void put_head(uint8_t *out, int32_t length)
{
	memset(out, 0, 4);
	out[0] = SERVER_CUT_TEXT;
	framer_put_u32(out + 4, (uint32_t)length);
}

void clip_caps(uint8_t out[CLIP_CAPS_BYTES])
{
	put_head(out, -8);
	framer_put_u32(out + 8, CLIP_CAPS | CLIP_REQUEST | CLIP_PEEK | CLIP_NOTIFY | CLIP_PROVIDE | CLIP_TEXT);
	framer_put_u32(out + 12, LIMIT_CUT_BYTES);
}

void clip_flags(uint32_t flags, uint8_t out[CLIP_FLAGS_BYTES])
{
	put_head(out, -4);
	framer_put_u32(out + 8, flags);
}

/* u32 length (its NUL counts), the text with CR LF, NUL. */
static uint8_t *plain_body(const char *text, size_t len, size_t *n)
{
	uint8_t *body = util_alloc(4 + 2 * len + 1);

	*n = 4;
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '\n' && (i == 0 || text[i - 1] != '\r'))
			body[(*n)++] = '\r';
		body[(*n)++] = (uint8_t)text[i];
	}
	body[(*n)++] = '\0';
	framer_put_u32(body, (uint32_t)(*n - 4));
	return body;
}

uint8_t *clip_provide(const char *text, size_t len, size_t *out_len)
{
	size_t n;
	uint8_t *body = plain_body(text, len, &n);
	uLongf packed = compressBound(n);
	uint8_t *out = util_alloc(CLIP_FLAGS_BYTES + packed);

	if (compress(out + CLIP_FLAGS_BYTES, &packed, body, n) != Z_OK)
		DIE("zlib has no memory");
	wipe(body, n);
	clip_flags(CLIP_PROVIDE | CLIP_TEXT, out);
	put_head(out, -(int32_t)(4 + packed));
	*out_len = CLIP_FLAGS_BYTES + packed;
	return out;
}

uint8_t *clip_latin1(const char *text, size_t len, size_t *out_len)
{
	uint8_t *out = util_alloc(HEAD_BYTES + len);
	size_t n = HEAD_BYTES;

	for (size_t at = 0, used; at < len; at += used) {
		uint32_t code_point = 0;

		used = util_utf8_decode(text + at, len - at, &code_point);
		if (used == 0)
			break;
		out[n++] = code_point < 0x100 ? (uint8_t)code_point : '?';
	}
	put_head(out, (int32_t)(n - HEAD_BYTES));
	*out_len = n;
	return out;
}

/* Inflates all of it, up to `max` bytes; -1 when it is none, or more. */
static ssize_t unpack(const uint8_t *body, size_t n, uint8_t *out, size_t max)
{
	/* zlib does not write through next_in, but its type cannot say so. */
	z_stream stream = {.next_in = (Bytef *)(uintptr_t)body, .avail_in = (uInt)n, .next_out = out, .avail_out = (uInt)max};
	int rc;

	if (inflateInit(&stream) != Z_OK)
		return -1;
	rc = inflate(&stream, Z_SYNC_FLUSH);
	(void)inflateEnd(&stream);
	/* A viewer may leave its stream open: then all has come when nothing is left. Z_BUF_ERROR: there is more than room for it. */
	if ((rc != Z_STREAM_END && rc != Z_OK) || stream.avail_in > 0)
		return -1;
	return (ssize_t)(max - stream.avail_out);
}

/* In place: CR LF becomes LF, and the text ends where its NUL is. */
static size_t settle_lines(char *text, size_t len)
{
	size_t n = 0;

	len = strnlen(text, len);
	for (size_t i = 0; i < len; i++)
		if (text[i] != '\r' || i + 1 == len || text[i + 1] != '\n')
			text[n++] = text[i];
	text[n] = '\0';
	return n;
}

char *clip_read(const uint8_t *body, size_t n, uint32_t flags, size_t *len)
{
	/* CR LF may make it twice as long; text comes first of all formats. Room for a short one is short: all of it is wiped. */
	size_t max = MIN(4 + 2 * (size_t)LIMIT_CUT_BYTES + 1, INFLATED_MOST * n + 64), size;
	uint8_t *out;
	char *text = NULL;
	ssize_t got;

	if (!(flags & CLIP_TEXT))
		return NULL;
	out = util_alloc(max);
	got = unpack(body, n, out, max);
	size = got >= 4 ? framer_u32(out) : 0;
	if (got >= 4 && size <= (size_t)got - 4) {
		text = util_alloc(size + 1);
		memcpy(text, out + 4, size);
		text[size] = '\0';
		*len = settle_lines(text, size);
	}
	wipe(out, max);
	if (text && (*len > LIMIT_CUT_BYTES || !util_utf8_valid(text, *len))) {
		wipe(text, size + 1);
		text = NULL;
	}
	return text;
}

char *clip_read_latin1(const uint8_t *body, size_t n, size_t *len)
{
	char *text = util_alloc(2 * n + 1);
	size_t used = 0;

	for (size_t i = 0; i < n; i++) {
		if (body[i] < 0x80) {
			text[used++] = (char)body[i];
			continue;
		}
		text[used++] = (char)(0xC0 | body[i] >> 6);
		text[used++] = (char)(0x80 | (body[i] & 0x3F));
	}
	text[used] = '\0';
	*len = settle_lines(text, used);
	if (*len <= LIMIT_CUT_BYTES)
		return text;
	wipe(text, 2 * n + 1);
	return NULL;
}
