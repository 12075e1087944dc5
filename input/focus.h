/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the next key goes: after a click or a shortcut, which may move the focus, keys wait until the window has read that and the screen
 * shows it; the first keys to a window, and the first click into it, wait until it has come to rest. Owner: struct input. One thread; in coroutines.
 */
#ifndef INPUT_FOCUS_H
#define INPUT_FOCUS_H

#include "input/fresh.h"
#include "input/input.h"
#include "input/keynames.h"
#include "input/ping.h"
#include "input/pointer.h"

struct focus_cause; /* what may have moved it */

struct focus {
	struct pointer *pointer;
	struct ping *ping;
	struct fresh *fresh;
	const struct input_ops *ops;
	const struct focus_cause *cause; /* what the next key has to wait for, or NULL */
	int64_t caused_ms;
	uint64_t caused_frame;           /* what was on the screen before what it draws, once it is looked at */
	bool has_looked;
};

/* Says that a button is about to be pressed or released. */
void focus_note_click(struct focus *focus);

/*
 * Says that a chord is about to be pressed, beside the keys that are held. It counts when it is a shortcut: with Ctrl, Alt, Super or Meta, or a
 * function key; not Ctrl or Shift alone, and no chord that only edits, in every toolkit and browser: Ctrl with a, c, x, z, an arrow, Home,
 * End, BackSpace, Delete. Delete alone counts in a window of LibreOffice. Errors of ops->look.
 */
int focus_note_chord(struct focus *focus, const struct chord *chord, struct err *e);

/* Whether a chord may take the focus elsewhere: a shortcut, as above, or Tab, Return, Escape. */
bool focus_may_move(const struct chord *chord);

/*
 * Called at the start of every action of the keyboard. After a click or a shortcut it waits until the window with the focus has read it, and
 * until the screen shows what came of it. A browser moves its focus when its page has had the event, of which a ping knows nothing and
 * which takes long while the page loads; what is typed before goes to the old place. A window that speaks no ping is of a program that
 * reads its events one by one: there the order in which they were sent is enough.
 *
 * Then, once for each window that speaks the protocol, it waits until the screen has been quiet for a while and the window answers promptly, at
 * most some 3 s (a hung window: 2 s more): programs show a window before it takes keys. Errors of ping_wait and of ops.
 */
int focus_settle(struct focus *focus, struct err *e);

/*
 * Called before a button goes down, or the wheel turns, at a place. A window there that has come lately, and that speaks the protocol, is waited for as before
 * its first keys, once; where its program has other windows that were waited for, its answer is enough, for it takes its events in order. Where no
 * window has come lately nothing is asked. Errors of ping_wait and of ops.
 */
int focus_settle_at(struct focus *focus, struct pointer_point at, struct err *e);

#endif
