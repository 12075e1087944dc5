/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Drags: a button goes down, the pointer moves, the button goes up, and the app has seen every step of it before the next one.
 *
 * An app that has not come to the motions when the button goes up takes a drag for a click, and a window that has not answered the drag
 * over it gets no drop. So the windows at both ends are asked (_NET_WM_PING) before the button goes up, and the pointer is nudged: a pixel
 * back on its line and forth, for apps that begin the drag, or ask its target, only at a motion after the one that started it. That a
 * drag between windows has begun shows in the owner of XdndSelection being set.
 * Owner: struct input. All coordinates are native pixels. One thread.
 */
#ifndef INPUT_DRAG_H
#define INPUT_DRAG_H

#include "input/input.h"
#include "input/ping.h"
#include "input/pointer.h"

#define DRAG_START_PX 16  /* from the press: beyond what any toolkit takes for a click */
#define DRAG_BEGIN_MS 150 /* from then on, for an app to begin a drag between windows: browsers ask their page first (10 to 55 ms) */
#define DRAG_LATE_MS 1500 /* the same where nothing has been drawn near the drag since: a page that is slow to hear of it shows nothing yet */
#define DRAG_NEAR_PX 64   /* what is near: so far from where the pointer was */
#define DRAG_NUDGE_MS 25  /* to the second nudge; to each later one twice as long */
#define DRAG_TARGET_MS 500 /* from its begin, for a target to answer, which may have to ask its page, too */
#define DRAG_REFUSED_MS 2000 /* the same while the pointer says that nothing takes it: a page that is slow to answer has not taken it yet */
/* A busy machine gives all of them as many times more what an answer takes, at most DRAG_BUSY_MS. */
#define DRAG_BUSY_FACTOR 8
#define DRAG_BUSY_MS 2000

struct drags {
	struct pointer *pointer;
	struct ping *ping;
	const struct input_ops *ops;
	struct xconn_listener listener;
	xcb_atom_t selection; /* XdndSelection */
	uint8_t event;        /* the type of its events */
	struct co_event begun;
	unsigned int n_begun;  /* drags between windows so far, by whomever */
	unsigned int n_before; /* when the button went down */
	int64_t begun_ms;      /* when the last one began */
	int64_t started_ms;    /* the pointer was DRAG_START_PX from the press, and the window there knew it; 0: not yet */
	uint64_t started_frame; /* what was on the screen then */
	struct rect way;        /* covers where the pointer was since the press */
};

struct drag_path {
	unsigned int button;
	const struct pointer_point *points;
	size_t n_points; /* 2 or more */
	int64_t duration_ms, deadline_ms;
};

/* All three must outlive it. Errors as xconn_reply. Must run in a coroutine, as all of these but drag_finish. */
int drag_init(struct drags *drags, struct pointer *pointer, struct ping *ping, const struct input_ops *ops, struct err *e);
void drag_finish(struct drags *drags);

/*
 * Presses at the first point, moves along straight lines through all others and releases at the last one. The motions take the first four
 * fifths of the duration; then the pointer rests, longer if the windows need it. *reached is how many points the pointer has come to,
 * also on failure; the button is released in any case. ERR_CONFLICT when the button is held, ERR_CANCELLED, ERR_TIMEOUT at the deadline.
 */
int drag_run(struct drags *drags, const struct drag_path *path, size_t *reached, struct err *e);

/* A drag by single actions: a button is about to go down; the pointer has moved while it was down; it is about to go up, where the pointer
 * is now, and the pointer rests as above. */
void drag_note_press(struct drags *drags);
int drag_see(struct drags *drags, struct pointer_point at, struct err *e);
int drag_settle(struct drags *drags, struct pointer_point at, int64_t deadline_ms, struct err *e);

#endif
