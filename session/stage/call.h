/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One call of the front's: who makes it, its body, and its answer. Owner: the stage. One thread. */
#ifndef STAGE_CALL_H
#define STAGE_CALL_H

#include <jansson.h>

#include "session/base/co.h"
#include "session/base/faults.h"

enum role {
	ROLE_AGENT = 1 << 0,
	ROLE_VIEWER = 1 << 1,
	ROLE_CONTROLLER = 1 << 2,
	ROLE_OPERATOR = 1 << 3,
	ROLE_OWNER = 1 << 4,  /* who made the session */
	ROLE_SERVER = 1 << 5, /* the front itself */
};

/* What a row of a call says of the lease. */
enum call_lease {
	CALL_UNSAID, /* a row that does not say: the call is refused always */
	CALL_FREE,   /* it goes on in a hold: it is of people or of the server, or it is the lease */
	CALL_EYES,   /* so does it, but in a login for the holder alone: it is a picture for people */
	CALL_BARE,   /* so does it, and shows agents and viewers nothing that moves */
	CALL_HANDS,  /* it is made as agent: refused in a hold, and its answer too when the lease has changed since it started */
};

struct connection;
struct connections_ops; /* connection.h */
struct record;

/* One call. Its owner is who was handed it, until call_finish. */
struct call {
	struct connection *connection; /* NULL once the caller has left */
	const struct connections_ops *ops;
	json_t *envelope;
	const char *name, *role_name, *token, *request_id; /* of the envelope; token is the token's id */
	enum role role;
	enum call_lease lease; /* of its row */
	long epoch;          /* of the lease under which it is made */
	bool is_bare;        /* its answer shows nothing that was made in a hold, and may leave in one */
	const char *key;     /* the caller's Idempotency-Key, or NULL */
	const json_t *query; /* object of strings, or NULL */
	bool comes;          /* its body is taken as it comes, by call_body_read; `body` is NULL */
	char *coming;        /* what has come of it and was not taken: coming[coming_at..coming_at + n_coming) */
	size_t coming_at, n_coming, coming_size;
	bool came;           /* all of it has come */
	struct co_event body_changed;
	char *body;
	size_t body_len;
	size_t *in_all;      /* bytes of the bodies of all calls, this one's among them */
	bool too_much;       /* there was no room for its body */
	struct co *co;       /* what works on it: cancelled when the caller leaves */
	bool tells;          /* whoever called wants to know how far it is */
	bool runs_on;        /* but not then: whoever has a key comes back for the answer */
	struct record *record; /* of its key, until its reply is kept */
	/* Of a call in a dialect (computer.c), while it runs; else NULL. */
	const char *dialect; /* its name */
	const char *sent;    /* the body as it came; `body` is then the act that it stands for */
	size_t sent_len;
	const json_t *warnings; /* of its actions, in a list: what a model's safety system says of each, as a rule, or null; or NULL */
	const json_t *fault; /* the failing result with which the act's list ends, behind its last action; or NULL */
	json_t *(*tell)(const struct call *call, int *status, const json_t *value); /* the answer in the dialect, and its status; a new reference */
	void *tell_arg;
	json_t *counts;      /* what the front is told beside the answer (link.h), or NULL; call_finish drops it */
	int64_t started_ms;  /* monotonic */
	int status;          /* of its answer; 0 before that */
	bool answered;
	struct co_event drained; /* nothing more is queued on its connection, or all was taken */
	uint64_t streamed, taken; /* bytes of an answer in pieces: sent, and read by the caller's connection */
};

/* Before the answer: so many of so many are done. Does nothing unless the front asked for it. */
void call_progress(struct call *call, size_t done, size_t total);

/* The answer; once. Dropped when the caller has left. `headers` (names to strings) may be NULL; bodies are copied. JSON, also that of refusals,
 * is told in the call's dialect. */
void call_reply(struct call *call, int status, const char *media_type, const json_t *headers, const void *body, size_t len);
void call_reply_json(struct call *call, int status, const json_t *headers, const json_t *value);
void call_refuse(struct call *call, const struct err *e);
void call_refuse_with(struct call *call, const struct err *e, const char *name, json_t *value); /* one more member; value is taken */
void call_refuse_all(struct call *call, const struct faults *faults); /* at least one; the first is the problem */

/*
 * The next bytes of a body that comes, at most `max`: 0 with *n > 0, or *n = 0 at its end. At most LIMIT_COMING_BYTES wait here. ERR_TIMEOUT, ERR_CANCELLED when
 * the caller has left. What a call does not take before its end is dropped.
 */
int call_body_read(struct call *call, char *out, size_t max, int64_t deadline_ms, size_t *n, struct err *e);

/*
 * Begins an answer in pieces as call_stream_begin does, of a status, with headers (or NULL), and its length if that is known (else -1). False: it may not
 * leave, and a refusal went in its stead.
 */
bool call_stream_open(struct call *call, int status, const char *media_type, const json_t *headers, int64_t length);

/*
 * An answer in pieces, of any length. Wait for room before each piece: ERR_TIMEOUT when the reader takes nothing until the deadline,
 * ERR_CANCELLED when it has left. call_stream_wait_taken waits until all that was sent is on its way to the reader, at most patience_ms
 * without any of it being taken. call_stream_end ends it; one that is not whole by closing the connection.
 */
void call_stream_begin(struct call *call, const char *media_type);
int call_stream_wait(struct call *call, int64_t deadline_ms, struct err *e);
int call_stream_wait_taken(struct call *call, int64_t patience_ms, struct err *e);
void call_stream_send(struct call *call, const void *data, size_t len); /* 1..LIMIT_FRAME_BYTES; copied */
void call_stream_end(struct call *call, bool whole);

/* The call is over: frees it, and the connection takes the next one. A call that was not answered is answered with ERR_INTERNAL. */
void call_finish(struct call *call);

#endif
