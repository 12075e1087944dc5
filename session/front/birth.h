/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Making a session: from a spec to a desktop that is ready, or nothing at all. Owner: session/front. One thread. */
#ifndef FRONT_BIRTH_H
#define FRONT_BIRTH_H

#include "session/front/front.h"

/*
 * Runs in a coroutine. `spec` is as spec_complete makes it. Has the warden build the session, waits until the stage says that the desktop is painted and
 * the apps have mapped their windows. *out has a reference for the caller, *state is what the stage says of itself (the caller's). On
 * failure, and when the coroutine is cancelled, everything made is gone again when it returns. Errors: those of images_read,
 * warden_start, stage_ask; ERR_LIMIT when there are as many sessions as may be.
 */
int birth_create(struct front *front, json_t *spec, const char *owner, const char *request_id, struct session **out,
                 json_t **state, struct err *e);

struct birth {
	struct session *session; /* with a reference, the caller's */
	json_t *state;           /* the caller's */
};

/*
 * The same for `n` sessions of one spec, of which LIMIT_BIRTHS are made at a time: all of them into births[0..n), or none, with the error of the
 * first that failed.
 */
int birth_create_all(struct front *front, json_t *spec, const char *owner, const char *request_id, size_t n, struct birth *births,
                     struct err *e);

/* Ends sessions that were made for nobody, and gives their references back: returns when the last process is gone. Those that are NULL
 * are left out. */
void birth_undo_all(struct birth *births, size_t n);

#endif
