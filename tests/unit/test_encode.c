/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: display */
/* The formats: their table, and each read back by its library. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include <cmocka.h>
#include <png.h>
#include <turbojpeg.h>
#include <webp/decode.h>

#include "display/encode.h"
#include "session/base/util.h"

/* What a decoder makes of bytes: pixels 0x00RRGGBB of the expected size. */
typedef void decode_fn(const char *bytes, size_t len, struct image *out);

static void decode_png(const char *bytes, size_t len, struct image *out)
{
	png_image png = {.version = PNG_IMAGE_VERSION};

	assert_true(png_image_begin_read_from_memory(&png, bytes, len));
	assert_int_equal(png.format, PNG_FORMAT_RGB); /* no alpha */
	png.format = PNG_FORMAT_BGRA;
	assert_int_equal(png.width, out->width);
	assert_int_equal(png.height, out->height);
	assert_true(png_image_finish_read(&png, NULL, out->pixels, 0, NULL));
}

static void decode_jpeg(const char *bytes, size_t len, struct image *out)
{
	tjhandle jpeg = tjInitDecompress();
	int width, height, sampling, colours;

	assert_int_equal(tjDecompressHeader3(jpeg, (const unsigned char *)bytes, len, &width, &height, &sampling, &colours), 0);
	assert_int_equal(width, out->width);
	assert_int_equal(height, out->height);
	assert_int_equal(tjDecompress2(jpeg, (const unsigned char *)bytes, len, (unsigned char *)out->pixels, width, 0, height, TJPF_BGRX, 0), 0);
	tjDestroy(jpeg);
}

static void decode_webp(const char *bytes, size_t len, struct image *out)
{
	WebPBitstreamFeatures features;
	size_t size = (size_t)out->width * (size_t)out->height * 4;

	assert_int_equal(WebPGetFeatures((const uint8_t *)bytes, len, &features), VP8_STATUS_OK);
	assert_int_equal(features.width, out->width);
	assert_int_equal(features.height, out->height);
	assert_false(features.has_alpha);
	assert_non_null(WebPDecodeBGRAInto((const uint8_t *)bytes, len, (uint8_t *)out->pixels, size, out->width * 4));
}

static void decode_raw(const char *bytes, size_t len, struct image *out)
{
	const uint8_t *rgb = (const uint8_t *)bytes;

	assert_int_equal(len, out->width * out->height * 3);
	for (int i = 0; i < out->width * out->height; i++, rgb += 3)
		out->pixels[i] = (uint32_t)rgb[0] << 16 | (uint32_t)rgb[1] << 8 | rgb[2];
}

static decode_fn *const decoders[] = {
	[ENCODE_PNG] = decode_png,   [ENCODE_PNG_SMALL] = decode_png, [ENCODE_JPEG] = decode_jpeg,
	[ENCODE_WEBP] = decode_webp, [ENCODE_RAW] = decode_raw,
};

/* Soft colours without edges, so that a lossy format comes near; the uppermost byte means nothing. */
static struct image soft(int width, int height)
{
	struct image image = image_create(width, height);

	for (int y = 0; y < height; y++)
		for (int x = 0; x < width; x++)
			image_row(&image, y)[x] = 0xA5000000U | (uint32_t)MIN(x, 250) << 16 | (uint32_t)MIN(y, 250) << 8 | 90;
	return image;
}

/* The greatest difference of a channel in any pixel, after a round trip. */
static int worst_of(const struct image *image, enum encode_format format, int quality, size_t *len)
{
	struct image back = image_create(image->width, image->height);
	struct err e;
	char *bytes;
	int worst = 0;

	assert_int_equal(encode(image, format, quality, &bytes, len, &e), 0);
	decoders[format](bytes, *len, &back);
	for (int y = 0; y < image->height; y++)
		for (int x = 0; x < image->width; x++)
			for (int shift = 0; shift < 24; shift += 8) {
				int off = (int)(image_row(image, y)[x] >> shift & 0xFF) - (int)(image_row(&back, y)[x] >> shift & 0xFF);

				worst = abs(off) > worst ? abs(off) : worst;
			}
	free(bytes);
	free(back.pixels);
	return worst;
}

static void check_all(const struct image *image)
{
	size_t len;

	assert_int_equal(worst_of(image, ENCODE_PNG, 0, &len), 0);
	assert_int_equal(worst_of(image, ENCODE_PNG_SMALL, 0, &len), 0);
	assert_int_equal(worst_of(image, ENCODE_RAW, 0, &len), 0);
	assert_int_equal(worst_of(image, ENCODE_WEBP, 0, &len), 0);
	assert_in_range(worst_of(image, ENCODE_WEBP, 90, &len), 0, 30);
	assert_in_range(worst_of(image, ENCODE_JPEG, 0, &len), 0, 30);
	assert_in_range(worst_of(image, ENCODE_JPEG, 100, &len), 0, 4);
}

static void test_round_trips(void **state)
{
	static const int sizes[][2] = {{1, 1}, {2, 3}, {3, 2}, {17, 1}, {1, 33}, {64, 64}, {301, 203}, {4096, 2}, {2, 4096}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		struct image image = soft(sizes[i][0], sizes[i][1]);

		check_all(&image);
		free(image.pixels);
	}
}

static void test_part_of_an_image(void **state)
{
	struct image image = soft(200, 100), part = image_part(&image, 33, 11, 101, 57);

	(void)state;
	assert_int_equal(part.pixels[0], image.pixels[11 * 200 + 33]);
	assert_int_equal(image_row(&part, 56)[100], image.pixels[67 * 200 + 133]);
	check_all(&part);
	free(image.pixels);
}

static void test_quality_counts(void **state)
{
	static const int qualities[] = {1, 30, 60, 89, 90, 100};
	static const enum encode_format lossy[] = {ENCODE_JPEG, ENCODE_WEBP};
	struct image image = image_create(128, 128);

	(void)state;
	srand(1);
	for (int i = 0; i < 128 * 128; i++)
		image.pixels[i] = (uint32_t)rand();
	for (size_t f = 0; f < ARRAY_LEN(lossy); f++) {
		size_t before = 0, len;

		for (size_t i = 0; i < ARRAY_LEN(qualities); i++) {
			(void)worst_of(&image, lossy[f], qualities[i], &len);
			assert_true(len > before);
			before = len;
		}
	}
	free(image.pixels);
}

/* JPEG keeps the colour of single pixels from 90 on. */
static void test_colour_sampling(void **state)
{
	struct image image = soft(64, 64);
	struct err e;

	(void)state;
	for (int quality = 89; quality <= 90; quality++) {
		tjhandle jpeg = tjInitDecompress();
		int width, height, sampling, colours;
		char *bytes;
		size_t len;

		assert_int_equal(encode(&image, ENCODE_JPEG, quality, &bytes, &len, &e), 0);
		assert_int_equal(tjDecompressHeader3(jpeg, (unsigned char *)bytes, len, &width, &height, &sampling, &colours), 0);
		assert_int_equal(sampling, quality < 90 ? TJSAMP_420 : TJSAMP_444);
		tjDestroy(jpeg);
		free(bytes);
	}
	free(image.pixels);
}

/* A library that refuses is an error, and nothing is handed out. WebP and JPEG have shorter sides than this. */
static void test_refusals(void **state)
{
	struct image image = image_create(70000, 1);
	char *bytes = NULL;
	size_t len = 77;
	struct err e;

	(void)state;
	memset(image.pixels, 0, 70000 * sizeof(uint32_t));
	for (int quality = 0; quality <= 80; quality += 80) {
		assert_int_equal(encode(&image, ENCODE_WEBP, quality, &bytes, &len, &e), -1);
		assert_int_equal(e.code, ERR_INTERNAL);
	}
	assert_int_equal(encode(&image, ENCODE_JPEG, 80, &bytes, &len, &e), -1);
	assert_int_equal(e.code, ERR_INTERNAL);
	assert_null(bytes);
	assert_int_equal(len, 77);
	free(image.pixels);
}

static void test_table(void **state)
{
	char names[256] = "";

	(void)state;
	for (int i = 0; i < ENCODE_N_FORMATS; i++) {
		const struct encoding *encoding = encode_of((enum encode_format)i);

		assert_int_equal(encoding->format, i);
		assert_ptr_equal(encode_find(encoding->name), encoding);
		strcat(strcat(names, i > 0 ? " " : ""), encoding->name);
	}
	assert_string_equal(names, ENCODE_NAMES);
	assert_null(encode_find("gif"));
	assert_null(encode_find(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trips),     cmocka_unit_test(test_part_of_an_image), cmocka_unit_test(test_quality_counts),
		cmocka_unit_test(test_colour_sampling), cmocka_unit_test(test_refusals),         cmocka_unit_test(test_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
