/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The journal of one session, as its stage writes it: journal.jsonl, one JSON object a line, in files that the warden made and passed
 * write-only with O_APPEND.
 *
 * Its lines are chained (session/base/chain.h). The `intent` line of an action is written before its events, the `result` line before the
 * reply leaves: after any kill an intent without result reads "may have happened". A last line without newline is no line. Written lines are handed to
 * the disk in the next pause, and within a second in any case. Owner: the stage. One thread.
 */
#ifndef JOURNAL_JOURNAL_H
#define JOURNAL_JOURNAL_H

#include <jansson.h>
#include <stdbool.h>

#include "session/base/err.h"
#include "session/base/loop.h"

struct journal;
struct pictures;

/* fd (taken) is journal.jsonl, without a line. */
struct journal *journal_create(struct loop *loop, int fd);

/* Hands everything to the disk. NULL is fine. */
void journal_destroy(struct journal *journal);

/*
 * Writes one line; `fields` (a reference, taken) are put after the event's name. ERR_INTERNAL when it cannot be written. Of a line that
 * was written in part the rest comes before the next one, as soon as there is room for it: it is in the journal then, although its writer
 * was told that it is not.
 */
int journal_add(struct journal *journal, const char *event, json_t *fields, struct err *e);

/* Lines are marked private from now on, but those that say nothing of what was shown and done. */
void journal_hide(struct journal *journal, bool hidden);

/* They are handed to the disk before the lines that name them. `pictures` stays the caller's; NULL: no more. */
void journal_set_pictures(struct journal *journal, struct pictures *pictures);

/* Calls fn with each line once it is written, without its hash; the line is borrowed. */
typedef void journal_watch_fn(void *arg, const json_t *line);
void journal_watch(struct journal *journal, journal_watch_fn *fn, void *arg);

/* What is written in place of the fields of a line: fn gives a reference of its own. */
typedef json_t *journal_filter_fn(void *arg, const json_t *fields);
void journal_filter(struct journal *journal, journal_filter_fn *fn, void *arg);

/* Where the chain of its whole lines is: {"seq","hash"}; the caller's reference. */
json_t *journal_head(const struct journal *journal);

/* LIMIT_JOURNAL_BYTES are written: nothing new may begin, what has begun still gets its lines. */
bool journal_is_full(const struct journal *journal);

/* Hands the lines so far to the disk now. */
void journal_sync(struct journal *journal);

/* What of a text that was typed is kept, and why no more. */
enum journal_text {
	JOURNAL_TEXT_KEPT,
	JOURNAL_TEXT_HIDDEN,   /* its length alone */
	JOURNAL_TEXT_PASSWORD, /* it went into a password field; keys are left out as well */
	JOURNAL_TEXT_CLIPBOARD, /* it is for a clipboard, as HTML and pictures are */
	JOURNAL_TEXT_NONE,     /* the session's spec wants none: keys of a character are left out as well */
	JOURNAL_TEXT_UNKNOWN,  /* nobody knows whether it did; keys are left out as well */
};

/*
 * An action as the journal keeps it: without values of the environment (names stay), with the length in place of standard input and of what a node is set to, and
 * of typed text unless it is kept: {"bytes":8}, and {"bytes":8,"why":"password"}, "clipboard" or "unknown". The caller's reference.
 */
json_t *journal_action(const json_t *action, enum journal_text text);

/* Writes session.json: `document` as indented text, handed to the disk. The descriptor stays the caller's. */
int journal_write_session(int fd, const json_t *document, struct err *e);

#endif
