/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call `computer`: what a model of another vendor sends, done as an act and answered as that vendor wants it (session/dialects). Owner: the
 * stage.
 */
#ifndef STAGE_COMPUTER_H
#define STAGE_COMPUTER_H

#include "session/stage/stage.h"

/* Answers the call; `dialect` of its query names the dialect. Runs in the call's coroutine. */
void computer_call(struct stage *stage, struct call *call);

#endif
