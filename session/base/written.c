/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Readers of one byte as it may be written, and Base64 by its six bits. */
#include "session/base/written.h"

#include <string.h>

#include "session/base/util.h"

#define LINE_ENDS_MAX 4 /* one after the other, within Base64 */

struct value {
	const uint8_t *bytes;
	size_t len;
};

/* Reads one byte; how many bytes of the text that took, 0 at its end. */
typedef size_t read_fn(const struct written_text *text, size_t at, uint8_t *out);

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : -1;
}

static size_t read_plain(const struct written_text *text, size_t at, uint8_t *out)
{
	if (at >= text->len)
		return 0;
	*out = (uint8_t)text->bytes[at];
	return 1;
}

static size_t read_url(const struct written_text *text, size_t at, uint8_t *out)
{
	const char *t = text->bytes + at;

	if (at + 2 < text->len && t[0] == '%' && hex_digit(t[1]) >= 0 && hex_digit(t[2]) >= 0) {
		*out = (uint8_t)(hex_digit(t[1]) << 4 | hex_digit(t[2]));
		return 3;
	}
	if (at < text->len && t[0] == '+') {
		*out = ' ';
		return 1;
	}
	return read_plain(text, at, out);
}

static size_t read_json(const struct written_text *text, size_t at, uint8_t *out)
{
	static const char signs[] = "bfnrt\"\\/", meant[] = "\b\f\n\r\t\"\\/";
	const char *t = text->bytes + at, *sign;

	if (at + 1 >= text->len || t[0] != '\\')
		return read_plain(text, at, out);
	if (t[1] == 'u' && at + 5 < text->len && t[2] == '0' && t[3] == '0' && hex_digit(t[4]) >= 0 && hex_digit(t[5]) >= 0) {
		*out = (uint8_t)(hex_digit(t[4]) << 4 | hex_digit(t[5]));
		return *out < 0x80 ? 6 : 0;
	}
	sign = t[1] ? strchr(signs, t[1]) : NULL;
	if (!sign)
		return 0;
	*out = (uint8_t)meant[sign - signs];
	return 2;
}

static read_fn *const readings[] = {read_plain, read_url, read_json};

static size_t match_read(const struct written_text *text, size_t at, const struct value *value, read_fn *read)
{
	size_t start = at;

	for (size_t i = 0; i < value->len; i++) {
		uint8_t byte;
		size_t n = read(text, at, &byte);

		if (n == 0 || byte != value->bytes[i])
			return 0;
		at += n;
	}
	return at - start;
}

/* Base64: whichever byte of three the value begins at, these are the bits of it from which on characters are its own alone. */
static const size_t alignments[] = {0, 4, 2};

static unsigned int sextet(const struct value *value, size_t bit)
{
	size_t at = bit / 8;
	unsigned int two = (unsigned int)value->bytes[at] << 8 | (at + 1 < value->len ? value->bytes[at + 1] : 0U);

	return two >> (10 - bit % 8) & 63;
}

static int sextet_of(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

/* Lines of it may end anywhere. */
static size_t match_base64(const struct written_text *text, size_t at, const struct value *value, size_t bit)
{
	size_t start = at, n_ends = 0;

	while (bit + 6 <= value->len * 8) {
		if (at >= text->len)
			return 0;
		if (at > start && n_ends < LINE_ENDS_MAX && (text->bytes[at] == '\n' || text->bytes[at] == '\r')) {
			n_ends++;
			at++;
			continue;
		}
		if (sextet_of(text->bytes[at]) != (int)sextet(value, bit))
			return 0;
		n_ends = 0;
		bit += 6;
		at++;
	}
	return at - start;
}

size_t written_match(const struct written_text *text, size_t at, const uint8_t *bytes, size_t len)
{
	const struct value value = {bytes, len};
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(readings) && n == 0; i++)
		n = match_read(text, at, &value, readings[i]);
	for (size_t i = 0; i < ARRAY_LEN(alignments) && n == 0; i++)
		n = match_base64(text, at, &value, alignments[i]);
	return n;
}

/* All that begin with this byte. */
static void begin_byte(char a, void (*fn)(void *arg, char a, char b), void *arg)
{
	for (int b = 0; b < 256; b++)
		fn(arg, a, (char)b);
}

static void begin_base64(const struct value *value, size_t bit, void (*fn)(void *arg, char a, char b), void *arg)
{
	unsigned int first = sextet(value, bit), second = sextet(value, bit + 6);

	for (int a = 0; a < 128; a++)
		for (int b = 0; b < 128; b++)
			if (sextet_of((char)a) == (int)first && (sextet_of((char)b) == (int)second || b == '\n' || b == '\r'))
				fn(arg, (char)a, (char)b);
}

void written_begins(const uint8_t *bytes, size_t len, void (*fn)(void *arg, char a, char b), void *arg)
{
	const struct value value = {bytes, len};
	char first = (char)bytes[0];

	fn(arg, first, (char)bytes[1]);
	/* What is escaped in it. */
	fn(arg, first, '%');
	fn(arg, first, '\\');
	fn(arg, first, '+');
	begin_byte('%', fn, arg);
	begin_byte('\\', fn, arg);
	if (first == ' ')
		begin_byte('+', fn, arg);
	for (size_t i = 0; i < ARRAY_LEN(alignments); i++)
		begin_base64(&value, alignments[i], fn, arg);
}
