/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pictures as pixels, decoded and encoded by libpng's simple interface. */
#include "session/replay/pixels.h"

#include <png.h>
#include <string.h>

#include "session/base/limits.h"
#include "session/base/util.h"

struct pixels pixels_create(int width, int height)
{
	return (struct pixels){.width = width, .height = height, .rgb = util_zalloc((size_t)width * (size_t)height * 3)};
}

void pixels_finish(struct pixels *pixels)
{
	free(pixels->rgb);
	*pixels = (struct pixels){.rgb = NULL};
}

struct pixels pixels_copy(const struct pixels *pixels)
{
	struct pixels copy = pixels_create(pixels->width, pixels->height);

	memcpy(copy.rgb, pixels->rgb, (size_t)pixels->width * (size_t)pixels->height * 3);
	return copy;
}

static int refuse(png_image *image, struct err *e, const char *why)
{
	png_image_free(image);
	return err_set(e, ERR_BAD_REQUEST, NULL, "a picture cannot be read: %s", why);
}

/* What our encoders make. */
static bool is_plain(const png_image *image)
{
	return !(image->format & (PNG_FORMAT_FLAG_ALPHA | PNG_FORMAT_FLAG_LINEAR));
}

int pixels_decode(const void *png, size_t len, struct rect place, struct pixels *to, struct err *e)
{
	png_image image = {.version = PNG_IMAGE_VERSION};

	if (!png_image_begin_read_from_memory(&image, png, len))
		return refuse(&image, e, "it is no PNG");
	if (image.width != (png_uint_32)place.width || image.height != (png_uint_32)place.height)
		return refuse(&image, e, "its size is not the one in its header");
	if (!is_plain(&image))
		return refuse(&image, e, "it is not of 8 bits without alpha");
	image.format = PNG_FORMAT_RGB;
	if (!png_image_finish_read(&image, NULL, pixels_at(to, place.x, place.y), to->width * 3, NULL))
		return refuse(&image, e, "it is damaged");
	if (PNG_IMAGE_FAILED(image) || image.warning_or_error & PNG_IMAGE_WARNING)
		return refuse(&image, e, "it is damaged");
	return 0;
}

void *pixels_encode(const struct pixels *pixels, size_t *len)
{
	png_image image = {.version = PNG_IMAGE_VERSION, .width = (png_uint_32)pixels->width, .height = (png_uint_32)pixels->height,
	                   .format = PNG_FORMAT_RGB, .flags = PNG_IMAGE_FLAG_FAST};
	png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
	void *out = util_alloc(size);

	if (!png_image_write_to_memory(&image, out, &size, 0, pixels->rgb, 0, NULL))
		DIE("a picture cannot be encoded: %s", image.message);
	*len = size;
	return util_realloc(out, size);
}
