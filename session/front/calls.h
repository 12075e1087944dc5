/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What routes of sessions share that ask a stage (api_calls.c). Owner: session/front. One thread. */
#ifndef FRONT_CALLS_H
#define FRONT_CALLS_H

#include "session/base/limits.h"
#include "session/front/sessions.h"

/* How long a call that acts may take, with what its stage needs to say so: then it is stuck. */
#define CALLS_ACT_MS (LIMIT_CALL_MS + 10000)

/* ERR_GONE with the session's end, unless it lives. */
int calls_check_ended(const struct session *session, struct err *e);

/* ERR_NOT_READY and ERR_GONE, unless the session takes calls. */
int calls_check_ready(const struct session *session, struct err *e);

/* What the stage of a session says of itself (the caller's); NULL when it has none, or has gone meanwhile. Runs in a coroutine. */
int calls_ask_state(const struct identity *who, const char *request_id, struct session *session, json_t **state, struct err *e);

/* May this identity end the session? An agent not while a person holds the controls: ERR_LEASE_HELD. Runs in a coroutine. */
int calls_check_end(const struct identity *who, const char *request_id, struct session *session, struct err *e);

/*
 * For a call that failed with *e: a stage that goes is noticed before the warden says why its session ended, and that is worth
 * waiting for. Of a call that had begun it says that nobody knows what was done. Always -1; runs in a coroutine.
 */
int calls_explain_end(struct session *session, struct err *e);

/* stage_call for a session that must be there; `by_agent`: it keeps the session from being idle. Errors: those of all of these. Runs in a coroutine. */
int calls_ask_stage(struct session *session, const struct stage_call *call, bool by_agent, int64_t limit_ms, struct stage_reply **reply, struct err *e);

#endif
