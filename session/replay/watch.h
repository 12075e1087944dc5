/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What changes on a screen by itself while nobody acts: a text caret, the seconds of a clock. Owner: session/replay. No threads.
 *
 * A replay compares what it sees with what was recorded, again and again, so a caret alone is met in its right state within a blink. Only what goes on
 * changing before our eyes is left out, and only where it is small, so that nothing else is overlooked with it:
 *
 *   blinks: at most WATCH_BLINK_WIDTH_PX by WATCH_BLINK_HEIGHT_PX, to and fro between two looks, seen to return WATCH_RETURNS times; and what was
 *           recorded there is one of the two. At any time.
 *   fades:  as small, and changed WATCH_CHANGES times, such as the caret of GTK 4. At the end of the wait.
 *   ticks:  at most WATCH_CLOCK_WIDTH_PX by WATCH_CLOCK_HEIGHT_PX, changed WATCH_CHANGES times, once a second: a clock. With it what stands on the
 *           same line, as far as WATCH_LINE times its height to both sides: hours and minutes. At the end of the wait.
 *
 * A change is one only if the last one is at most WATCH_LATE_MS ago. A clock that shows no seconds does not tick: it takes an ignored region.
 */
#ifndef REPLAY_WATCH_H
#define REPLAY_WATCH_H

#include <stdint.h>

#include "session/replay/compare.h"

#define WATCH_BLINK_WIDTH_PX 16
#define WATCH_BLINK_HEIGHT_PX 48
#define WATCH_RETURNS 2
#define WATCH_CHANGES 3
#define WATCH_CLOCK_WIDTH_PX 256
#define WATCH_CLOCK_HEIGHT_PX 64
#define WATCH_LINE 5
#define WATCH_LATE_MS 1500
#define WATCH_TICK_MIN_MS 700
#define WATCH_TICK_MAX_MS 1300

struct watch;

struct watch *watch_create(void);
void watch_destroy(struct watch *watch); /* NULL is fine */

/* The screen looks like this now. The same size each time. */
void watch_see(struct watch *watch, const struct pixels *shown, int64_t now_ms);

/* Called for what is left out: why is "blinks", "fades" or "ticks". */
typedef void watch_found_fn(void *arg, struct rect rect, const char *why);

/* Hides in *hidden what changes by itself, of a screen that should look as `expected`. `at_end`: the wait is over. How many places that are. */
int watch_hide(const struct watch *watch, const struct pixels *expected, int tolerance, int64_t now_ms, bool at_end, struct hidden *hidden,
               watch_found_fn *found, void *arg);

#endif
