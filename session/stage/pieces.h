/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A text with Tabs in it, typed field by field, where it may come to a field into which nothing may be typed: a name, a Tab and a password in one text. Owner:
 * the stage; of the act that has the turn. In coroutines.
 */
#ifndef STAGE_PIECES_H
#define STAGE_PIECES_H

#include "session/stage/batch.h"

struct stage;

/* Must the rules be asked again behind a Tab of this text? Only where a field of one line has the focus, and a rule has a word for passwords. */
bool pieces_are_apart(const struct stage *stage, const struct batch_step *step);

/* Runs the row with one piece after another; `run` has the whole text. "delivered" is of all of them. Errors: those of the row, and ERR_SENSITIVE or ERR_DENIED for
 * what is behind a Tab: what stands before it has been typed then. */
int pieces_run(struct stage *stage, const struct batch_step *step, struct action_run *run, struct err *e);

#endif
