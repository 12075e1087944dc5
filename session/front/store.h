/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the front must still know after a crash: sessions, hashes of tokens, codes that were used. SQLite in /front/front.db; a
 * write is on disk when its function returns. Times are milliseconds of the wall clock, since they outlive the process.
 * Owner: session/front. One thread.
 */
#ifndef FRONT_STORE_H
#define FRONT_STORE_H

#include <stdint.h>

#include "session/base/err.h"
#include "session/base/hash.h"

#define STORE_HASH_BYTES HASH_BYTES

struct store;

struct store_session {
	const char *id, *image, *owner;
	const char *spec;   /* JSON, as completed by defaults, without the values of its environment */
	const char *state;  /* "starting", "ready", "ended", "failed" */
	const char *reason; /* of an end, or "" */
	const char *made_by; /* id of the request that made it */
	int64_t isolation;  /* enum warden_isolation */
	int64_t created_ms, expires_ms, ended_ms; /* ended_ms 0: it lives */
};

struct store_token {
	uint8_t hash[STORE_HASH_BYTES];
	int role;            /* enum role */
	const char *session; /* "" when it is of no session */
	const char *name;    /* as its maker called it, or "" */
	const char *share;   /* the share link that it came by, or "" */
	int64_t created_ms;
	int64_t expires_ms;  /* 0: with its session */
};

/* A share link. */
struct store_share {
	const char *id, *session;
	int role;            /* enum role */
	const char *label;   /* as its maker called it, or "" */
	uint8_t code[STORE_HASH_BYTES];
	int64_t tries;       /* of a code that are left; 0: it was used, or tried too often */
	int64_t used_ms;     /* 0: it was not */
	int64_t created_ms, expires_ms;
};

/* A create under an Idempotency-Key. */
struct store_create {
	const char *owner, *key;
	const char *request_id; /* made_by of its sessions */
	uint8_t body[STORE_HASH_BYTES];
	const char *sessions;   /* ids, separated by spaces; "" while it runs */
	int64_t created_ms;
};

/* NULL with *e when the file cannot be opened, is damaged or of a later version; one of an earlier version is brought up to this one. */
struct store *store_open(const char *path, struct err *e);
void store_close(struct store *store);

/* Writes or replaces the row of a session. */
int store_put_session(struct store *store, const struct store_session *session, struct err *e);
/* Removes the row of a session and those of its tokens and share links. */
int store_drop_session(struct store *store, const char *id, struct err *e);
int store_put_token(struct store *store, const struct store_token *token, struct err *e);
int store_drop_token(struct store *store, const uint8_t hash[STORE_HASH_BYTES], struct err *e);
/* Removes tokens and share links that expired before now_ms. */
int store_drop_old_tokens(struct store *store, int64_t now_ms, struct err *e);

int store_put_share(struct store *store, const struct store_share *share, struct err *e);
int store_drop_share(struct store *store, const char *id, struct err *e);

/* Calls fn for each row, oldest first; what it gets is valid during the call. */
int store_each_session(struct store *store, void (*fn)(void *arg, const struct store_session *session), void *arg, struct err *e);
int store_each_token(struct store *store, void (*fn)(void *arg, const struct store_token *token), void *arg, struct err *e);
int store_each_share(struct store *store, void (*fn)(void *arg, const struct store_share *share), void *arg, struct err *e);

/* Writes or replaces the row of a create, or removes it. */
int store_put_create(struct store *store, const struct store_create *create, struct err *e);
int store_drop_create(struct store *store, const char *owner, const char *key, struct err *e);
/* The hash of its body and the ids of its sessions (malloced); *sessions is NULL when there is none. */
int store_find_create(struct store *store, const char *owner, const char *key, uint8_t body[STORE_HASH_BYTES], char **sessions,
                      struct err *e);
/* Removes those before since_ms, and says how many are left. */
int store_count_creates(struct store *store, int64_t since_ms, int64_t *n, struct err *e);
/* At a start: creates that did not come to their end are forgotten, and what they had made counts as not made yet. */
int store_undo_creates(struct store *store, struct err *e);

/* What a stored secret is for; the warden has its value. */
struct store_secret {
	const char *name;
	const char *app, *origin, *field;     /* where it may be typed, or "" */
	const char *inject, *header, *prefix; /* what requests it is put into, and how (session/base/egress/injection.h), or "" */
	const char *by;                          /* the owner who stored it */
	int64_t created_ms, changed_ms;
};

/* Writes or replaces the row of a secret, or removes it. */
int store_put_secret(struct store *store, const struct store_secret *secret, struct err *e);
int store_drop_secret(struct store *store, const char *name, struct err *e);
/* Calls fn for each row in the order of the names, or for that of this name alone (NULL: all). */
int store_each_secret(struct store *store, const char *name, void (*fn)(void *arg, const struct store_secret *secret), void *arg, struct err *e);

/* Notes the one-use code, unless it is known already, forgets any other, and says until when it is good: 0 once it was used. */
int store_note_code(struct store *store, const uint8_t hash[STORE_HASH_BYTES], int64_t expires_ms, int64_t *good_until_ms,
                    struct err *e);
int store_use_code(struct store *store, const uint8_t hash[STORE_HASH_BYTES], struct err *e);

/* Milliseconds of the wall clock. */
int64_t store_now_ms(void);

#endif
