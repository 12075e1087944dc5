/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bytes to bounded, valid UTF-8. */
#include "apps/text.h"

#include <stdint.h>
#include <string.h>
#include <sys/param.h>

#include "session/base/util.h"

#define REPLACEMENT "\xEF\xBF\xBD"

struct builder {
	char *text;
	size_t len, size, max;
	bool full;
};

static void add(struct builder *b, const char *piece, size_t n)
{
	if (b->full || b->len + n > b->max) {
		b->full = true;
		return;
	}
	if (b->len + n + 1 > b->size) {
		b->size = MIN(2 * (b->len + n + 1), b->max + 1);
		b->text = util_realloc(b->text, b->size);
	}
	memcpy(b->text + b->len, piece, n);
	b->len += n;
}

static char *finish(struct builder *b, size_t *out_len, bool *cut)
{
	if (!b->text)
		b->text = util_alloc(1);
	b->text[b->len] = '\0';
	*out_len = b->len;
	if (b->full && cut)
		*cut = true;
	return b->text;
}

char *text_utf8(const char *bytes, size_t len, size_t max, size_t *out_len, bool *cut)
{
	struct builder b = {.max = max};

	for (size_t at = 0; at < len && !b.full;) {
		uint32_t code_point;
		size_t n = util_utf8_decode(bytes + at, len - at, &code_point);

		if (n > 0)
			add(&b, bytes + at, n);
		else
			add(&b, REPLACEMENT, strlen(REPLACEMENT));
		at += n > 0 ? n : 1;
	}
	return finish(&b, out_len, cut);
}

char *text_name(const char *bytes, size_t len, bool latin1, size_t max, size_t *out_len)
{
	struct builder b = {.max = max};

	for (size_t at = 0; at < len && !b.full;) {
		const unsigned char byte = (unsigned char)bytes[at];
		const char two[2] = {(char)(0xC0 | byte >> 6), (char)(0x80 | (byte & 0x3F))};
		uint32_t code_point;
		size_t n = latin1 ? 1 : util_utf8_decode(bytes + at, len - at, &code_point);

		if (byte == '\0' || n == 0)
			add(&b, REPLACEMENT, strlen(REPLACEMENT));
		else if (latin1 && byte >= 0x80)
			add(&b, two, sizeof(two));
		else
			add(&b, bytes + at, n);
		at += n > 0 ? n : 1;
	}
	return finish(&b, out_len, NULL);
}

bool text_has_control(const char *text, size_t len)
{
	for (size_t at = 0; at < len;) {
		uint32_t code_point;
		size_t n = util_utf8_decode(text + at, len - at, &code_point);

		if (n == 0 || code_point < 0x20 || (code_point >= 0x7F && code_point < 0xA0))
			return true;
		at += n;
	}
	return false;
}
