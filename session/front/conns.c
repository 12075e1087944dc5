/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All connections: how they come and go, by TLS where that is asked for; caps; libmicrohttpd in our loop. */
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>

#include "session/base/limits.h"
#include "session/base/log.h"
#include "session/base/util.h"
#include "session/front/conn_inner.h"

/* More than our own cap, so that a new client is accepted while the one that was shed is still being closed. */
#define MHD_SPARE_CONNECTIONS 64

/*
 * libmicrohttpd wants to be run again and again while a line of a chunked body is larger than its buffer. After so many turns in which
 * nothing happened the next ones take a while, or until something does.
 */
#define IDLE_TURNS_MAX 32
#define IDLE_TURN_MS 5

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
	conn_disarm(conn);
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
		conn_shut(victim);
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
		conn->tls = tls_accept(tls, conns->loop, fd, conn->since_ms + conn_shorter_ms(conns->request_ms, LIMIT_HEAD_MS), &tls_ops, conn);
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
	conn_watch_peer(conn);
	*context = conn;
	conn_enter(conn, PHASE_IDLE);
}

static void closed(struct conn *conn)
{
	conn_forget_peer(conn);
	conn->mhd = NULL;
	conn->fd = -1;
	conn_disarm(conn);
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
		MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME | MHD_ALLOW_UPGRADE | MHD_USE_ERROR_LOG, 0, NULL, NULL, ops->step, ops->arg,
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

/* Many large replies leave a heap that is large for ever, if what lies at its end is in use. */
static void give_back(struct conns *conns)
{
	if (conns->most_held <= LIMIT_FRONT_FREED_BYTES || conns->held > LIMIT_FRONT_FREED_BYTES / 2)
		return;
	conns->most_held = conns->held;
	util_give_back_freed(LIMIT_FRONT_FREED_BYTES);
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
	give_back(conns);
}
