/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pointer: clicks, drags, the wheel. All coordinates are native pixels. Everything waits for the X server before it returns, and must
 * run in a coroutine; errors are those of xconn_reply where nothing else is said. One thread.
 *
 * The window manager takes each press first, to focus the window under it, and the server holds the pointer's later events back until it
 * lets them go on. Its answer is asked for with the press and waited for only before the next thing that depends on it: whatever the
 * pointer does next, and keys, which the server does not hold back.
 */
#ifndef INPUT_POINTER_H
#define INPUT_POINTER_H

#include "input/hands.h"
#include "session/base/x/wm.h"

/*
 * Two clicks are two single clicks, however fast they come: one that an app could take for a part of a double or triple click (same
 * button, within POINTER_NEAR_PX of the press before) waits until POINTER_DOUBLE_MS have passed since then, after a double click twice
 * that: GTK takes a press within twice its time as the third. A double click is `count` 2. Only who presses and releases by
 * mouse_down and mouse_up, again and again, makes a series of his own.
 */
#define POINTER_DOUBLE_MS 510 /* no toolkit's default is beyond 500 */
#define POINTER_NEAR_PX 10

#define POINTER_CHUNK 16 /* notches of the wheel in one write */

struct pointer {
	struct xconn *x;
	struct hands *hands;
	struct wm *wm;
	int64_t heard_ms; /* until then the window manager is waited for; 0: it has let all presses go on */
	struct {
		unsigned int button; /* 0: there was none */
		int x_px, y_px;
		int64_t at_ms;
		int64_t free_ms; /* from then on a press here is a series of its own */
		bool is_raw;     /* by a mouse_down */
	} last_press;
};

struct pointer_point {
	int x_px, y_px;
};

/* Returns when the window manager has let every press so far go on, or LIMIT_WM_MS after the last one. Keys come after this. */
int pointer_confirm(struct pointer *pointer, struct err *e);

/* Says that a press was sent by another way: pointer_confirm waits for the window manager's word on it. Sends nothing by itself. */
void pointer_ask(struct pointer *pointer);

/* Where the pointer is. */
int pointer_position(struct pointer *pointer, struct pointer_point *at, struct err *e);

int pointer_move(struct pointer *pointer, struct pointer_point to, struct err *e);

/* Waits as the rule above says before a press at this place; is_raw: by mouse_down. ERR_CONFLICT when the button is held. */
int pointer_settle(struct pointer *pointer, unsigned int button, struct pointer_point at, bool is_raw, struct err *e);

/* Moves to the place and presses and releases count times, each in one write; pointer_settle comes before it. One round trip for a single
 * click. */
int pointer_click(struct pointer *pointer, unsigned int button, int count, struct pointer_point at, struct err *e);

/* Moves to the place and presses; pointer_settle comes before it. */
int pointer_press(struct pointer *pointer, unsigned int button, struct pointer_point at, struct err *e);
/* Releases a button where the pointer is. */
int pointer_release(struct pointer *pointer, unsigned int button, struct err *e);

/* Turns the wheel at this place (NULL: where the pointer is): notches to the right and down, negative to the left and up. */
int pointer_scroll(struct pointer *pointer, const struct pointer_point *at, long dx, long dy, struct err *e);

#endif
