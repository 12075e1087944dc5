/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One connection: the phases of its requests, their deadlines, and the watch on a peer that waits. */
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/param.h>
#include <sys/socket.h>

#include "session/base/limits.h"
#include "session/base/log.h"
#include "session/base/util.h"
#include "session/front/conn_inner.h"
#include "session/front/refusal.h"

/* Edge-triggered: of a peer that has left the loop is told once, and what it sends is libmicrohttpd's to hear of. */
#define PEER_EVENTS (EPOLLRDHUP | EPOLLET)

void conn_shut(struct conn *conn)
{
	conn->shut = true;
	(void)shutdown(conn->fd, SHUT_RDWR);
}

static int64_t allowed_ms(const struct conn *conn)
{
	if (conn->phase == PHASE_SENDING)
		return conn->conns->request_ms / 2 + (int64_t)(conn->sent * 1000 / LIMIT_SEND_BYTES_PER_S);
	if (conn->phase == PHASE_STREAMING)
		return conn->conns->request_ms / 2;
	if (conn->phase == PHASE_RECEIVING && !conn->has_head)
		return conn_shorter_ms(conn->conns->request_ms, LIMIT_HEAD_MS);
	if (conn->phase == PHASE_RECEIVING)
		return conn->conns->request_ms + (int64_t)(conn->received * 1000 / LIMIT_SEND_BYTES_PER_S);
	return conn->conns->request_ms;
}

void conn_refuse(struct conn *conn, const struct err *e)
{
	refusal_send(conn->fd, e);
	conn_shut(conn);
}

/* libmicrohttpd still waits for the rest: the reply is ours. */
static void say_timeout(const struct conn *conn)
{
	struct err e;

	(void)err_set(&e, ERR_REQUEST_TIMEOUT, NULL, "the %s must be here within %lld ms", conn->has_head ? "whole request" : "header fields",
	              (long long)allowed_ms(conn));
	refusal_send(conn->fd, &e);
}

static void arm(struct conn *conn);

static void on_deadline(void *arg)
{
	struct conn *conn = arg;

	conn->deadline = NULL;
	if (util_now_ms() - conn->since_ms < allowed_ms(conn)) {
		arm(conn); /* the reply has grown meanwhile */
		return;
	}
	log_debug("a connection is closed: too slow in %s", conn->phase >= PHASE_SENDING ? "reading" : "sending a request");
	if (conn->phase == PHASE_RECEIVING)
		say_timeout(conn);
	conn->conns->counts.timed_out++;
	conn_shut(conn);
}

void conn_disarm(struct conn *conn)
{
	loop_cancel(conn->deadline);
	conn->deadline = NULL;
}

static void arm(struct conn *conn)
{
	conn_disarm(conn);
	if (conn->mhd && conn->phase != PHASE_WORKING && conn->phase != PHASE_UPGRADED && !conn->suspended && !conn->shut)
		conn->deadline = loop_at(conn->conns->loop, conn->since_ms + allowed_ms(conn), on_deadline, conn);
}

void conn_enter(struct conn *conn, enum phase phase)
{
	conn->phase = phase;
	conn->since_ms = util_now_ms();
	conn->sent = conn->received = 0;
	arm(conn);
}

void conn_receiving(struct conn *conn)
{
	conn->has_head = false;
	conn_enter(conn, PHASE_RECEIVING);
}

void conn_has_head(struct conn *conn)
{
	conn->has_head = true;
	arm(conn);
}

void conn_received(struct conn *conn, size_t n_bytes)
{
	conn->received += n_bytes;
}

void conn_working(struct conn *conn)
{
	conn_enter(conn, PHASE_WORKING);
}

void conn_sending(struct conn *conn)
{
	conn_enter(conn, PHASE_SENDING);
}

static void keep_little_unsent(const struct conn *conn)
{
	int unsent = LIMIT_STREAM_BUFFER_BYTES;

	(void)setsockopt(conn->wire_fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof(unsent));
}

void conn_streaming(struct conn *conn)
{
	unsigned int vanished_ms = LIMIT_VANISHED_MS;

	conn_enter(conn, PHASE_STREAMING);
	keep_little_unsent(conn);
	/* A peer that vanished without a word takes no heartbeat: the kernel gives it up after so long. */
	(void)setsockopt(conn->wire_fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &vanished_ms, sizeof(vanished_ms));
}

void conn_upgraded(struct conn *conn)
{
	int on = 1;

	conn_forget_peer(conn);
	(void)conn_hold(conn, 0);
	conn_enter(conn, PHASE_UPGRADED);
	keep_little_unsent(conn);
	(void)setsockopt(conn->wire_fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

void conn_give_back(struct conn *conn, struct MHD_UpgradeResponseHandle *handle)
{
	conn->conns->resumed = true; /* it cleans up in its next run */
	(void)MHD_upgrade_action(handle, MHD_UPGRADE_ACTION_CLOSE);
}

void conn_sent(struct conn *conn, size_t n_bytes)
{
	conn->sent += n_bytes;
	if (conn->phase == PHASE_STREAMING)
		conn->since_ms = util_now_ms();
}

/* Closes the one that holds something and has been at it for longest: a body that comes, a reply that goes. False if there is none. */
static bool shed_holder(struct conns *conns, const struct conn *but)
{
	struct conn *victim = NULL;
	struct err e;

	for (struct conn *conn = conns->first; conn; conn = conn->next)
		if (conn != but && !conn->shut && conn->held > 0 && (conn->phase == PHASE_RECEIVING || conn->phase >= PHASE_SENDING) &&
		    (!victim || conn->since_ms <= victim->since_ms))
			victim = conn;
	if (!victim)
		return false;
	(void)err_set(&e, ERR_BUSY, NULL, "the requests of all callers take too much memory, and this one has taken longest");
	if (victim->phase == PHASE_RECEIVING)
		refusal_send(victim->fd, &e);
	conns->counts.shed++;
	conn_hold(victim, 0);
	conn_shut(victim);
	return true;
}

bool conn_hold(struct conn *conn, size_t n_bytes)
{
	struct conns *conns = conn->conns;

	conns->held = conns->held - conn->held + n_bytes;
	conn->held = n_bytes;
	conns->most_held = MAX(conns->most_held, conns->held);
	while (n_bytes > 0 && conns->held > LIMIT_HELD_BYTES)
		if (!shed_holder(conns, conn))
			return false;
	return true;
}

void conn_idle(struct conn *conn)
{
	(void)conn_hold(conn, 0);
	/* It may have given the connection up in the middle of a head, which it cleans up in its next run only. */
	conn->conns->resumed = true;
	conn_enter(conn, PHASE_IDLE);
}

struct conn *conn_of(struct MHD_Connection *mhd)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	if (!info || !info->socket_context)
		DIE("a connection without its context");
	return info->socket_context;
}

static void on_peer(void *arg, uint32_t events)
{
	struct conn *conn = arg;

	loop_timer_fn *gone = conn->suspended ? conn->gone : NULL;

	(void)events;
	conn->peer_left = true;
	conn->gone = NULL;
	/* libmicrohttpd does not look again at one that it had to wait with. */
	if (!conn->suspended && conn->phase == PHASE_RECEIVING && conn->received > 0 && conn_at_end(conn))
		conn_shut(conn);
	if (gone)
		gone(conn->gone_arg);
}

void conn_watch_peer(struct conn *conn)
{
	conn->peer = loop_add(conn->conns->loop, conn->fd, PEER_EVENTS, on_peer, conn);
}

void conn_forget_peer(struct conn *conn)
{
	loop_remove(conn->peer);
	conn->peer = NULL;
}

void conn_suspend(struct conn *conn, loop_timer_fn *gone, void *arg)
{
	conn->suspended = true;
	conn->suspended_ms = util_now_ms();
	conn->gone = gone;
	conn->gone_arg = arg;
	conn_disarm(conn);
	MHD_suspend_connection(conn->mhd);
	/* What was told before is told again. */
	if (conn->peer_left)
		loop_modify(conn->peer, PEER_EVENTS);
	if (conn->tls)
		tls_watch(conn->tls, true);
}

void conn_resume(struct conn *conn)
{
	conn->suspended = false;
	conn->since_ms += util_now_ms() - conn->suspended_ms;
	arm(conn);
	if (conn->tls)
		tls_watch(conn->tls, false);
	MHD_resume_connection(conn->mhd);
	conn->conns->resumed = true;
}

bool conn_suspended(const struct conn *conn)
{
	return conn->suspended;
}

bool conn_at_end(const struct conn *conn)
{
	char byte;

	return conn->peer_left && recv(conn->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

bool conn_peer_left(const struct conn *conn)
{
	struct pollfd peer = {.fd = conn->wire_fd, .events = POLLRDHUP};

	return poll(&peer, 1, 0) > 0;
}

bool conn_is_local(const struct conn *conn)
{
	return conn->from.ss_family == AF_UNIX;
}
