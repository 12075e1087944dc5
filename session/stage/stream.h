/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call `stream`: the picture of a session for a caller that keeps one of its own, as server-sent events, for as long as it reads.
 *
 * The first event `frame` has the whole picture; each later one has the rectangles that have changed, all of one frame. One is sent only when
 * something has changed, at most max_fps in a second, and only when the reader has taken the one before: a slow one gets fewer, and always the
 * newest. None while the session is paused; a large one waits while the large ones that others have not taken have
 * LIMIT_STREAM_FRAMES_BYTES. The last event is `end`. Owner: the stage. One thread.
 */
#ifndef STAGE_STREAM_H
#define STAGE_STREAM_H

#include "session/stage/stage.h"

/*
 * Answers the call, whose query is that of a screenshot (looks.h) with max_fps beside it. In the call's coroutine; returns when the caller has
 * left or the session is over. Refused: what cannot be read, and the errors of reader_begin.
 */
void stream_call(struct stage *stage, struct call *call);

#endif
