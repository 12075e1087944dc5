/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The hands: XTEST events, and what is held down.
 *
 * Every function makes requests without a reply and returns at once; xconn_flush or a sync sends them. What is pressed with
 * hands_press and hands_button is remembered until it is let go, so that nothing stays down after an error, a cancel or a lost
 * caller. Owner: struct input. One thread.
 */
#ifndef INPUT_HANDS_H
#define INPUT_HANDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "session/base/x/xconn.h"

#define HANDS_MAX_KEYS 248 /* every keycode there is: 8 to 255 */

struct hands {
	struct xconn *x;
	struct {
		uint8_t keycode;
		uint32_t keysym; /* its name in hands_held */
		uint32_t owner;  /* the keysym that it was pressed for: itself, or one that needed Shift */
	} keys[HANDS_MAX_KEYS]; /* oldest first */
	size_t n_keys;
	uint32_t buttons; /* a bit per X button number */
};

/* A key that goes down and up within one write and is not remembered. */
void hands_key(struct hands *hands, uint8_t keycode, bool down);

/* Presses a key and remembers it. False, and no event, when it is held already. `keycode` is 8 or more. */
bool hands_press(struct hands *hands, uint8_t keycode, uint32_t keysym, uint32_t owner);
/* Lets a key go, whether it is remembered or not. */
void hands_let_go(struct hands *hands, uint8_t keycode);
/* Lets go of all keys that were pressed for this keysym; false when there is none. */
bool hands_let_go_of(struct hands *hands, uint32_t owner);
bool hands_holds(const struct hands *hands, uint8_t keycode);

/* X button numbers: 1 left, 2 middle, 3 right, 4 to 7 the wheel, 8 back, 9 forward. */
void hands_button(struct hands *hands, unsigned int button, bool down);
bool hands_holds_button(const struct hands *hands, unsigned int button);

/* Moves the pointer, in native pixels. */
void hands_move(struct hands *hands, int x_px, int y_px);

/* Lets go of everything, buttons first, and flushes. */
void hands_release(struct hands *hands);

/* {"keys":[NAME…],"buttons":[NAME…]}; the caller's reference. */
json_t *hands_held(const struct hands *hands);

/* The X button of a name ("left", …); 0 when it is none. And the names, for a field's choices. */
unsigned int hands_button_number(const char *name);
#define HANDS_BUTTON_NAMES "left middle right back forward"

#endif
