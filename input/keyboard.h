/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The keyboard of a session: the map, the spare keys (slots) with what is bound to them, and chords.
 *
 * Keysyms that the active layout has are pressed as real keys; others are bound to slots first. Slots stay bound afterwards, so that the
 * next text finds them, and are bound anew only when the window that got their strokes has read them. One thread.
 */
#ifndef INPUT_KEYBOARD_H
#define INPUT_KEYBOARD_H

#include "input/hands.h"
#include "input/keymap.h"
#include "input/keynames.h"
#include "input/ping.h"
#include "input/plan.h"
#include "input/selection.h"

struct keyboard {
	struct xconn *x;
	struct hands *hands;
	struct keymap map;
	struct slots slots;
	struct plan plan;
	struct ping ping;
	struct selection clipboard;
	struct ping_target target; /* the window that the present action types into; valid after keyboard_aim */
	struct ping_target unread; /* the window that got strokes of slots last */
	bool has_unread;           /* it may not have read them */
};

/* Keys that a chord holds: those that it pressed itself, in this order. */
struct grip {
	size_t n;
	uint8_t keycodes[2 * LIMIT_CHORD_KEYS];
};

/* Reads the map and chooses the slots. `x` and `hands` must outlive it. Errors as keymap_read. Must run in a coroutine. */
int keyboard_init(struct keyboard *keyboard, struct xconn *x, struct hands *hands, struct err *e);
void keyboard_finish(struct keyboard *keyboard);

/* Begins an action: the map as it is now. Errors as keymap_read. */
int keyboard_read(struct keyboard *keyboard, struct err *e);

/* Finds the window that the next strokes go to. Errors as xconn_reply. */
int keyboard_aim(struct keyboard *keyboard, struct err *e);

/*
 * Brings the symbols of the present plan to the server and waits until the target has seen them; `before` is what the slots were
 * before the plan, and is put back when nothing was sent. Errors as xconn_reply.
 */
int keyboard_bind(struct keyboard *keyboard, const struct slots *before, struct err *e);

/* Says that strokes of slots were sent to the target. */
void keyboard_note_unread(struct keyboard *keyboard);

/*
 * Presses the keys of a chord, in order, each with Shift where it needs it; modifiers that are held already are left alone. *grip is what
 * has to be let go. Nothing is pressed on failure: ERR_CONFLICT for a key that is held already or a modifier that the layout does not
 * have, ERR_UNSUPPORTED when there is no key and no slot, or as xconn_reply. Sends nothing by itself. Must run in a coroutine.
 */
int keyboard_press(struct keyboard *keyboard, const struct chord *chord, struct grip *grip, struct err *e);
/* Lets the keys go, last first. */
void keyboard_let_go(struct keyboard *keyboard, const struct grip *grip);

/* Lets go of the keys of a chord, also of those that some client of the session pressed. Errors as keyboard_read. */
int keyboard_release(struct keyboard *keyboard, const struct chord *chord, struct err *e);

#endif
