/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who may do something: tokens, kept as SHA-256 and compared in constant time, and the console's one-use code. A token is a prefix
 * that names its role ("gba_") and 32 random bytes in base64url. No token is ever logged. Owner: session/front. One thread.
 */
#ifndef FRONT_TOKENS_H
#define FRONT_TOKENS_H

#include <stdbool.h>

#include "session/front/store.h"
#include "session/warden/proto.h"

/* Stored by their numbers: a new one goes to the end. An owner is a key of the configuration that sees its own sessions alone. */
enum role { ROLE_AGENT, ROLE_VIEWER, ROLE_CONTROLLER, ROLE_OPERATOR, ROLE_OWNER, N_ROLES };

/* Sets of roles, for tables. */
#define ROLES_OF(role) (1U << (role))
#define ROLES_ALL ((1U << N_ROLES) - 1)

#define OWNER_SIZE 32
#define OWNER_OPERATOR "operator" /* owns what the operator's own token makes; no key has this name */

/* A token's id is the beginning of its hash in hex: for lists, the journal and the log. */
#define TOKEN_ID_SIZE 17

/* A share link's id: its session's, "-" and eight signs. */
#define SHARE_ID_SIZE (SESSION_ID_LEN + 10)

/* Whose a token is. */
struct identity {
	enum role role;
	char session[SESSION_ID_SIZE]; /* "" for an operator and an owner */
	char owner[OWNER_SIZE];        /* whose the sessions are that it makes: a key's name, OWNER_OPERATOR; "" if it makes none */
	char name[TOKEN_ID_SIZE];      /* the token's id */
	char share[SHARE_ID_SIZE];     /* the share link that it came by; "" for none */
	int64_t expires_ms;            /* wall clock; 0: it does not by itself */
};

/* What is known of a token but itself. */
struct token_info {
	enum role role;
	const char *session;    /* "" for none */
	const char *name;       /* as its maker called it; "" for not at all */
	const char *share;      /* the share link that it came by; "" or NULL for none */
	int64_t expires_ms;     /* wall clock; 0: it ends with its session */
	int64_t created_ms;
	char id[TOKEN_ID_SIZE];
};

const char *role_name(enum role role); /* "agent", … */
enum role role_from_name(const char *name); /* N_ROLES when none has this name */

struct tokens;

/* Reads what the store has. `operator_hash` is the token that the warden wrote for the operator. NULL with *e on failure. */
struct tokens *tokens_create(struct store *store, const uint8_t operator_hash[STORE_HASH_BYTES], struct err *e);
void tokens_destroy(struct tokens *tokens);

/* Adds a key of the configuration, which is not stored: an operator or an owner, called `name`. */
void tokens_add_key(struct tokens *tokens, const uint8_t hash[STORE_HASH_BYTES], enum role role, const char *name);

/*
 * Makes a token as *info says, whose id and created_ms are filled in, and stores its hash. *token is malloced, the caller's, and to be
 * wiped. ERR_LIMIT when the session has LIMIT_TOKENS already.
 */
int tokens_make(struct tokens *tokens, struct token_info *info, char **token, struct err *e);

/* Looks a token up. False when it is none or has expired. */
bool tokens_find(const struct tokens *tokens, const char *token, struct identity *who);

/* Calls fn for each token of a session that has not expired, oldest first; what it gets is valid during the call. */
void tokens_each(const struct tokens *tokens, const char *session, void (*fn)(void *arg, const struct token_info *info), void *arg);

/* The session's token with this id opens nothing from now on, also after a restart. ERR_NOT_FOUND when it has none. */
int tokens_revoke(struct tokens *tokens, const char *session, const char *id, struct err *e);

/* Forgets the tokens of a session, in memory (the store drops them with the session's row). */
void tokens_forget(struct tokens *tokens, const char *session);

/* Notes the one-use code of this start (printed as XXXX-XXXX; the hash is of its eight signs); all zero is none. */
int tokens_note_code(struct tokens *tokens, const uint8_t hash[STORE_HASH_BYTES], struct err *e);

/* Trades the code, in any case and with or without its dash, for an operator's token with a life of LIMIT_CONSOLE_TOKEN_MS.
 * ERR_UNAUTHORIZED for any other code, ERR_LIMIT after too many of those. */
int tokens_trade(struct tokens *tokens, const char *code, char **token, int64_t *expires_ms, struct err *e);

#endif
