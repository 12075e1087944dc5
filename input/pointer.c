/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pointer. */
#include "input/pointer.h"

#include <stdlib.h>

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

void pointer_ask(struct pointer *pointer)
{
	wm_ask(pointer->wm);
	pointer->heard_ms = util_now_ms() + LIMIT_WM_MS;
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

int pointer_settle(struct pointer *pointer, unsigned int button, struct pointer_point at, bool is_raw, struct err *e)
{
	bool own_series = is_raw && pointer->last_press.is_raw;

	if (refuse_held(pointer, button, e) < 0 || pointer_confirm(pointer, e) < 0)
		return -1;
	pointer->last_press.is_raw = is_raw;
	if (own_series || !is_near_last(pointer, button, at) || util_now_ms() >= pointer->last_press.free_ms)
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
	pointer_ask(pointer);
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

int pointer_press(struct pointer *pointer, unsigned int button, struct pointer_point at, struct err *e)
{
	if (pointer_confirm(pointer, e) < 0)
		return -1;
	hands_move(pointer->hands, at.x_px, at.y_px);
	press(pointer, button);
	return take_press(pointer, button, at, e);
}

int pointer_release(struct pointer *pointer, unsigned int button, struct err *e)
{
	if (pointer_confirm(pointer, e) < 0)
		return -1;
	hands_button(pointer->hands, button, false);
	return xconn_sync(pointer->x, e);
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
