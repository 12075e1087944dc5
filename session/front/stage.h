/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The front's end of the link to a stage (session/stage/link.h): connections that are kept and reused, one call at a time on each.
 *
 * A reply's body is handed on as it comes: at most LIMIT_LINK_BYTES of it wait here, then the stage is not read from. Everything a
 * stage says is checked: it stands next to a hostile desktop. Owner: session/front. One thread; what waits runs in a coroutine.
 */
#ifndef FRONT_STAGE_H
#define FRONT_STAGE_H

#include <jansson.h>
#include <stdint.h>

#include "session/base/loop.h"

struct stage;       /* one session's stage and the connections to it */
struct stage_reply; /* a reply whose body may still be on its way */

/* What the stage said of itself when it was last connected to. */
struct stage_hello {
	long episode, epoch;
	char holder[16];  /* of the lease: "agent", "human", "nobody" */
	char state[16];   /* "starting", "ready", … */
	size_t n_running; /* calls under a key */
};

struct stage_call {
	const char *name;       /* "act" */
	const char *role;       /* "agent", …, "server" */
	const char *token;      /* names the caller's token in the journal; not the token itself; NULL for the server */
	const char *request_id;
	const char *key;        /* the caller's Idempotency-Key, or NULL */
	json_t *query;          /* borrowed; NULL is {} */
	bool is_stream;         /* its reply has no end: it has a connection of its own, beside those of other calls */
	bool is_long;           /* its reply may have any length that it says */
	/* Gives the body piece by piece; *n is 0 at its end, and once *over, for which `wake` is signalled: the stage has answered, or has gone. NULL: `body` is it. */
	int (*read)(void *arg, const bool *over, char *out, size_t max, size_t *n, struct err *e);
	struct co_event *wake;
	int64_t last_ms;        /* with `read`: for the reply, once the body has gone */
	bool is_whole;          /* its reply is wanted in one piece, of at most LIMIT_MCP_REPLY_BYTES */
	const char *body;       /* borrowed */
	size_t body_len;
	/* Called while it runs, from the loop, each time something of it is done: so many of so many. NULL: nobody asks. */
	void (*progress)(void *arg, long done, long total);
	void *arg;
};

/* What all stages have in common; zero is ready to use. */
struct stage_links {
	size_t n_idle; /* connections that are kept while no call runs on them */
};

/* `path` is the stage's socket. Connects to nothing yet. `all` must outlive it. */
struct stage *stage_create(struct loop *loop, const char *path, struct stage_links *all);
/* Ends the calls that run with ERR_GONE and closes everything. NULL is fine. Replies stay valid until their stage_reply_finish. */
void stage_destroy(struct stage *stage);

/*
 * Connects and reads the hello. ERR_GONE when nobody listens, or `stage` is NULL: its session ended while the caller waited. ERR_TIMEOUT,
 * ERR_CANCELLED, ERR_BUSY at LIMIT_STAGE_LINKS.
 */
int stage_greet(struct stage *stage, int64_t deadline_ms, struct stage_hello *hello, struct err *e);

/*
 * Calls, and returns when the reply and its body are there, or (unless it is wanted whole) LIMIT_LINK_BYTES of that, or of a stream something. A refusal by the stage
 * is a reply like any other. Giving up (deadline, cancel) closes the connection, which stops the call in the stage. Errors: those of
 * stage_greet, and ERR_SESSION_FAILED when the reply breaks the form. *reply is to be ended by stage_reply_finish.
 */
int stage_call(struct stage *stage, const struct stage_call *call, int64_t deadline_ms, struct stage_reply **reply, struct err *e);

/*
 * (stage_ask.c) As stage_call for a call that answers with a JSON object (the caller's) of at most LIMIT_LINK_BYTES; a refusal becomes the error that it
 * names.
 */
int stage_ask(struct stage *stage, const struct stage_call *call, int64_t deadline_ms, json_t **answer, struct err *e);

/* Replies without end that are open now. */
size_t stage_count_streams(const struct stage *stage);

int stage_reply_status(const struct stage_reply *reply);         /* 200..599 */
const char *stage_reply_type(const struct stage_reply *reply);   /* one of a fixed list of media types; stays */
const json_t *stage_reply_headers(const struct stage_reply *reply); /* {"Glovebox-…":"…"}: names and values are safe to send */

/* What it says that its body has, in all; -1: it does not say. */
int64_t stage_reply_length(const struct stage_reply *reply);

const json_t *stage_reply_counts(const struct stage_reply *reply);  /* as link.h says, unchecked; NULL: none */

enum stage_read { STAGE_READ_SOME, STAGE_READ_WAIT, STAGE_READ_END, STAGE_READ_BROKEN };

/* Moves at most `max` bytes of the body to out; *n is their number with STAGE_READ_SOME. */
enum stage_read stage_reply_read(struct stage_reply *reply, char *out, size_t max, size_t *n);
/* Calls fn from the loop whenever more can be read; replaces an earlier one. NULL stops it. */
void stage_reply_watch(struct stage_reply *reply, loop_timer_fn *fn, void *arg);
/* The number of bytes left when the whole body is here, else -1. */
int64_t stage_reply_left(const struct stage_reply *reply);
/* All that is left, of a reply whose whole body is here: malloced, the caller's. NULL when there is nothing. */
char *stage_reply_take(struct stage_reply *reply);
/* Gives the connection back, or closes it when the body was not read to its end. NULL is fine. */
void stage_reply_finish(struct stage_reply *reply);

#endif
