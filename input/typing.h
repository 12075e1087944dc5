/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Typing text, exactly: whatever layout is active, whatever modifiers are held, Caps Lock on or off.
 *
 * Held keys that hands pressed are lifted and pressed again afterwards, as is Caps Lock; modifiers that someone else left down are let
 * go for good, since nobody could tell when to press them again and when to let go. One thread.
 */
#ifndef INPUT_TYPING_H
#define INPUT_TYPING_H

#include "input/keyboard.h"

struct typing {
	const char *text; /* checked by typing_check */
	size_t len;
	bool is_secret;      /* by keys of the map as it is alone, and nothing of it stays in memory; it need not be checked */
	int64_t delay_ms;    /* between characters; 0 types as fast as the display takes them */
	int64_t deadline_ms; /* monotonic */
	size_t delivered;    /* out: characters of the text that the display has taken, also on failure */
	const char *note;    /* out: what the caller should know, or NULL */
};

/*
 * Refuses what cannot be typed: control characters other than \n, \r and \t, and noncharacters (ERR_BAD_FIELD with the character's
 * place), more than LIMIT_TEXT_CHARS characters, and a delay that makes the text take longer than any call may. `path` is the text's
 * pointer.
 */
int typing_check(const char *text, size_t len, long delay_ms, const char *path, struct err *e);

/*
 * Types the text into the window that has the focus, by keys, or by way of the clipboard where keys would be mixed up. A cancel stops it
 * before the next write of TYPING_CHUNK characters, or piece of TYPING_PASTE_CHARS that is pasted, and counts what is on its way. Errors: ERR_CANCELLED,
 * ERR_TIMEOUT at the deadline, ERR_SECRET for one with a character without a key, ERR_CONFLICT while a key other than a modifier is held, ERR_UNSUPPORTED as plan_make, and those of
 * xconn_reply. Must run in a coroutine.
 */
int typing_run(struct keyboard *keyboard, struct typing *typing, struct err *e);

#define TYPING_CHUNK 16         /* characters that go out in one write */
#define TYPING_WRITES 4         /* writes that are on their way at once */
#define TYPING_PASTE_CHARS 5000 /* characters that are pasted at a time */

#endif
