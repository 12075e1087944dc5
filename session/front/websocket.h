/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A WebSocket (RFC 6455, the server's side, frames by wslay) as a stream of bytes on a socket whose handshake is done.
 *
 * Bytes go both ways in binary messages, whose borders mean nothing. What a peer sends is handed on as it comes, so that no length that it
 * names costs memory, and it is read only while the owner has room for it; what is sent waits in one buffer, and nothing more is taken until
 * that has gone out. A peer is asked for a sign of life by pings; one that gives none is told of, then given up. Text, frames without a mask,
 * reserved bits and frames of more than LIMIT_WEBSOCKET_FRAME_BYTES end it with the code that the RFC has for that.
 * Owner: session/front. One thread. Times are milliseconds.
 */
#ifndef FRONT_WEBSOCKET_H
#define FRONT_WEBSOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/base/loop.h"

/* Why this end closes one (RFC 6455 part 7.4). */
enum websocket_code {
	WEBSOCKET_LEFT = 1000,    /* the peer wanted it */
	WEBSOCKET_AWAY = 1001,    /* what it showed has ended */
	WEBSOCKET_REFUSED = 1008, /* it may not go on */
	WEBSOCKET_FAILED = 1011,  /* what it showed has failed */
};

struct websocket;

/* Called from the loop, never from within a function below. */
struct websocket_ops {
	/* How many bytes of the peer may be handed on now? It is asked before each read; then websocket_go_on, when there is room again. */
	size_t (*room)(void *arg);
	void (*data)(void *arg, const uint8_t *data, size_t len); /* not more than there was room for */
	void (*writable)(void *arg);                              /* websocket_room is more than 0 again */
	void (*silent)(void *arg); /* no sign of life for silent_ms; once, until there is one. NULL with silent_ms 0 */
	void (*closed)(void *arg); /* it is over: websocket_destroy is the next thing to do. Once */
};

/* How it is watched. */
struct websocket_pace {
	int64_t ping_ms;   /* without a byte of the peer, a ping */
	int64_t silent_ms; /* see above; 0: nobody asks */
	int64_t dead_ms;   /* then it is over */
};

#define WEBSOCKET_PIECE 4096 /* the least room that is of use */

/*
 * `fd` (non-blocking) stays the caller's and must outlive it. The first bytes of the peer, that came with its handshake, are copied. `ops`
 * must outlive it, too.
 */
struct websocket *websocket_create(struct loop *loop, int fd, const void *early, size_t early_len, const struct websocket_pace *pace,
                                   const struct websocket_ops *ops, void *arg);
void websocket_destroy(struct websocket *websocket); /* at once and without a word. NULL is fine */

/* How many bytes can be sent now: 0 while some wait, and at the end. */
size_t websocket_room(const struct websocket *websocket);
/* Sends a message of at most that many bytes. */
void websocket_send(struct websocket *websocket, const void *data, size_t len);

/* The owner has room again. */
void websocket_go_on(struct websocket *websocket);

/* Says good-bye, unless that has begun; `closed` comes within LIMIT_WEBSOCKET_CLOSE_MS. `reason` has at most 123 bytes. */
void websocket_close(struct websocket *websocket, enum websocket_code code, const char *reason);

/* The peer's code, when it was the peer that closed; else 0. */
unsigned int websocket_code_of_peer(const struct websocket *websocket);

#endif
