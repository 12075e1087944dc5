/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writing JSON. Strings of jansson are UTF-8 already: only what JSON has to escape is looked for, a block at a time. */
#include "session/base/json_text.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "session/base/util.h"

#define FIRST_BYTES 512
#define BLOCK_BYTES 16 /* what one instruction compares */
#define NUMBER_MAX 64 /* a number as text */

/* A text that grows; without memory it is only measured. */
struct text {
	char *at;
	size_t len, size;
	bool is_measured;
};

static void put(struct text *text, const char *bytes, size_t len)
{
	if (!text->is_measured) {
		if (text->len + len >= text->size) {
			text->size = (text->len + len) * 2 + FIRST_BYTES;
			text->at = util_realloc(text->at, text->size);
		}
		memcpy(text->at + text->len, bytes, len);
	}
	text->len += len;
}

static void put_char(struct text *text, char c)
{
	put(text, &c, 1);
}

static bool must_escape(unsigned char c)
{
	return c < 0x20 || c == '"' || c == '\\';
}

typedef unsigned char block __attribute__((vector_size(BLOCK_BYTES)));

/* Does one of the BLOCK_BYTES bytes there have to be escaped? */
static bool block_must_escape(const char *bytes)
{
	uint64_t words[BLOCK_BYTES / sizeof(uint64_t)];
	block in, found;

	memcpy(&in, bytes, sizeof(in));
	found = (block)(((in & 0xe0) == 0) | (in == '"') | (in == '\\'));
	memcpy(words, &found, sizeof(words));
	return words[0] | words[1];
}

/* How many bytes stand before the first one that has to be escaped. */
static size_t plain_len(const char *bytes, size_t len)
{
	size_t n = 0;

	while (len - n >= BLOCK_BYTES && !block_must_escape(bytes + n))
		n += BLOCK_BYTES;
	while (n < len && !must_escape((unsigned char)bytes[n]))
		n++;
	return n;
}

static void put_escaped(struct text *text, unsigned char c)
{
	static const char short_for[] = "\"\\\b\f\n\r\t", short_name[] = "\"\\bfnrt";
	const char *known = c ? strchr(short_for, c) : NULL;
	char escape[8];

	if (known)
		put(text, (const char[]){'\\', short_name[known - short_for]}, 2);
	else
		put(text, escape, (size_t)snprintf(escape, sizeof(escape), "\\u%04X", c));
}

static void put_string(struct text *text, const char *bytes, size_t len)
{
	put_char(text, '"');
	for (size_t at = 0; at < len; at++) {
		size_t n = plain_len(bytes + at, len - at);

		put(text, bytes + at, n);
		at += n;
		if (at < len)
			put_escaped(text, (unsigned char)bytes[at]);
	}
	put_char(text, '"');
}

/* 0.1 and not 0.10000000000000001: as few digits as say the same number, where 15 of them do. */
static size_t real_text(const json_t *number, char out[NUMBER_MAX])
{
	size_t len = json_dumpb(number, out, NUMBER_MAX - 1, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
	double back;

	out[len] = '\0';
	back = strtod(out, NULL);
	return back < json_real_value(number) || back > json_real_value(number) ? json_dumpb(number, out, NUMBER_MAX, JSON_ENCODE_ANY) : len;
}

static void put_number(struct text *text, const json_t *number)
{
	char out[NUMBER_MAX];
	size_t len = json_is_integer(number) ? (size_t)snprintf(out, sizeof(out), "%lld", (long long)json_integer_value(number)) : real_text(number, out);

	if (len == 0 || len > sizeof(out))
		DIE("a number that has no text");
	put(text, out, len);
}

static void put_value(struct text *text, const json_t *value);

static void put_array(struct text *text, const json_t *array)
{
	const json_t *item;
	size_t i;

	put_char(text, '[');
	json_array_foreach(array, i, item) {
		if (i > 0)
			put_char(text, ',');
		put_value(text, item);
	}
	put_char(text, ']');
}

static void put_object(struct text *text, const json_t *object)
{
	const char *key;
	json_t *item;
	char before = '{';

	json_object_foreach((json_t *)(uintptr_t)object, key, item) {
		put_char(text, before);
		put_string(text, key, strlen(key));
		put_char(text, ':');
		put_value(text, item);
		before = ',';
	}
	put(text, "{}", before == '{' ? 2 : 0);
	put(text, "}", before == '{' ? 0 : 1);
}

static void put_value(struct text *text, const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_OBJECT:
		put_object(text, value);
		break;
	case JSON_ARRAY:
		put_array(text, value);
		break;
	case JSON_STRING:
		put_string(text, json_string_value(value), json_string_length(value));
		break;
	case JSON_INTEGER:
	case JSON_REAL:
		put_number(text, value);
		break;
	case JSON_TRUE:
		put(text, "true", 4);
		break;
	case JSON_FALSE:
		put(text, "false", 5);
		break;
	case JSON_NULL:
		put(text, "null", 4);
		break;
	}
}

char *json_text(const json_t *value, size_t *len)
{
	struct text text = {.len = 0};

	if (!value)
		DIE("no value to write: its memory is missing, or a text in it is no UTF-8");
	put_value(&text, value);
	put_char(&text, '\0');
	if (len)
		*len = text.len - 1;
	return text.at;
}

size_t json_text_len(const json_t *value)
{
	struct text text = {.is_measured = true};

	put_value(&text, value);
	return text.len;
}
