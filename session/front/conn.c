/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libmicrohttpd in our loop: deadlines, caps, and the watch on peers that wait. */
#include "session/front/conn.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "session/base/limits.h"
#include "session/base/log.h"
#include "session/base/problem.h"
#include "session/base/util.h"

/* More than our own cap, so that a new client is accepted while the one that was shed is still being closed. */
#define MHD_SPARE_CONNECTIONS 64

enum phase { PHASE_IDLE, PHASE_RECEIVING, PHASE_WORKING, PHASE_SENDING, PHASE_STREAMING };

struct conn {
	struct conns *conns;
	struct conn *next, *prev; /* newest first */
	struct MHD_Connection *mhd;
	int fd; /* libmicrohttpd's */
	struct sockaddr_in6 address;
	enum phase phase;
	int64_t since_ms;         /* when the phase began; while sending, later by the time spent suspended; of a stream, its last piece */
	uint64_t sent;            /* bytes of the reply that libmicrohttpd asked for */
	struct loop_timer *deadline;
	bool shut;
	/* While suspended: */
	bool suspended;
	int64_t suspended_ms;
	struct loop_source *peer;
	loop_timer_fn *gone;
	void *gone_arg;
};

struct conns {
	struct loop *loop;
	struct MHD_Daemon *mhd;
	const struct conns_ops *ops;
	struct loop_source *source;
	struct conn *first;
	struct conns_counts counts;
	bool resumed; /* since the last MHD_run: it does not count these in its time-out */
};

/* A reply of our own on a connection where libmicrohttpd still waits for the rest of a request. */
static void say_timeout(int fd)
{
	auto_free char *body = NULL;
	auto_free char *text = NULL;
	struct err e;

	(void)err_set(&e, ERR_REQUEST_TIMEOUT, NULL, "the whole request must be here within %d ms", LIMIT_REQUEST_MS);
	body = problem_text(&e, NULL);
	text = util_printf("HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Type: " PROBLEM_MEDIA_TYPE "\r\n"
	                   "X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\nContent-Length: %zu\r\n\r\n%s", strlen(body), body);
	(void)send(fd, text, strlen(text), MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* libmicrohttpd notices the end of file and cleans up. */
static void shut(struct conn *conn)
{
	conn->shut = true;
	(void)shutdown(conn->fd, SHUT_RDWR);
}

static int64_t allowed_ms(const struct conn *conn)
{
	if (conn->phase == PHASE_SENDING)
		return LIMIT_SEND_MS + (int64_t)(conn->sent * 1000 / LIMIT_SEND_BYTES_PER_S);
	return conn->phase == PHASE_STREAMING ? LIMIT_SEND_MS : LIMIT_REQUEST_MS;
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
		say_timeout(conn->fd);
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
	if (conn->phase != PHASE_WORKING && !conn->suspended && !conn->shut)
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
	enter(conn, PHASE_RECEIVING);
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

	enter(conn, PHASE_STREAMING);
	/* A peer that vanished without a word takes no heartbeat: the kernel gives it up after so long. */
	(void)setsockopt(conn->fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &vanished_ms, sizeof(vanished_ms));
}

void conn_sent(struct conn *conn, size_t n_bytes)
{
	conn->sent += n_bytes;
	if (conn->phase == PHASE_STREAMING)
		conn->since_ms = util_now_ms();
}

void conn_idle(struct conn *conn)
{
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

	(void)events;
	loop_remove(conn->peer);
	conn->peer = NULL;
	conn->gone(conn->gone_arg);
}

void conn_suspend(struct conn *conn, loop_timer_fn *gone, void *arg)
{
	conn->suspended = true;
	conn->suspended_ms = util_now_ms();
	conn->gone = gone;
	conn->gone_arg = arg;
	disarm(conn);
	MHD_suspend_connection(conn->mhd);
	conn->peer = loop_add(conn->conns->loop, conn->fd, EPOLLRDHUP, on_peer, conn);
}

void conn_resume(struct conn *conn)
{
	loop_remove(conn->peer);
	conn->peer = NULL;
	conn->suspended = false;
	conn->since_ms += util_now_ms() - conn->suspended_ms;
	arm(conn);
	MHD_resume_connection(conn->mhd);
	conn->conns->resumed = true;
}

bool conn_suspended(const struct conn *conn)
{
	return conn->suspended;
}

/* IPv4 addresses in their mapped form; of IPv6 the network part alone, since a client has all of it. */
static struct sockaddr_in6 normal_address(const struct sockaddr *from)
{
	struct sockaddr_in6 out = {.sin6_family = AF_INET6};

	if (from->sa_family == AF_INET) {
		struct sockaddr_in v4;

		memcpy(&v4, from, sizeof(v4));
		out.sin6_addr.s6_addr[10] = out.sin6_addr.s6_addr[11] = 0xff;
		memcpy(out.sin6_addr.s6_addr + 12, &v4.sin_addr, 4);
	} else if (from->sa_family == AF_INET6) {
		struct sockaddr_in6 v6;

		memcpy(&v6, from, sizeof(v6));
		out.sin6_addr = v6.sin6_addr;
		if (!IN6_IS_ADDR_LOOPBACK(&out.sin6_addr) && !IN6_IS_ADDR_V4MAPPED(&out.sin6_addr))
			memset(out.sin6_addr.s6_addr + 8, 0, 8);
	}
	return out;
}

static bool is_loopback(const struct sockaddr_in6 *address)
{
	return IN6_IS_ADDR_LOOPBACK(&address->sin6_addr) ||
	       (IN6_IS_ADDR_V4MAPPED(&address->sin6_addr) && address->sin6_addr.s6_addr[12] == 127);
}

static size_t count_address(const struct conns *conns, const struct sockaddr_in6 *address)
{
	size_t n = 0;

	for (const struct conn *conn = conns->first; conn; conn = conn->next)
		n += memcmp(&conn->address.sin6_addr, &address->sin6_addr, sizeof(address->sin6_addr)) == 0;
	return n;
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
	shut(victim);
	return true;
}

static enum MHD_Result on_accept(void *cls, const struct sockaddr *address, socklen_t len)
{
	struct conns *conns = cls;
	struct sockaddr_in6 from = normal_address(address);

	(void)len;
	if ((is_loopback(&from) || count_address(conns, &from) < LIMIT_CONNECTIONS_PER_ADDRESS) &&
	    (conns->counts.open < LIMIT_CONNECTIONS || shed(conns)))
		return MHD_YES;
	conns->counts.refused++;
	return MHD_NO;
}

static void opened(struct conns *conns, struct MHD_Connection *mhd, void **context)
{
	struct conn *conn = util_zalloc(sizeof(*conn));

	*conn = (struct conn){.conns = conns, .mhd = mhd, .next = conns->first};
	conn->fd = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
	conn->address = normal_address(MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr);
	if (conns->first)
		conns->first->prev = conn;
	conns->first = conn;
	conns->counts.open++;
	conns->counts.accepted++;
	*context = conn;
	enter(conn, PHASE_IDLE);
}

static void closed(struct conns *conns, struct conn *conn)
{
	disarm(conn);
	loop_remove(conn->peer);
	*(conn->prev ? &conn->prev->next : &conns->first) = conn->next;
	if (conn->next)
		conn->next->prev = conn->prev;
	conns->counts.open--;
	free(conn);
}

static void on_connection(void *cls, struct MHD_Connection *mhd, void **context, enum MHD_ConnectionNotificationCode code)
{
	struct conns *conns = cls;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		opened(conns, mhd, context);
	} else if (*context) {
		closed(conns, *context);
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

struct conns *conns_create(struct loop *loop, int listen_fd, const struct conns_ops *ops, struct err *e)
{
	struct conns *conns = util_zalloc(sizeof(*conns));
	int send_buffer = LIMIT_SEND_BUFFER_BYTES;

	*conns = (struct conns){.loop = loop, .ops = ops};
	/* Accepted sockets inherit it: a client that does not read holds this much of the kernel's memory and no more. */
	(void)setsockopt(listen_fd, SOL_SOCKET, SO_SNDBUF, &send_buffer, sizeof(send_buffer));
	MHD_set_panic_func(on_panic, NULL);
	conns->mhd = MHD_start_daemon(
		MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, on_accept, conns, ops->step, ops->arg,
		MHD_OPTION_EXTERNAL_LOGGER, on_log, NULL, MHD_OPTION_LISTEN_SOCKET, listen_fd,
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
	loop_turn(conns->loop, wait_ms);
	conns->resumed = false;
	(void)MHD_run(conns->mhd);
}
