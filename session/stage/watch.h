/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call `watch`: how the front hears who holds the controls, which approvals wait and which limits were met, without asking again and again. It answers when
 * something of it has changed since what the caller has seen, or after LIMIT_WATCH_MS. Owner: the stage. One thread.
 */
#ifndef STAGE_WATCH_H
#define STAGE_WATCH_H

#include "session/base/co.h"
#include "session/stage/connection.h"

struct stage;

/* Zero-initialised nothing has changed yet. */
struct watch {
	json_int_t n;            /* changes so far */
	struct co_event changed;
};

/* The lease or an approval has changed, a limit was met, or the session is over. */
void watch_note(struct stage *stage);

/*
 * Query: seen, the number of an answer before; without it the answer comes at once.
 * {"seen":N,"lease":{…},"approvals":[…],"egress":{…},"limits":{…},"security":{…}}, as the server
 * sees it; egress is no news by itself, and tells how much there was so far.
 */
void watch_call(struct stage *stage, struct call *call);

#endif
