/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pictures in the journal: what is on the display before and after each action, each picture once, as what has changed since the one before. Owner: the
 * stage. One at a time: whoever has the turn of an act, and the start before that.
 *
 * A screen of which nothing new was told costs nothing. After a write that failed or LIMIT_PICTURES_BYTES there is a line `pictures_stopped`, and the
 * journal goes on without.
 */
#ifndef STAGE_RECORDING_H
#define STAGE_RECORDING_H

#include "display/display.h"
#include "session/journal/pictures.h"

struct stage;

struct recording {
	bool wanted;                /* as the spec says */
	struct pictures *pictures;  /* NULL: none are taken, or not any more */
	struct display_follower follower;
	struct co_event news;
	int64_t last;               /* the number of the last one; 0: there is none */
	int64_t now;                /* what recording_take last returned */
	json_t *untold;             /* its line, which is not in the journal yet; or NULL */
	bool blind;                 /* the display did not answer: it is not asked again until recording_begin_call */
};

/* The display is there: from here on pictures can be taken, if they are wanted. */
void recording_begin(struct stage *stage);

/* What was shown meanwhile is no business of the journal: the next picture begins anew. */
void recording_forget(struct stage *stage);

/* No more are taken; the display may go. */
void recording_stop(struct stage *stage);

/* Frees all of it, and its descriptor. */
void recording_end(struct stage *stage);

/* The number of the picture of what the display has told until now, which is in the file, and its line in the journal. 0: there is none, as in a hold, and after it until an agent has looked. Waits for the display
 * when that has something new; must run in a coroutine. */
int64_t recording_take(struct stage *stage);

/* A new call tries again what an earlier one could not. */
void recording_begin_call(struct stage *stage);

#endif
