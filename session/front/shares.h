/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Share links: a way to one session for a person who has no token. The link alone opens nothing: it names the session, so that somebody who is
 * logged in finds it, and to others a one-use code, shown to who made the link, gives a token of the link's role, which ends with the link. They
 * are in the store, codes as hashes: both live on when the front starts again. Times are of the wall clock. Owner: session/front. One thread.
 */
#ifndef FRONT_SHARES_H
#define FRONT_SHARES_H

#include "session/base/limits.h"
#include "session/front/tokens.h"

struct shares;

struct share {
	char id[SHARE_ID_SIZE];
	char session[SESSION_ID_SIZE];
	enum role role;
	char label[LIMIT_TOKEN_NAME_BYTES + 1]; /* as its maker called it; "" for not at all */
	int64_t created_ms, expires_ms;
	int64_t used_ms; /* when its code was; 0: it was not */
	int64_t tries;   /* of its code that are left */
	uint8_t code[STORE_HASH_BYTES];
};

/* Reads what the store has. NULL with *e on failure. */
struct shares *shares_create(struct store *store, struct err *e);
void shares_destroy(struct shares *shares);

/*
 * Makes a link as *share says (session, role, label, expires_ms); the rest is filled in. *code ("XXXX-XXXX") is malloced, the caller's, and to
 * be wiped. ERR_LIMIT when the session has LIMIT_SHARES, or the server LIMIT_SHARES_IN_ALL.
 */
int shares_make(struct shares *shares, struct share *share, char **code, struct err *e);

/* Uses the code of a link up. ERR_UNAUTHORIZED, always with the same words, when there is no such link, or the code is wrong, was used, or was
 * wrong LIMIT_SHARE_TRIES times. */
int shares_trade(struct shares *shares, const char *id, const char *code, struct share *out, struct err *e);

/* Calls fn for each link of a session, oldest first. */
void shares_each(struct shares *shares, const char *session, void (*fn)(void *arg, const struct share *share), void *arg);

/* The link is none from now on; its tokens are the caller's to revoke. ERR_NOT_FOUND. */
int shares_revoke(struct shares *shares, const char *session, const char *id, struct err *e);

/* Forgets the links of a session, in memory (the store drops them with the session's row). */
void shares_forget(struct shares *shares, const char *session);

#endif
