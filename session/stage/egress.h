/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The way out of a session, as its stage has it: the link to glovebox-egress (sandbox/egress/link.h), which is told what may be reached and says what was.
 * What it says is in the journal, folded (egress_folds.h), and not believed. A process that ends is replaced by the warden; the new one is told the same.
 * Owner: the stage. One thread.
 */
#ifndef STAGE_EGRESS_H
#define STAGE_EGRESS_H

#include <jansson.h>
#include <stdbool.h>

#include "session/base/co.h"
#include "session/base/ipc.h"
#include "session/stage/egress_folds.h"

struct parked;
struct stage;

/* What went through; of a process, or of all. */
struct egress_totals {
	json_int_t up, down, allowed, denied;
};

/* Zero-initialised there is no way out. */
struct egress {
	bool is_there;             /* the session has one */
	struct ipc_stream *link;   /* NULL: no process answers now, and nothing goes out */
	json_t *policy;            /* that holds, as it is sent */
	bool in_setup;             /* it is that of the setup phase: nobody is there yet who could be asked, and its list was written for it */
	unsigned int n_sent;       /* policies that the process has not taken yet */
	struct co_event changed;
	json_int_t connections;    /* open now */
	struct egress_totals before, now; /* of the processes before, and of this one */
	json_int_t rated;          /* bytes, and when: where the rate is measured from; 0: not yet */
	int64_t rated_ms;
	struct egress_folds folds;
	struct loop_timer *fold_timer;
	json_t *held;              /* hosts and ports that were reached in a hold, whose ends are private too; NULL: none */
	struct parked *parked;     /* egress_ask.c: connections that wait for a person */
};

/* Sends the policy of the spec and waits until it holds. Nothing, and 0, for a session without a way out. In a coroutine. Errors: ERR_SESSION_FAILED,
 * ERR_TIMEOUT, ERR_CANCELLED. */
int egress_begin(struct stage *stage, int64_t deadline_ms, struct err *e);

/* A new process's end (taken). */
void egress_take(struct stage *stage, int fd);

/*
 * For the setup phase, once egress_begin was called: another policy of the form of the spec's "egress" holds; and then that of the spec again, and all
 * connections that were made under the other are cut. When they return it is so. In a coroutine; errors as of egress_begin.
 */
int egress_setup_begin(struct stage *stage, const json_t *egress, int64_t deadline_ms, struct err *e);
int egress_setup_end(struct stage *stage, int64_t deadline_ms, struct err *e);

/* {"mode","up","connections","allowed","denied","bytes_up","bytes_down"}, or NULL without a way out; the caller's reference. */
json_t *egress_describe(const struct stage *stage);

/* What is folded is written now: lines from before and from within a hold are no lines of the other. */
void egress_flush(struct stage *stage);

/* The session ends: what is folded is written, the link closed. */
void egress_finish(struct stage *stage);

/* To the process, if there is one. The value is taken. */
void egress_tell(struct stage *stage, uint16_t kind, json_t *value);

/* A line of the journal; what repeats is folded. */
void egress_note(struct stage *stage, const char *event, const json_t *said);

/* egress_ask.c: it asks about a connection, or does no more (the objects have their forms); all questions end, since what asked has
 * ended. */
void egress_ask(struct stage *stage, const json_t *asked);
void egress_left(struct stage *stage, const json_t *said);
void egress_forget_asks(struct stage *stage);

/* Do any rules have a word for connections? Then the process asks. */
bool egress_asks(const struct stage *stage);

#endif
