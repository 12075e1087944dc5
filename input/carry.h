/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Carries what untrusted apps have copied to trusted ones, which cannot fetch it themselves (clipboard.h says why).
 *
 * To carry is to read text, HTML and PNG from the owner and to own them in its place. That takes the selection away from the app, which may lose its
 * other formats or its mark on the screen by it: so it is done only when a trusted app is about to ask. CLIPBOARD: while a trusted window has
 * the focus, and before a key or button goes to one. PRIMARY: before the middle button is pressed on one. Each owner is read once, and owners that
 * change all the time are followed LIMIT_CARRY_EVERY_MS apart. Owner: struct input. One thread.
 */
#ifndef INPUT_CARRY_H
#define INPUT_CARRY_H

#include "input/clipboard.h"
#include "input/pointer.h"

struct carry {
	struct clipboard *clipboard; /* NULL: nothing is carried */
	struct xconn_listener listener;
	xcb_atom_t active_window;
	struct co *watcher;          /* of CLIPBOARD, while there is something to do */
	bool wanted;                 /* something has changed since it looked */
	bool paused;
	int64_t next_ms;             /* the watcher does nothing before */
	int64_t hurried_ms;          /* until then nothing is waited for: an owner did not answer */
	unsigned int done[CLIPBOARD_NAMES]; /* the change of owner that needs nothing more */
	unsigned int n_reads;        /* owners that were read, for tests */
};

/* `untrusted` and `clipboard` must outlive it. Errors as xconn_reply. Must run in a coroutine, as all that return int. */
int carry_init(struct carry *carry, struct clipboard *clipboard, struct xconn *untrusted, struct err *e);
/* Nothing for zeroed memory. The loop must not run coroutines of it afterwards. */
void carry_finish(struct carry *carry);

/* While it is paused nothing is carried, and nothing that was begun is finished. */
void carry_pause(struct carry *carry, bool paused);

/* Before keys that may paste: at most about LIMIT_CARRY_MS, and nothing at all when there is nothing to carry. Errors as xconn_reply. */
int carry_before_keys(struct carry *carry, struct err *e);
/* The same before a press of a button at this place. */
int carry_before_press(struct carry *carry, unsigned int button, struct pointer_point at, struct err *e);

#endif
