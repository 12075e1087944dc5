/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What sessions use: memory, processes, processor time. Only the warden can read it; the front asks when a caller wants to know, for all
 * sessions at once and not more often than it may, and callers share an answer that is fresh. Owner: session/front. One thread.
 */
#ifndef FRONT_USAGE_H
#define FRONT_USAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "session/base/co.h"
#include "session/front/sessions.h"
#include "session/front/warden.h"

struct usage {
	struct warden *warden;
	int64_t asked_ms;  /* when the warden was last asked, and when it was asked for what is known; monotonic, 0: never */
	int64_t sample_ms;
	bool asking;
	struct co_event told;
	struct warden_usage front; /* the front's own */
};

/*
 * Runs in a coroutine; waits, LIMIT_USAGE_MS at most, until what is known is not older than USAGE_FRESH_MS, and is of all sessions that
 * were there before `since_ms` (monotonic). -1 when the warden does not tell: what is known is then old.
 */
int usage_refresh(struct usage *usage, int64_t since_ms);

/* An event of the warden. */
void usage_take(struct usage *usage, struct sessions *all, const struct warden_event *event);

#endif
