/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Journals made by hand, for the tests of what reads them. */
#ifndef TESTS_REPLAY_MAKE_H
#define TESTS_REPLAY_MAKE_H

#include <stdio.h>
#include <string.h>

#include "session/base/chain.h"
#include "session/base/util.h"
#include "session/replay/pixels.h"
#include "session/replay/reader.h"

struct make {
	char *lines, *pictures;
	size_t lines_len, pictures_len;
	struct chain chain;
	uint64_t n_pictures;
};

__attribute__((unused)) static void make_append(char **to, size_t *len, const void *data, size_t n)
{
	*to = util_realloc(*to, *len + n + 1);
	memcpy(*to + *len, data, n);
	*len += n;
	(*to)[*len] = '\0';
}

/* A line of the journal; `fields` is JSON text. */
__attribute__((unused)) static void make_line(struct make *make, const char *event, const char *fields)
{
	json_auto_t *object = json_loads(fields, 0, NULL);
	json_auto_t *line = chain_line(&make->chain, event, object);
	struct chain next;
	auto_free char *text = chain_text(&make->chain, line, &next);

	make->chain = next;
	make_append(&make->lines, &make->lines_len, text, strlen(text));
}

/* A line as it is, but for its number and hash: what no stage writes. */
__attribute__((unused)) static void make_raw(struct make *make, const char *text)
{
	json_auto_t *line = json_loads(text, 0, NULL);
	struct chain next;
	auto_free char *chained = NULL;

	json_object_set_new(line, "seq", json_integer((json_int_t)make->chain.seq + 1));
	chained = chain_text(&make->chain, line, &next);
	make->chain = next;
	make_append(&make->lines, &make->lines_len, chained, strlen(chained));
}

/* A record of one part at `place`, and the line of it. Its number. */
__attribute__((unused)) static uint64_t make_picture(struct make *make, const struct pixels *part, int x, int y, int width, int height, bool is_key)
{
	static const char salt[] = "000102030405060708090a0b0c0d0e0f";
	uint64_t number = ++make->n_pictures;
	size_t png_len, header_len;
	auto_free void *png = pixels_encode(part, &png_len);
	auto_free char *base = is_key ? util_strdup("null") : util_printf("%ju", (uintmax_t)number - 1);
	auto_free char *header = util_printf("{\"picture\":%ju,\"frame\":%ju,\"base\":%s,\"width\":%d,\"height\":%d,\"salt\":\"%s\",\"parts\":[{\"x\":%d,\"y\":%d,"
	                                     "\"width\":%d,\"height\":%d,\"bytes\":%zu}]}\n", (uintmax_t)number, (uintmax_t)number * 10, base, width, height,
	                                     salt, x, y, part->width, part->height, png_len);
	auto_free char *hashed = NULL, *fields = NULL;
	uint8_t digest[HASH_BYTES];
	char hex[CHAIN_HEX_SIZE];

	header_len = strlen(header);
	hashed = util_alloc(16 + header_len + png_len);
	for (size_t i = 0; i < 16; i++)
		hashed[i] = (char)i;
	memcpy(hashed + 16, header, header_len - 1);
	memcpy(hashed + 16 + header_len - 1, png, png_len);
	hash_sha256(hashed, 16 + header_len - 1 + png_len, digest);
	util_hex(hex, digest, sizeof(digest));
	make_append(&make->pictures, &make->pictures_len, header, header_len);
	make_append(&make->pictures, &make->pictures_len, png, png_len);
	fields = util_printf("{\"picture\":%ju,\"frame\":%ju,\"digest\":\"%s\"}", (uintmax_t)number, (uintmax_t)number * 10, hex);
	make_line(make, "picture", fields);
	return number;
}

/* Pixels of one colour, 0xRRGGBB. */
__attribute__((unused)) static struct pixels make_pixels(int width, int height, unsigned colour)
{
	struct pixels pixels = pixels_create(width, height);

	for (int i = 0; i < width * height; i++) {
		pixels.rgb[3 * i] = (uint8_t)(colour >> 16);
		pixels.rgb[3 * i + 1] = (uint8_t)(colour >> 8 & 0xff);
		pixels.rgb[3 * i + 2] = (uint8_t)(colour & 0xff);
	}
	return pixels;
}

/* What was made, as parts for reader_read; *make is empty then. */
__attribute__((unused)) static struct reader_parts make_parts(struct make *make)
{
	struct reader_parts parts = {source_of_memory(make->lines, make->lines_len), source_of_memory(make->pictures, make->pictures_len),
	                             source_none()};

	*make = (struct make){.lines = NULL};
	return parts;
}

#endif
