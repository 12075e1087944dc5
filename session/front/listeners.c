/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Accepting. */
#include "session/front/listeners.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "session/base/limits.h"
#include "session/base/log.h"
#include "session/base/util.h"

#define ACCEPT_AT_ONCE 32  /* then those that are open have their turn */
#define ACCEPT_PAUSE_MS 100

static int add_listener(struct listeners *listeners, const char *url, int *fd, struct err *e)
{
	if (listeners->n == LIMIT_LISTENERS || *fd < 0)
		return err_set(e, ERR_INTERNAL, NULL, "a listening socket more than there may be");
	if (hosts_listen(listeners->hosts, url, e) < 0)
		return -1;
	if (!*listeners->url && strncmp(url, "http", 4) == 0)
		(void)snprintf(listeners->url, sizeof(listeners->url), "%s", url);
	listeners->list[listeners->n++] =
		(struct listener){.listeners = listeners, .fd = steal_fd(fd), .tls = strncmp(url, "https:", 6) == 0};
	return 0;
}

static int take_key(struct listeners *listeners, int key, struct err *e)
{
	auto_fd certificate = steal_fd(&listeners->certificate);
	struct tls *tls = tls_create(certificate, key, listeners->proven, e);

	if (!tls)
		return -1;
	if (listeners->tls)
		log_info("a new certificate is in force");
	tls_unref(listeners->tls);
	listeners->tls = tls;
	return 0;
}

int listeners_label(struct listeners *listeners, const struct front_label *label, int taken, struct err *e)
{
	auto_fd fd = taken;

	switch (label->kind) {
	case FRONT_LISTENER:
		return add_listener(listeners, label->text, &fd, e);
	case FRONT_CERTIFICATE:
		util_close_fd(&listeners->certificate);
		listeners->certificate = steal_fd(&fd);
		listeners->proven = strcmp(label->text, FRONT_PROVEN) == 0;
		return 0;
	case FRONT_KEY:
		return take_key(listeners, fd, e);
	case FRONT_HOST:
		return hosts_add(listeners->hosts, label->text, e);
	default:
		return err_set(e, ERR_INTERNAL, NULL, "an unknown label %u", label->kind);
	}
}

static void on_ready(void *arg, uint32_t events);

static void on_pause_over(void *arg)
{
	struct listener *listener = arg;

	listener->pause = NULL;
	listener->source = loop_add(listener->listeners->loop, listener->fd, EPOLLIN, on_ready, listener);
}

/* No descriptors or no memory: the client waits, the loop does not spin on it. */
static void pause_accepting(struct listener *listener)
{
	log_warn("a connection cannot be accepted: %s", strerror(errno));
	loop_remove(listener->source);
	listener->source = NULL;
	listener->pause = loop_at(listener->listeners->loop, util_now_ms() + ACCEPT_PAUSE_MS, on_pause_over, listener);
}

static void on_ready(void *arg, uint32_t events)
{
	struct listener *listener = arg;
	struct listeners *listeners = listener->listeners;

	(void)events;
	for (int i = 0; i < ACCEPT_AT_ONCE; i++) {
		struct sockaddr_storage from = {.ss_family = AF_UNSPEC};
		socklen_t len = sizeof(from);
		int fd = accept4(listener->fd, (struct sockaddr *)&from, &len, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0) {
			if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
				pause_accepting(listener);
			else if (errno != EAGAIN)
				continue; /* a client that left already, or was never there */
			return;
		}
		conns_take(listeners->conns, fd, (const struct sockaddr *)&from, len, listener->tls ? listeners->tls : NULL);
	}
}

int listeners_start(struct listeners *listeners, struct loop *loop, struct conns *conns, struct err *e)
{
	/* Accepted sockets inherit these: a client that does not read, or sends more than is read, holds so much of the kernel's memory. */
	int send_bytes = LIMIT_SEND_BUFFER_BYTES, receive_bytes = LIMIT_RECEIVE_BUFFER_BYTES;

	listeners->loop = loop;
	listeners->conns = conns;
	for (size_t i = 0; i < listeners->n; i++) {
		struct listener *listener = &listeners->list[i];

		if (listener->tls && !listeners->tls)
			return err_set(e, ERR_INTERNAL, NULL, "TLS without a certificate");
		(void)setsockopt(listener->fd, SOL_SOCKET, SO_SNDBUF, &send_bytes, sizeof(send_bytes));
		(void)setsockopt(listener->fd, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof(receive_bytes));
		listener->source = loop_add(loop, listener->fd, EPOLLIN, on_ready, listener);
	}
	return 0;
}
