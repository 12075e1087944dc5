/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PNG by libpng and zlib, for the smallest size.
 */
#include "display/encode.h"

#include <png.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>

#include "display/filter.h"
#include "session/base/log.h"
#include "session/base/util.h"

struct output {
	char *bytes;
	size_t len, size;
	int64_t since_ms;
	bool stopped;
	struct err *e;
};

static void on_error(png_structp png, png_const_charp message)
{
	log_error("libpng: %s", message);
	png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message)
{
	(void)png;
	log_warn("libpng: %s", message);
}

static void on_write(png_structp png, png_bytep data, png_size_t len)
{
	struct output *out = png_get_io_ptr(png);

	if (out->len + len > out->size) {
		out->size = (out->len + len) * 2;
		out->bytes = util_realloc(out->bytes, out->size);
	}
	memcpy(out->bytes + out->len, data, len);
	out->len += len;
}

static void on_flush(png_structp png)
{
	(void)png;
}

static void breathe(png_structp png)
{
	struct output *out = png_get_io_ptr(png);

	out->stopped = encode_breathe(&out->since_ms, out->e) < 0;
	if (out->stopped)
		png_longjmp(png, 1);
}

static enum filter_kind kind_of(struct filter *filter, const struct image *image, int y)
{
	return filter_choose(filter, image_row(image, y), y > 0 ? image_row(image, y - 1) : NULL);
}

/* zlib's usual strategy is for what repeats; where most rows are differences, little does. */
static int strategy_of(struct filter *filter, const struct image *image)
{
	int n_differences = 0;

	for (int y = 0; y < image->height; y++)
		n_differences += kind_of(filter, image, y) != FILTER_NONE &&
		                 (y == 0 || memcmp(image_row(image, y), image_row(image, y - 1), (size_t)image->width * sizeof(uint32_t)) != 0);
	return 2 * n_differences > image->height ? Z_FILTERED : Z_DEFAULT_STRATEGY;
}

/* Everything that may jump out. The filters are chosen as for the fast encoder: on desktops that saves more than libpng's own choice. */
static void write_image(png_structp png, png_infop info, const struct image *image, struct filter *filter)
{
	static const int filters[FILTER_N_KINDS] = {
		[FILTER_NONE] = PNG_FILTER_NONE, [FILTER_SUB] = PNG_FILTER_SUB, [FILTER_UP] = PNG_FILTER_UP, [FILTER_PAETH] = PNG_FILTER_PAETH};

	png_set_IHDR(png, info, (png_uint_32)image->width, (png_uint_32)image->height, 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
	             PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
	png_set_compression_level(png, Z_BEST_COMPRESSION);
	png_set_compression_strategy(png, strategy_of(filter, image));
	png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_NONE | PNG_FILTER_SUB | PNG_FILTER_UP | PNG_FILTER_PAETH);
	png_write_info(png, info);
	/* A pixel 0xXXRRGGBB lies in memory as B, G, R, X. */
	png_set_bgr(png);
	png_set_filler(png, 0, PNG_FILLER_AFTER);
	for (int y = 0; y < image->height; y++) {
		const uint32_t *row = image_row(image, y);

		/* For the first row it knows all filters that will be needed, else it is not prepared for them. */
		if (y > 0)
			png_set_filter(png, PNG_FILTER_TYPE_BASE, filters[kind_of(filter, image, y)]);
		png_write_row(png, (png_const_bytep)row);
		breathe(png);
	}
	png_write_end(png, NULL);
}

int encode_png_small(const struct image *image, int quality, char **bytes, size_t *len, struct err *e)
{
	struct output out = {.size = 256 * 1024, .e = e};
	png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, on_error, on_warning);
	png_infop info = png ? png_create_info_struct(png) : NULL;
	struct filter filter;

	(void)quality;
	if (!info)
		DIE("libpng does not start");
	out.bytes = util_alloc(out.size);
	filter_init(&filter, image->width);
	png_set_write_fn(png, &out, on_write, on_flush);
	if (setjmp(png_jmpbuf(png))) {
		png_destroy_write_struct(&png, &info);
		filter_finish(&filter);
		free(out.bytes);
		return out.stopped ? -1 : err_set(e, ERR_INTERNAL, NULL, "the picture could not be encoded");
	}
	write_image(png, info, image, &filter);
	png_destroy_write_struct(&png, &info);
	filter_finish(&filter);
	*bytes = out.bytes;
	*len = out.len;
	return 0;
}
