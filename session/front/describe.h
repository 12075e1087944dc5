/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What callers are shown of a session. Owner: session/front. No threads; each object is the caller's. */
#ifndef FRONT_DESCRIBE_H
#define FRONT_DESCRIBE_H

#include <jansson.h>

#include "session/front/sessions.h"

/* Milliseconds of the wall clock as RFC 3339 in UTC. */
json_t *describe_time(int64_t wall_ms);

/* {"memory_bytes","pids","cpu_ms","limits"} as far as the host and, for the limits, the stage's `state` (or NULL) tell; the caller's reference,
 * NULL when nothing is known. */
json_t *describe_usage(const struct warden_usage *usage, const json_t *state);

/* The session's object; `state` is what its stage says of itself, or NULL. */
json_t *describe_session(const struct session *session, const json_t *state);

#endif
