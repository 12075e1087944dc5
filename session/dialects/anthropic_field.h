/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Members of the input of Anthropic's computer tools. What is wrong with one is told to the model: each function that returns -1 has put a text for it
 * into the reading's error. Owner: session/dialects. No threads, no state.
 */
#ifndef DIALECTS_ANTHROPIC_FIELD_H
#define DIALECTS_ANTHROPIC_FIELD_H

#include "session/dialects/anthropic.h"

/* One call while it is read. */
struct anthropic_reading {
	const struct anthropic_tool *tool;
	const struct anthropic_action *action;
	const json_t *input;
	struct space space;
	struct anthropic_step *step;
	struct err *e;
};

/* A member; one that is null is absent, as the vendor's types have it. Borrowed. */
const json_t *anthropic_field_of(const struct anthropic_reading *r, const char *name);

/* Says that it is required; -1. */
int anthropic_field_missing(const struct anthropic_reading *r, const char *name);

/* A whole number, also one that is written as 100.0; a list of exactly n of them. */
bool anthropic_field_whole(const json_t *value, int *out);
bool anthropic_field_wholes(const json_t *list, int *out, size_t n);

/* A place on the screen: 1 when it is there, 0 when it is absent, -1 when it is none. */
int anthropic_field_point(const struct anthropic_reading *r, const char *name, int at[2]);
int anthropic_field_need_point(const struct anthropic_reading *r, const char *name, int at[2]);

/* Keys, a string: borrowed. */
int anthropic_field_need_keys(const struct anthropic_reading *r, const json_t **keys);

/* The same as our actions have them, where a plus that stands alone joins nothing; a new reference. */
json_t *anthropic_field_chord(const json_t *keys);

/* Into an action: keys that are held meanwhile, as "hold", and the place "x" and "y", if they are there. */
int anthropic_field_add_hold(const struct anthropic_reading *r, json_t *act);
int anthropic_field_add_place(const struct anthropic_reading *r, json_t *act);

/* The duration, which is given in seconds; it becomes the step's own. */
int anthropic_field_need_ms(const struct anthropic_reading *r, int64_t *ms);

#endif
