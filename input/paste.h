/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text by way of the clipboard, for windows that mix up what is typed.
 *
 * LibreOffice Writer takes letters at once and carries out Return, Delete, arrows and shortcuts, among them the paste, some time after
 * their keys; no barrier sees that. Text that is pasted keeps its place among them, and it is seen when it is fetched from us. What the
 * clipboard held before is read first and offered again afterwards. One thread.
 */
#ifndef INPUT_PASTE_H
#define INPUT_PASTE_H

#include "input/keyboard.h"

/* Whether the keyboard's target mixes up what is typed, so that text is to be pasted. */
bool paste_is_needed(const struct keyboard *keyboard);

/* One text while it is pasted, piece by piece. */
struct pasting {
	struct keyboard *keyboard;
	struct selection_content *before; /* what the clipboard held; NULL: nothing */
	bool has_pasted;                  /* the window has taken a piece */
	bool was_hung;                    /* the window, when it was told to paste before */
	const char *note;                 /* what the caller should know, or NULL */
};

/* Reads what the clipboard holds. Errors as xconn_reply. Must run in a coroutine, as all here. */
int paste_begin(struct pasting *pasting, struct keyboard *keyboard, struct err *e);

/*
 * Pastes a piece and returns 0 when the window has it, 1 when it does not fetch it, although it answers and, before its first
 * piece, the keys were pressed several times: it will not fetch it later either. ERR_TIMEOUT when it does not answer: the clipboard has
 * been emptied, so that it fetches nothing later. Errors as xconn_reply. No modifier may be held.
 */
int paste_piece(struct pasting *pasting, const char *text, size_t len, struct err *e);

/* Gives the clipboard back what it held. Must be called after paste_begin. Errors as xconn_reply. */
int paste_end(struct pasting *pasting, struct err *e);

#endif
