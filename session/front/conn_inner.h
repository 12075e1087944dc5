/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A connection from inside: what conn.c, which sees one through its requests, and conns.c, where they come and go, have in common.
 */
#ifndef FRONT_CONN_INNER_H
#define FRONT_CONN_INNER_H

#include "session/front/address.h"
#include "session/front/conn.h"

/* Those up to PHASE_RECEIVING may be shed, the lower ones first. */
enum phase { PHASE_HANDSHAKE, PHASE_IDLE, PHASE_RECEIVING, PHASE_WORKING, PHASE_SENDING, PHASE_STREAMING, PHASE_UPGRADED };

struct conn {
	struct conns *conns;
	struct conn *next, *prev; /* newest first */
	struct MHD_Connection *mhd; /* NULL before and after libmicrohttpd has it: then TLS has */
	struct tls_stream *tls;   /* NULL without TLS, and when that has ended */
	int fd;                   /* libmicrohttpd's: the socket, or the plain end of TLS */
	int wire_fd;              /* the socket; not ours */
	struct sockaddr_storage from;
	socklen_t from_len;
	struct address address;
	enum phase phase;
	bool has_head;            /* of PHASE_RECEIVING: all header fields are there */
	int64_t since_ms;         /* when the phase began; while sending, later by the time spent suspended; of a stream, its last piece */
	uint64_t sent;            /* bytes of the reply that libmicrohttpd asked for */
	uint64_t received;        /* of a body of any length */
	struct loop_timer *deadline;
	size_t held;              /* see conn_hold */
	bool shut;
	bool adding;              /* libmicrohttpd is taking it */
	struct loop_source *peer; /* tells once when the peer leaves, while libmicrohttpd has it */
	bool peer_left;
	/* While suspended: */
	bool suspended;
	int64_t suspended_ms;
	loop_timer_fn *gone;      /* NULL once it was told */
	void *gone_arg;
};

struct conns {
	struct loop *loop;
	struct MHD_Daemon *mhd;
	const struct conns_ops *ops;
	struct loop_source *source;
	struct conn *first;
	struct conns_counts counts;
	int64_t request_ms;
	size_t held, most_held;   /* of all: now, and since freed memory was given back */
	int idle_turns; /* in a row without an event, although libmicrohttpd asked for them */
	bool resumed; /* since the last MHD_run: it does not count these in its time-out */
};

/* Ends it: libmicrohttpd notices the end of file and cleans up. */
void conn_shut(struct conn *conn);

/* Begins a phase, with its deadline. */
void conn_enter(struct conn *conn, enum phase phase);
void conn_disarm(struct conn *conn);

/* From when libmicrohttpd has it until that closes it. */
void conn_watch_peer(struct conn *conn);
void conn_forget_peer(struct conn *conn);

/* The shorter of two times. */
static inline int64_t conn_shorter_ms(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

#endif
