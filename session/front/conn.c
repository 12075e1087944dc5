/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libmicrohttpd in our loop: deadlines, caps, and the watch on peers that wait; TLS before it where that is asked for. */
#include "session/front/conn.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "session/base/limits.h"
#include "session/base/log.h"
#include "session/base/util.h"
#include "session/front/address.h"
#include "session/front/refusal.h"

/* More than our own cap, so that a new client is accepted while the one that was shed is still being closed. */
#define MHD_SPARE_CONNECTIONS 64

/*
 * libmicrohttpd wants to be run again and again while a line of a chunked body is larger than its buffer. After so many turns in which
 * nothing happened the next ones take a while, or until something does.
 */
#define IDLE_TURNS_MAX 32
#define IDLE_TURN_MS 5

/* Edge-triggered: of a peer that has left the loop is told once, and what it sends is libmicrohttpd's to hear of. */
#define PEER_EVENTS (EPOLLRDHUP | EPOLLET)

/* Those up to PHASE_RECEIVING may be shed, the lower ones first. */
enum phase { PHASE_HANDSHAKE, PHASE_IDLE, PHASE_RECEIVING, PHASE_WORKING, PHASE_SENDING, PHASE_STREAMING };

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
	size_t held;              /* of all */
	int idle_turns; /* in a row without an event, although libmicrohttpd asked for them */
	bool resumed; /* since the last MHD_run: it does not count these in its time-out */
};

/* libmicrohttpd notices the end of file and cleans up. */
static void shut(struct conn *conn)
{
	conn->shut = true;
	(void)shutdown(conn->fd, SHUT_RDWR);
}

static int64_t shorter_ms(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t allowed_ms(const struct conn *conn)
{
	if (conn->phase == PHASE_SENDING)
		return conn->conns->request_ms / 2 + (int64_t)(conn->sent * 1000 / LIMIT_SEND_BYTES_PER_S);
	if (conn->phase == PHASE_STREAMING)
		return conn->conns->request_ms / 2;
	if (conn->phase == PHASE_RECEIVING && !conn->has_head)
		return shorter_ms(conn->conns->request_ms, LIMIT_HEAD_MS);
	return conn->conns->request_ms;
}

void conn_refuse(struct conn *conn, const struct err *e)
{
	refusal_send(conn->fd, e);
	shut(conn);
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
	shut(conn);
}

static void disarm(struct conn *conn)
{
	loop_cancel(conn->deadline);
	conn->deadline = NULL;
}

static void arm(struct conn *conn)
{
	disarm(conn);
	if (conn->mhd && conn->phase != PHASE_WORKING && !conn->suspended && !conn->shut)
		conn->deadline = loop_at(conn->conns->loop, conn->since_ms + allowed_ms(conn), on_deadline, conn);
}

static void enter(struct conn *conn, enum phase phase)
{
	conn->phase = phase;
	conn->since_ms = util_now_ms();
	conn->sent = 0;
	arm(conn);
}

void conn_receiving(struct conn *conn)
{
	conn->has_head = false;
	enter(conn, PHASE_RECEIVING);
}

void conn_has_head(struct conn *conn)
{
	conn->has_head = true;
	arm(conn);
}

void conn_working(struct conn *conn)
{
	enter(conn, PHASE_WORKING);
}

void conn_sending(struct conn *conn)
{
	enter(conn, PHASE_SENDING);
}

void conn_streaming(struct conn *conn)
{
	unsigned int vanished_ms = LIMIT_VANISHED_MS;
	int unsent = LIMIT_STREAM_BUFFER_BYTES;

	enter(conn, PHASE_STREAMING);
	(void)setsockopt(conn->wire_fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof(unsent));
	/* A peer that vanished without a word takes no heartbeat: the kernel gives it up after so long. */
	(void)setsockopt(conn->wire_fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &vanished_ms, sizeof(vanished_ms));
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
		if (conn != but && !conn->shut && conn->held > 0 && (conn->phase == PHASE_RECEIVING || conn->phase == PHASE_SENDING) &&
		    (!victim || conn->since_ms <= victim->since_ms))
			victim = conn;
	if (!victim)
		return false;
	(void)err_set(&e, ERR_BUSY, NULL, "the requests of all callers take too much memory, and this one has taken longest");
	if (victim->phase == PHASE_RECEIVING)
		refusal_send(victim->fd, &e);
	conns->counts.shed++;
	conn_hold(victim, 0);
	shut(victim);
	return true;
}

bool conn_hold(struct conn *conn, size_t n_bytes)
{
	struct conns *conns = conn->conns;

	conns->held = conns->held - conn->held + n_bytes;
	conn->held = n_bytes;
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
	enter(conn, PHASE_IDLE);
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
	if (gone)
		gone(conn->gone_arg);
}

void conn_suspend(struct conn *conn, loop_timer_fn *gone, void *arg)
{
	conn->suspended = true;
	conn->suspended_ms = util_now_ms();
	conn->gone = gone;
	conn->gone_arg = arg;
	disarm(conn);
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

bool conn_peer_left(const struct conn *conn)
{
	struct pollfd peer = {.fd = conn->wire_fd, .events = POLLRDHUP};

	return poll(&peer, 1, 0) > 0;
}

bool conn_is_local(const struct conn *conn)
{
	return conn->from.ss_family == AF_UNIX;
}

/* --- opening and closing --- */

static size_t count_address(const struct conns *conns, const struct address *address)
{
	size_t n = 0;

	for (const struct conn *conn = conns->first; conn; conn = conn->next)
		n += address_same(&conn->address, address);
	return n;
}

static void conn_free(struct conn *conn)
{
	struct conns *conns = conn->conns;

	(void)conn_hold(conn, 0);
	disarm(conn);
	*(conn->prev ? &conn->prev->next : &conns->first) = conn->next;
	if (conn->next)
		conn->next->prev = conn->prev;
	conns->counts.open--;
	free(conn);
}

/* Closes the connection that has been longest without a whole request: first among the idle ones. False if all are at work. */
static bool shed(struct conns *conns)
{
	struct conn *victim = NULL;

	for (struct conn *conn = conns->first; conn; conn = conn->next)
		if (!conn->shut && conn->phase <= PHASE_RECEIVING &&
		    (!victim || conn->phase < victim->phase ||
		     (conn->phase == victim->phase && conn->since_ms <= victim->since_ms)))
			victim = conn;
	if (!victim)
		return false;
	conns->counts.shed++;
	if (victim->phase == PHASE_HANDSHAKE) {
		tls_abort(victim->tls);
		conn_free(victim);
	} else {
		shut(victim);
	}
	return true;
}

static bool is_admitted(struct conns *conns, const struct address *address)
{
	if ((address->near || count_address(conns, address) < LIMIT_CONNECTIONS_PER_ADDRESS) &&
	    (conns->counts.open < LIMIT_CONNECTIONS || shed(conns)))
		return true;
	conns->counts.refused++;
	return false;
}

/* Gives the socket, or the plain end of TLS, to libmicrohttpd, which closes it also if it refuses. */
static bool hand_over(struct conn *conn, int fd)
{
	bool taken;

	conn->fd = fd;
	conn->phase = PHASE_IDLE;
	conn->adding = true;
	conn->conns->resumed = true; /* it looks at it in its next run only */
	taken = MHD_add_connection(conn->conns->mhd, fd, (const struct sockaddr *)&conn->from, conn->from_len) == MHD_YES;
	conn->adding = false;
	return taken;
}

static void on_tls_open(void *arg, int plain)
{
	(void)hand_over(arg, plain); /* when that is refused, TLS sees its end */
}

static void on_tls_closed(void *arg)
{
	struct conn *conn = arg;

	conn->tls = NULL;
	if (!conn->mhd)
		conn_free(conn);
}

void conns_take(struct conns *conns, int fd, const struct sockaddr *from, socklen_t from_len, struct tls *tls)
{
	static const struct tls_stream_ops tls_ops = {.open = on_tls_open, .closed = on_tls_closed};
	struct address address = address_of(from);
	struct conn *conn;

	if (!is_admitted(conns, &address)) {
		util_close_fd(&fd);
		return;
	}
	conn = util_zalloc(sizeof(*conn));
	*conn = (struct conn){.conns = conns, .next = conns->first, .fd = -1, .wire_fd = fd, .from_len = from_len, .address = address,
	                      .since_ms = util_now_ms()};
	memcpy(&conn->from, from, from_len);
	if (conns->first)
		conns->first->prev = conn;
	conns->first = conn;
	conns->counts.open++;
	conns->counts.accepted++;
	if (tls)
		conn->tls = tls_accept(tls, conns->loop, fd, conn->since_ms + shorter_ms(conns->request_ms, LIMIT_HEAD_MS), &tls_ops, conn);
	else if (!hand_over(conn, fd))
		conn_free(conn);
}

static void opened(struct conns *conns, struct MHD_Connection *mhd, void **context)
{
	int fd = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
	struct conn *conn = conns->first;

	while (conn && (conn->mhd || conn->fd != fd))
		conn = conn->next;
	if (!conn)
		DIE("a connection that nobody gave to libmicrohttpd");
	conn->mhd = mhd;
	conn->peer = loop_add(conns->loop, conn->fd, PEER_EVENTS, on_peer, conn);
	*context = conn;
	enter(conn, PHASE_IDLE);
}

static void closed(struct conn *conn)
{
	loop_remove(conn->peer);
	conn->peer = NULL;
	conn->mhd = NULL;
	conn->fd = -1;
	disarm(conn);
	if (conn->tls)
		tls_finish(conn->tls, util_now_ms() + (conn->shut ? LIMIT_LINGER_MS : conn->conns->request_ms / 2));
	else if (!conn->adding)
		conn_free(conn);
}

static void on_connection(void *cls, struct MHD_Connection *mhd, void **context, enum MHD_ConnectionNotificationCode code)
{
	struct conns *conns = cls;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		opened(conns, mhd, context);
	} else if (*context) {
		closed(*context);
		*context = NULL;
	}
}

/* Our own decoding works on the raw target: libmicrohttpd is to leave the text alone. */
static size_t keep_text(void *cls, struct MHD_Connection *mhd, char *text)
{
	(void)cls;
	(void)mhd;
	return strlen(text);
}

static void on_log(void *cls, const char *fmt, va_list args) __attribute__((format(printf, 2, 0)));
static void on_log(void *cls, const char *fmt, va_list args)
{
	char line[256];

	(void)cls;
	(void)vsnprintf(line, sizeof(line), fmt, args);
	line[strcspn(line, "\r\n")] = '\0';
	log_debug("http: %s", line);
}

static void on_panic(void *cls, const char *file, unsigned int line, const char *reason)
{
	(void)cls;
	DIE("libmicrohttpd %s:%u: %s", file, line, reason ? reason : "panic");
}

static void on_mhd_ready(void *arg, uint32_t events)
{
	(void)arg;
	(void)events; /* conns_turn runs it every time */
}

struct conns *conns_create(struct loop *loop, int64_t request_ms, const struct conns_ops *ops, struct err *e)
{
	struct conns *conns = util_zalloc(sizeof(*conns));

	*conns = (struct conns){.loop = loop, .ops = ops, .request_ms = request_ms};
	MHD_set_panic_func(on_panic, NULL);
	conns->mhd = MHD_start_daemon(
		MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL, NULL, ops->step, ops->arg,
		MHD_OPTION_EXTERNAL_LOGGER, on_log, NULL,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned int)(LIMIT_CONNECTIONS + MHD_SPARE_CONNECTIONS),
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)LIMIT_HEAD_BYTES, MHD_OPTION_CONNECTION_TIMEOUT, 0U,
		MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1,
		MHD_OPTION_URI_LOG_CALLBACK, ops->open, ops->arg, MHD_OPTION_UNESCAPE_CALLBACK, keep_text, NULL,
		MHD_OPTION_NOTIFY_CONNECTION, on_connection, conns, MHD_OPTION_NOTIFY_COMPLETED, ops->close, ops->arg, MHD_OPTION_END);
	if (!conns->mhd) {
		free(conns);
		(void)err_set(e, ERR_INTERNAL, NULL, "libmicrohttpd does not start");
		return NULL;
	}
	conns->source = loop_add(loop, MHD_get_daemon_info(conns->mhd, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd, EPOLLIN, on_mhd_ready,
	                         conns);
	return conns;
}

const struct conns_counts *conns_counts(const struct conns *conns)
{
	return &conns->counts;
}

void conns_turn(struct conns *conns)
{
	MHD_UNSIGNED_LONG_LONG timeout;
	int wait_ms = -1;

	if (conns->resumed)
		wait_ms = 0;
	else if (MHD_get_timeout(conns->mhd, &timeout) == MHD_YES)
		wait_ms = timeout > 1000 ? 1000 : (int)timeout;
	if (wait_ms == 0 && conns->idle_turns > IDLE_TURNS_MAX)
		wait_ms = IDLE_TURN_MS;
	conns->idle_turns = !loop_turn(conns->loop, wait_ms) && !conns->resumed && wait_ms >= 0 ? conns->idle_turns + 1 : 0;
	conns->resumed = false;
	(void)MHD_run(conns->mhd);
}
