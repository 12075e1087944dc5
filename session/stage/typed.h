/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What of typed text the journal may keep: nothing of a password, and of what goes where nobody can tell its length alone.
 *
 * An intent is written before its first key, so the field must be known by then. An app moves the focus some time after the click or the Tab that asks for it,
 * and tells of it later still: what types after such an action waits until the app has told of a change, or that what was clicked has the focus, or for a while;
 * then the focus is asked for anew. An app that does not answer, as one that is stopped or very busy, may have a password field in focus: where rules have a
 * word for these it is waited for, and then taken for one. Owner: the stage; of the act that has the turn. In coroutines.
 */
#ifndef STAGE_TYPED_H
#define STAGE_TYPED_H

#include "apps/access.h"
#include "session/journal/journal.h"
#include "session/stage/batch.h"

#define TYPED_MOVED_MS 500   /* from what may have moved the focus until its app has told of it; Firefox takes 340 ms after its start */
#define TYPED_ELSE_MS 100    /* the same of a terminal, which starts what asks for a password, and of a window that says nothing */
#define TYPED_FOCUS_MS 250   /* for a fresh answer */
#define TYPED_LATE_MS 5000   /* in all, where a rule has a word for password fields and the app does not answer */
#define TYPED_AGAIN_MS 20    /* between two questions then */

struct stage;

/* Zero-initialised is ready to use. */
struct typed {
	struct access_focus before; /* what had the focus when the action began that runs, or that was last */
	bool moved;                 /* an action may have moved it, and nothing was typed since */
	int64_t moved_ms;           /* when it was over */
	bool met;                   /* it was a click on this */
	struct access_node node;
	bool unmet;                 /* it was a click here, and what is there was told too late */
	int x, y;                   /* native pixels */
	struct access_focus focus;  /* of the action that runs */
};

/*
 * At the start of an action: what of its text or keys the journal may keep. For one that types it waits, as the action would, until the keys have a place to go,
 * and asks what that is.
 */
enum journal_text typed_judge(struct stage *stage, const struct batch_step *step);

/* Of the action that was judged last: it types into a password field, or at a terminal's question for one. */
bool typed_is_secret(const struct typed *typed);

/* It may type into one, for all that is known: who could say has not answered. */
bool typed_is_unsure(const struct typed *typed);

/* Waits and asks as typed_judge does for an action that types. */
void typed_look(struct stage *stage);

/* At the end of it, before nodes_tell: it may have moved the focus. */
void typed_note(struct stage *stage, const struct batch_step *step);

#endif
