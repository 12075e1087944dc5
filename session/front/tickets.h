/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Links for people: a ticket is traded once, within LIMIT_CODE_MS, for a token of one session. 100 random bits, kept as a hash in memory:
 * a front that starts again knows none. Times are of the wall clock (store_now_ms). Owner: session/front. One thread.
 */
#ifndef FRONT_TICKETS_H
#define FRONT_TICKETS_H

#include "session/front/tokens.h"

struct tickets;

/* What a ticket is good for. */
struct ticket {
	enum role role;
	char session[SESSION_ID_SIZE];
	int64_t ttl_s;      /* life of the token */
	int64_t expires_ms; /* of the ticket itself, wall clock; filled in by tickets_make */
};

struct tickets *tickets_create(void);
void tickets_destroy(struct tickets *tickets);

/* *text ("XXXXX-XXXXX-XXXXX-XXXXX") is malloced, the caller's, and to be wiped. ERR_LIMIT when LIMIT_TICKETS wait to be used,
 * or LIMIT_SESSION_TICKETS of the session. */
int tickets_make(struct tickets *tickets, struct ticket *ticket, int64_t now_ms, char **text, struct err *e);

/* Uses a ticket up; small letters and missing dashes are fine. False when it is none, was used or is too old. */
bool tickets_take(struct tickets *tickets, const char *text, int64_t now_ms, struct ticket *out);

#endif
