/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The way out of a session, as the warden sees it: a socket in the app jail, and a glovebox-egress that listens there, which is started again whenever it
 * ends. What may be reached the stage tells it; the warden knows its ceiling alone. Owner: a session. One thread.
 */
#ifndef WARDEN_EGRESS_H
#define WARDEN_EGRESS_H

#include "session/warden/parts.h"

struct egress;

/* Makes the socket and what outlives a process, before the app jail is built. Nothing, and *egress is NULL, for a session without a way out. */
int egress_create(struct session *session, struct err *e);

/* Starts the first process, once the stage has its channel. NULL is fine. */
int egress_start(struct egress *egress, struct err *e);

/* Hands the stage its end, among the labels before START. NULL is fine. */
int egress_hand_over(struct egress *egress, struct err *e);

/* Kills it; it is not started again. NULL is fine. */
void egress_end(struct egress *egress);

/* Is there a process of it? */
bool egress_runs(const struct egress *egress);

/* Nothing of it runs any more. NULL is fine. */
void egress_destroy(struct egress *egress);

#endif
