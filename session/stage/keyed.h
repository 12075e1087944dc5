/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Acts under an Idempotency-Key (records.h): done once, however often they are sent.
 *
 * The record is there before the first event. What was begun (status 200) is answered again, word for word but for its pictures; while
 * it still runs, whoever sends it again waits for it. A refusal (any other status) means that nothing was begun: it leaves the key free.
 * Owner: the stage. Runs in the call's coroutine.
 */
#ifndef STAGE_KEYED_H
#define STAGE_KEYED_H

#include "session/stage/stage.h"

/* The call `act`, with a key or without: answers it. */
void keyed_act(struct stage *stage, struct call *call);

/* The reply of an act that was begun, before it leaves. Keeps it if the call has a key. */
void keyed_keep(struct stage *stage, struct call *call, const json_t *reply);

#endif
