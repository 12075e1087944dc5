/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One HTTP request, judged already, and its response, over two streams, each message read whole and written anew. Owner: sandbox/egress. One thread. */
#ifndef EGRESS_EXCHANGE_H
#define EGRESS_EXCHANGE_H

#include "sandbox/egress/inbox.h"
#include "sandbox/egress/passage.h"
#include "sandbox/egress/request.h"

struct exchange {
	struct passage *passage;
	struct inbox *client, *server;
	struct head *head;             /* the request's; it is changed */
	size_t head_len;               /* bytes of it as it came: these count, since what goes out says how long a secret is */
	const struct request *request;
	bool is_plain;                 /* http; else what TLS has in it */
	bool keeps_server;             /* in: the server's connection is to go on; out: it can */
	/* after it has run: */
	bool keeps_client;             /* the client's connection can go on */
	const char *fault;             /* no response came, and nothing was written: why, a constant; NULL: all else */
};

/* Runs it in a coroutine. */
void exchange_run(struct exchange *exchange);

/* An answer of the proxy's own, as text. */
struct exchange_answer {
	int status;
	const char *text;
	const char *why; /* behind the reason phrase, a constant; or NULL */
	bool keeps;      /* the connection goes on behind it */
	bool is_head;    /* to HEAD */
};

int exchange_reply(struct wire *client, const struct exchange_answer *answer, struct err *e);

#endif
