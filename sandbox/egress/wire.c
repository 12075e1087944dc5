/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The socket on the loop. OpenSSL reads from memory and writes to memory: bytes can be given back before TLS begins, and nothing but this waits. */
#include "sandbox/egress/wire.h"

#include <errno.h>
#include <limits.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "session/base/co.h"
#include "session/base/util.h"

struct wire {
	struct loop *loop;
	struct loop_source *source; /* while somebody waits */
	uint32_t watched;
	struct co_event readable, writable, *on_end;
	bool ended;                 /* seen while on_end was to be told */
	int fd;
	char *back;                 /* what was given back */
	size_t back_at, back_len;
	SSL *ssl;
	unsigned n_fed;
};

#define CHUNK 16384 /* a record of TLS */
#define FED_IN_TURN 8 /* then others have theirs: messages of TLS's own may come without end and without a byte to be read */

struct wire *wire_create(struct loop *loop, int fd)
{
	struct wire *wire = util_zalloc(sizeof(*wire));

	wire->loop = loop;
	wire->fd = fd;
	return wire;
}

void wire_destroy(struct wire *wire)
{
	if (!wire)
		return;
	loop_remove(wire->source);
	SSL_free(wire->ssl);
	util_close_fd(&wire->fd);
	free(wire->back);
	free(wire);
}

void wire_unread(struct wire *wire, const void *bytes, size_t len)
{
	if (wire->back_at < wire->back_len)
		DIE("bytes are given back twice");
	free(wire->back);
	wire->back = util_alloc(len ? len : 1);
	memcpy(wire->back, bytes, len);
	wire->back_at = 0;
	wire->back_len = len;
}

SSL *wire_tls(const struct wire *wire)
{
	return wire->ssl;
}

/* --- the socket --- */

static ssize_t receive(struct wire *wire, void *bytes, size_t max)
{
	size_t n = wire->back_len - wire->back_at;

	if (n == 0)
		return recv(wire->fd, bytes, max, 0);
	n = n < max ? n : max;
	memcpy(bytes, wire->back + wire->back_at, n);
	wire->back_at += n;
	return (ssize_t)n;
}

static void on_ready(void *arg, uint32_t events)
{
	struct wire *wire = arg;
	uint32_t ready = events & (EPOLLHUP | EPOLLERR) ? EPOLLIN | EPOLLOUT | EPOLLRDHUP : events & (EPOLLIN | EPOLLOUT | EPOLLRDHUP);

	/* Removed, since an end is told again and again as long as it is watched at all. */
	loop_remove(wire->source);
	wire->watched &= ~ready;
	wire->source = wire->watched ? loop_add(wire->loop, wire->fd, wire->watched, on_ready, wire) : NULL;
	if (ready & EPOLLIN)
		co_signal(&wire->readable);
	if (ready & EPOLLOUT)
		co_signal(&wire->writable);
	if (ready & EPOLLRDHUP && wire->on_end) {
		wire->ended = true;
		co_signal(wire->on_end);
	}
}

void wire_watch_end(struct wire *wire, struct co_event *event)
{
	wire->on_end = event;
	wire->watched = event ? wire->watched | EPOLLRDHUP : wire->watched & ~(uint32_t)EPOLLRDHUP;
	loop_remove(wire->source);
	wire->source = wire->watched ? loop_add(wire->loop, wire->fd, wire->watched, on_ready, wire) : NULL;
}

bool wire_has_ended(const struct wire *wire)
{
	return wire->ended;
}

/* EPOLLIN or EPOLLOUT. */
static int wait_for(struct wire *wire, uint32_t what, int64_t deadline_ms, struct err *e)
{
	wire->watched |= what;
	if (wire->source)
		loop_modify(wire->source, wire->watched);
	else
		wire->source = loop_add(wire->loop, wire->fd, wire->watched, on_ready, wire);
	return co_wait_event(what == EPOLLIN ? &wire->readable : &wire->writable, deadline_ms, e);
}

/* What came at last, waited for; 0 at the end of it. */
static ssize_t read_socket(struct wire *wire, void *bytes, size_t max, int64_t deadline_ms, struct err *e)
{
	ssize_t n;

	while ((n = receive(wire, bytes, max)) < 0) {
		if (errno != EAGAIN && errno != EINTR)
			return err_set(e, ERR_GONE, NULL, "the connection was lost: %s", strerror(errno));
		if (wait_for(wire, EPOLLIN, deadline_ms, e) < 0)
			return -1;
	}
	return n;
}

/* As much as the socket takes at once, waited for. */
static ssize_t write_socket(struct wire *wire, const void *bytes, size_t len, int64_t deadline_ms, struct err *e)
{
	ssize_t n;

	while ((n = send(wire->fd, bytes, len, MSG_NOSIGNAL)) < 0) {
		if (errno != EAGAIN && errno != EINTR)
			return err_set(e, ERR_GONE, NULL, "the connection was lost: %s", strerror(errno));
		if (wait_for(wire, EPOLLOUT, deadline_ms, e) < 0)
			return -1;
	}
	return n;
}

/* --- TLS --- */

/* Sends what OpenSSL has written. Looked at anew after each wait: the other coroutine may have sent some. */
static int flush(struct wire *wire, int64_t deadline_ms, struct err *e)
{
	BIO *out = SSL_get_wbio(wire->ssl);
	char *bytes, sent[CHUNK];
	long len;

	while ((len = BIO_get_mem_data(out, &bytes)) > 0) {
		ssize_t n = send(wire->fd, bytes, (size_t)len < sizeof(sent) ? (size_t)len : sizeof(sent), MSG_NOSIGNAL);

		if (n >= 0)
			(void)BIO_read(out, sent, (int)n);
		else if (errno != EAGAIN && errno != EINTR)
			return err_set(e, ERR_GONE, NULL, "the connection was lost: %s", strerror(errno));
		else if (wait_for(wire, EPOLLOUT, deadline_ms, e) < 0)
			return -1;
	}
	return 0;
}

/* Reads what OpenSSL wants. */
static int feed(struct wire *wire, int64_t deadline_ms, struct err *e)
{
	BIO *in = SSL_get_rbio(wire->ssl);
	char bytes[CHUNK];
	ssize_t n;

	if (++wire->n_fed % FED_IN_TURN == 0 && co_wait_until(util_now_ms(), e) < 0)
		return -1;
	n = read_socket(wire, bytes, sizeof(bytes), deadline_ms, e);
	if (n < 0)
		return -1;
	if (n > 0)
		return BIO_write(in, bytes, (int)n) == (int)n ? 0 : err_set(e, ERR_INTERNAL, NULL, "no memory for TLS");
	(void)BIO_set_mem_eof_return(in, 0);
	return 0;
}

/* Says in words what OpenSSL found wrong. */
static int tls_failed(const struct wire *wire, struct err *e)
{
	long verified = SSL_get_verify_result(wire->ssl);
	unsigned long code = ERR_peek_error();
	const char *reason = code ? ERR_reason_error_string(code) : NULL;

	if (verified != X509_V_OK)
		return err_set(e, ERR_GONE, NULL, "its certificate is refused: %s", X509_verify_cert_error_string(verified));
	return err_set(e, ERR_GONE, NULL, "TLS failed: %s", reason ? reason : "the connection ended");
}

/* What came of a call of OpenSSL's that gave `result`: 1 to call it again, 0 at the end of what comes, -1. What it wrote is sent, an alert too. */
static int go_on(struct wire *wire, int result, int64_t deadline_ms, struct err *e)
{
	int why = SSL_get_error(wire->ssl, result);

	if (why == SSL_ERROR_ZERO_RETURN)
		return 0;
	if (why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE) {
		(void)tls_failed(wire, e);
		ERR_clear_error();
		(void)flush(wire, deadline_ms, NULL);
		return -1;
	}
	if (flush(wire, deadline_ms, e) < 0)
		return -1;
	return why == SSL_ERROR_WANT_WRITE || feed(wire, deadline_ms, e) == 0 ? 1 : -1;
}

int wire_begin_tls(struct wire *wire, SSL *ssl, bool accepts, int64_t deadline_ms, struct err *e)
{
	BIO *in = BIO_new(BIO_s_mem()), *out = BIO_new(BIO_s_mem());
	int result, rc = 1;

	if (!in || !out)
		DIE("no memory");
	SSL_set_bio(ssl, in, out);
	wire->ssl = ssl;
	do {
		ERR_clear_error();
		result = accepts ? SSL_accept(ssl) : SSL_connect(ssl);
		if (result != 1)
			rc = go_on(wire, result, deadline_ms, e);
	} while (result != 1 && rc == 1);
	if (result != 1)
		return rc == 0 ? err_set(e, ERR_GONE, NULL, "TLS failed: the connection ended") : -1;
	return flush(wire, deadline_ms, e);
}

static ssize_t read_tls(struct wire *wire, void *bytes, size_t max, int64_t deadline_ms, struct err *e)
{
	int result, rc;

	do {
		ERR_clear_error();
		result = SSL_read(wire->ssl, bytes, max < INT_MAX ? (int)max : INT_MAX);
		if (result > 0)
			return result;
		rc = go_on(wire, result, deadline_ms, e);
	} while (rc == 1);
	return rc;
}

/* Memory takes all of it, a record at a time. */
static ssize_t write_tls(struct wire *wire, const void *bytes, size_t len, int64_t deadline_ms, struct err *e)
{
	int result, rc;

	do {
		ERR_clear_error();
		result = SSL_write(wire->ssl, bytes, len < CHUNK ? (int)len : CHUNK);
		if (result > 0)
			return flush(wire, deadline_ms, e) < 0 ? -1 : result;
		rc = go_on(wire, result, deadline_ms, e);
	} while (rc == 1);
	return rc == 0 ? err_set(e, ERR_GONE, NULL, "the connection was ended") : -1;
}

/* --- either --- */

ssize_t wire_read(struct wire *wire, void *bytes, size_t max, int64_t deadline_ms, struct err *e)
{
	return wire->ssl ? read_tls(wire, bytes, max, deadline_ms, e) : read_socket(wire, bytes, max, deadline_ms, e);
}

int wire_write(struct wire *wire, const void *bytes, size_t len, int64_t deadline_ms, struct err *e)
{
	for (const char *at = bytes; len > 0;) {
		ssize_t n = wire->ssl ? write_tls(wire, at, len, deadline_ms, e) : write_socket(wire, at, len, deadline_ms, e);

		if (n < 0)
			return -1;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

void wire_shut(struct wire *wire)
{
	if (wire->ssl) {
		BIO *out = SSL_get_wbio(wire->ssl);
		char *bytes;
		long len;

		ERR_clear_error();
		(void)SSL_shutdown(wire->ssl);
		ERR_clear_error();
		/* What the socket does not take now is not worth a wait. */
		len = BIO_get_mem_data(out, &bytes);
		if (len > 0)
			(void)send(wire->fd, bytes, (size_t)len, MSG_NOSIGNAL);
		(void)BIO_reset(out);
	}
	(void)shutdown(wire->fd, SHUT_WR);
}
