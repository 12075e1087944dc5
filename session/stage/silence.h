/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A display that does not answer: a client has grabbed it, or floods it. New work is refused, then those who can have done it are ended
 * step by step, the agent's own processes, then the apps, each with a line of the journal; a display that is silent still is given up, and the
 * session with it. Owner: the stage. One thread.
 */
#ifndef STAGE_SILENCE_H
#define STAGE_SILENCE_H

#include "session/base/err.h"

struct stage;

/* The display has left a wait unanswered (xconn.on_silent; arg is the stage). */
void silence_begin(void *arg);

/* ERR_X_SILENT while it goes on. */
int silence_check(const struct stage *stage, struct err *e);

#endif
