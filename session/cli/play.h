/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A session that a command plays on: one of its own, which ends with the command however that ends, or one that was named.
 *
 * Creates and acts go out with an Idempotency-Key of their own and are sent again when an answer is lost. SIGINT, SIGTERM and SIGHUP break a call
 * off with ERR_CANCELLED.
 */
#ifndef CLI_PLAY_H
#define CLI_PLAY_H

#include "session/cli/cli.h"

struct play {
	struct cli *cli;
	char *id;       /* of the session; NULL before there is one */
	bool is_own;    /* it ends with the play */
	char key[33];   /* what the keys of its calls begin with */
	unsigned n_keys;
	const volatile sig_atomic_t *stop; /* the signal that came, or 0 */
};

/* Opens the client and catches signals. Else cli_fail was called; its status. */
int play_begin(struct play *play, struct cli *cli);

/* Makes a session. *reply is the answer, the caller's. Else the refusal was shown; its exit status, and *reply as cli_send leaves it. */
int play_create(struct play *play, const json_t *spec, struct client_reply *reply);

/* Plays on this one. ERR_BAD_REQUEST. */
int play_on(struct play *play, const char *id, struct err *e);

/* An act: CLI_DONE with the whole answer, the caller's; else the refusal was shown; its exit status. */
int play_act(struct play *play, const json_t *body, json_t **answer);

/* Checks an act and does nothing: the same. */
int play_check(struct play *play, const json_t *body);

/* One request below the session's path, without a word about what fails. ERR_GONE, ERR_CANCELLED, ERR_TOO_LARGE. */
int play_send(struct play *play, const char *method, const char *rest, const json_t *body, bool is_keyed, struct client_reply *reply, struct err *e);

/* Writes journal.jsonl, pictures and session.json of the session into a folder. ERR_BAD_REQUEST: what could not be had or written. */
int play_save(struct play *play, const char *folder, struct err *e);

/* Ends a session of its own now; its journal can be had all the same. False: it could not be ended, which was said. */
bool play_end(struct play *play);

/* Ends a session of its own, also after a signal, and frees what the play holds. False: it could not be ended, which was said. */
bool play_finish(struct play *play);

/* `status`, or after a signal 128 and its number. */
int play_status(const struct play *play, int status);

/* Makes a folder (its parent is there), or takes one that is there. ERR_BAD_REQUEST. */
int play_make_folder(const char *folder, struct err *e);

#endif
