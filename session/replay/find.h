/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a node that was recorded is now, in the tree of a session: so that a reader of a difference knows whether what was clicked has moved or is gone. Native
 * pixels. Owner: session/replay. No threads.
 */
#ifndef REPLAY_FIND_H
#define REPLAY_FIND_H

#include <jansson.h>
#include <stdbool.h>

#include "session/base/space.h"

enum find_state {
	FIND_UNKNOWN, /* the tree does not say: it was cut off, an app did not answer, or there is none */
	FIND_THERE,   /* at the point of the click, as it was */
	FIND_MOVED,   /* one like it is elsewhere */
	FIND_ALIKE,   /* several are, none where it was */
	FIND_GONE,
};

struct find {
	enum find_state state;
	size_t n;         /* how many like it have a place */
	struct rect rect; /* of the one that is there or has moved, or of the first alike */
};

/* Are two nodes the same, as far as journals tell them? Where only one of them has a name, that does not count. */
bool find_same(const json_t *recorded, const json_t *now);

/* `tree` is the result of the action tree with the space native; `node` what was recorded of a click at `x`, `y`. */
struct find find_node(const json_t *tree, const json_t *node, int x, int y);

/* "there", "moved", …: for reports. */
const char *find_name(enum find_state state);

/* In words: `push button "Sign in" has moved: it is at 10, 20 now`. *now_x and *now_y get where the click at x, y would go now. The caller's;
 * NULL when there is nothing to say. */
char *find_words(const struct find *find, const json_t *node, int x, int y, int *now_x, int *now_y);

#endif
