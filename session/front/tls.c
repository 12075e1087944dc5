/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One connection: a TCP socket (outer), a GnuTLS session, our end of a socketpair (inner). Events of either end only say that there may be
 * something to do: `move` does what can be done, `watch_both` then asks for what it waits for, and for nothing else: a socket that nobody
 * waits for is not in the loop at all, since the end of a peer would be reported there again and again.
 */
#include "session/front/tls.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "session/base/limits.h"
#include "session/base/log.h"
#include "session/base/util.h"
#include "session/front/certificate.h"
#include "session/front/refusal.h"

#define RECORD_BYTES 16384 /* the largest of TLS: read into less, GnuTLS would keep the rest where no event tells of it */
#define TURN_RECORDS 4     /* of one connection, each way, before others have their turn */
#define FIRST_BYTE 22      /* of a handshake */

static const char priorities[] = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-RSA:-CIPHER-ALL:+AES-128-GCM:+AES-256-GCM:"
				 "+CHACHA20-POLY1305:%SERVER_PRECEDENCE";

struct tls {
	size_t refs;
	gnutls_certificate_credentials_t credentials;
	gnutls_priority_t priority;
};

enum state {
	HANDSHAKE,
	OPEN,
	LEAVING,  /* the plain end is closed: our close-notify is on its way */
	LINGERING /* all was sent: until the peer closes too, since closing first could take what it has not read yet from it */
};

struct end {
	int fd;
	struct loop_source *source; /* NULL while nothing is waited for */
	uint32_t events;
};

struct tls_stream {
	struct tls *tls;
	struct loop *loop;
	const struct tls_stream_ops *ops;
	void *arg;
	gnutls_session_t session;
	struct end outer, inner;
	enum state state;
	struct loop_timer *deadline;
	bool known;       /* the first byte was looked at */
	bool watched;     /* by conn_suspend */
	bool peer_left;   /* the peer has closed its sending half */
	bool in_ended;    /* all that it sent was read */
	bool in_shut;     /* the plain end knows */
	bool out_waits;   /* GnuTLS has a record that the socket did not take */
	char *in;         /* read from the peer, not taken by the plain end yet */
	size_t in_start, in_len;
};

/* --- certificate and key --- */

struct tls *tls_create(int certificate, int key, bool proven, struct err *e)
{
	struct tls *tls = util_zalloc(sizeof(*tls));

	tls->refs = 1;
	if (gnutls_priority_init2(&tls->priority, priorities, NULL, 0) < 0)
		DIE("GnuTLS does not know its priorities");
	tls->credentials = certificate_load(certificate, key, proven, e);
	if (tls->credentials)
		return tls;
	tls_unref(tls);
	return NULL;
}

void tls_unref(struct tls *tls)
{
	if (!tls || --tls->refs > 0)
		return;
	if (tls->credentials)
		gnutls_certificate_free_credentials(tls->credentials);
	gnutls_priority_deinit(tls->priority);
	free(tls);
}

/* --- life --- */

static void watch(struct tls_stream *stream, struct end *end, uint32_t events, loop_fd_fn *fn)
{
	if (events == 0) {
		loop_remove(end->source);
		end->source = NULL;
	} else if (!end->source) {
		end->source = loop_add(stream->loop, end->fd, events, fn, stream);
	} else if (events != end->events) {
		loop_modify(end->source, events);
	}
	end->events = events;
}

static void free_stream(struct tls_stream *stream)
{
	loop_cancel(stream->deadline);
	loop_remove(stream->outer.source);
	loop_remove(stream->inner.source);
	util_close_fd(&stream->outer.fd);
	util_close_fd(&stream->inner.fd);
	gnutls_deinit(stream->session);
	tls_unref(stream->tls);
	free(stream->in);
	free(stream);
}

static void end(struct tls_stream *stream)
{
	stream->ops->closed(stream->arg);
	free_stream(stream);
}

void tls_abort(struct tls_stream *stream)
{
	free_stream(stream);
}

static void on_deadline(void *arg)
{
	struct tls_stream *stream = arg;

	stream->deadline = NULL;
	log_debug("a TLS connection is closed: too slow in %s", stream->state == HANDSHAKE ? "its handshake" : "taking its end");
	end(stream);
}

static void set_deadline(struct tls_stream *stream, int64_t at_ms)
{
	loop_cancel(stream->deadline);
	stream->deadline = loop_at(stream->loop, at_ms, on_deadline, stream);
}

/* --- what can be done now --- */

enum step { STEP_DONE, STEP_WAIT, STEP_FAILED };

static enum step step_of(ssize_t rc)
{
	if (rc == GNUTLS_E_AGAIN || rc == GNUTLS_E_INTERRUPTED)
		return STEP_WAIT;
	return rc < 0 ? STEP_FAILED : STEP_DONE;
}

/* Somebody who speaks plain HTTP here is told so, in words that their client shows. */
static void say_https(int fd)
{
	struct err e;

	(void)err_set(&e, ERR_BAD_REQUEST, NULL, "this port speaks TLS: use https://");
	refusal_send(fd, &e);
}

static void linger(struct tls_stream *stream)
{
	(void)shutdown(stream->outer.fd, SHUT_WR);
	stream->state = LINGERING;
	set_deadline(stream, util_now_ms() + LIMIT_LINGER_MS);
}

static enum step open_plain_end(struct tls_stream *stream)
{
	int size = LIMIT_TLS_BUFFER_BYTES, ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0) {
		log_error("a socketpair for TLS: %s", strerror(errno));
		return STEP_FAILED;
	}
	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		(void)setsockopt(ends[i], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	loop_cancel(stream->deadline);
	stream->deadline = NULL;
	stream->inner.fd = ends[0];
	stream->state = OPEN;
	stream->ops->open(stream->arg, ends[1]);
	return STEP_DONE;
}

static enum step shake_hands(struct tls_stream *stream)
{
	unsigned char first = FIRST_BYTE;
	enum step step;
	int rc;

	if (!stream->known && recv(stream->outer.fd, &first, 1, MSG_PEEK) < 0)
		return errno == EAGAIN ? STEP_WAIT : STEP_FAILED;
	stream->known = true;
	if (first != FIRST_BYTE) {
		say_https(stream->outer.fd);
		linger(stream);
		return STEP_DONE;
	}
	rc = gnutls_handshake(stream->session);
	step = step_of(rc);
	if (step == STEP_DONE)
		return open_plain_end(stream);
	if (step == STEP_FAILED && !gnutls_error_is_fatal(rc))
		return STEP_WAIT;
	if (step == STEP_FAILED) {
		log_debug("a TLS handshake failed: %s", gnutls_strerror(rc));
		(void)gnutls_alert_send_appropriate(stream->session, rc);
	}
	return step;
}

/* Gives the plain end what waits for it. */
static enum step flush_in(struct tls_stream *stream)
{
	while (stream->in_len > 0) {
		ssize_t n = send(stream->inner.fd, stream->in + stream->in_start, stream->in_len, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno == EAGAIN)
			return STEP_WAIT;
		if (n < 0) { /* nobody reads there any more */
			stream->in_ended = stream->in_shut = true;
			n = (ssize_t)stream->in_len;
		}
		stream->in_start += (size_t)n;
		stream->in_len -= (size_t)n;
	}
	/* It may have been a secret. */
	if (stream->in)
		explicit_bzero(stream->in, stream->in_start);
	free(stream->in);
	stream->in = NULL;
	if (stream->in_ended && !stream->in_shut) {
		(void)shutdown(stream->inner.fd, SHUT_WR);
		stream->in_shut = true;
	}
	return STEP_DONE;
}

static enum step read_record(struct tls_stream *stream)
{
	char data[RECORD_BYTES];
	ssize_t n;

	n = gnutls_record_recv(stream->session, data, sizeof(data));
	if (n == 0 || n == GNUTLS_E_PREMATURE_TERMINATION) {
		/* HTTP knows by itself where its messages end. */
		stream->in_ended = true;
		return flush_in(stream);
	}
	if (n == GNUTLS_E_WARNING_ALERT_RECEIVED)
		return STEP_DONE;
	if (n < 0) /* GNUTLS_E_REHANDSHAKE among them */
		return step_of(n);
	stream->in = util_alloc((size_t)n);
	memcpy(stream->in, data, (size_t)n);
	explicit_bzero(data, (size_t)n);
	stream->in_start = 0;
	stream->in_len = (size_t)n;
	return flush_in(stream);
}

static enum step move_in(struct tls_stream *stream)
{
	enum step step = flush_in(stream);

	for (int i = 0; i < TURN_RECORDS && step == STEP_DONE && !stream->in_ended; i++)
		step = read_record(stream);
	return step;
}

static enum step write_record(struct tls_stream *stream)
{
	char data[RECORD_BYTES];
	ssize_t n = recv(stream->inner.fd, data, sizeof(data), MSG_DONTWAIT);
	enum step step;

	if (n < 0 && errno == EAGAIN)
		return STEP_WAIT;
	if (n <= 0) { /* closed; with an error if something was left unread there */
		stream->state = LEAVING;
		return STEP_DONE;
	}
	step = step_of(gnutls_record_send(stream->session, data, (size_t)n));
	stream->out_waits = step == STEP_WAIT;
	return step;
}

static enum step move_out(struct tls_stream *stream)
{
	enum step step = STEP_DONE;

	if (stream->out_waits) {
		step = step_of(gnutls_record_send(stream->session, NULL, 0));
		stream->out_waits = step == STEP_WAIT;
	}
	for (int i = 0; i < TURN_RECORDS && step == STEP_DONE && stream->state == OPEN; i++)
		step = write_record(stream);
	return step;
}

static enum step move_both(struct tls_stream *stream)
{
	if (move_out(stream) == STEP_FAILED)
		return STEP_FAILED;
	return stream->state == OPEN ? move_in(stream) : STEP_DONE;
}

static enum step say_goodbye(struct tls_stream *stream)
{
	enum step step = step_of(gnutls_bye(stream->session, GNUTLS_SHUT_WR));

	if (step == STEP_DONE)
		linger(stream);
	return step;
}

/* Throws away what still comes; done when the peer has closed. */
static enum step drain(struct tls_stream *stream)
{
	char data[RECORD_BYTES];
	ssize_t n = recv(stream->outer.fd, data, sizeof(data), MSG_DONTWAIT);

	return n > 0 || (n < 0 && errno == EAGAIN) ? STEP_WAIT : STEP_FAILED;
}

/* Goes on as far as it can. */
static enum step move(struct tls_stream *stream)
{
	enum step step = STEP_DONE;

	if (stream->state == HANDSHAKE)
		step = shake_hands(stream);
	if (stream->state == OPEN && step == STEP_DONE)
		step = move_both(stream);
	if (stream->state == LEAVING && step != STEP_FAILED)
		step = say_goodbye(stream);
	if (stream->state == LINGERING && step != STEP_FAILED)
		step = drain(stream);
	return step;
}

/* --- events --- */

static void go_on(struct tls_stream *stream);

static void on_outer(void *arg, uint32_t events)
{
	struct tls_stream *stream = arg;

	if (events & (EPOLLERR | EPOLLHUP)) {
		end(stream);
		return;
	}
	if (events & EPOLLRDHUP)
		stream->peer_left = true;
	tls_watch(stream, stream->watched);
	go_on(stream);
}

static void on_inner(void *arg, uint32_t events)
{
	(void)events; /* the end of the plain side is read there, after what it still sent */
	go_on(arg);
}

static uint32_t if_so(bool wanted, uint32_t events)
{
	return wanted ? events : 0;
}

static void watch_both(struct tls_stream *stream)
{
	uint32_t outer = EPOLLIN, inner = 0;

	switch (stream->state) {
	case HANDSHAKE:
		outer = stream->known && gnutls_record_get_direction(stream->session) ? EPOLLOUT : EPOLLIN;
		break;
	case OPEN:
		outer = if_so(stream->in_len == 0 && !stream->in_ended, EPOLLIN) | if_so(stream->out_waits, EPOLLOUT) |
		        if_so(!stream->peer_left, EPOLLRDHUP);
		inner = if_so(stream->in_len > 0, EPOLLOUT) | if_so(!stream->out_waits, EPOLLIN);
		break;
	case LEAVING:
		outer = EPOLLOUT;
		break;
	case LINGERING:
		break;
	}
	watch(stream, &stream->outer, outer, on_outer);
	watch(stream, &stream->inner, inner, on_inner);
}

static void go_on(struct tls_stream *stream)
{
	if (move(stream) == STEP_FAILED)
		end(stream);
	else
		watch_both(stream);
}

struct tls_stream *tls_accept(struct tls *tls, struct loop *loop, int fd, int64_t deadline_ms, const struct tls_stream_ops *ops,
                              void *arg)
{
	unsigned char name[] = "http/1.1";
	const gnutls_datum_t http = {.data = name, .size = sizeof(name) - 1};
	struct tls_stream *stream = util_zalloc(sizeof(*stream));

	*stream = (struct tls_stream){.tls = tls, .loop = loop, .ops = ops, .arg = arg, .outer.fd = fd, .inner.fd = -1};
	tls->refs++;
	if (gnutls_init(&stream->session, GNUTLS_SERVER | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL | GNUTLS_NO_TICKETS) < 0 ||
	    gnutls_priority_set(stream->session, tls->priority) < 0 ||
	    gnutls_credentials_set(stream->session, GNUTLS_CRD_CERTIFICATE, tls->credentials) < 0 ||
	    gnutls_alpn_set_protocols(stream->session, &http, 1, GNUTLS_ALPN_MANDATORY) < 0)
		DIE("no memory for a TLS session");
	gnutls_transport_set_int(stream->session, fd);
	gnutls_handshake_set_timeout(stream->session, GNUTLS_INDEFINITE_TIMEOUT);
	set_deadline(stream, deadline_ms);
	watch_both(stream);
	return stream;
}

void tls_watch(struct tls_stream *stream, bool watched)
{
	stream->watched = watched;
	if (watched && stream->peer_left && stream->state == OPEN && !stream->in_shut) {
		(void)shutdown(stream->inner.fd, SHUT_WR);
		stream->in_ended = stream->in_shut = true;
		stream->in_len = 0;
		watch_both(stream);
	}
}

void tls_finish(struct tls_stream *stream, int64_t deadline_ms)
{
	set_deadline(stream, deadline_ms);
}
