/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of the formats, and those that are one call of a library or less.
 */
#include "display/encode.h"

#include <string.h>
#include <turbojpeg.h>
#include <webp/encode.h>

#include "display/png.h"
#include "session/base/co.h"
#include "session/base/log.h"
#include "session/base/util.h"

#define RGB_BYTES 3
#define BREATHE_MS 2
#define FULL_COLOUR_QUALITY 90 /* JPEG: from here on colour has the resolution of brightness */

static const struct encoding encodings[] = {
#define ENCODE_ROW(symbol, name, media_type, has_quality, quality, is_slow, fn) \
	[symbol] = {symbol, name, media_type, has_quality, quality, is_slow, fn},
	ENCODE_ROWS(ENCODE_ROW)
#undef ENCODE_ROW
};

const struct encoding *encode_of(enum encode_format format)
{
	return &encodings[format];
}

const struct encoding *encode_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(encodings); i++)
		if (strcmp(encodings[i].name, name) == 0)
			return &encodings[i];
	return NULL;
}

int encode(const struct image *image, enum encode_format format, int quality, char **bytes, size_t *len, struct err *e)
{
	const struct encoding *encoding = encode_of(format);

	return encoding->encode(image, quality > 0 ? quality : encoding->quality, bytes, len, e);
}

int encode_breathe(int64_t *since_ms, struct err *e)
{
	int64_t now_ms = util_now_ms();

	if (*since_ms == 0)
		*since_ms = now_ms;
	if (!co_self() || now_ms - *since_ms < BREATHE_MS)
		return 0;
	if (co_wait_until(now_ms, e) < 0)
		return -1;
	*since_ms = util_now_ms();
	return 0;
}

static int failed(const char *library, const char *why, struct err *e)
{
	log_error("%s: %s", library, why);
	return err_set(e, ERR_INTERNAL, NULL, "the picture could not be encoded");
}

/* A picture of its own: nothing of it is kept. */
int encode_png(const struct image *image, int quality, char **bytes, size_t *len, struct err *e)
{
	struct png *png = png_create(image->width, image->height);
	int rc = png_encode(png, image, NULL, bytes, len, e);

	(void)quality;
	png_destroy(png);
	return rc;
}

/* libjpeg-turbo through its own interface: it catches the errors of libjpeg, whose own handler would end the process. */
int encode_jpeg(const struct image *image, int quality, char **bytes, size_t *len, struct err *e)
{
	const int sampling = quality < FULL_COLOUR_QUALITY ? TJSAMP_420 : TJSAMP_444;
	unsigned long size = tjBufSize(image->width, image->height, sampling);
	unsigned char *out = util_alloc(size);
	tjhandle jpeg = tjInitCompress();
	int rc;

	if (!jpeg)
		DIE("libjpeg-turbo does not start");
	rc = tjCompress2(jpeg, (const unsigned char *)image->pixels, image->width, image->stride * (int)sizeof(uint32_t), image->height,
	                 TJPF_BGRX, &out, &size, sampling, quality, TJFLAG_NOREALLOC);
	if (rc < 0)
		rc = failed("libjpeg-turbo", tjGetErrorStr2(jpeg), e);
	tjDestroy(jpeg);
	if (rc < 0) {
		free(out);
		return -1;
	}
	*bytes = util_realloc(out, size);
	*len = size;
	return 0;
}

/* The fastest way of both kinds. Without loss, "quality" is effort: all of it takes as long as none and makes half the bytes of a desktop. */
static bool configure_webp(WebPConfig *config, int quality)
{
	if (!WebPConfigPreset(config, WEBP_PRESET_TEXT, quality == 0 ? 100 : (float)quality))
		return false;
	config->lossless = quality == 0;
	config->method = 0;
	return true;
}

/* Where libwebp writes to, and what it asks now and then. */
struct webp {
	WebPMemoryWriter writer; /* first: libwebp's own function writes to it */
	int64_t since_ms;
	bool stopped;
	struct err *e;
};

static int on_progress(int percent, const WebPPicture *picture)
{
	struct webp *webp = picture->custom_ptr;

	(void)percent;
	webp->stopped = encode_breathe(&webp->since_ms, webp->e) < 0;
	return !webp->stopped;
}

int encode_webp(const struct image *image, int quality, char **bytes, size_t *len, struct err *e)
{
	struct webp webp = {.e = e};
	WebPPicture picture;
	WebPConfig config;
	int rc = 0;

	if (!configure_webp(&config, quality) || !WebPPictureInit(&picture))
		DIE("libwebp is of another version");
	WebPMemoryWriterInit(&webp.writer);
	picture.use_argb = quality == 0;
	picture.width = image->width;
	picture.height = image->height;
	picture.writer = WebPMemoryWrite;
	picture.progress_hook = on_progress;
	picture.custom_ptr = &webp;
	if (!WebPPictureImportBGRX(&picture, (const uint8_t *)image->pixels, image->stride * (int)sizeof(uint32_t)) ||
	    !WebPEncode(&config, &picture))
		rc = webp.stopped ? -1 : failed("libwebp", picture.error_code == VP8_ENC_ERROR_OUT_OF_MEMORY ? "no memory" : "cannot encode", e);
	WebPPictureFree(&picture);
	if (rc < 0) {
		WebPMemoryWriterClear(&webp.writer);
		return -1;
	}
	*bytes = (char *)webp.writer.mem;
	*len = webp.writer.size;
	return 0;
}

int encode_raw(const struct image *image, int quality, char **bytes, size_t *len, struct err *e)
{
	const size_t size = (size_t)image->width * (size_t)image->height * RGB_BYTES;
	char *out = util_alloc(size);

	(void)quality;
	(void)e;
	*bytes = out;
	*len = size;
	for (int y = 0; y < image->height; y++) {
		image_row_rgb(image_row(image, y), image->width, (uint8_t *)out);
		out += (size_t)image->width * RGB_BYTES;
	}
	return 0;
}
