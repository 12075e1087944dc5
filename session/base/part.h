/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What of the screen is a window's: its own pixels and those of its menus and dialogs, as far as nothing lies over them. Told by apps, which knows
 * windows, to display, which knows pixels. Owner: who made it. No threads.
 */
#ifndef BASE_PART_H
#define BASE_PART_H

#include <stddef.h>
#include <stdint.h>

#include "session/base/err.h"
#include "session/base/limits.h"
#include "session/base/space.h"

/* Native pixels. Memory that is not used is zeroed, so that two of them can be compared. */
struct part {
	struct rect region;      /* the smallest rectangle with all of it, cut at the edges of the screen */
	struct rect shown[LIMIT_PART_RECTS]; /* its pixels; none is in two of them */
	size_t n_shown;
	struct rect covered[LIMIT_CHANGED];  /* where something else lies over it; around more than these there is one */
	size_t n_covered;
	uint32_t windows[LIMIT_PART_WINDOWS]; /* what it is made of: the window, then menus and dialogs, top first */
	size_t n_windows;
};

/* Errors: ERR_NO_WINDOW, ERR_CONFLICT when none of it is on the screen, both at /window; those of xconn_reply. Runs in a coroutine. */
typedef int part_fn(void *arg, uint32_t window, struct part *out, struct err *e);

#endif
