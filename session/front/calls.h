/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What routes of sessions share that ask a stage (api_calls.c). Owner: session/front. One thread. */
#ifndef FRONT_CALLS_H
#define FRONT_CALLS_H

#include "session/front/sessions.h"

/* ERR_GONE with the session's end, unless it lives. */
int calls_check_ended(const struct session *session, struct err *e);

/*
 * For a call that failed with *e: a stage that goes is noticed before the warden says why its session ended, and that is worth
 * waiting for. Always -1; runs in a coroutine.
 */
int calls_explain_end(struct session *session, struct err *e);

#endif
