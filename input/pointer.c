/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pointer. */
#include "input/pointer.h"

#include <stdlib.h>
#include <sys/param.h>

#include "session/base/limits.h"
#include "session/base/util.h"

enum { WHEEL_UP = 4, WHEEL_DOWN = 5, WHEEL_LEFT = 6, WHEEL_RIGHT = 7 };

int pointer_confirm(struct pointer *pointer, struct err *e)
{
	if (pointer->heard_ms == 0)
		return 0;
	if (wm_hear(pointer->wm, pointer->heard_ms, e) < 0)
		return -1;
	pointer->heard_ms = 0;
	return 0;
}

int pointer_position(struct pointer *pointer, struct pointer_point *at, struct err *e)
{
	auto_free xcb_query_pointer_reply_t *reply = NULL;
	struct xconn *x = pointer->x;

	if (pointer_confirm(pointer, e) < 0)
		return -1;
	if (x->lost)
		return xconn_sync(x, e);
	if (xconn_reply(x, xcb_query_pointer(x->xcb, x->root).sequence, (void **)&reply, e) < 0)
		return -1;
	*at = (struct pointer_point){reply->root_x, reply->root_y};
	return 0;
}

int pointer_move(struct pointer *pointer, struct pointer_point to, struct err *e)
{
	if (pointer_confirm(pointer, e) < 0)
		return -1;
	hands_move(pointer->hands, to.x_px, to.y_px);
	return xconn_sync(pointer->x, e);
}

static int refuse_held(const struct pointer *pointer, unsigned int button, struct err *e)
{
	if (hands_holds_button(pointer->hands, button))
		return err_set(e, ERR_CONFLICT, NULL, "this button is held already; mouse_up lets it go");
	return 0;
}

/* An app would take a press of this button here as belonging to the last one, if it came soon enough. */
static bool is_near_last(const struct pointer *pointer, unsigned int button, struct pointer_point at)
{
	return pointer->last_press.button == button && abs(at.x_px - pointer->last_press.x_px) <= POINTER_NEAR_PX &&
	       abs(at.y_px - pointer->last_press.y_px) <= POINTER_NEAR_PX;
}

int pointer_settle(struct pointer *pointer, unsigned int button, struct pointer_point at, struct err *e)
{
	if (refuse_held(pointer, button, e) < 0 || pointer_confirm(pointer, e) < 0)
		return -1;
	if (!is_near_last(pointer, button, at) || util_now_ms() >= pointer->last_press.free_ms)
		return 0;
	return co_wait_until(pointer->last_press.free_ms, e);
}

/* The display has taken a press. */
static void note_press(struct pointer *pointer, unsigned int button, struct pointer_point at)
{
	int64_t now_ms = util_now_ms();
	bool second = is_near_last(pointer, button, at) && now_ms < pointer->last_press.at_ms + POINTER_DOUBLE_MS;

	pointer->last_press.button = button;
	pointer->last_press.x_px = at.x_px;
	pointer->last_press.y_px = at.y_px;
	pointer->last_press.at_ms = now_ms;
	pointer->last_press.free_ms = now_ms + POINTER_DOUBLE_MS * (second ? 2 : 1);
}

/* Presses, and asks the window manager, whose answer pointer_confirm waits for. All presses before it are confirmed. */
static void press(struct pointer *pointer, unsigned int button)
{
	hands_button(pointer->hands, button, true);
	wm_ask(pointer->wm);
	pointer->heard_ms = util_now_ms() + LIMIT_WM_MS;
}

/* Waits until the display has taken a press, whose time counts from then on. */
static int take_press(struct pointer *pointer, unsigned int button, struct pointer_point at, struct err *e)
{
	int rc = xconn_sync(pointer->x, e);

	note_press(pointer, button, at);
	return rc;
}

int pointer_click(struct pointer *pointer, unsigned int button, int count, struct pointer_point at, struct err *e)
{
	hands_move(pointer->hands, at.x_px, at.y_px);
	for (int i = 0; i < count; i++) {
		if (pointer_confirm(pointer, e) < 0)
			return -1;
		press(pointer, button);
		hands_button(pointer->hands, button, false);
		if (take_press(pointer, button, at, e) < 0)
			return -1;
	}
	return 0;
}

int pointer_button(struct pointer *pointer, unsigned int button, bool down, const struct pointer_point *at, struct err *e)
{
	struct pointer_point here;

	if (pointer_confirm(pointer, e) < 0 || (down && !at && pointer_position(pointer, &here, e) < 0))
		return -1;
	if (at)
		hands_move(pointer->hands, at->x_px, at->y_px);
	if (!down) {
		hands_button(pointer->hands, button, false);
		return xconn_sync(pointer->x, e);
	}
	press(pointer, button);
	return take_press(pointer, button, at ? *at : here, e);
}

/* The longer side: what the motions of a drag are shared out by. */
static long distance(struct pointer_point a, struct pointer_point b)
{
	return MAX(labs((long)b.x_px - a.x_px), labs((long)b.y_px - a.y_px));
}

/* The whole number next to part / whole of the way from a to b. */
static int between(int a, int b, long part, long whole)
{
	long way = (b - a) * part * 2;

	return a + (int)((way + (way < 0 ? -whole : whole)) / (2 * whole));
}

/* A drag while it runs. */
struct drag {
	struct pointer *pointer;
	int64_t next_ms, step_ms, deadline_ms;
};

/* A round trip, and then the time until the next motion. */
static int step(struct drag *drag, struct err *e)
{
	if (xconn_sync(drag->pointer->x, e) < 0)
		return -1;
	drag->next_ms += drag->step_ms;
	if (drag->next_ms > drag->deadline_ms)
		return err_set(e, ERR_TIMEOUT, NULL, "the call's time limit was reached");
	return drag->next_ms > util_now_ms() ? co_wait_until(drag->next_ms, e) : 0;
}

static int move_along(struct drag *drag, struct pointer_point from, struct pointer_point to, long n_steps, struct err *e)
{
	for (long i = 1; i <= n_steps; i++) {
		hands_move(drag->pointer->hands, between(from.x_px, to.x_px, i, n_steps), between(from.y_px, to.y_px, i, n_steps));
		if (step(drag, e) < 0)
			return -1;
	}
	return 0;
}

static int move_path(struct drag *drag, const struct pointer_point *path, size_t n_points, int64_t moving_ms, size_t *reached,
                     struct err *e)
{
	long length = 1;
	long n_steps = MAX(POINTER_MIN_STEPS, moving_ms / POINTER_STEP_MS);

	for (size_t i = 1; i < n_points; i++)
		length += distance(path[i - 1], path[i]);
	for (size_t i = 1; i < n_points; i++) {
		long share = n_steps * distance(path[i - 1], path[i]) / length + 1;

		if (move_along(drag, path[i - 1], path[i], share, e) < 0)
			return -1;
		++*reached;
	}
	return 0;
}

int pointer_drag(struct pointer *pointer, unsigned int button, const struct pointer_point *path, size_t n_points, int64_t duration_ms,
                 int64_t deadline_ms, size_t *reached, struct err *e)
{
	int64_t moving_ms = duration_ms * 4 / 5;
	int64_t end_ms = util_now_ms() + duration_ms;
	struct drag drag = {.pointer = pointer, .next_ms = util_now_ms(), .deadline_ms = deadline_ms};
	int rc;

	*reached = 0;
	if (refuse_held(pointer, button, e) < 0 || pointer_confirm(pointer, e) < 0)
		return -1;
	drag.step_ms = moving_ms >= POINTER_MIN_STEPS * POINTER_STEP_MS ? POINTER_STEP_MS : moving_ms / POINTER_MIN_STEPS;
	hands_move(pointer->hands, path[0].x_px, path[0].y_px);
	*reached = 1;
	press(pointer, button);
	rc = take_press(pointer, button, path[0], e);
	/* The server folds motions that it holds back. */
	if (rc == 0)
		rc = pointer_confirm(pointer, e);
	if (rc == 0)
		rc = move_path(&drag, path, n_points, moving_ms, reached, e);
	if (rc == 0 && end_ms > util_now_ms())
		rc = co_wait_until(end_ms, e);
	hands_button(pointer->hands, button, false);
	xconn_flush(pointer->x);
	return rc == 0 ? xconn_sync(pointer->x, e) : -1;
}

/* Sends and waits after each full POINTER_CHUNK alone. */
static int turn(struct pointer *pointer, unsigned int button, long notches, struct err *e)
{
	for (long i = 1; i <= notches; i++) {
		hands_button(pointer->hands, button, true);
		hands_button(pointer->hands, button, false);
		if (i % POINTER_CHUNK == 0 && xconn_sync(pointer->x, e) < 0)
			return -1;
	}
	return 0;
}

int pointer_scroll(struct pointer *pointer, const struct pointer_point *at, long dx, long dy, struct err *e)
{
	if (pointer_confirm(pointer, e) < 0)
		return -1;
	if (at)
		hands_move(pointer->hands, at->x_px, at->y_px);
	if (turn(pointer, dy < 0 ? WHEEL_UP : WHEEL_DOWN, labs(dy), e) < 0 ||
	    turn(pointer, dx < 0 ? WHEEL_LEFT : WHEEL_RIGHT, labs(dx), e) < 0)
		return -1;
	return xconn_sync(pointer->x, e);
}
