/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A link to a stage from inside: what stage.c, which connects and calls, and stage_reply.c, where a reply is read, have in common. A link is one connection;
 * while a call runs on it, it is that call's stage_reply as well. It lives until its stream is closed and no call holds it.
 */
#ifndef FRONT_STAGE_INNER_H
#define FRONT_STAGE_INNER_H

#include <sys/un.h>

#include "session/base/co.h"
#include "session/base/ipc.h"
#include "session/front/stage.h"

enum link_state { LINK_NEW, LINK_FREE, LINK_CALLED, LINK_BODY, LINK_COMPLETE };

struct stage_reply {
	struct stage *stage; /* NULL once that is destroyed */
	struct stage_reply *next;
	struct ipc_stream *stream; /* NULL when closed */
	enum link_state state;
	bool is_stream;            /* of a call whose reply has no end */
	bool is_whole;             /* of a call whose reply is wanted in one piece */
	bool is_long;              /* of one whose reply has any length */
	struct co_event *wake;     /* of who waits for more of the body, while it is sent; or NULL */
	bool over;                 /* no more of it is wanted */
	bool unsent;               /* its body has not gone as a whole: the connection is of no more use */
	int64_t length;            /* that the reply says; -1: it does not */
	void (*progress)(void *arg, long done, long total); /* while it is called */
	void *progress_arg;
	bool held;                 /* by a call or by the reader of its reply */
	bool idle;                 /* neither, and kept for the next call */
	struct co_event changed;
	/* The reply: */
	int status;
	const char *type; /* a constant */
	json_t *headers;
	json_t *counts;
	char *data;                /* body bytes that nobody has read yet: data[start..start + len) */
	size_t start, len, size;
	uint64_t total;            /* of the body so far */
	loop_timer_fn *more;
	void *more_arg;
};

struct stage {
	struct loop *loop;
	char path[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
	struct stage_reply *links;
	size_t n_links, n_streams, n_idle;
	struct stage_links *all;
	struct stage_hello hello;
};

/* How much of the reply may wait for its reader. */
size_t stage_most_waiting(const struct stage_reply *link);

/* Nobody holds the link any more: it is kept for the next call, if there is room. What it knows of its reply is forgotten. */
void stage_give_back(struct stage_reply *link);

/* The same, of a call that fails, -1: it takes its connection along, which is what stops it in the stage. */
int stage_fail(struct stage_reply *link);

#endif
