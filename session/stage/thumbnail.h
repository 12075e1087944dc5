/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call `thumbnail`: a small picture of the whole screen for people, as JPEG and without the pointer. It is nobody's look: no act is guarded by
 * it, and it ends nobody's duty to look first. Owner: the stage.
 */
#ifndef STAGE_THUMBNAIL_H
#define STAGE_THUMBNAIL_H

#include "session/stage/stage.h"

/* Answers the call, whose query may have if_none_match. Runs in the call's coroutine. */
void thumbnail_call(struct stage *stage, struct call *call);

#endif
