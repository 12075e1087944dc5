/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: display */
/* Pixels: PNG read back by libpng, blending, scaling. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include <cmocka.h>
#include <png.h>

#include "display/encode.h"
#include "display/image.h"
#include "session/base/util.h"

static struct image image_of(int width, int height)
{
	return (struct image){width, height, width, util_zalloc((size_t)width * (size_t)height * sizeof(uint32_t))};
}

/* What is in the PNG, as 0x00RRGGBB. */
static struct image decode(const char *bytes, size_t len)
{
	png_image png = {.version = PNG_IMAGE_VERSION};

	assert_true(png_image_begin_read_from_memory(&png, bytes, len));
	assert_int_equal(png.format, PNG_FORMAT_RGB); /* no alpha */
	png.format = PNG_FORMAT_BGRA;
	struct image image = image_of((int)png.width, (int)png.height);

	assert_true(png_image_finish_read(&png, NULL, image.pixels, 0, NULL));
	for (int i = 0; i < image.width * image.height; i++)
		image.pixels[i] &= 0xFFFFFF;
	return image;
}

static void check_round_trip(int width, int height, unsigned int seed)
{
	struct image image = image_of(width, height), back;
	struct err e;
	char *bytes;
	size_t len;

	srand(seed);
	for (int i = 0; i < width * height; i++)
		image.pixels[i] = seed % 2 ? (uint32_t)rand() : (uint32_t)(i * 7);
	assert_int_equal(encode_png(&image, 0, &bytes, &len, &e), 0);
	back = decode(bytes, len);
	assert_int_equal(back.width, width);
	assert_int_equal(back.height, height);
	for (int i = 0; i < width * height; i++)
		assert_int_equal(back.pixels[i], image.pixels[i] & 0xFFFFFF);
	free(bytes);
	free(image.pixels);
	free(back.pixels);
}

static void test_png_reads_back(void **state)
{
	(void)state;
	check_round_trip(1, 1, 1);
	check_round_trip(3, 2, 2);
	check_round_trip(1280, 800, 4);
	check_round_trip(601, 97, 5);
	check_round_trip(1, 4096, 7);
}

static void test_blend_is_premultiplied(void **state)
{
	struct image under = image_of(3, 1), over = image_of(3, 1);

	(void)state;
	under.pixels[0] = under.pixels[1] = under.pixels[2] = 0x00C86432;
	over.pixels[0] = 0;          /* nothing */
	over.pixels[1] = 0xFF102030; /* all of it */
	over.pixels[2] = 0x80400000; /* half a red */
	image_blend(&under, &over, 0, 0);
	assert_int_equal(under.pixels[0], 0xC86432);
	assert_int_equal(under.pixels[1], 0x102030);
	assert_int_equal(under.pixels[2], 0xA43219); /* 0x40 + 200 * 127/255, 100 * 127/255, 50 * 127/255 */
	free(under.pixels);
	free(over.pixels);
}

/* A cursor made by a hostile program. */
static void test_blend_does_not_overflow(void **state)
{
	struct image under = image_of(1, 1), over = image_of(1, 1);

	(void)state;
	under.pixels[0] = 0xFFFFFF;
	over.pixels[0] = 0x00FFFFFF;
	image_blend(&under, &over, 0, 0);
	assert_int_equal(under.pixels[0], 0xFFFFFF);
	under.pixels[0] = 0x0000F0;
	over.pixels[0] = 0x000000FF;
	image_blend(&under, &over, 0, 0);
	assert_int_equal(under.pixels[0], 0x0000FF);
	free(under.pixels);
	free(over.pixels);
}

static void test_blend_is_clipped(void **state)
{
	static const int places[][2] = {{-2, -2}, {-3, 0}, {3, 3}, {4, 0}, {-1, 3}, {INT16_MIN, INT16_MAX}};
	static const int drawn[] = {1, 0, 1, 0, 2, 0};
	struct image over = image_of(3, 3);

	(void)state;
	for (int i = 0; i < 9; i++)
		over.pixels[i] = 0xFFFFFFFF;
	for (size_t p = 0; p < ARRAY_LEN(places); p++) {
		struct image under = image_of(4, 4);
		int n = 0;

		image_blend(&under, &over, places[p][0], places[p][1]);
		for (int i = 0; i < 16; i++)
			n += under.pixels[i] != 0;
		assert_int_equal(n, drawn[p]);
		free(under.pixels);
	}
	free(over.pixels);
}

static void test_scale_is_the_mean(void **state)
{
	struct image in = image_of(4, 2), out = image_of(2, 1);

	(void)state;
	for (int i = 0; i < 8; i++)
		in.pixels[i] = (uint32_t)(i % 4 < 2 ? 0x640000 : 0x0000C8) + (i < 4 ? 0U : 0x000A00U);
	image_scale(&in, &out);
	assert_int_equal(out.pixels[0], 0x640500);
	assert_int_equal(out.pixels[1], 0x0005C8);
	free(in.pixels);
	free(out.pixels);
}

/* Parts of pixels are weighed: 3 columns to 2. */
static void test_scale_weighs_parts(void **state)
{
	struct image in = image_of(3, 1), out = image_of(2, 1);

	(void)state;
	in.pixels[0] = 0;
	in.pixels[1] = 90;
	in.pixels[2] = 150;
	image_scale(&in, &out);
	assert_int_equal(out.pixels[0], 30);  /* 0 and a third of what it covers is 90 */
	assert_int_equal(out.pixels[1], 130); /* a third 90, two thirds 150 */
	free(in.pixels);
	free(out.pixels);
}

static void check_plain(int in_w, int in_h, int out_w, int out_h)
{
	struct image in = image_of(in_w, in_h), out = image_of(out_w, out_h);

	for (int i = 0; i < in_w * in_h; i++)
		in.pixels[i] = 0xFF80FF;
	image_scale(&in, &out);
	for (int i = 0; i < out_w * out_h; i++)
		assert_int_equal(out.pixels[i], 0xFF80FF);
	free(in.pixels);
	free(out.pixels);
}

/* Parts of pixel a of n_in that lie in pixel b of n_out, of n_in * n_out that there are. */
static uint64_t overlap(int a, int n_in, int b, int n_out)
{
	int64_t start = MAX((int64_t)a * n_out, (int64_t)b * n_in), end = MIN(((int64_t)a + 1) * n_out, ((int64_t)b + 1) * n_in);

	return end > start ? (uint64_t)(end - start) : 0;
}

/* The plain way, without shortcuts: the mean of all that a pixel covers, in whole numbers. */
static uint32_t mean_of(const struct image *in, const struct image *out, int x, int y)
{
	uint64_t sums[3] = {0}, parts = (uint64_t)in->width * (uint64_t)in->height;
	uint32_t pixel = 0;

	for (int in_y = 0; in_y < in->height; in_y++)
		for (int in_x = 0; in_x < in->width; in_x++) {
			uint64_t weight = overlap(in_x, in->width, x, out->width) * overlap(in_y, in->height, y, out->height);

			for (int c = 0; c < 3 && weight > 0; c++)
				sums[c] += (image_row(in, in_y)[in_x] >> 8 * c & 0xFF) * weight;
		}
	for (int c = 0; c < 3; c++)
		pixel |= (uint32_t)((sums[c] + parts / 2) / parts) << 8 * c;
	return pixel;
}

static void check_scale(int in_w, int in_h, int out_w, int out_h)
{
	struct image whole = image_of(in_w + 3, in_h + 2), in = image_part(&whole, 2, 1, in_w, in_h);
	struct image big = image_of(out_w + 5, out_h), out = image_part(&big, 1, 0, out_w, out_h);

	for (int i = 0; i < whole.width * whole.height; i++)
		whole.pixels[i] = (uint32_t)rand() << 8 ^ (uint32_t)rand();
	image_scale(&in, &out);
	for (int y = 0; y < out_h; y++)
		for (int x = 0; x < out_w; x++)
			if (image_row(&out, y)[x] != mean_of(&in, &out, x, y))
				fail_msg("%dx%d to %dx%d: pixel %d,%d is %06x instead of %06x", in_w, in_h, out_w, out_h, x, y,
				         image_row(&out, y)[x], mean_of(&in, &out, x, y));
	/* Nothing beside it is touched. */
	for (int y = 0; y < out_h; y++)
		assert_true(big.pixels[y * big.width] == 0 && image_row(&out, y)[out_w] == 0);
	free(whole.pixels);
	free(big.pixels);
}

/* Up, down, uneven, from and to parts of larger images. */
static void test_scale_is_exact(void **state)
{
	(void)state;
	srand(4);
	for (int i = 0; i < 300; i++)
		check_scale(1 + rand() % 24, 1 + rand() % 24, 1 + rand() % 24, 1 + rand() % 24);
	check_scale(192, 108, 128, 72);
	check_scale(256, 160, 128, 80);
	check_scale(96, 60, 192, 120);
	check_scale(1000, 1, 1, 1);
	check_scale(1, 1, 300, 3);
}

/* One colour stays that colour at any scale, up, down and uneven; every pixel is written. */
static void test_scale_keeps_plain_colour(void **state)
{
	(void)state;
	check_plain(1280, 800, 1024, 640);
	check_plain(1920, 1080, 1366, 768);
	check_plain(100, 100, 33, 77);
	check_plain(7, 5, 64, 64);
	check_plain(1, 1, 9, 3);
	check_plain(4096, 3, 1, 1);
	check_plain(13, 13, 13, 12);
	check_plain(4096, 4096, 4095, 4093);
	check_plain(4093, 1999, 4096, 2048);
}

static void test_scale_up_repeats(void **state)
{
	struct image in = image_of(2, 1), out = image_of(4, 2);

	(void)state;
	in.pixels[0] = 0x112233;
	in.pixels[1] = 0x445566;
	image_scale(&in, &out);
	for (int i = 0; i < 8; i++)
		assert_int_equal(out.pixels[i], i % 4 < 2 ? 0x112233 : 0x445566);
	free(in.pixels);
	free(out.pixels);
}

/* One change of a random picture: the part that depends on it, scaled alone, makes the scaled picture whole again. */
static void check_part(int in_w, int in_h, int out_w, int out_h)
{
	struct image in = image_of(in_w, in_h), before = image_of(out_w, out_h), after = image_of(out_w, out_h);
	struct rect rect = {rand() % in_w, rand() % in_h, 1, 1}, reach;

	rect.width += rand() % (in_w - rect.x);
	rect.height += rand() % (in_h - rect.y);
	for (int i = 0; i < in_w * in_h; i++)
		in.pixels[i] = (uint32_t)rand() & 0xFFFFFF;
	image_scale(&in, &before);
	for (int row = rect.y; row < rect.y + rect.height; row++)
		for (int column = rect.x; column < rect.x + rect.width; column++)
			in.pixels[row * in_w + column] ^= 0xFFFFFF;
	image_scale(&in, &after);
	reach = image_scale_reach(rect, in_w, in_h, out_w, out_h);
	assert_true(reach.x >= 0 && reach.y >= 0 && reach.width > 0 && reach.height > 0);
	assert_true(reach.x + reach.width <= out_w && reach.y + reach.height <= out_h);
	struct image part = image_of(reach.width, reach.height);

	image_scale_part(&in, out_w, out_h, reach.x, reach.y, &part);
	for (int row = 0; row < part.height; row++)
		memcpy(&before.pixels[(reach.y + row) * out_w + reach.x], &part.pixels[row * part.width],
		       (size_t)part.width * sizeof(*part.pixels));
	assert_memory_equal(before.pixels, after.pixels, (size_t)out_w * (size_t)out_h * sizeof(*after.pixels));
	free(in.pixels);
	free(before.pixels);
	free(after.pixels);
	free(part.pixels);
}

static void test_scale_of_a_part(void **state)
{
	(void)state;
	srand(7);
	for (int i = 0; i < 300; i++)
		check_part(1 + rand() % 90, 1 + rand() % 90, 1 + rand() % 90, 1 + rand() % 90);
	check_part(1280, 800, 1024, 640);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_png_reads_back),          cmocka_unit_test(test_blend_is_premultiplied),
		cmocka_unit_test(test_blend_does_not_overflow), cmocka_unit_test(test_blend_is_clipped),
		cmocka_unit_test(test_scale_is_the_mean),       cmocka_unit_test(test_scale_weighs_parts),
		cmocka_unit_test(test_scale_is_exact),          cmocka_unit_test(test_scale_keeps_plain_colour),
		cmocka_unit_test(test_scale_up_repeats),
		cmocka_unit_test(test_scale_of_a_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
