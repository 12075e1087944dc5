/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * HTTP connections: libmicrohttpd inside our loop, and what it leaves to its user.
 *
 * libmicrohttpd's time-out is idle time only, it does not watch a suspended connection, and at its limit new clients wait in
 * silence. So here are absolute deadlines for receiving and sending, the watch on a suspended request's peer, and the caps in all
 * and per address, with idle connections shed first. It gets its connections by conns_take and has no listening socket.
 * Owner: session/front. One thread.
 */
#ifndef FRONT_CONN_H
#define FRONT_CONN_H

#include <microhttpd.h>
#include <sys/socket.h>

#include "session/base/loop.h"
#include "session/front/tls.h"

struct conns; /* all connections */

/* For the metrics. */
struct conns_counts {
	uint64_t open; /* now */
	uint64_t accepted, refused, shed, timed_out;
};

struct conn;  /* one; owned by conns, valid until the connection is closed */

/* libmicrohttpd's callbacks about requests, with `arg` as their closure. */
struct conns_ops {
	void *(*open)(void *arg, const char *raw_target, struct MHD_Connection *mhd); /* the request line is there; *con_cls */
	MHD_AccessHandlerCallback step;
	MHD_RequestCompletedCallback close;
	void *arg;
};

/* A request has `request_ms` to arrive, and so has the next one to begin. NULL with *e on failure. `ops` must outlive it. */
struct conns *conns_create(struct loop *loop, int64_t request_ms, const struct conns_ops *ops, struct err *e);

/* Takes an accepted socket (non-blocking) of this peer, and serves it, by TLS unless `tls` is NULL; or closes it, at a cap. */
void conns_take(struct conns *conns, int fd, const struct sockaddr *from, socklen_t from_len, struct tls *tls);

const struct conns_counts *conns_counts(const struct conns *conns);

/* One turn: what libmicrohttpd and the loop have to do. */
void conns_turn(struct conns *conns);

struct conn *conn_of(struct MHD_Connection *mhd);

/* Refuses a request whose head is not taken apart yet, and closes. */
void conn_refuse(struct conn *conn, const struct err *e);

/* The phases of a request, in this order. Receiving and sending have a deadline of their own. */
void conn_receiving(struct conn *conn); /* the request line is there */
void conn_has_head(struct conn *conn);  /* its header fields are there too */
void conn_received(struct conn *conn, size_t n_bytes); /* so many more bytes of a body of any length: it has so much more time */
void conn_working(struct conn *conn);   /* the whole request is there */
void conn_sending(struct conn *conn);   /* the reply was queued */
void conn_streaming(struct conn *conn); /* the same, of a reply without end: each of its pieces has a deadline */
void conn_upgraded(struct conn *conn);  /* it speaks another protocol from now on, and has no deadline here; its socket is the caller's to watch */
void conn_give_back(struct conn *conn, struct MHD_UpgradeResponseHandle *handle); /* which is over */
void conn_sent(struct conn *conn, size_t n_bytes); /* so many more bytes of the reply were asked for */
void conn_idle(struct conn *conn);      /* the reply is complete */

/*
 * Takes the connection out of libmicrohttpd's hands until conn_resume. `gone` is called, once, when the peer leaves meanwhile: also
 * when it closes only its sending half. Called from the loop.
 */
void conn_suspend(struct conn *conn, loop_timer_fn *gone, void *arg);
void conn_resume(struct conn *conn);
bool conn_suspended(const struct conn *conn);

/* The peer has closed its sending half, or all. */
bool conn_peer_left(const struct conn *conn);

/* The same, and nothing that it has sent waits to be read. */
bool conn_at_end(const struct conn *conn);

/*
 * The body or the reply of its request takes so many bytes of memory now; conn_idle makes it none. When all of them take more than
 * LIMIT_HELD_BYTES, those are closed that have been sending or reading for longest. False when that is not enough.
 */
bool conn_hold(struct conn *conn, size_t n_bytes);

/* It came over a Unix socket. */
bool conn_is_local(const struct conn *conn);

#endif
