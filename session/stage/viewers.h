/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who watches the session by RFB. The front is given a number for a token (call `viewer`), the warden brings the ends of the view that serves it
 * (STAGE_VIEWER), and from then on it is shown what the lease lets it see, and asks for input that the lease lets through.
 * display/view/proto.h has what goes over the ends. What a viewer types is told to X alone: it is in no line, event or log.
 * Owner: the stage. One thread.
 */
#ifndef STAGE_VIEWERS_H
#define STAGE_VIEWERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/base/co.h"
#include "session/warden/proto.h"

struct call;
struct stage;
struct viewer;

/* Zero-initialised is nobody. */
struct viewers {
	struct viewer *list;
	struct viewer *hands; /* whose keys and buttons are held, or were last */
	uint32_t last;        /* the number that was given last */
	struct co *watcher, *copies; /* of the lease and of what is copied, once somebody has come */
};

/* Takes one record of the warden's channel, of which the views of those who watch, and a new egress (egress_take), come after START; what else comes all the same is closed. A number
 * that nobody was given, or that has come before, is left to end. False: the channel has ended. */
bool viewers_receive(struct stage *stage, int warden_fd);

/* The viewer of this token that has controls: `wanted`, or with 0 the one that came last; 0: there is none. */
uint32_t viewers_of(const struct stage *stage, const char *token, uint32_t wanted);

/* All that a viewer holds is let go. Sends and waits for nothing. */
void viewers_release(struct stage *stage);

/* Nobody watches any more. */
void viewers_end(struct stage *stage);

/* Calls of the front: a number for a token; what a viewer holds is let go; it is thrown out; who is there. */
void viewers_call_give(struct stage *stage, struct call *call);
void viewers_call_silent(struct stage *stage, struct call *call);
void viewers_call_end(struct stage *stage, struct call *call);
void viewers_call_list(struct stage *stage, struct call *call);

#endif
