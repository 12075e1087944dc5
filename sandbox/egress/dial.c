/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was checked is a structure in memory, and it is that structure which is connected to: no name is asked for again. */
#include "sandbox/egress/dial.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "sandbox/egress/resolve.h"
#include "session/base/co.h"
#include "session/base/util.h"

struct dialing;

struct attempt {
	struct dialing *dialing;
	const struct resolved_address *to;
	int fd;
	struct loop_source *source; /* NULL: it does not run */
	bool ready;
};

struct dialing {
	struct loop *loop;
	struct resolved good;       /* in the order in which they are tried */
	struct attempt attempts[LIMIT_EGRESS_TRIES];
	size_t n, n_running;
	int last_errno;
	struct co_event changed;
};

static void show(const struct sockaddr_storage *address, char out[INET6_ADDRSTRLEN])
{
	const void *bytes = address->ss_family == AF_INET ? (const void *)&((const struct sockaddr_in *)(const void *)address)->sin_addr
	                                                  : (const void *)&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;

	if (!inet_ntop(address->ss_family, bytes, out, INET6_ADDRSTRLEN))
		DIE("an address of family %d", address->ss_family);
}

/* --- which --- */

static void of_literal(const struct egress_host *host, struct resolved *out)
{
	struct sockaddr_in v4 = {.sin_family = AF_INET};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};

	memcpy(&v4.sin_addr, host->address, sizeof(v4.sin_addr));
	memcpy(&v6.sin6_addr, host->address, sizeof(v6.sin6_addr));
	*out = (struct resolved){.n = 1};
	out->list[0].len = host->kind == EGRESS_HOST_V4 ? sizeof(v4) : sizeof(v6);
	memcpy(&out->list[0].at, host->kind == EGRESS_HOST_V4 ? (void *)&v4 : (void *)&v6, out->list[0].len);
}

/* The port lies at the same place in both families. */
static void set_port(struct sockaddr_storage *address, uint16_t port)
{
	((struct sockaddr_in *)(void *)address)->sin_port = htons(port);
}

/* The next one of the family, or of any when there is none of it. */
static bool take_next(struct resolved *from, sa_family_t family, struct resolved_address *out)
{
	size_t at = 0;

	while (at < from->n && from->list[at].at.ss_family != family)
		at++;
	if (at == from->n)
		at = 0;
	if (from->n == 0)
		return false;
	*out = from->list[at];
	memmove(&from->list[at], &from->list[at + 1], (from->n - at - 1) * sizeof(from->list[0]));
	from->n--;
	return true;
}

/* Those that may be reached, in turns of both families (RFC 8305). */
static int choose(struct dialing *dialing, struct resolved *found, uint16_t port, const struct address_list *permitted, struct dialed *out, struct err *e)
{
	struct resolved_address address;
	sa_family_t family = AF_INET6;

	while (take_next(found, family, &address)) {
		const char *refusal;

		family = address.at.ss_family == AF_INET6 ? AF_INET : AF_INET6;
		set_port(&address.at, port);
		refusal = address_refusal((struct sockaddr *)&address.at, address.len, permitted);
		if (!refusal) {
			dialing->good.list[dialing->good.n++] = address;
			continue;
		}
		out->refusal = refusal;
		show(&address.at, out->address);
	}
	return dialing->good.n > 0 ? 0 : err_set(e, ERR_FORBIDDEN, NULL, "its address is %s", out->refusal);
}

int dial_check(const struct egress_host *host, const struct address_list *permitted, struct err *e)
{
	struct resolved literal;
	const char *refusal;

	if (host->kind == EGRESS_HOST_NAME)
		return 0;
	of_literal(host, &literal);
	refusal = address_refusal((struct sockaddr *)&literal.list[0].at, literal.list[0].len, permitted);
	return refusal ? err_set(e, ERR_FORBIDDEN, NULL, "its address is %s", refusal) : 0;
}

/* --- connecting --- */

static void on_ready(void *arg, uint32_t events)
{
	struct attempt *attempt = arg;

	(void)events;
	attempt->ready = true;
	co_signal(&attempt->dialing->changed);
}

static void stop(struct attempt *attempt)
{
	if (!attempt->source)
		return;
	loop_remove(attempt->source);
	attempt->source = NULL;
	attempt->dialing->n_running--;
	util_close_fd(&attempt->fd);
}

static void try_next(struct dialing *dialing)
{
	struct attempt *attempt = &dialing->attempts[dialing->n];
	const struct resolved_address *to = &dialing->good.list[dialing->n++];
	int on = 1;

	*attempt = (struct attempt){.dialing = dialing, .to = to};
	attempt->fd = socket(to->at.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (attempt->fd < 0 || (connect(attempt->fd, (const struct sockaddr *)&to->at, to->len) < 0 && errno != EINPROGRESS)) {
		dialing->last_errno = errno;
		util_close_fd(&attempt->fd);
		return;
	}
	(void)setsockopt(attempt->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	(void)setsockopt(attempt->fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	attempt->source = loop_add(dialing->loop, attempt->fd, EPOLLOUT, on_ready, attempt);
	dialing->n_running++;
}

/* The attempt that is connected; those that failed are given up. */
static struct attempt *find_connected(struct dialing *dialing)
{
	for (size_t i = 0; i < dialing->n; i++) {
		struct attempt *attempt = &dialing->attempts[i];
		int error = 0;
		socklen_t len = sizeof(error);

		if (!attempt->source || !attempt->ready)
			continue;
		if (getsockopt(attempt->fd, SOL_SOCKET, SO_ERROR, &error, &len) == 0 && error == 0)
			return attempt;
		dialing->last_errno = error;
		stop(attempt);
	}
	return NULL;
}

static struct attempt *race(struct dialing *dialing, int64_t deadline_ms, struct err *e)
{
	size_t most = dialing->good.n < LIMIT_EGRESS_TRIES ? dialing->good.n : LIMIT_EGRESS_TRIES;
	int64_t next_ms = util_now_ms(), until_ms;
	struct attempt *connected;

	for (;;) {
		while (dialing->n < most && (dialing->n_running == 0 || util_now_ms() >= next_ms)) {
			try_next(dialing);
			next_ms = util_now_ms() + LIMIT_EGRESS_NEXT_MS;
		}
		if (dialing->n_running == 0) {
			(void)err_set(e, ERR_GONE, NULL, "it does not take connections");
			e->sys_errno = dialing->last_errno;
			return NULL;
		}
		until_ms = dialing->n < most && next_ms < deadline_ms ? next_ms : deadline_ms;
		if (co_wait_event(&dialing->changed, until_ms, e) < 0 && (e->code != ERR_TIMEOUT || until_ms == deadline_ms))
			return NULL;
		connected = find_connected(dialing);
		if (connected)
			return connected;
	}
}

int dial_host(struct loop *loop, const struct egress_host *host, uint16_t port, const struct address_list *permitted, int64_t deadline_ms, struct dialed *out,
              struct err *e)
{
	struct dialing dialing = {.loop = loop};
	struct resolved found;
	struct attempt *connected;

	*out = (struct dialed){.fd = -1};
	if (host->kind != EGRESS_HOST_NAME)
		of_literal(host, &found);
	else if (resolve_name(loop, host->text, deadline_ms, &found, e) < 0)
		return -1;
	if (choose(&dialing, &found, port, permitted, out, e) < 0)
		return -1;
	out->refusal = NULL;
	show(&dialing.good.list[0].at, out->address);
	connected = race(&dialing, deadline_ms, e);
	if (connected) {
		show(&connected->to->at, out->address);
		loop_remove(connected->source);
		connected->source = NULL;
		out->fd = steal_fd(&connected->fd);
	}
	for (size_t i = 0; i < dialing.n; i++)
		stop(&dialing.attempts[i]);
	return connected ? 0 : -1;
}
