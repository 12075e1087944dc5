/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The clipboards while a person has the controls: what the person copies comes in, what apps copy goes out, and at the end they are what they were
 * before, or empty. Owner: struct input. One thread; all that return int run in a coroutine, errors as xconn_reply.
 */
#ifndef INPUT_COPIED_H
#define INPUT_COPIED_H

#include "input/clipboard.h"

struct copied {
	struct clipboard *clipboard;
	bool holds;           /* between copied_begin and copied_end */
	bool is_busy;         /* one of these two is at work */
	struct co_event idle;
	struct copied_before {
		unsigned int n_changes;            /* of its owner, when it began */
		struct selection_content *content; /* that it had; NULL: none, or none that could be had */
	} before[CLIPBOARD_NAMES];
	unsigned int own;     /* the change of CLIPBOARD that the person made last */
};

void copied_init(struct copied *copied, struct clipboard *clipboard);
void copied_finish(struct copied *copied);

/* Notes what the clipboards hold. What an app has and does not give within COPIED_PATIENCE_MS is not kept. */
#define COPIED_PATIENCE_MS 300
int copied_begin(struct copied *copied, struct err *e);

/* What changed since is as it was before, or nobody's; the cut buffers are gone. */
int copied_end(struct copied *copied, struct err *e);

/* The person has copied this text: both clipboards have it. */
int copied_put(struct copied *copied, const char *text, size_t len, struct err *e);

/* The text of CLIPBOARD: malloced, the caller's, to be wiped. NULL: there is none, it is too long, or the person has put it there. */
int copied_get(struct copied *copied, char **text, size_t *len, struct err *e);

#endif
