/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The hands of a person who is elsewhere: keys as keysyms that go down and up, as RFB has them, and the pointer with its buttons.
 *
 * A viewer has a keyboard of its own: it says which sign a key gave, with the modifiers that it holds, whatever layout the session has. So modifiers
 * that mean something to apps (Shift, Ctrl, Alt, Super) are held as they are told; those that only choose a sign there (AltGr, the locks) are not: the sign tells. For
 * a sign Shift is put right for the moment of its stroke; one that the layout does not have gets a spare key.
 *
 * Keys repeat as often as the viewer says so. X would repeat one that is down by its own clock, also when the word that it went up is late:
 * so a key is let go of when its viewer has not said for a while that it still is down.
 *
 * What is held here is in no answer to anybody. Owner: struct input. One thread; all that return int run in a coroutine, errors as xconn_reply.
 */
#ifndef INPUT_REMOTE_H
#define INPUT_REMOTE_H

#include "input/keyboard.h"
#include "input/pointer.h"

#define REMOTE_KEYS 32 /* held at once; more are not pressed */

struct remote {
	struct keyboard *keyboard;
	struct pointer *pointer;
	struct {
		uint32_t keysym;  /* as the viewer calls it */
		uint8_t keycode;
		bool is_down;     /* in X; one that waits for the viewer's word is not */
		bool is_modifier;
		int64_t until_ms; /* of others: when it is let go of */
	} keys[REMOTE_KEYS];
	size_t n_keys;
	uint32_t buttons;         /* a bit per button, 1 << 0 the first */
	struct loop_timer *timer; /* of the first that is to be let go of */
	uint8_t locked;           /* modifier bits that were locked before, to be locked again */
	bool has_slots;           /* a spare key has a sign */
};

void remote_init(struct remote *remote, struct keyboard *keyboard, struct pointer *pointer);
void remote_finish(struct remote *remote);

/* A key of the viewer's went down (again), or up. */
int remote_key(struct remote *remote, uint32_t keysym, bool down, struct err *e);

/* The pointer is here (native pixels; unless it is not on the screen), with these buttons: 4 to 7 are the wheel, 8 and 9 back and forward. */
int remote_pointer(struct remote *remote, uint32_t buttons, int x_px, int y_px, bool on_screen, struct err *e);

/* Lets go of everything. Sends, waits for nothing; not in a coroutine. */
void remote_release(struct remote *remote);

/* After that: the locks and the key map are what they were, as far as the window that got the keys lets that be known. */
int remote_restore(struct remote *remote, struct err *e);

#endif
