/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Plays a plan on a session and compares what comes of it.
 *
 * What a click met is compared as well, as far as the journal and the server tell: role and name. Where the screen before a step is another one, the tree of the
 * session says whether what is to be clicked has moved or is gone.
 *
 * Before a step it waits until the screen looks as it did before the call was recorded, then sends the act, compares the results, and waits until the
 * screen looks as it did afterwards. A step whose screen before it is another one is not played: a click would meet something else. It knows no server:
 * who calls it gives it the functions. Owner: session/replay. No threads.
 */
#ifndef REPLAY_PLAYER_H
#define REPLAY_PLAYER_H

#include <stdbool.h>
#include <stdint.h>

#include "session/replay/plan.h"
#include "session/replay/report.h"

struct player_api {
	void *arg;
	/* Sends an act. 0 with its answer; 1 with the problem object of a refusal; -1 with the error when there is no answer. *answer is the caller's. */
	int (*act)(void *arg, const json_t *body, json_t **answer, struct err *e);
	/* Looks at the screen: all of it, native, without the pointer, into *shown, which holds the look before (or nothing). *changed: it is another. */
	int (*look)(void *arg, struct pixels *shown, bool *changed, struct err *e);
	int64_t (*now_ms)(void *arg);
	int (*rest)(void *arg, int ms, struct err *e); /* -1: it is to end */
	void (*stepped)(void *arg, const json_t *facts); /* a step is done; may be NULL */
};

struct player_options {
	int wait_ms;      /* for the screen to look as it did, before and again after an act */
	int tolerance;    /* 0..255 a channel */
	double max_share; /* 0..1 of the pixels */
	const json_t *ignore; /* {"regions":[RECT…],"steps":{"3":[RECT…]}}, native pixels, checked; or NULL */
	bool keep_going;  /* also after a step that differs */
	bool accept;      /* pictures that differ do not stop it: they are to be the new ones */
	bool keep_pictures; /* also those of steps that passed */
	bool follow;      /* a click whose node has moved goes where that is now; pictures do not count from then on */
	bool any_node;    /* what a click meets need not be what it met */
};

/*
 * Plays all of it, or up to the first step that differs, into *report. 0 if it could be played, whatever the verdicts; -1 when the server gave no answer,
 * with the error, which is the reason of a step that failed as well.
 */
int player_run(const struct player_api *api, const struct player_options *options, struct reader *reader, const struct plan *plan,
               struct report *report, struct err *e);

/* Is this an object as `ignore` above wants it, for a screen of this size? ERR_BAD_FIELD, … with the pointer. */
int player_check_ignore(const json_t *ignore, struct space native, struct err *e);

#endif
