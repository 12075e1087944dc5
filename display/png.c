/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chunks and stripes.
 */
#include "display/png.h"

#include <libdeflate.h>
#include <string.h>
#include <sys/param.h>

#include "display/deflate.h"
#include "display/filter.h"
#include "display/matches.h"
#include "session/base/util.h"

#define CHUNK_BYTES 12  /* of a chunk without its data: length and type before it, CRC behind it */
#define CHUNK_HEAD 8
#define WRITE_SLACK 8   /* bytes that deflate_write may touch behind its block */
#define IHDR_BYTES 13
#define ADLER_BYTES 4
#define RGB 2           /* type of colour */

static const uint8_t signature[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
static const uint8_t zlib_head[] = {0x78, 0x01}; /* RFC 1950: a window of 32 KB, the fastest way */

#define HEAD_BYTES (sizeof(signature) + CHUNK_BYTES + IHDR_BYTES + CHUNK_BYTES + sizeof(zlib_head))
#define TAIL_BYTES (CHUNK_BYTES + DEFLATE_FINAL_BYTES + ADLER_BYTES + CHUNK_BYTES)

struct stripe {
	uint8_t *chunk; /* NULL: none yet */
	size_t len;
	uint32_t adler; /* of its filtered bytes */
};

struct png {
	int width, height, n_stripes;
	struct stripe *stripes;
	struct filter filter;
	struct matches matches;
	struct deflate deflate;
	uint8_t *chunk; /* room for the largest one */
};

static int stripe_rows(const struct png *png, int stripe)
{
	return MIN(PNG_STRIPE_ROWS, png->height - stripe * PNG_STRIPE_ROWS);
}

static size_t stripe_bytes(const struct png *png, int stripe)
{
	return (size_t)stripe_rows(png, stripe) * filter_row_bytes(&png->filter);
}

struct png *png_create(int width, int height)
{
	struct png *png = util_zalloc(sizeof(*png));

	png->width = width;
	png->height = height;
	png->n_stripes = (height + PNG_STRIPE_ROWS - 1) / PNG_STRIPE_ROWS;
	png->stripes = util_zalloc((size_t)png->n_stripes * sizeof(*png->stripes));
	filter_init(&png->filter, width);
	deflate_init(&png->deflate, (size_t)stripe_rows(png, 0) * ((size_t)width + 1));
	png->chunk = util_alloc(CHUNK_BYTES + deflate_stored_bytes(stripe_bytes(png, 0)) + WRITE_SLACK);
	return png;
}

void png_destroy(struct png *png)
{
	if (!png)
		return;
	for (int i = 0; i < png->n_stripes; i++)
		free(png->stripes[i].chunk);
	free(png->stripes);
	filter_finish(&png->filter);
	deflate_finish(&png->deflate);
	free(png->chunk);
	free(png);
}

size_t png_cost(const struct png *png)
{
	size_t cost = png ? sizeof(*png) + 3 * PNG_STRIPE_ROWS * sizeof(uint32_t) * (size_t)png->width : 0; /* pixels, tokens, a chunk */

	for (int i = 0; png && i < png->n_stripes; i++)
		cost += png->stripes[i].len;
	return cost;
}

static uint8_t *put_u32(uint8_t *out, uint32_t value)
{
	const uint8_t bytes[] = {(uint8_t)(value >> 24), (uint8_t)(value >> 16), (uint8_t)(value >> 8), (uint8_t)value};

	memcpy(out, bytes, sizeof(bytes));
	return out + sizeof(bytes);
}

/* Makes the `len` bytes at chunk + CHUNK_HEAD a chunk; returns its end. */
static uint8_t *close_chunk(uint8_t *chunk, const char *type, size_t len)
{
	memcpy(put_u32(chunk, (uint32_t)len), type, 4);
	return put_u32(chunk + CHUNK_HEAD + len, libdeflate_crc32(0, chunk + 4, 4 + len));
}

static uint8_t *put_chunk(uint8_t *out, const char *type, const void *data, size_t len)
{
	if (len > 0)
		memcpy(out + CHUNK_HEAD, data, len);
	return close_chunk(out, type, len);
}

/* Pixels that do not repeat, which any program can show, take no more than they are. */
static size_t write_block(struct png *png, size_t bytes, uint8_t *out)
{
	size_t stored = deflate_stored_bytes(bytes), len;
	auto_free uint8_t *plain = NULL;

	deflate_begin(&png->deflate);
	matches_find(&png->matches, &png->filter, &png->deflate);
	len = deflate_write(&png->deflate, out, stored);
	if (len > 0)
		return len;
	plain = util_alloc(bytes);
	filter_bytes(&png->filter, plain);
	return deflate_store(plain, bytes, out);
}

static void encode_stripe(struct png *png, const struct image *image, int number)
{
	struct image part = image_part(image, 0, number * PNG_STRIPE_ROWS, png->width, stripe_rows(png, number));
	struct stripe *stripe = &png->stripes[number];
	size_t len;

	filter_stripe(&png->filter, &part);
	len = write_block(png, stripe_bytes(png, number), png->chunk + CHUNK_HEAD);
	stripe->len = (size_t)(close_chunk(png->chunk, "IDAT", len) - png->chunk);
	stripe->chunk = util_realloc(stripe->chunk, stripe->len);
	memcpy(stripe->chunk, png->chunk, stripe->len);
	stripe->adler = png->filter.adler;
}

static uint8_t *put_head(const struct png *png, uint8_t *out)
{
	uint8_t ihdr[IHDR_BYTES] = {[8] = 8, RGB};

	put_u32(put_u32(ihdr, (uint32_t)png->width), (uint32_t)png->height);
	memcpy(out, signature, sizeof(signature));
	out = put_chunk(out + sizeof(signature), "IHDR", ihdr, sizeof(ihdr));
	return put_chunk(out, "IDAT", zlib_head, sizeof(zlib_head));
}

static uint8_t *put_tail(const struct png *png, uint8_t *out)
{
	uint8_t end[DEFLATE_FINAL_BYTES + ADLER_BYTES] = DEFLATE_FINAL;
	uint32_t adler = 1;

	for (int i = 0; i < png->n_stripes; i++)
		adler = filter_adler_join(adler, png->stripes[i].adler, stripe_bytes(png, i));
	put_u32(end + DEFLATE_FINAL_BYTES, adler);
	out = put_chunk(out, "IDAT", end, sizeof(end));
	return put_chunk(out, "IEND", NULL, 0);
}

int png_encode(struct png *png, const struct image *image, const bool *dirty, char **bytes, size_t *len, struct err *e)
{
	size_t size = HEAD_BYTES + TAIL_BYTES;
	uint8_t *file, *out;

	if (image->width != png->width || image->height != png->height)
		return err_set(e, ERR_INTERNAL, NULL, "a picture of %dx%d was to be encoded as one of %dx%d", image->width, image->height,
		               png->width, png->height);
	for (int i = 0; i < png->n_stripes; i++) {
		if (!dirty || dirty[i] || !png->stripes[i].chunk)
			encode_stripe(png, image, i);
		size += png->stripes[i].len;
	}
	file = util_alloc(size);
	out = put_head(png, file);
	for (int i = 0; i < png->n_stripes; i++) {
		memcpy(out, png->stripes[i].chunk, png->stripes[i].len);
		out += png->stripes[i].len;
	}
	put_tail(png, out);
	*bytes = (char *)file;
	*len = size;
	return 0;
}
