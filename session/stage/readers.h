/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Those who read a stream of the session, of any kind: how many there may be, how they wait for what is to be sent, and what becomes of one
 * that does not read. Owner: the stage. One thread; everything runs in the coroutines of their calls.
 */
#ifndef STAGE_READERS_H
#define STAGE_READERS_H

#include "session/stage/connection.h"

/* A comment is sent to a reader after heartbeat_ms without anything else; one that takes nothing for patience_ms is cut off. */
struct readers {
	int64_t heartbeat_ms, patience_ms;
	size_t n;
	size_t held;          /* bytes of what is large of that which is being made for them, and sent to them */
	bool starved;         /* one of them waits until there is room for more */
	bool finished;        /* nothing more will come */
	struct co_event news; /* signalled when something may be to be sent, and when it is finished */
	struct co_event left;
};

struct reader {
	struct readers *all;
	struct call *call;
	int64_t sent_ms; /* when something was last sent to it */
};

/*
 * Begins the answer of the call, of server-sent events. ERR_LIMIT when LIMIT_STREAMS read already: nothing was answered then, else the reader
 * is to be ended by reader_end.
 */
int reader_begin(struct readers *all, struct call *call, struct reader *reader, struct err *e);

/* The end of the answer; one that is not whole breaks off. */
void reader_end(struct reader *reader, bool whole);

/*
 * Waits for room; or until all that was sent is on its way to the reader, and nothing
 * waits for it that would be old when it comes. Errors: ERR_TIMEOUT when it takes nothing for patience_ms, ERR_CANCELLED when it has left.
 */
int reader_wait_room(struct reader *reader, struct err *e);
int reader_wait_taken(struct reader *reader, struct err *e);

/*
 * Is there room for so much of it? For LIMIT_STREAM_SMALL_BYTES always, for more when nothing else that large is held, or no more than
 * LIMIT_STREAM_FRAMES_BYTES with it. When there is none, it is news that something was let go.
 */
bool reader_has_room(struct reader *reader, size_t len);

/* So many bytes are held for it, and no longer. */
void reader_hold(struct reader *reader, size_t len);
void reader_let_go(struct reader *reader, size_t len);

/* Sends it in pieces, between which it may have to wait; until it returns the text counts as held. Errors as above. */
int reader_send(struct reader *reader, const char *text, size_t len, struct err *e);

/* Waits for news, at most until until_ms (monotonic); sends the comment when it is due. Errors as above. */
int reader_wait_news(struct reader *reader, int64_t until_ms, struct err *e);

/* There will be no more: readers get what there is, and their end. Waits for them until the deadline. */
void readers_finish(struct readers *all, int64_t deadline_ms);

#endif
