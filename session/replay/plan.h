/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a replay of a journal has to do: a step for each recorded call, and a spec for its session. Made whole before anything is created; what cannot be
 * replayed is refused here. Owner: session/replay. No threads.
 */
#ifndef REPLAY_PLAN_H
#define REPLAY_PLAN_H

#include <jansson.h>
#include <stdbool.h>

#include "session/base/space.h"
#include "session/replay/reader.h"

/* One step. What is borrowed is the reader's. */
struct plan_step {
	const struct reader_call *call;
	json_t *body;      /* of the act: its actions as they were begun, with observe, space and timeout_ms */
	json_t *expected;  /* a list: of each action what its result said and a replay compares */
	json_t *points;    /* a list of {"x","y"}: native pixels that its actions aim at, in order */
	json_t *aims;      /* of those that met a node: {"action" (from 0), "x", "y", "node"} with its bounds in native pixels */
	json_t *masks;     /* a list of rectangles in native pixels: its observe did not count them, nor the one before it */
	char *title;       /* what it does, on one line, at most TITLE_MAX bytes */
	uint64_t before;   /* the picture that must be there before it; 0: none */
	uint64_t after;    /* and afterwards; 0: none */
	bool before_sure;  /* the screen was at rest then, so that it must come to this again */
	bool after_sure;
	const char *unsure; /* why `after` is not compared, or NULL */
	bool unfinished;   /* the recording does not say how it ended: its last action may have happened */
};

#define PLAN_REST_MS 1000 /* nobody acted for so long: the screen was at rest */

struct plan {
	json_t *spec;      /* of the session to be made */
	const char *image, *image_hash; /* that was recorded; borrowed, "" if the journal does not say */
	struct space native; /* at the start; 0x0: the journal does not say */
	struct space now;    /* while it is made: after the steps so far */
	struct plan_step *steps;
	size_t n_steps;
};

/* What the journal does not have, given by who replays it. */
struct plan_given {
	const json_t *env;   /* {"NAME": "VALUE", or null for none of it} */
	const json_t *stdins; /* {"CALL.ACTION": "TEXT"}, both from 1 */
	const json_t *texts;  /* the same, of what was typed */
};

/*
 * The plan of a journal. ERR_BAD_REQUEST with the first thing that is in the way and what to do about it: no calls, a broken chain (unless
 * `allow_broken`), no spec, typed text that was not recorded, values of the environment and input of commands that were not given.
 */
int plan_make(const struct reader *reader, const struct plan_given *given, bool allow_broken, struct plan *out, struct err *e);
void plan_finish(struct plan *plan); /* zeroed memory is fine */

/*
 * What of an action's result (a line of the journal, or a result of an act's answer) a replay compares: ok, error (its code), exit_code, signal,
 * timed_out, truncated, delivered, closed, as far as it has them; and x, y, width, height where they are what the action was for (cursor_position,
 * move_window, resize_window): a window that has just come may still be moved. The caller's reference.
 */
json_t *plan_result(const json_t *action, const json_t *result);

#endif
