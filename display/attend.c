/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Attending to the screen while somebody decides on a picture of it: what blinks is known only by being seen. Nothing runs for this while
 * nothing is drawn.
 */
#include <sys/param.h>

#include "display/screen.h"
#include "session/base/util.h"

#define ATTEND_MS 10000      /* after a picture; by then it is known what blinks */
#define ATTEND_EVERY_MS 100  /* at most so often */

static void attend(void *arg)
{
	struct display *display = arg;

	(void)screen_update(display, NULL);
	display->attending = false;
	if (display->told)
		screen_attend(display);
}

static void on_time(void *arg)
{
	struct display *display = arg;

	display->attend = NULL;
	if (!display->told)
		return;
	display->attending = true;
	(void)co_start(display->x->loop, attend, display);
}

void screen_attend(struct display *display)
{
	if (display->attend || display->attending || util_now_ms() >= display->attend_until_ms)
		return;
	display->attend = loop_at(display->x->loop, MAX(util_now_ms(), display->updated_ms + ATTEND_EVERY_MS), on_time, display);
}

void display_attend(struct display *display)
{
	display->attend_until_ms = util_now_ms() + ATTEND_MS;
	if (display->told)
		screen_attend(display);
}
