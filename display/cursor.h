/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pointer as the server shows it: asked for, and drawn into a picture. Owner: display. One thread.
 */
#ifndef DISPLAY_CURSOR_H
#define DISPLAY_CURSOR_H

#include <xcb/xfixes.h>

#include "display/screen.h"

/*
 * The pointer as it is now: *cursor is malloced and the caller's. It counts as a new frame when it is not where or what it was. Errors of
 * xconn_reply, ERR_INTERNAL for a reply that is cut off. In a coroutine.
 */
int cursor_look(struct display *display, xcb_xfixes_get_cursor_image_reply_t **cursor, struct err *e);

/* What it covers, in native pixels; may reach over the edges of the screen. */
struct rect cursor_rect(const xcb_xfixes_get_cursor_image_reply_t *cursor);

/* Draws it into an image of which the upper left pixel is x, y of the screen. */
void cursor_draw(xcb_xfixes_get_cursor_image_reply_t *cursor, struct image *image, int x, int y);

#endif
