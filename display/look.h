/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A look at the screen, from which a picture or parts of one are encoded: all that is encoded in it shows one moment, pointer and pixels. Owner:
 * display. Runs in a coroutine: look_begin, look_update, look_draw, look_end, in this order; the last one always.
 *
 * One looks at a time. An encoder that does not wait has the pointer drawn into `shown` itself, for the time of the look: nobody else sees that. One
 * that waits (encode.h: slow ones) works on a copy, and others look meanwhile; but no other slow one works then.
 */
#ifndef DISPLAY_LOOK_H
#define DISPLAY_LOOK_H

#include "display/cursor.h"
#include "display/screen.h"

struct look {
	struct display *display;
	bool is_slow, has_turn;
	struct kept_source source; /* complete after look_update, but that `shown` has the pointer only after look_draw */
	xcb_xfixes_get_cursor_image_reply_t *cursor; /* NULL: none is drawn */
	struct cursor_under under;
	struct image copy;
};

/* Waits until it may, for a picture in this format. ERR_CANCELLED: it is ended then. */
int look_begin(struct look *look, struct display *display, enum encode_format format, struct err *e);

/* Makes the screen current and, unless no_cursor, asks for the pointer. Errors of xconn_reply. */
int look_update(struct look *look, bool no_cursor, struct err *e);

/* Instead: the screen as it is known, without pointer. */
void look_known(struct look *look);

/* Draws the pointer. From here to look_end only a slow one may wait. */
void look_draw(struct look *look);

void look_end(struct look *look);

#endif
