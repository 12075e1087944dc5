/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pictures of a look. Owner: display. */
#ifndef DISPLAY_PICTURE_H
#define DISPLAY_PICTURE_H

#include "display/look.h"

/* The picture of a complete request in its format, in a look after look_update; it draws where that is needed. Errors of encode. */
int picture_make(struct look *look, const struct display_request *request, struct display_picture *out, struct err *e);

/* The same of a window alone, in a look of its own. Errors also of part_fn. */
int alone_make(struct display *display, const struct display_request *request, struct display_picture *out, struct err *e);

#endif
