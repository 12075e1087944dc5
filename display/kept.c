/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From the screen to bytes: what has changed since the last picture of a request, scaling, encoding, and making it fit.
 */
#include "display/kept.h"

#include <stdlib.h>
#include <sys/param.h>

#include "display/png.h"
#include "display/rect.h"
#include "session/base/util.h"

#define MAX_STRIPES ((LIMIT_SIDE_MAX_PX + PNG_STRIPE_ROWS - 1) / PNG_STRIPE_ROWS)

/* A smaller scale is aimed at so much of what would just fit by its area: small pictures have more bytes a pixel. */
#define SCALE_AIM 0.9

static bool same_pointer(struct kept_pointer a, struct kept_pointer b)
{
	return a.serial == b.serial && rect_is_same(a.rect, b.rect);
}

static bool is_scaled(const struct display_request *request)
{
	return request->out_width != request->width || request->out_height != request->height;
}

/* The rectangle of the screen shows something else than in the kept picture. */
static bool differs(const struct kept *kept, const struct kept_source *source, struct rect rect)
{
	if (tiles_changed(source->tiles, rect, kept->picture.made))
		return true;
	return !same_pointer(kept->pointer, source->pointer) && (rect_touch(rect, kept->pointer.rect) || rect_touch(rect, source->pointer.rect));
}

bool kept_is_current(const struct kept *kept, const struct kept_source *source)
{
	return kept->picture.bytes && !differs(kept, source, display_request_region(&kept->picture.asked));
}

/* The rows of a stripe of the picture, and the part of the screen that they are made of. */
static struct rect stripe_rows(const struct display_request *request, int stripe)
{
	int y = stripe * PNG_STRIPE_ROWS;

	return (struct rect){0, y, request->out_width, MIN(PNG_STRIPE_ROWS, request->out_height - y)};
}

static struct rect stripe_source(const struct display_request *request, int stripe)
{
	struct rect rect = stripe_rows(request, stripe);

	space_cover_rect((struct space){request->out_width, request->out_height}, (struct space){request->width, request->height}, &rect);
	rect.x += request->x;
	rect.y += request->y;
	return rect;
}

/* The pixels of the picture as it was asked for, scaled anew where they differ. They are the source's or the kept ones'. */
static struct image draw(struct kept *kept, const struct kept_source *source, const bool *dirty)
{
	const struct display_request *request = &kept->picture.asked;
	struct image part = image_part(source->shown, request->x, request->y, request->width, request->height);

	if (!is_scaled(request))
		return part;
	if (!kept->scaled.pixels)
		kept->scaled = image_create(request->out_width, request->out_height);
	for (int stripe = 0; stripe * PNG_STRIPE_ROWS < request->out_height; stripe++) {
		struct rect rows = stripe_rows(request, stripe);
		struct image rows_image = image_part(&kept->scaled, rows.x, rows.y, rows.width, rows.height);

		if (dirty[stripe])
			image_scale_part(&part, request->out_width, request->out_height, rows.x, rows.y, &rows_image);
	}
	return kept->scaled;
}

/* A way to write a picture, and what came of it. */
struct coding {
	enum encode_format format;
	int quality; /* 0: none, or without loss */
	int width, height;
	char *bytes;
	size_t len;
};

/* Less of it, before the picture is made smaller: a format that was not named becomes JPEG. */
static bool step_down(struct coding *coding, bool any_format)
{
	static const int steps[] = {80, 50};

	if (any_format && coding->format != ENCODE_JPEG) {
		coding->format = ENCODE_JPEG;
		coding->quality = steps[0];
		return true;
	}
	if (!encode_of(coding->format)->has_quality)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(steps); i++)
		if (coding->quality == 0 || coding->quality > steps[i]) {
			coding->quality = steps[i];
			return true;
		}
	return false;
}

static void scale_down(struct coding *coding, const struct image *image, long max_bytes)
{
	const int longest = MAX(image->width, image->height), last = MAX(coding->width, coding->height);
	const double area = SCALE_AIM * (double)max_bytes / (double)coding->len * last * last;
	int side = MAX(1, last - 1);

	while (side > 1 && (double)side * side > area)
		side--;
	coding->width = MAX(1, image->width * side / longest);
	coding->height = MAX(1, image->height * side / longest);
}

static int write_scaled(const struct image *image, struct coding *coding, struct err *e)
{
	struct image scaled;
	int rc;

	if (coding->width == image->width && coding->height == image->height)
		return encode(image, coding->format, coding->quality, &coding->bytes, &coding->len, e);
	scaled = image_create(coding->width, coding->height);
	image_scale(image, &scaled);
	rc = encode(&scaled, coding->format, coding->quality, &coding->bytes, &coding->len, e);
	free(scaled.pixels);
	return rc;
}

/* While it does not fit: less quality, then a smaller scale. A picture of one pixel fits always (LIMIT_PICTURE_MIN_BYTES). */
static int make_fit(const struct image *image, const struct display_request *request, struct coding *coding, struct err *e)
{
	while (request->max_bytes > 0 && coding->len > (size_t)request->max_bytes) {
		free(coding->bytes);
		coding->bytes = NULL;
		if (!step_down(coding, request->any_format))
			scale_down(coding, image, request->max_bytes);
		if (write_scaled(image, coding, e) < 0)
			return -1;
	}
	return 0;
}

/* As it was asked for. PNG comes in stripes, of which those that are not dirty are as they were. */
static int write_asked(struct kept *kept, const struct image *image, const bool *dirty, struct coding *coding, struct err *e)
{
	if (coding->format != ENCODE_PNG)
		return write_scaled(image, coding, e);
	if (!kept->png)
		kept->png = png_create(image->width, image->height);
	return png_encode(kept->png, image, dirty, &coding->bytes, &coding->len, e);
}

static int write_picture(struct kept *kept, const struct image *image, const bool *dirty, struct err *e)
{
	struct display_picture *picture = &kept->picture;
	const struct display_request *request = &picture->asked;
	const struct encoding *encoding = encode_of(request->format);
	struct coding coding = {.format = request->format, .quality = request->quality ? request->quality : encoding->quality,
	                        .width = image->width, .height = image->height};

	if (write_asked(kept, image, dirty, &coding, e) < 0)
		return -1;
	picture->fell_back = request->max_bytes > 0 && coding.len > (size_t)request->max_bytes;
	if (make_fit(image, request, &coding, e) < 0)
		return -1;
	picture->bytes = bytes_create(coding.bytes, coding.len);
	picture->format = coding.format;
	picture->quality = coding.quality;
	picture->width = coding.width;
	picture->height = coding.height;
	return 0;
}

int kept_make(struct kept *kept, const struct kept_source *source, struct err *e)
{
	const struct display_request *request = &kept->picture.asked;
	bool dirty[MAX_STRIPES], is_new = !kept->picture.bytes;
	struct image image;

	for (int stripe = 0; stripe * PNG_STRIPE_ROWS < request->out_height; stripe++)
		dirty[stripe] = is_new || differs(kept, source, stripe_source(request, stripe));
	bytes_drop(kept->picture.bytes);
	kept->picture.bytes = NULL;
	image = draw(kept, source, dirty);
	if (write_picture(kept, &image, dirty, e) < 0)
		return -1;
	kept->picture.made = source->frame;
	kept->pointer = source->pointer;
	return 0;
}

size_t kept_cost(const struct kept *kept)
{
	size_t pixels = kept->scaled.pixels ? (size_t)kept->scaled.width * (size_t)kept->scaled.height : 0;

	return pixels * sizeof(uint32_t) + png_cost(kept->png) + (kept->picture.bytes ? bytes_cost(kept->picture.bytes) : 0);
}

void kept_finish(struct kept *kept)
{
	bytes_drop(kept->picture.bytes);
	free(kept->scaled.pixels);
	png_destroy(kept->png);
	*kept = (struct kept){0};
}
