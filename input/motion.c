/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Motions along lines. */
#include "input/motion.h"

#include <stdlib.h>
#include <sys/param.h>

#include "session/base/util.h"

/* A path while it is walked. */
struct walk {
	const struct motion *motion;
	int64_t next_ms, step_ms;
};

int motion_distance(struct pointer_point a, struct pointer_point b)
{
	return MAX(abs(b.x_px - a.x_px), abs(b.y_px - a.y_px));
}

/* The whole number next to part / whole of the way from a to b. */
static int between(int a, int b, long part, long whole)
{
	long way = (b - a) * part * 2;

	return a + (int)((way + (way < 0 ? -whole : whole)) / (2 * whole));
}

struct pointer_point motion_between(struct pointer_point a, struct pointer_point b, long part, long whole)
{
	return (struct pointer_point){between(a.x_px, b.x_px, part, whole), between(a.y_px, b.y_px, part, whole)};
}

/* A motion, and then the time until the next one. */
static int step(struct walk *walk, struct pointer_point to, struct err *e)
{
	const struct motion *motion = walk->motion;
	int64_t moved_ms;

	if (pointer_move(motion->pointer, to, e) < 0)
		return -1;
	moved_ms = util_now_ms();
	if (motion->seen && motion->seen(motion->arg, to, e) < 0)
		return -1;
	walk->next_ms += walk->step_ms + util_now_ms() - moved_ms;
	if (walk->next_ms > motion->deadline_ms)
		return err_set(e, ERR_TIMEOUT, NULL, "the call's time limit was reached");
	return walk->next_ms > util_now_ms() ? co_wait_until(walk->next_ms, e) : 0;
}

static int walk_line(struct walk *walk, struct pointer_point from, struct pointer_point to, long n_steps, struct err *e)
{
	for (long i = 1; i <= n_steps; i++)
		if (step(walk, motion_between(from, to, i, n_steps), e) < 0)
			return -1;
	return 0;
}

int motion_run(const struct motion *motion, size_t *reached, struct err *e)
{
	struct walk walk = {.motion = motion, .next_ms = util_now_ms()};
	const struct pointer_point *points = motion->points;
	long n_steps = MAX(MOTION_MIN_STEPS, motion->duration_ms / MOTION_STEP_MS);
	long length = 1;

	walk.step_ms = motion->duration_ms / n_steps;
	for (size_t i = 1; i < motion->n_points; i++)
		length += motion_distance(points[i - 1], points[i]);
	for (size_t i = 1; i < motion->n_points; i++) {
		if (walk_line(&walk, points[i - 1], points[i], n_steps * motion_distance(points[i - 1], points[i]) / length + 1, e) < 0)
			return -1;
		++*reached;
	}
	return 0;
}
