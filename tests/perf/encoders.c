/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: display */
/*
 * encoders ROUNDS FILE…: what it takes to encode pictures, read from PNG files, in every way that we have and in two of libpng, one after
 * the other in this process. Prints a table of Markdown: medians and 95th percentiles of so many rounds, bytes, and both as multiples of
 * what libpng takes at its defaults.
 */
#include <err.h>
#include <png.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>
#include <time.h>

#include "display/encode.h"
#include "display/image.h"
#include "display/png.h"
#include "session/base/util.h"

#define WARM_UP 2
#define MAX_STRIPES 256

struct picture {
	const char *name;
	struct image image;
	struct png *png;
	bool dirty[MAX_STRIPES]; /* none of them, or the one in the middle */
};

/* One way: encodes once, returns the bytes. */
typedef size_t way_fn(struct picture *picture, int setting);

struct row {
	const char *name;
	way_fn *way;
	int setting;
};

static double now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void on_write(png_structp png, png_bytep data, png_size_t len)
{
	(void)data;
	*(size_t *)png_get_io_ptr(png) += len;
}

static void on_flush(png_structp png)
{
	(void)png;
}

/* The way that scrot, PIL and others take. With `is_fast`, the fastest that still makes small files of desktops. Its errors end the program. */
static size_t with_libpng(struct picture *picture, int is_fast)
{
	png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
	png_infop info = png ? png_create_info_struct(png) : NULL;
	const struct image *image = &picture->image;
	size_t len = 0;

	if (!info)
		errx(1, "libpng does not start");
	png_set_write_fn(png, &len, on_write, on_flush);
	png_set_IHDR(png, info, (png_uint_32)image->width, (png_uint_32)image->height, 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
	             PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
	if (is_fast) {
		png_set_compression_level(png, 1);
		png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_UP);
	}
	png_write_info(png, info);
	png_set_bgr(png);
	png_set_filler(png, 0, PNG_FILLER_AFTER);
	for (int y = 0; y < image->height; y++)
		png_write_row(png, (png_const_bytep)image_row(image, y));
	png_write_end(png, NULL);
	png_destroy_write_struct(&png, &info);
	return len;
}

enum dirty { ALL, ONE, NONE };

static size_t with_stripes(struct picture *picture, int dirty)
{
	struct err e;
	char *bytes;
	size_t len;

	memset(picture->dirty, 0, sizeof(picture->dirty));
	picture->dirty[picture->image.height / PNG_STRIPE_ROWS / 2] = dirty == ONE;
	if (png_encode(picture->png, &picture->image, dirty == ALL ? NULL : picture->dirty, &bytes, &len, &e) < 0)
		errx(1, "%s: %s", picture->name, e.msg);
	free(bytes);
	return len;
}

static size_t in_format(struct picture *picture, enum encode_format format, int quality)
{
	struct err e;
	char *bytes;
	size_t len;

	if (encode(&picture->image, format, quality, &bytes, &len, &e) < 0)
		errx(1, "%s: %s", picture->name, e.msg);
	free(bytes);
	return len;
}

static size_t in_small(struct picture *picture, int setting)
{
	return in_format(picture, ENCODE_PNG_SMALL, setting);
}

static size_t in_jpeg(struct picture *picture, int quality)
{
	return in_format(picture, ENCODE_JPEG, quality);
}

static size_t in_webp(struct picture *picture, int quality)
{
	return in_format(picture, ENCODE_WEBP, quality);
}

static size_t in_raw(struct picture *picture, int setting)
{
	return in_format(picture, ENCODE_RAW, setting);
}

static size_t scaled(struct picture *picture, int percent)
{
	struct image out = image_create(MAX(1, picture->image.width * percent / 100), MAX(1, picture->image.height * percent / 100));

	image_scale(&picture->image, &out);
	free(out.pixels);
	return 0;
}

/* The first one is what the others are measured by. */
static const struct row rows[] = {
	{"libpng, defaults", with_libpng, false},
	{"libpng, level 1, Up", with_libpng, true},
	{"png, all stripes", with_stripes, ALL},
	{"png, one stripe changed", with_stripes, ONE},
	{"png, nothing changed", with_stripes, NONE},
	{"png, smallest", in_small, 0},
	{"jpeg, quality 80", in_jpeg, 80},
	{"jpeg, quality 95", in_jpeg, 95},
	{"webp, without loss", in_webp, 0},
	{"webp, quality 80", in_webp, 80},
	{"raw", in_raw, 0},
	{"scaled to half", scaled, 50},
	{"scaled to two thirds", scaled, 66},
};

static int compare(const void *a, const void *b)
{
	double one = *(const double *)a, other = *(const double *)b;

	return one < other ? -1 : one > other;
}

static void measure(struct picture *picture, int n)
{
	auto_free double *ms = util_alloc((size_t)n * sizeof(*ms));
	double base_ms = 0, base_len = 0;

	for (size_t r = 0; r < ARRAY_LEN(rows); r++) {
		size_t len = 0;

		for (int i = -WARM_UP; i < n; i++) {
			double before = now_ms();

			len = rows[r].way(picture, rows[r].setting);
			ms[MAX(i, 0)] = now_ms() - before;
		}
		qsort(ms, (size_t)n, sizeof(*ms), compare);
		if (r == 0) {
			base_ms = ms[n / 2];
			base_len = (double)len;
		}
		printf("| %s | %s | %.3f ms | %.3f ms | %.1f | ", picture->name, rows[r].name, ms[n / 2], ms[n * 95 / 100], base_ms / ms[n / 2]);
		if (len > 0)
			printf("%zu | %.3f |\n", len, (double)len / base_len);
		else
			printf("| |\n");
		(void)fflush(stdout);
	}
}

static struct picture load(const char *path)
{
	png_image png = {.version = PNG_IMAGE_VERSION};
	const char *slash = strrchr(path, '/');
	struct picture picture = {.name = slash ? slash + 1 : path};

	if (!png_image_begin_read_from_file(&png, path))
		errx(1, "%s: %s", path, png.message);
	if (png.width > PNG_STRIPE_ROWS * MAX_STRIPES || png.height > PNG_STRIPE_ROWS * MAX_STRIPES)
		errx(1, "%s: too large", path);
	png.format = PNG_FORMAT_BGRA;
	picture.image = image_create((int)png.width, (int)png.height);
	if (!png_image_finish_read(&png, NULL, picture.image.pixels, 0, NULL))
		errx(1, "%s: %s", path, png.message);
	picture.png = png_create(picture.image.width, picture.image.height);
	return picture;
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[1]) : 0;

	if (n < 1)
		errx(2, "usage: encoders ROUNDS FILE...");
	printf("| picture | how | median | p95 | times as fast | bytes | times the bytes |\n| --- | --- | --- | --- | --- | --- | --- |\n");
	for (int i = 2; i < argc; i++) {
		struct picture picture = load(argv[i]);

		measure(&picture, n);
		png_destroy(picture.png);
		free(picture.image.pixels);
	}
	return 0;
}
