/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Key names: what callers write, as keysyms. One vocabulary for key, key_down, key_up, hold_key and hold.
 *
 * A name is, in this order: a single character, which is that character ("A" is not "a"); a spelling of the table in keynames.c (in any
 * case, with "_", "-" and spaces left out), or "KeyA", "Digit1"; an X keysym name (exactly, or else in any case); "U+20AC"; a keysym number
 * "0xff0d". A chord is names joined by "+", or a list of them. "-" and a space join too when all names but the last are modifiers
 * ("ctrl-c", "ctrl c"; so "shift left" is two keys, and "shiftleft" one). The plus key is "plus", the last of "ctrl++", or "+" in a list.
 * No threads, no state.
 */
#ifndef INPUT_KEYNAMES_H
#define INPUT_KEYNAMES_H

#include <jansson.h>
#include <stdint.h>

#include "session/base/err.h"
#include "session/base/limits.h"

struct keyname {
	uint32_t keysym;
	uint32_t other; /* to be used where the layout has no `keysym`; 0 is none */
};

struct chord {
	size_t n;
	struct keyname keys[LIMIT_CHORD_KEYS]; /* as written: modifiers usually first */
};

/*
 * Parses a checked FIELD_KEYS value. Beside ctrl, alt, super or meta a capital letter names its key ("CTRL+A" is ctrl+a, Shift has to be
 * written); elsewhere it is the capital. `path` is the value's pointer. Errors: ERR_UNKNOWN_KEY, naming the token and names that are
 * near; also for an empty name, a key that is named twice, and too many.
 */
int keynames_parse(const json_t *keys, const char *path, struct chord *chord, struct err *e);

/* True for keys that change others: shift, ctrl, alt, super, meta, hyper, altgr. */
bool keynames_is_modifier(uint32_t keysym);

/* True for characters that can be typed: all but control characters, surrogates and what Unicode calls noncharacters. */
bool keynames_has_key(uint32_t code_point);

/* The keysym that stands for a character: Latin-1 as it is, all others by their number. */
uint32_t keynames_of_char(uint32_t code_point);

/* The one keysym for all those that type the same character (as keynames_of_char); others are returned as they are. */
uint32_t keynames_canonical(uint32_t keysym);

/* The table: the spellings of its i-th row, separated by spaces, and its key; NULL after the last one. */
const char *keynames_row(size_t i, struct keyname *key);

#define KEYNAMES_LABEL_MAX 64

/* A name that keynames_parse takes for this keysym. Returns out. */
const char *keynames_label(uint32_t keysym, char out[KEYNAMES_LABEL_MAX]);

#endif
