/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pointer as the server shows it: asked for, and drawn into a picture. Owner: display. One thread.
 */
#ifndef DISPLAY_CURSOR_H
#define DISPLAY_CURSOR_H

#include <xcb/xfixes.h>

#include "display/screen.h"

/*
 * The pointer as it is now: *cursor is malloced and the caller's; NULL when the server has none. It counts as a new frame when it is not where
 * or what it was. Errors of xconn_reply, ERR_INTERNAL for a reply that is cut off. In a coroutine.
 */
int cursor_look(struct display *display, xcb_xfixes_get_cursor_image_reply_t **cursor, struct err *e);

/* What it covers, in native pixels; may reach over the edges of the screen. */
struct rect cursor_rect(const xcb_xfixes_get_cursor_image_reply_t *cursor);

/* Draws it into an image of which the upper left pixel is x, y of the screen. */
void cursor_draw(xcb_xfixes_get_cursor_image_reply_t *cursor, struct image *image, int x, int y);

/* Draws it into an image of the whole screen; `under` keeps what was there, and cursor_take_away puts it back. */
struct cursor_under {
	struct rect rect;
	struct image pixels;
};

void cursor_put(xcb_xfixes_get_cursor_image_reply_t *cursor, struct image *screen, struct cursor_under *under);
void cursor_take_away(struct image *screen, struct cursor_under *under);

/* Has the server tell when the pointer moves or becomes another one, or no longer. A program that sets it to another place (XWarpPointer) is not
 * told of: that is seen with the next picture. */
void cursor_listen(struct display *display, bool on);
bool cursor_is_news(const struct display *display, const xcb_generic_event_t *event);

#endif
