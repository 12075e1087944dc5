/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call `events`: what happens in the session, as server-sent events, for as long as the caller reads.
 *
 * There is an event for each line of the journal, of its name and with its number as id; its data are the line without typed text, standard
 * input and hash. The last LIMIT_EVENTS are kept for readers that come back with the last id they saw; one that comes too late, or reads
 * too slowly to be given all, gets the event `gap` with the numbers that it misses. Owner: the stage. One thread.
 */
#ifndef STAGE_EVENTS_H
#define STAGE_EVENTS_H

#include "session/stage/readers.h"

struct events;

/* `readers` must outlive it. */
struct events *events_create(struct readers *readers);
/* NULL is fine. Nobody may read any more. */
void events_destroy(struct events *events);

/* One line of the journal, as journal_watch tells it. `arg` is the struct events. */
void events_add(void *arg, const json_t *line);

/*
 * Answers the call, whose query may have last_event_id: it begins behind that event, and without one behind the last. In the call's
 * coroutine; returns when the caller has left or the readers are finished. Refused: ERR_BAD_REQUEST for an id that no event has or had, and
 * the errors of reader_begin.
 */
void events_call(struct events *events, struct call *call);

#endif
