/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text as strokes: which keys to press, and which spare keys (slots) must get which symbols first.
 *
 * A client reads the current map when it gets to the notice of a change, so a symbol must not be taken off its slot while strokes of it
 * may still be unread. Therefore a text is cut into batches as large as the slots allow: one change of the map, then strokes. A slot
 * has two levels, the second is reached by Shift. Pure functions: no X. Owner: struct keyboard.
 */
#ifndef INPUT_PLAN_H
#define INPUT_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "input/keymap.h"
#include "session/base/err.h"

#define PLAN_MAX_SLOTS 248 /* keycodes 8 to 255 */

struct slots {
	size_t n;
	uint8_t keycodes[PLAN_MAX_SLOTS];
	uint32_t keysyms[PLAN_MAX_SLOTS][2]; /* per level, canonical; 0: nothing */
	size_t hand;                         /* where the search for something to overwrite goes on */
};

struct stroke {
	uint8_t keycode;
	bool shift;
	uint8_t n_chars; /* characters of the text that it stands for: 2 for "\r\n" */
};

struct plan {
	struct stroke *strokes;        /* the plan's own */
	size_t n_strokes;
	bool changed[PLAN_MAX_SLOTS];  /* slots whose symbols are new */
	size_t n_changed;
	bool overwrites;               /* a symbol had to go that earlier strokes may have used */
	bool uses_slots;
};

/* The next symbol of a text: the keysym, its bytes and characters ("\r\n" is one Return). False at the end. The text is UTF-8. */
struct symbol {
	uint32_t keysym;
	size_t len;
	uint8_t n_chars;
};
bool plan_symbol(const char *text, size_t len, struct symbol *symbol);

/*
 * Plans as much of the text as one change of the map allows, notes the new symbols in `slots` and stores in *used how many bytes that
 * is. *plan is zeroed memory or an earlier plan. ERR_UNSUPPORTED when a character has no key and there is no slot.
 */
int plan_make(struct plan *plan, const struct keymap *map, struct slots *slots, const char *text, size_t len, size_t *used, struct err *e);
void plan_finish(struct plan *plan);

/*
 * For chords: finds or puts a keysym (canonical) on level 1 of a slot, so that it needs no Shift, and stores the slot's number. May be
 * called several times on a plan that plan_clear has begun. ERR_UNSUPPORTED when there is no slot left.
 */
void plan_clear(struct plan *plan);
int plan_bind(struct plan *plan, struct slots *slots, uint32_t keysym, size_t *slot, struct err *e);

/* Plans to empty every slot that has a symbol. */
void plan_empty(struct plan *plan, struct slots *slots);

/* Gives up the slots that the map shows with other symbols than ours, and forgets the symbols of those that were wiped (a new layout). */
void plan_compare(struct slots *slots, struct keymap *map);

/* The two symbols that a slot must have in the map: an empty level repeats the other one, since [X, nothing] would mean upper and
 * lower case of X. */
void plan_slot_symbols(const struct slots *slots, size_t slot, uint32_t out[2]);

#endif
