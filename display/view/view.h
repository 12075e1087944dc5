/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One viewer: RFB on a stream, with libvncserver, out of what a stage publishes.
 *
 * view.c is the loop and what goes out; talk.c takes the viewer's messages: the library is handed whole ones of three kinds (pixel format,
 * encodings that are listed, update requests), all else is dealt with here or ends the viewer. picture.c takes news over into a picture of our own,
 * which the library encodes. It blocks as it likes, since it has one viewer alone; but wherever it waits it sees the end of the viewer and of the stage,
 * and ends with them. Owner: main_view.c. One thread.
 */
#ifndef VIEW_VIEW_H
#define VIEW_VIEW_H

#include <rfb/rfb.h>
#include <rfb/rfbregion.h>
#include <stdbool.h>

#include "display/view/framer.h"
#include "display/view/proto.h"
#include "session/base/err.h"

struct view {
	struct view_start start;
	int rfb, stage, taken;
	const uint8_t *segment;
	int pair[2];           /* the library reads messages from one end of it, as if that were the viewer */
	rfbScreenInfoPtr screen;
	rfbClientPtr client;
	uint32_t *pixels;      /* of our own, as large as the screen */
	size_t swallow;        /* bytes of what the library writes next that the viewer has had already */
	bool writes;           /* the library writes by our function: else it would wait for 20 s on a viewer that does not read */
	bool over;             /* the viewer or the stage is gone, or is to be */
	bool has_clip;         /* the viewer has the extended clipboard */
	char *cut;             /* text of the session that the viewer may ask for; NULL: none */
	size_t cut_len;
	char passwords[1][sizeof(((struct view_start *)0)->password)];
	char *password_list[2];
	size_t n_in;           /* bytes of `in` that are there */
	uint8_t in[FRAMER_MESSAGE_MAX];
};

/* Serves the viewer until it, or the stage, is gone. The descriptors and the segment (mapped, view_segment_bytes) must be open. -1: it could not begin. */
int view_run(struct view *view, struct err *e);

/* Sends to the viewer, waiting as long as that takes; it is over when one of the two is gone meanwhile. */
void view_send(struct view *view, const void *bytes, size_t len);

/* talk.c: takes what has come from the viewer. */
void talk_take(struct view *view);
/* A text that was copied in the session; taken. */
void talk_offer(struct view *view, char *text, size_t len);

/* picture.c: waits for the first news, and has memory for a screen of that size. -1: the viewer or the stage is gone. */
int picture_first(struct view *view, struct view_news *news);
/* Takes them over, and says so. */
void picture_apply(struct view *view, const struct view_news *news);
/* Takes the news that are there. */
void picture_take(struct view *view);

#endif
