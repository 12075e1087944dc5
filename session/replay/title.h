/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a journal says was done, on one line, for a reader: `click push button "Sign in" at 10, 20`. What stands in it may be anybody's text; it is quoted and
 * bounded. Owner: session/replay. No threads.
 */
#ifndef REPLAY_TITLE_H
#define REPLAY_TITLE_H

#include <jansson.h>

#include "session/replay/reader.h"

#define TITLE_MAX 240 /* bytes */

/* An action, as its intent has it; `result`: the line of its end, which says what it met, or NULL. The caller's. */
char *title_action(const json_t *action, const json_t *result);

/* All actions of a call. The caller's. */
char *title_call(const struct reader_call *call);

/* A node: its role, and its name in quotes if it has one. The caller's. */
char *title_node(const json_t *node);

#endif
