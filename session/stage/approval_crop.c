/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of the screen that a question is about, with the target marked. It stays in memory. */
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "session/base/util.h"
#include "session/stage/approval.h"
#include "session/stage/stage.h"

#define CROP_WIDTH_PX 480
#define CROP_HEIGHT_PX 320
#define MARK_PX 3
#define MARK_COLOUR 0xE0218A

static int place(int middle, int side, int screen)
{
	return MAX(0, MIN(middle - side / 2, screen - side));
}

/* Around the target; what is larger than the crop is shown from its upper left corner on. */
static struct rect region_of(struct rect target, struct space native)
{
	struct rect region = {.width = MIN(CROP_WIDTH_PX, native.width_px), .height = MIN(CROP_HEIGHT_PX, native.height_px)};

	region.x = place(target.x + MIN(target.width, CROP_WIDTH_PX) / 2, region.width, native.width_px);
	region.y = place(target.y + MIN(target.height, CROP_HEIGHT_PX) / 2, region.height, native.height_px);
	return region;
}

static struct image image_of(const struct display_picture *picture)
{
	struct image image = image_create(picture->width, picture->height);
	const uint8_t *rgb = (const uint8_t *)picture->bytes->data;

	for (size_t i = 0; i < (size_t)picture->width * (size_t)picture->height; i++, rgb += 3)
		image.pixels[i] = (uint32_t)rgb[0] << 16 | (uint32_t)rgb[1] << 8 | rgb[2];
	return image;
}

/* A frame of MARK_PX around the rectangle, as far as it lies in the image. */
static void mark(struct image *image, struct rect rect)
{
	for (int y = MAX(rect.y - MARK_PX, 0); y < MIN(rect.y + rect.height + MARK_PX, image->height); y++)
		for (int x = MAX(rect.x - MARK_PX, 0); x < MIN(rect.x + rect.width + MARK_PX, image->width); x++)
			if (x < rect.x || x >= rect.x + rect.width || y < rect.y || y >= rect.y + rect.height)
				image_row(image, y)[x] = MARK_COLOUR;
}

int approval_crop(struct stage *stage, struct rect target, struct rect *shown, char **png, size_t *len, struct err *e)
{
	const struct rect region = region_of(target, stage->native);
	const struct display_request request = {.x = region.x, .y = region.y, .width = region.width, .height = region.height, .format = ENCODE_RAW};
	struct display_picture picture;
	struct image image;
	int rc;

	if (display_picture(stage->display, &request, &picture, e) < 0)
		return -1;
	image = image_of(&picture);
	display_picture_drop(&picture);
	mark(&image, (struct rect){target.x - region.x, target.y - region.y, target.width, target.height});
	rc = encode_png(&image, 0, png, len, e);
	free(image.pixels);
	*shown = region;
	return rc;
}
