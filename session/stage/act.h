/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call `act`: a list of actions, checked as a whole, run in order with nothing of another caller in between. Owner: the stage.
 */
#ifndef STAGE_ACT_H
#define STAGE_ACT_H

#include "session/stage/stage.h"

/* Answers the call. Runs in the call's coroutine. */
void act_call(struct stage *stage, struct call *call);

/* Cancels the act that runs; false when none does. */
bool act_cancel(struct stage *stage);

#endif
