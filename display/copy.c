/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Callers that keep the pixels of the screen, and draw the pointer themselves. */
#include <stdlib.h>
#include <string.h>

#include "display/cursor.h"
#include "display/look.h"
#include "session/base/util.h"

static void copy_rect(const struct image *shown, struct rect r, uint32_t *pixels)
{
	for (int y = r.y; y < r.y + r.height; y++)
		memcpy(pixels + (size_t)y * (size_t)shown->width + r.x, image_row(shown, y) + r.x, (size_t)r.width * sizeof(uint32_t));
}

static void copy_pixels(const struct look *look, const struct display_follower *follower, uint32_t *pixels, struct display_copy *out)
{
	const struct display *display = look->display;

	out->native = display->native;
	if (follower->has.picture) {
		out->n = display_changes(display, follower->has.frame, out->rects, LIMIT_CHANGED);
	} else {
		out->rects[0] = (struct rect){0, 0, display->native.width_px, display->native.height_px};
		out->n = 1;
	}
	for (size_t i = 0; i < out->n; i++)
		copy_rect(&display->shown, out->rects[i], pixels);
}

static void copy_cursor(const struct look *look, const struct display_follower *follower, struct display_copy *out)
{
	xcb_xfixes_get_cursor_image_reply_t *cursor = look->cursor;
	size_t bytes;

	out->has_new_cursor = !follower->has.picture || look->source.pointer.serial != follower->has.cursor_serial;
	if (!cursor)
		return;
	out->pointer_x = cursor->x;
	out->pointer_y = cursor->y;
	if (!out->has_new_cursor || cursor->width == 0 || cursor->height == 0)
		return;
	out->cursor_width = cursor->width;
	out->cursor_height = cursor->height;
	out->hot_x = cursor->xhot;
	out->hot_y = cursor->yhot;
	bytes = (size_t)cursor->width * cursor->height * sizeof(uint32_t);
	out->cursor = util_alloc(bytes);
	memcpy(out->cursor, xcb_xfixes_get_cursor_image_cursor_image(cursor), bytes);
}

int display_copy(struct display *display, struct display_follower *follower, uint32_t *pixels, struct display_copy *out, struct err *e)
{
	struct look look;
	uint64_t moves;
	int rc;

	/* Raw: the format that waits for nobody. */
	if (look_begin(&look, display, ENCODE_RAW, e) < 0)
		return -1;
	moves = display->moves;
	rc = look_update(&look, false, e);
	/* While the server was waited for much may have happened. */
	if (rc == 0 && out->may && !out->may(out->arg))
		rc = err_set(e, ERR_FORBIDDEN, NULL, "this is not to be seen now");
	if (rc == 0) {
		*out = (struct display_copy){.may = out->may, .arg = out->arg};
		copy_pixels(&look, follower, pixels, out);
		copy_cursor(&look, follower, out);
		follower->has = (struct display_has){true, look.source.frame, moves, look.source.pointer.serial, look.source.pointer.rect};
	}
	look_end(&look);
	return rc;
}

void display_copy_finish(struct display_copy *copy)
{
	free(copy->cursor);
	copy->cursor = NULL;
}
