/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call `events`: what happens in the session, as server-sent events, for as long as the caller reads.
 *
 * There is an event for each line of the journal, of its name and with its number as id; its data are the line without typed text, standard
 * input and hash. The last LIMIT_EVENTS are kept for readers that come back with the last id they saw; one that comes too late, or reads
 * too slowly to be given all, gets the event `gap` with the numbers that it misses. A reader that takes nothing for a while is
 * cut off. Owner: the stage. One thread.
 */
#ifndef STAGE_EVENTS_H
#define STAGE_EVENTS_H

#include "session/stage/connection.h"

struct events;

/* A comment is sent after heartbeat_ms without an event; a reader that takes nothing for patience_ms is cut off. */
struct events *events_create(int64_t heartbeat_ms, int64_t patience_ms);
/* NULL is fine. Nobody may read any more. */
void events_destroy(struct events *events);

/* One line of the journal, as journal_watch tells it. `arg` is the struct events. */
void events_add(void *arg, const json_t *line);

/*
 * Answers the call, whose query may have last_event_id: it begins behind that event, and without one behind the last. In the call's
 * coroutine; returns when the caller has left or the events are over. Refused: ERR_BAD_REQUEST for an id that no event has or had,
 * ERR_LIMIT when LIMIT_STREAMS read.
 */
void events_call(struct events *events, struct call *call);

/* There will be no more: readers get what there is, and their end. In a coroutine; waits for them until the deadline. */
void events_finish(struct events *events, int64_t deadline_ms);

#endif
