/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The keyboard of a session: the map, the spare keys (slots) with what is bound to them, and chords.
 *
 * Keysyms that the active layout has are pressed as real keys; others are bound to slots first. They are bound anew or
 * emptied only when the window that got their strokes has read them: at the end of an action the map is what it was. One thread.
 */
#ifndef INPUT_KEYBOARD_H
#define INPUT_KEYBOARD_H

#include "input/clipboard.h"
#include "input/copying.h"
#include "input/hands.h"
#include "input/keymap.h"
#include "input/keynames.h"
#include "input/ping.h"
#include "input/plan.h"

struct keyboard {
	struct xconn *x;
	struct hands *hands;
	struct keymap map;
	struct slots slots;
	struct plan plan;
	struct ping ping;
	struct clipboard clipboard;
	struct copying copying;
	xcb_window_t hung;         /* the window that was told to paste and did not answer, or 0 */
	struct ping_target target; /* the window that the present action types into; valid after keyboard_aim */
	struct ping_target unread; /* the window that got strokes last */
	size_t n_unread;           /* strokes that it may not have read */
	bool has_unread;           /* some of them were of slots */
	int64_t deadline_ms;       /* of the present action; 0: not known */
	unsigned int n_actions;
	struct loop_timer *later;  /* when slots are emptied whose window cannot say what it has read */
	struct keyboard_later *emptying;
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

/*
 * Empties the slots, once the window that got their strokes has read them: the map is as it was before. For a window without ping that
 * happens LIMIT_SLOTS_MS later, if no action of the keyboard comes between; for one that does not answer, or while one of them is held,
 * at the end of a later action. Errors as xconn_reply.
 */
int keyboard_restore(struct keyboard *keyboard, struct err *e);

/* Says that strokes were sent to the target, and whether some were of slots. */
void keyboard_note_unread(struct keyboard *keyboard, size_t n_strokes, bool of_slots);

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
