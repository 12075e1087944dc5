/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: display */
/* The fast PNG encoder: thousands of images and changes of images, each read back by libpng to the pixel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include <cmocka.h>
#include <png.h>

#include "display/deflate.h"
#include "display/filter.h"
#include "display/huffman.h"
#include "display/png.h"
#include "session/base/util.h"

#define OPAQUE 0xFFFFFFU
#define IMAGES 2400
#define CHANGES 25

static uint32_t next_random(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

static uint32_t below(uint32_t *state, uint32_t n)
{
	return next_random(state) % n;
}

/* What a pixel of an image of some kind is; `seed` is the image's. */
typedef uint32_t paint_fn(int x, int y, uint32_t seed, uint32_t *state);

static uint32_t flat(int x, int y, uint32_t seed, uint32_t *state)
{
	(void)x, (void)y, (void)state;
	return seed;
}

static uint32_t gradient(int x, int y, uint32_t seed, uint32_t *state)
{
	(void)state;
	return (uint32_t)(x * (int)(seed % 5) + y) << 16 | (uint32_t)(y * 2) << 8 | (uint32_t)(x + y);
}

static uint32_t noise(int x, int y, uint32_t seed, uint32_t *state)
{
	(void)x, (void)y, (void)seed;
	return next_random(state);
}

/* Words of dark, soft-edged glyphs on a plain ground; the same glyphs come again. */
static uint32_t text(int x, int y, uint32_t seed, uint32_t *state)
{
	uint32_t glyph = ((uint32_t)(x / 7) * 2654435761U ^ (uint32_t)(y / 13) * 40503U ^ seed) >> 7 & 15;
	uint32_t shade = (glyph * 73U + (uint32_t)(x % 7) * 31U + (uint32_t)(y % 13) * glyph * 17U) % 5;

	(void)state;
	return y % 13 > 9 || glyph > 11 || shade > 2 ? 0xF0F0F0 : 0x202020 * (shade + 1);
}

static uint32_t photo(int x, int y, uint32_t seed, uint32_t *state)
{
	uint32_t base = (uint32_t)(100 + x / 2 + y / 3) + seed % 7;

	return (base + below(state, 4)) << 16 | (base + below(state, 4)) << 8 | (base / 2 + below(state, 4));
}

/* Nearly all pixels differ from all of their neighbours, by less than colours do. */
static uint32_t detailed(int x, int y, uint32_t seed, uint32_t *state)
{
	uint32_t base = (uint32_t)(60 + (x * 7 ^ y * 5) % 40 + x / 3 + y / 2) + seed % 7;

	return (base + below(state, 20)) << 16 | (base + below(state, 20)) << 8 | (base / 2 + below(state, 20));
}

static uint32_t few_colours(int x, int y, uint32_t seed, uint32_t *state)
{
	static const uint32_t colours[] = {0, 0xFFFFFF, 0x3366CC, 0xFF0000};

	(void)x, (void)y, (void)seed;
	return colours[below(state, ARRAY_LEN(colours))];
}

/* Rows that repeat, some with one pixel that does not. */
static uint32_t stripes(int x, int y, uint32_t seed, uint32_t *state)
{
	return below(state, 500) == 0 ? next_random(state) : (uint32_t)(x % (3 + (int)(seed % 40)) * 0x112233 + (y / 5) * 0x010203);
}

/*
 * Rows of colours that do not repeat within them, each four times, and half of each as in the rows before these: in a wide image that is
 * further back than a copy may reach.
 */
static uint32_t echoes(int x, int y, uint32_t seed, uint32_t *state)
{
	uint32_t colour = (uint32_t)x + seed + (x / 64 % 2 ? (uint32_t)(y / 4) * 4096 : 0) + 1;

	(void)state;
	return colour * 2654435761U >> 4;
}

/* Parts of all kinds beside and above each other, as on a desktop. */
static uint32_t mixed(int x, int y, uint32_t seed, uint32_t *state)
{
	static paint_fn *const parts[] = {flat, text, gradient, photo, stripes, noise};

	return parts[((uint32_t)(x / 41) + (uint32_t)(y / 29) * 3 + seed) % ARRAY_LEN(parts)](x, y, seed, state);
}

static paint_fn *const paints[] = {flat, gradient, noise, text, photo, detailed, few_colours, stripes, echoes, mixed};

static void paint(const struct image *image, paint_fn *fn, uint32_t seed)
{
	uint32_t state = seed | 1;

	for (int y = 0; y < image->height; y++)
		for (int x = 0; x < image->width; x++)
			image_row(image, y)[x] = fn(x, y, seed, &state) ^ (seed & 1 ? 0x5A000000U : 0);
}

/* Reads the PNG back by libpng, which checks every checksum, and compares. */
static void check_png(const struct image *image, const char *bytes, size_t len)
{
	png_image png = {.version = PNG_IMAGE_VERSION};
	struct image back;

	if (!png_image_begin_read_from_memory(&png, bytes, len))
		fail_msg("libpng: %s", png.message);
	assert_int_equal(png.format, PNG_FORMAT_RGB);
	assert_int_equal(png.width, image->width);
	assert_int_equal(png.height, image->height);
	png.format = PNG_FORMAT_BGRA;
	back = image_create(image->width, image->height);
	if (!png_image_finish_read(&png, NULL, back.pixels, 0, NULL) || PNG_IMAGE_FAILED(png) || png.warning_or_error)
		fail_msg("libpng: %s", png.message);
	for (int y = 0; y < image->height; y++)
		for (int x = 0; x < image->width; x++)
			if ((image_row(&back, y)[x] ^ image_row(image, y)[x]) & OPAQUE)
				fail_msg("pixel %d,%d of %dx%d is %06x instead of %06x", x, y, image->width, image->height,
				         image_row(&back, y)[x] & OPAQUE, image_row(image, y)[x] & OPAQUE);
	free(back.pixels);
}

static size_t check_encode(struct png *png, const struct image *image, const bool *dirty)
{
	struct err e;
	char *bytes;
	size_t len;

	assert_int_equal(png_encode(png, image, dirty, &bytes, &len, &e), 0);
	check_png(image, bytes, len);
	free(bytes);
	return len;
}

static size_t check_image(int width, int height, paint_fn *fn, uint32_t seed)
{
	struct image image = image_create(width, height);
	struct png *png = png_create(width, height);
	size_t len;

	paint(&image, fn, seed);
	len = check_encode(png, &image, NULL);
	png_destroy(png);
	free(image.pixels);
	return len;
}

static void test_random_images(void **state)
{
	uint32_t random = 20261130;

	(void)state;
	for (int i = 0; i < IMAGES; i++) {
		uint32_t seed = next_random(&random);

		check_image(1 + (int)below(&random, 200), 1 + (int)below(&random, 200), paints[(size_t)i % ARRAY_LEN(paints)], seed);
	}
}

static void test_sides(void **state)
{
	static const int sizes[][2] = {{1, 1},   {1, 2},    {2, 1},   {3, 1},    {1, 200},  {200, 1},  {85, 3},   {86, 3},   {87, 3},
	                               {5, 31},  {5, 32},   {5, 33},  {4096, 1}, {4096, 33}, {4095, 3}, {1, 4096}, {2, 4096}, {3, 4095},
	                               {64, 64}, {171, 65}, {1366, 34}, {3000, 40}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
		for (size_t kind = 0; kind < ARRAY_LEN(paints); kind++)
			check_image(sizes[i][0], sizes[i][1], paints[kind], (uint32_t)(i * 31 + kind));
}

static void test_large(void **state)
{
	(void)state;
	check_image(3840, 2160, mixed, 3);
	check_image(4096, 4096, mixed, 8);
	check_image(4096, 4096, flat, 0x123456);
}

/* What any program can show is no larger than it is as bytes, but for the frame around them; and what is plain is next to nothing. */
static void test_size_is_bounded(void **state)
{
	static const int sizes[][2] = {{1, 1}, {7, 5}, {200, 100}, {1280, 800}, {4096, 64}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		int width = sizes[i][0], height = sizes[i][1];
		size_t bytes = (3 * (size_t)width + 1) * (size_t)height, n_stripes = (size_t)(height + 31) / 32;

		assert_in_range(check_image(width, height, noise, 77), 0, bytes + bytes / 65535 * 5 + n_stripes * 22 + 100);
	}
	assert_in_range(check_image(1280, 800, flat, 0xABCDEF), 0, 1280 * 800 * 3 / 500);
}

/* Paints a rectangle over, and says which stripes it is in. */
static void change(const struct image *image, uint32_t *random, bool *dirty)
{
	int x = (int)below(random, (uint32_t)image->width), y = (int)below(random, (uint32_t)image->height);
	int width = 1 + (int)below(random, (uint32_t)(image->width - x)), height = 1 + (int)below(random, (uint32_t)MIN(image->height - y, 70));
	struct image part = image_part(image, x, y, width, height);

	paint(&part, paints[below(random, ARRAY_LEN(paints))], next_random(random));
	for (int i = y / PNG_STRIPE_ROWS; i <= (y + height - 1) / PNG_STRIPE_ROWS; i++)
		dirty[i] = true;
}

/* After each of many changes, of which only the stripes that they touch are encoded again, all pixels are right. */
static void test_changes(void **state)
{
	static const int sizes[][2] = {{1, 1}, {201, 131}, {64, 32}, {65, 33}, {333, 320}, {7, 300}, {1280, 100}};
	uint32_t random = 41;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		struct image image = image_create(sizes[i][0], sizes[i][1]);
		struct png *png = png_create(image.width, image.height);
		bool dirty[16] = {false};

		paint(&image, paints[i % ARRAY_LEN(paints)], (uint32_t)i);
		/* The first call encodes all, whatever it is told. */
		check_encode(png, &image, dirty);
		for (int n = 0; n < CHANGES; n++) {
			memset(dirty, 0, sizeof(dirty));
			for (uint32_t changes = below(&random, 4); changes > 0; changes--)
				change(&image, &random, dirty);
			check_encode(png, &image, dirty);
		}
		png_destroy(png);
		free(image.pixels);
	}
}

/* What is kept is of the stripes that were not said to be dirty, and of those only. */
static void test_clean_stripes_are_kept(void **state)
{
	struct image image = image_create(50, 96), as_kept = image_create(50, 96);
	struct png *png = png_create(50, 96);
	struct err e;
	char *bytes;
	size_t len;

	(void)state;
	paint(&image, text, 1);
	memcpy(as_kept.pixels, image.pixels, 50 * 96 * sizeof(uint32_t));
	check_encode(png, &image, NULL);
	paint(&image, photo, 2);
	memcpy(image_row(&as_kept, 32), image_row(&image, 32), 50 * 32 * sizeof(uint32_t));
	assert_int_equal(png_encode(png, &image, (bool[]){false, true, false}, &bytes, &len, &e), 0);
	check_png(&as_kept, bytes, len);
	free(bytes);
	png_destroy(png);
	png_destroy(NULL);
	free(image.pixels);
	free(as_kept.pixels);
}

static void test_part_of_an_image(void **state)
{
	struct image image = image_create(301, 203), part = image_part(&image, 17, 21, 250, 150);
	struct png *png = png_create(250, 150);

	(void)state;
	paint(&image, mixed, 5);
	check_encode(png, &part, NULL);
	png_destroy(png);
	free(image.pixels);
}

static void test_wrong_size(void **state)
{
	struct image image = image_create(10, 10);
	struct png *png = png_create(10, 11);
	char *bytes = NULL;
	struct err e;
	size_t len;

	(void)state;
	assert_int_equal(png_encode(png, &image, NULL, &bytes, &len, &e), -1);
	assert_int_equal(e.code, ERR_INTERNAL);
	assert_null(bytes);
	png_destroy(png);
	free(image.pixels);
}

/* Codes of any counts are complete (else zlib refuses them), within the limit, and no rarer symbol has a shorter one. */
static void check_code(const uint32_t *counts, int n, int max_bits)
{
	struct huffman code;
	uint32_t taken = 0;

	huffman_build(&code, counts, n, max_bits);
	for (int i = 0; i < n; i++) {
		assert_in_range(code.bits[i], counts[i] > 0, max_bits);
		taken += code.bits[i] > 0 ? 1U << (max_bits - code.bits[i]) : 0;
		for (int j = 0; j < n; j++)
			assert_false(counts[i] < counts[j] && counts[i] > 0 && code.bits[i] < code.bits[j]);
	}
	assert_int_equal(taken, 1U << max_bits);
}

static void test_codes(void **state)
{
	uint32_t counts[HUFFMAN_SYMBOLS], random = 3;

	(void)state;
	for (int round = 0; round < 300; round++) {
		static const int limits[] = {HUFFMAN_BITS, 7};
		int max_bits = limits[round % 2], n = max_bits == 7 ? 19 : 2 + (int)below(&random, HUFFMAN_SYMBOLS - 1);
		uint32_t previous = 1, before = 1;

		memset(counts, 0, sizeof(counts));
		for (int i = 0; i < n; i++) {
			/* Those of Fibonacci make the deepest tree. */
			uint32_t now = i < 25 ? previous + before : 1;

			counts[i] = round % 3 == 0 ? now : round % 3 == 1 ? below(&random, 1000) : below(&random, 50) == 0 ? next_random(&random) >> 12 : 0;
			before = previous;
			previous = now;
		}
		check_code(counts, n, max_bits);
	}
	memset(counts, 0, sizeof(counts));
	check_code(counts, 2, HUFFMAN_BITS);
	counts[1] = 5;
	check_code(counts, 30, HUFFMAN_BITS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_images),   cmocka_unit_test(test_sides),
		cmocka_unit_test(test_large),           cmocka_unit_test(test_size_is_bounded),
		cmocka_unit_test(test_changes),         cmocka_unit_test(test_clean_stripes_are_kept),
		cmocka_unit_test(test_part_of_an_image), cmocka_unit_test(test_wrong_size),
		cmocka_unit_test(test_codes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
