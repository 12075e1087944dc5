/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The calls of the link as a table: who may make each, and whether the session must be ready. A call without a row is refused.
 * Owner: the stage.
 */
#ifndef STAGE_CALLS_H
#define STAGE_CALLS_H

#include "session/stage/stage.h"

/* Takes a whole call and answers it, now or later. `arg` is the stage: a function for connections_ops. */
void calls_take(void *arg, struct call *call);

#endif
