/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What opens something once: 100 random bits, kept as a hash in memory, so that a front that starts again knows none. One for the console is
 * traded within LIMIT_CODE_MS for a token of one session; one for a view opens it within LIMIT_VIEW_TICKET_MS, for who asked for it. Times are of
 * the wall clock (store_now_ms). Owner: session/front. One thread.
 */
#ifndef FRONT_TICKETS_H
#define FRONT_TICKETS_H

#include "session/front/tokens.h"

struct tickets;

enum ticket_kind { TICKET_CONSOLE, TICKET_VIEW, N_TICKET_KINDS };

/* What a ticket is good for. */
struct ticket {
	enum ticket_kind kind;
	char session[SESSION_ID_SIZE];
	int64_t expires_ms; /* of the ticket itself, wall clock; filled in by tickets_make */
	/* For the console: */
	enum role role;
	int64_t ttl_s;      /* life of the token */
	/* For a view: */
	struct identity who;
	uint32_t viewer;    /* its number in the session */
	bool controls;
	char password[VIEWER_PASSWORD_SIZE]; /* of VNC; "" for none */
};

struct tickets *tickets_create(void);
void tickets_destroy(struct tickets *tickets);

/* *text ("XXXXX-XXXXX-XXXXX-XXXXX") is malloced, the caller's, and to be wiped. ERR_LIMIT when LIMIT_TICKETS wait to be used,
 * or LIMIT_SESSION_TICKETS of its kind of the session. */
int tickets_make(struct tickets *tickets, struct ticket *ticket, int64_t now_ms, char **text, struct err *e);

/* Uses a ticket of this kind up; small letters and missing dashes are fine. False when it is none, was used or is too old. */
bool tickets_take(struct tickets *tickets, enum ticket_kind kind, const char *text, int64_t now_ms, struct ticket *out);

/* Forgets those for views that this token of a session asked for. */
void tickets_revoke(struct tickets *tickets, const char *session, const char *token_id);

/* The token that asked for a view has expired meanwhile. */
static inline bool ticket_owner_expired(const struct ticket *ticket, int64_t now_ms)
{
	return ticket->who.expires_ms > 0 && ticket->who.expires_ms <= now_ms;
}

#endif
