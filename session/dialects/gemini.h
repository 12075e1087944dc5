/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of Gemini's computer use, as rows (gemini_rows.c), for the turns in which they are called (gemini.c).
 *
 * Places are on a grid of 1000 by 1000 over the screen, whatever its size. Owner: session/dialects. No threads, no state.
 */
#ifndef DIALECTS_GEMINI_H
#define DIALECTS_GEMINI_H

#include "session/dialects/turn.h"

/* The sets of functions that models have. */
enum gemini_set {
	GEMINI_DESKTOP = 1 << 0, /* gemini-3.5-flash and later, and of its browser set what a desktop can do */
	GEMINI_LEGACY = 1 << 1,  /* gemini-2.5-computer-use, gemini-3-flash */
};

/* The sets that have a function of this name; 0: none. */
unsigned int gemini_sets(const json_t *name);

/* Adds what a call does to the turn, whose kind is of a set, or its fault, which is the model's. `args` may be NULL. */
void gemini_add(struct turn *turn, const json_t *name, const json_t *args);

#endif
