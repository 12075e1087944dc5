/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was done under an Idempotency-Key, so that a call that is sent again is answered and not done again.
 *
 * A record is there before its call does anything: a hash of the body, later the results. Results are kept for LIMIT_RESULTS_MS, and at
 * most LIMIT_RESULTS of them or LIMIT_RESULTS_BYTES, the oldest go first; a key stays for as long as the session, so that nothing is
 * ever done twice. A key belongs to one token and one episode. Owner: the stage. One thread. Times are monotonic milliseconds.
 */
#ifndef STAGE_RECORDS_H
#define STAGE_RECORDS_H

#include <jansson.h>
#include <stdbool.h>

#include "session/base/co.h"

struct records;
struct record; /* owned by records; valid until the next wait or until it was released */

/* Whose call it is, and what it says. All borrowed. */
struct records_key {
	const char *key, *token;
	const char *request_id; /* for records_running */
	long episode;
	const char *dialect; /* of the body, whose meaning depends on it; NULL: our own */
	const char *body;
	size_t body_len;
};

struct records *records_create(void);
void records_destroy(struct records *records);

/*
 * The record of a key. *is_new: there was none before; it runs, and its taker owes it records_finish or records_release. Errors:
 * ERR_KEY_REUSED (another body), ERR_ALREADY_DONE (the results are gone), ERR_LIMIT (LIMIT_KEYS are known, and this is a new one),
 * ERR_UNAUTHORIZED (records_revoke). Who takes a new one runs in a coroutine.
 */
int records_take(struct records *records, const struct records_key *key, int64_t now_ms, struct record **out, bool *is_new,
                 struct err *e);

/* What the call was answered: borrowed, or NULL while it runs. */
const char *record_reply(const struct record *record);

/* Waits until a running record was finished or released; then it is to be taken again. In a coroutine. Errors: those of co_wait_event. */
int record_wait(struct record *record, int64_t deadline_ms, struct err *e);

/* The call was begun: `reply` (malloced, taken) is what whoever sends it again gets. */
void records_finish(struct records *records, struct record *record, char *reply, int64_t now_ms);

/* Nothing was begun: the key is free again. */
void records_release(struct records *records, struct record *record);

/* Cancels what runs under the keys of a token, which gets no record from now on. */
void records_revoke(struct records *records, const char *token);

/* The ids of the requests that run under a key; the caller's reference. */
json_t *records_running(const struct records *records);

#endif
