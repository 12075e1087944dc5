/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Motions of the pointer along straight lines, one by one and in their time. Native pixels. One thread; in coroutines. */
#ifndef INPUT_MOTION_H
#define INPUT_MOTION_H

#include "input/pointer.h"

#define MOTION_STEP_MS 10   /* between two motions */
#define MOTION_MIN_STEPS 10 /* of a path at least */

struct motion {
	struct pointer *pointer;
	const struct pointer_point *points;
	size_t n_points; /* 2 or more; the pointer is at the first one */
	int64_t duration_ms, deadline_ms;
	/* Called after each motion, unless NULL; it may wait, and what it waits for is no part of the duration. */
	int (*seen)(void *arg, struct pointer_point at, struct err *e);
	void *arg;
};

/* The longer side of the way from a to b: what motions are shared out by. */
int motion_distance(struct pointer_point a, struct pointer_point b);

/* The pixel next to part / whole of the way from a to b. */
struct pointer_point motion_between(struct pointer_point a, struct pointer_point b, long part, long whole);

/* Moves through all points, each line in its share of the duration. *reached is counted up at each of them, also on failure. ERR_TIMEOUT at
 * the deadline, ERR_CANCELLED, or as xconn_reply and `seen`. */
int motion_run(const struct motion *motion, size_t *reached, struct err *e);

#endif
