/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pictures of a window alone, with its menus and dialogs. They are cut from the screen, since nothing else is drawn without a compositor; what is
 * not the window's is the colour of the empty desktop in them, so that nobody's pixels are taken for its own.
 */
#include <stdlib.h>
#include <string.h>

#include "display/picture.h"
#include "display/rect.h"
#include "session/base/util.h"

#define LOOKS 4 /* until the windows lie after the pixels were taken as they lay before */

void display_use_windows(struct display *display, part_fn *fn, void *arg)
{
	display->part = fn;
	display->part_arg = arg;
}

/* The screen, and where the window is on it. What moves all the time is taken where it was last. */
static int take(struct look *look, const struct display_request *request, struct part *part, struct err *e)
{
	struct display *display = look->display;
	auto_free struct part *before = util_alloc(sizeof(*before));

	if (display->part(display->part_arg, request->window, part, e) < 0)
		return -1;
	for (int i = 0; i < LOOKS; i++) {
		memcpy(before, part, sizeof(*part));
		free(steal_ptr(&look->cursor));
		if (look_update(look, request->no_cursor, e) < 0 || display->part(display->part_arg, request->window, part, e) < 0)
			return -1;
		if (memcmp(before, part, sizeof(*part)) == 0)
			break;
	}
	if (!rect_is_inside(part->region, (struct rect){0, 0, display->shown.width, display->shown.height}))
		return err_set(e, ERR_CONFLICT, NULL, "the display was resized meanwhile");
	return 0;
}

/* Its pixels on the empty desktop. */
static struct image cut(const struct image *shown, const struct part *part)
{
	struct image image = image_create(part->region.width, part->region.height);

	for (size_t i = 0; i < (size_t)image.width * (size_t)image.height; i++)
		image.pixels[i] = SCREEN_BACKGROUND;
	for (size_t i = 0; i < part->n_shown; i++) {
		const struct rect rect = part->shown[i];

		for (int y = rect.y; y < rect.y + rect.height; y++)
			memcpy(image_row(&image, y - part->region.y) + (rect.x - part->region.x), image_row(shown, y) + rect.x,
			       (size_t)rect.width * sizeof(uint32_t));
	}
	return image;
}

static int encode_cut(struct look *look, const struct display_request *request, const struct part *part, struct display_picture *out, struct err *e)
{
	struct image image;
	struct kept kept = {.picture.asked = *request};
	struct kept_source source;
	int rc;

	look_draw(look);
	source = look->source;
	image = cut(source.shown, part);
	source.shown = &image;
	kept.picture.asked.x = kept.picture.asked.y = 0;
	rc = kept_make(&kept, &source, e);
	if (rc == 0) {
		*out = kept.picture;
		out->frame = source.frame;
		out->asked = *request;
		(void)bytes_hold(out->bytes);
	}
	kept_finish(&kept);
	free(image.pixels);
	return rc;
}

int alone_make(struct display *display, const struct display_request *asked, struct display_picture *out, struct err *e)
{
	struct part *part;
	struct display_request request;
	struct look look;
	int rc;

	if (!display->part)
		return err_set(e, ERR_UNSUPPORTED, "/window", "windows are not known here");
	if (look_begin(&look, display, asked->format, e) < 0)
		return -1;
	part = util_alloc(sizeof(*part));
	rc = take(&look, asked, part, e);
	if (rc == 0) {
		request = display_request_fit(asked, part->region, display->native);
		rc = encode_cut(&look, &request, part, out, e);
	}
	look_end(&look);
	if (rc == 0)
		out->part = part;
	else
		free(part);
	return rc;
}
