/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The actions of OpenAI's computer use (openai_actions.c), for the turns in which they come (openai.c). Owner: session/dialects. No threads, no state.
 */
#ifndef DIALECTS_OPENAI_H
#define DIALECTS_OPENAI_H

#include "session/dialects/turn.h"

/* Adds what an action of a call does to the turn, or its fault, which is the model's. */
void openai_add(struct turn *turn, const json_t *action);

#endif
