/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The keyboard map as the X server has it now: which key, with Shift or without, gives a keysym in the active layout.
 *
 * Layouts change behind our back (setxkbmap, a person), so the map is read afresh for every action that uses keys: one round trip. What
 * is read is XKB's own map with its types, since the core one does not say which modifier reaches a level. The X server stands in the
 * session's jail: its answer is read with bounds. Owner: struct input. One thread.
 */
#ifndef INPUT_KEYMAP_H
#define INPUT_KEYMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/base/err.h"
#include "session/base/x/xconn.h"

#define KEYMAP_SHIFT 0x01 /* X's modifier bits */
#define KEYMAP_CAPS 0x02

struct keymap_place {
	uint32_t keysym; /* canonical (keynames_canonical) */
	uint8_t keycode;
	bool shift; /* Shift has to be held */
};

struct keymap {
	struct keymap_place *places; /* sorted by keysym, then keycode; the map's own */
	size_t n_places;
	bool ours[256];           /* set by the owner: keycodes whose symbols are ours and no part of a layout; not among the places */
	bool used[256];           /* has a symbol in some group */
	uint8_t modifiers[256];   /* modifier bits of each key */
	uint32_t first[256][2];   /* symbols of levels 1 and 2 of group 1 */
	uint8_t min_keycode, max_keycode;
	uint8_t shift_keycode;    /* 0: there is no Shift key, and no place needs one */
	uint8_t num_lock;         /* the bit of Num Lock, or 0 */
	/* The keyboard's state at the same moment. */
	uint8_t group;            /* effective, from 0 */
	uint8_t locked, latched;  /* modifier bits */
	uint8_t down[32];         /* a bit per keycode that is pressed, as QueryKeymap has them */
};

/* Reads map and state. `map` is zeroed memory at first and is used again for later readings; on failure it is as it was. Errors as
 * xconn_reply; ERR_INPUT_LOST when the server's answer makes no sense. Must run in a coroutine. */
int keymap_read(struct keymap *map, struct xconn *x, struct err *e);
void keymap_finish(struct keymap *map);

/*
 * The map from the bytes of an XKB GetMap reply with types, symbols and modifier map; group and locked of *map are to be set before. The
 * part of keymap_read that a test can reach without a server. -1 (and *map as it was) when the bytes make no sense.
 */
int keymap_parse(struct keymap *map, const void *reply, size_t len);

/* How to press a key that gives this keysym (canonical); NULL when the active layout has none. Modifier keys are found whatever
 * level their name is on. Valid until the next reading. */
const struct keymap_place *keymap_find(const struct keymap *map, uint32_t keysym);

/*
 * The keycodes that no layout uses, longest run of neighbours first (a run is rebound by one request), at most `max`. Without those
 * that Chromium takes for browser keys whatever symbol they have. Returns how many.
 */
size_t keymap_spares(const struct keymap *map, uint8_t *keycodes, size_t max);

static inline bool keymap_is_down(const struct keymap *map, uint8_t keycode)
{
	return map->down[keycode / 8] & 1 << keycode % 8;
}

#endif
