/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an action meets, in the words of the apps (apps/access.h): the accessible node under the point that it aims at, or the one that gets its keys. Its role and
 * label go into the result, and so into the journal; never a value, and of a password field the role alone.
 *
 * An app is asked when the action begins, while guard and pointer have work to do; the press waits for the rest of NODES_WAIT_MS at most, and goes on
 * without. For one that was late it waits less for NODES_AGAIN_MS, unless that answers in time all the same; other apps have their full time. An answer that comes after the press is no
 * answer: the press may have changed what is there. Owner: the stage; of the act that has the turn. In coroutines.
 */
#ifndef STAGE_NODES_H
#define STAGE_NODES_H

#include "apps/access.h"
#include "session/stage/batch.h"

#define NODES_WAIT_MS 25    /* that a press waits, from the question on */
#define NODES_BRIEF_MS 10   /* the same after an answer that was late */
#define NODES_LEAST_MS 2    /* and after two; every app has these */
#define NODES_AGAIN_MS 5000 /* for so long */
#define NODES_LATE 4        /* apps that are remembered as late */
#define NODES_ASK_MS 500    /* that an app has for its answer: one that comes after the press is of no use, but shows that the app lives */
#define NODES_NAME_BYTES 200 /* of a label that is told */

struct stage;

struct nodes_answer {
	struct access_question *question; /* NULL: none is open */
	int x, y;                         /* native pixels */
	bool known;
	struct access_node node;          /* if it is known */
	const char *why;                  /* else: "none", "late" or "failed"; NULL: accessibility is off */
};

/* An app that was late. */
struct nodes_late {
	int pid;          /* 0: the display itself, which did not say in time whose window it is */
	int64_t until_ms; /* that this counts */
	bool again;       /* more than once meanwhile */
};

/* Zero-initialised is ready to use. */
struct nodes {
	struct nodes_answer at[2]; /* where it begins, and of a path where it ends */
	size_t n;
	int64_t asked_ms;
	struct nodes_late late[NODES_LATE];
	size_t next_late;          /* the place of the oldest of them */
};

/* An action is about to begin. Again for the same one: nothing more is asked. */
void nodes_ask(struct stage *stage, const struct batch_step *step);

/* It is about to press: an input_ops.before_press with a struct stage. */
void nodes_wait(void *stage);

/* It is over: what it met, or where its keys went (typed.h), goes into its result, as "node" (and "node_to"; or null with "node_reason"). */
void nodes_tell(struct stage *stage, const struct batch *batch, const struct batch_step *step, json_t *result);

/* It does not take place. */
void nodes_drop(struct stage *stage);

/* The focus as GET /v1/sessions/ID tells it, without any text of the screen but the origin of its page; the caller's reference. */
json_t *nodes_focus(const struct stage *stage);

#endif
