/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pointer. */
#include "display/cursor.h"

#include "session/base/util.h"

int cursor_look(struct display *display, xcb_xfixes_get_cursor_image_reply_t **cursor, struct err *e)
{
	xcb_xfixes_get_cursor_image_reply_t *reply;
	void *got = NULL;

	if (display->x->lost)
		return err_set(e, ERR_GONE, NULL, "the display of this session is gone");
	if (xconn_reply(display->x, xcb_xfixes_get_cursor_image(display->x->xcb).sequence, &got, e) < 0)
		return -1;
	reply = got;
	/* The sizes are the server's word, the length is what was read. */
	if ((uint64_t)reply->width * reply->height > reply->length) {
		free(got);
		return err_set(e, ERR_INTERNAL, NULL, "the display sent a cursor that is cut off");
	}
	if (reply->cursor_serial != display->cursor_serial || reply->x != display->cursor_x || reply->y != display->cursor_y) {
		display->cursor_serial = reply->cursor_serial;
		display->cursor_x = reply->x;
		display->cursor_y = reply->y;
		display->frame++;
	}
	*cursor = reply;
	return 0;
}

int display_pointer(struct display *display, int *x, int *y, struct err *e)
{
	const xcb_query_pointer_reply_t *reply;
	auto_free void *got = NULL;

	if (display->x->lost)
		return err_set(e, ERR_GONE, NULL, "the display of this session is gone");
	if (xconn_reply(display->x, xcb_query_pointer(display->x->xcb, display->x->root).sequence, &got, e) < 0)
		return -1;
	reply = got;
	*x = reply->root_x;
	*y = reply->root_y;
	return 0;
}

struct rect cursor_rect(const xcb_xfixes_get_cursor_image_reply_t *cursor)
{
	return (struct rect){cursor->x - cursor->xhot, cursor->y - cursor->yhot, cursor->width, cursor->height};
}

void cursor_draw(xcb_xfixes_get_cursor_image_reply_t *cursor, struct image *image, int x, int y)
{
	struct rect rect = cursor_rect(cursor);
	struct image over = {
		.width = rect.width, .height = rect.height, .stride = rect.width, .pixels = xcb_xfixes_get_cursor_image_cursor_image(cursor)};

	image_blend(image, &over, rect.x - x, rect.y - y);
}
