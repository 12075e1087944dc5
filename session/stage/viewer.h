/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One viewer, and what its files share: viewers.c has its coming and going, viewer_show.c what it is shown, viewer_take.c what it asks for.
 * Used by these alone.
 */
#ifndef STAGE_VIEWER_H
#define STAGE_VIEWER_H

#include "display/display.h"
#include "display/view/proto.h"
#include "session/base/co.h"
#include "session/stage/stage.h"

#define VIEWER_TOKEN_BYTES 128 /* of a token's id */

struct viewer {
	struct viewer *next;
	struct stage *stage;
	uint32_t number;
	char token[VIEWER_TOKEN_BYTES + 1];
	char role[16];
	bool may_control;             /* its role does */
	bool controls;                /* and it has a way to ask */
	int64_t since_ms;             /* monotonic; of its number, then of its coming */
	struct loop_timer *unused;    /* a number that does not come */
	bool is_here, gone;
	int ends[N_VIEWER_ENDS];
	struct loop_source *socket, *taken_source;
	uint32_t *segment;
	size_t bytes;
	struct loop_timer *closing;   /* its view has closed: what it still had to say has until then */
	unsigned int n_running;       /* its coroutines: it is freed by the last one */
	/* What it is shown. */
	struct co *shower;
	struct display_follower follower;
	bool follows;
	struct co_event news;         /* something may be to be shown, or it has taken the last news */
	bool taken;                   /* it has */
	bool was_shown;               /* anything, its size at least: */
	struct space shown;
	bool may_look;                /* as of the last look */
	int64_t next_ms;              /* not before */
	int pointer_x, pointer_y;
	bool has_copied;              /* the session has another text for it */
	bool has_cut;                 /* a text lies in the segment */
	unsigned int answers, refusals; /* to what it asked for its size: due, and of these refused */
	/* What it asks for. */
	struct co *taker;
	struct co_event asked;        /* its socket has something */
	bool is_ready;
	char *cut;                    /* a text that comes in pieces */
	uint32_t cut_total, cut_len;
};

/* viewers.c: it is no more; its memory goes when its coroutines have ended. */
void viewer_leave(struct viewer *viewer);
/* A coroutine of it has ended. */
void viewer_done(struct viewer *viewer);

/* viewer_show.c and viewer_take.c: the coroutines. `arg` is the viewer. */
void viewer_show(void *arg);
void viewer_take(void *arg);

#endif
