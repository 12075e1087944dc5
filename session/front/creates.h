/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Creates under an Idempotency-Key: made once, however often they are asked for.
 *
 * A row of the store says so before the warden is asked, and which sessions they became. A key belongs to an owner and is kept for
 * LIMIT_CREATE_KEY_MS. Such a create goes on when its caller leaves. One that failed has left nothing behind, and its key is free; the
 * same goes for one during which the front died: what there was of it is ended by the next front. Owner: session/front. One thread.
 */
#ifndef FRONT_CREATES_H
#define FRONT_CREATES_H

#include "session/front/birth.h"

struct create_job; /* a create that runs, or has just ended */

struct create_call {
	const char *owner, *key, *request_id;
	const char *body;
	size_t body_len;
};

/* What is known of a key. */
enum create_found { CREATE_NEW, CREATE_RUNS, CREATE_MADE };

/*
 * *job (with CREATE_RUNS) is the caller's, until creates_wait; *ids (with CREATE_MADE) are the sessions that it made, separated by
 * spaces, malloced. Errors: ERR_KEY_REUSED (another body).
 */
int creates_find(struct front *front, const struct create_call *call, enum create_found *found, struct create_job **job, char **ids,
                 struct err *e);

/* Begins one whose key is new: `n` sessions of a spec. *job as above. Errors: ERR_LIMIT at LIMIT_CREATE_KEYS, those of the store. */
int creates_begin(struct front *front, const struct create_call *call, json_t *spec, size_t n, struct create_job **job, struct err *e);

/*
 * Waits until it has ended and gives the job back. 0, or -1 with why it failed, or ERR_CANCELLED when the caller left. *births are
 * the *n sessions, with references, the caller's (to be given back by births_free). In a coroutine.
 */
int creates_wait(struct create_job *job, struct birth **births, size_t *n, struct err *e);

void births_free(struct birth *births, size_t n);

#endif
