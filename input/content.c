/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text and PNG of clipboards. */
#include "input/content.h"

#include <libdeflate.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "session/base/limits.h"
#include "session/base/util.h"

#define REPLACEMENT 0xFFFD

/* What Firefox writes, and looks for. */
static const char MARK[] = "<meta http-equiv=\"content-type\" content=\"text/html; charset=utf-8\">";
#define MARK_WITHIN 1024 /* bytes in which a document says its encoding */

static char *copy_of(const char *text, size_t len, size_t *out_len)
{
	char *copy = util_alloc(len + 1);

	memcpy(copy, text, len);
	copy[len] = '\0';
	*out_len = len;
	return copy;
}

char *content_text(const char *bytes, size_t len, bool is_latin1, size_t *out_len)
{
	char *out, *end;

	while (len > 0 && bytes[len - 1] == '\0')
		len--;
	if (!is_latin1 && !memchr(bytes, '\0', len) && util_utf8_valid(bytes, len))
		return copy_of(bytes, len, out_len);
	out = end = util_alloc(3 * len + 1);
	for (size_t at = 0; at < len;) {
		uint32_t code_point = (unsigned char)bytes[at];
		size_t n = is_latin1 ? 1 : util_utf8_decode(bytes + at, len - at, &code_point);

		end += util_utf8_encode(n > 0 && code_point > 0 ? code_point : REPLACEMENT, end);
		at += n > 0 ? n : 1;
	}
	*end = '\0';
	*out_len = (size_t)(end - out);
	return util_realloc(out, *out_len + 1);
}

char *content_latin1(const char *text, size_t len, size_t *out_len)
{
	auto_free char *out = util_alloc(len + 1);
	size_t used = 0;

	for (size_t at = 0; at < len;) {
		uint32_t code_point;
		size_t n = util_utf8_decode(text + at, len - at, &code_point);

		if (n == 0 || code_point > 0xFF)
			return NULL;
		out[used++] = (char)code_point;
		at += n;
	}
	out[used] = '\0';
	*out_len = used;
	return steal_ptr(&out);
}

/* The byte order of UTF-16: 1 little, 2 big, 0 when it is none. */
static int utf16_order(const unsigned char *bytes, size_t len)
{
	if (len < 2)
		return 0;
	if ((bytes[0] == 0xFF && bytes[1] == 0xFE) || (bytes[0] && !bytes[1]))
		return 1;
	return (bytes[0] == 0xFE && bytes[1] == 0xFF) || (!bytes[0] && bytes[1]) ? 2 : 0;
}

static uint32_t utf16_unit(const unsigned char *bytes, bool is_big)
{
	return is_big ? (uint32_t)bytes[0] << 8 | bytes[1] : (uint32_t)bytes[1] << 8 | bytes[0];
}

static char *from_utf16(const unsigned char *bytes, size_t len, bool is_big, size_t *out_len)
{
	char *out = util_alloc(len / 2 * 3 + 1), *end = out;

	for (size_t at = 0; at + 1 < len; at += 2) {
		uint32_t unit = utf16_unit(bytes + at, is_big);
		uint32_t next = at + 3 < len ? utf16_unit(bytes + at + 2, is_big) : 0;

		if ((unit & 0xFC00) == 0xD800 && (next & 0xFC00) == 0xDC00) {
			unit = 0x10000 + ((unit & 0x3FF) << 10 | (next & 0x3FF));
			at += 2;
		} else if ((unit & 0xF800) == 0xD800) {
			unit = REPLACEMENT;
		}
		end += util_utf8_encode(unit, end);
	}
	*end = '\0';
	*out_len = (size_t)(end - out);
	return out;
}

static bool begins(const char *text, size_t len, const char *with)
{
	return len >= strlen(with) && memcmp(text, with, strlen(with)) == 0;
}

char *content_html(const char *bytes, size_t len, size_t *out_len)
{
	int order = utf16_order((const unsigned char *)bytes, len);
	auto_free char *wide = order ? from_utf16((const unsigned char *)bytes, len, order == 2, &len) : NULL;
	const char *html = wide ? wide : bytes;

	for (const char *const *lead = (const char *const[]){"\xEF\xBB\xBF", MARK, NULL}; *lead; lead++)
		if (begins(html, len, *lead)) {
			html += strlen(*lead);
			len -= strlen(*lead);
		}
	return content_text(html, len, false, out_len);
}

char *content_html_marked(const char *html, size_t len, size_t *out_len)
{
	size_t within = len < MARK_WITHIN ? len : MARK_WITHIN;
	char *marked;

	for (size_t at = 0; at + 8 <= within; at++)
		if (strncasecmp(html + at, "charset=", 8) == 0)
			return copy_of(html, len, out_len);
	*out_len = strlen(MARK) + len;
	marked = util_alloc(*out_len + 1);
	memcpy(marked, MARK, strlen(MARK));
	memcpy(marked + strlen(MARK), html, len);
	marked[*out_len] = '\0';
	return marked;
}

static uint32_t read_u32(const unsigned char *bytes)
{
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* Depths that a colour type of PNG allows, as bits. */
static const struct {
	uint8_t colour;
	uint32_t depths;
} png_kinds[] = {
	{0, 1 << 1 | 1 << 2 | 1 << 4 | 1 << 8 | 1 << 16}, {2, 1 << 8 | 1 << 16}, {3, 1 << 1 | 1 << 2 | 1 << 4 | 1 << 8}, {4, 1 << 8 | 1 << 16}, {6, 1 << 8 | 1 << 16},
};

static const char *header_fault(const unsigned char *header)
{
	uint32_t width = read_u32(header), height = read_u32(header + 4);
	bool known = false;

	for (size_t i = 0; i < ARRAY_LEN(png_kinds); i++)
		known |= header[9] == png_kinds[i].colour && header[8] <= 16 && png_kinds[i].depths >> header[8] & 1;
	if (width == 0 || height == 0 || !known || header[10] || header[11] || header[12] > 1)
		return "its header has a value that PNG does not allow";
	if (width > LIMIT_CLIPBOARD_SIDE_PX || height > LIMIT_CLIPBOARD_SIDE_PX || (uint64_t)width * height > LIMIT_CLIPBOARD_PIXELS)
		return "it has more pixels than are allowed";
	return NULL;
}

const char *content_png_fault(const void *data, size_t len)
{
	static const unsigned char signature[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
	const unsigned char *at = data, *end = at + len;
	bool has_data = false;

	if (len < sizeof(signature) || memcmp(at, signature, sizeof(signature)) != 0)
		return "it does not begin with the signature of PNG";
	at += sizeof(signature);
	for (bool is_first = true;; is_first = false) {
		if (end - at < 12 || read_u32(at) > (size_t)(end - at) - 12)
			return "it ends too early";
		size_t n = read_u32(at);

		if (libdeflate_crc32(0, at + 4, n + 4) != read_u32(at + 8 + n))
			return "the checksum of a part of it is wrong";
		if (is_first && (n != 13 || memcmp(at + 4, "IHDR", 4) != 0))
			return "it does not begin with a header";
		const char *fault = is_first ? header_fault(at + 8) : NULL;

		if (fault)
			return fault;
		has_data |= memcmp(at + 4, "IDAT", 4) == 0;
		bool is_last = memcmp(at + 4, "IEND", 4) == 0;

		at += n + 12;
		if (is_last)
			return !has_data ? "it has no pixels" : at < end ? "something follows its end" : NULL;
	}
}
