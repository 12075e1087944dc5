/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fields that a secret was typed into: no picture shows them until their page is left.
 *
 * Where a field is its app says (apps/access.h), around each taking of pixels. A page that is being scrolled is ahead of what its app says: for a while after
 * anything that may move it, and while the field is not where it was, all of the window is blank, and so it is when the app does not answer. A field that is
 * gone is still on the screen until the next page is painted over it: as long as what was written in it can be seen (display/ink.h) it is blank. Where that is not
 * known, because no pixels were taken since, it is forgotten when all around it was drawn anew, or after a while. Owner: the stage. In coroutines.
 */
#ifndef STAGE_SPOTS_H
#define STAGE_SPOTS_H

#include "apps/access.h"
#include "display/ink.h"
#include "session/base/loop.h"
#include "session/base/space.h"

#define SPOTS 8            /* fields at a time */
#define SPOTS_GROWN_PX 8   /* around what the app says: frames and shadows */
#define SPOTS_ASK_MS 300   /* that an app has to say where it is */
#define SPOTS_STIR_MS 150  /* after an action that may move it */
#define SPOTS_STILL_MS 400 /* and after it has moved, until it counts as resting */
#define SPOTS_AROUND_PX 40 /* of what is drawn anew around a field when its page gives way to another */
#define SPOTS_FRAME_PX 4   /* of a field is no writing */
#define SPOTS_LEFT_PERCENT 40 /* of its writing that is still there: it is seen */
#define SPOTS_LINGER_MS 400 /* from when it is not */
#define SPOTS_PAINT_MS 2000 /* from then on, until that is what is seen: a page on its way out is drawn again, and a busy host is slow to show the next */
#define SPOTS_LEAVE_MS 10000 /* without that, from the end of the field on */
#define SPOTS_AGAIN_MS 200 /* an app that did not answer is asked again */

struct stage;

struct spot {
	uint32_t node, window;
	struct rect rect;     /* native pixels, grown; width 0: it is not on the screen */
	int64_t moved_ms;     /* when it was last seen somewhere else than before */
	int64_t until_ms;     /* it is gone, and forgotten then; 0: it is there */
	struct ink before, written; /* the field without the secret, and as it was last seen with it */
	bool marked;          /* `before` is known, or cannot be */
	int64_t hidden_ms;    /* its app says that it is not seen: where it was is blank until then; 0: it is seen */
};

/* Zero-initialised is ready to use: none. */
struct spots {
	struct spot list[SPOTS];
	size_t n;
	int64_t stirred_ms;   /* when something was last done that may move them */
	struct loop_timer *timer;
};

/* From now on this field, which has the focus, is blank. ERR_SECRET: there are too many. */
int spots_add(struct stage *stage, const struct access_focus *focus, struct err *e);

/* Something is done that may move them. Nothing while there are none. */
void spots_stir(struct stage *stage);

/* A display_blanks_fn with a struct stage. */
size_t spots_where(void *stage, struct rect out[LIMIT_BLANKS]);

void spots_finish(struct stage *stage);

#endif
