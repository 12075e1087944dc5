/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an app copies it has on the clipboard some time after the keys that told it to. What comes next and needs it waits for that: a paste, or an action of
 * the clipboard. Owner: struct keyboard. One thread.
 */
#ifndef INPUT_COPYING_H
#define INPUT_COPYING_H

#include "input/clipboard.h"
#include "input/hands.h"
#include "input/keynames.h"

struct copying {
	struct clipboard *clipboard;
	const struct hands *hands;
	int64_t until_ms;    /* it is waited for until then; 0: nothing is being copied */
	unsigned int change; /* of the owner, before it */
};

/* Says that a chord is about to be pressed, beside the keys that are held: copying and cutting count. */
void copying_note_chord(struct copying *copying, const struct chord *chord);

/* Whether a chord pastes what has been copied. */
bool copying_pastes(const struct copying *copying, const struct chord *chord);

/* Waits until CLIPBOARD has another owner than before the keys that copy, at most LIMIT_COPY_MS after them. ERR_CANCELLED. In a coroutine. */
int copying_settle(struct copying *copying, struct err *e);

#endif
