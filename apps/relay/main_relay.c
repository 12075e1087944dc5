/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * glovebox-relay: the way from the app jail's loopback to its egress. What connects to 127.0.0.1:3128 is connected to /run/egress/proxy.sock; bytes go both
 * ways as they are, and each direction ends for itself. It understands nothing of them, and knows no other place.
 *
 * The stage starts it through init, which keeps the socket that listens, its standard input; in the group base, and again when it ends. It writes a line once
 * it takes connections.
 */
#include <errno.h>
#include <linux/landlock.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "apps/relay/proto.h"
#include "sandbox/confine/confine.h"
#include "session/base/limits.h"
#include "session/base/log.h"
#include "session/base/loop.h"
#include "session/base/util.h"

#define PIECE_BYTES (16 * 1024)
#define OWN_FDS 32 /* of the loop, the log, what it was given */

struct relay;

/* One direction: what was read at `from` and is not written at `to` yet. */
struct half {
	struct side *from, *to;
	size_t at, len;
	bool ended;    /* nothing more is to be read */
	bool told;     /* and `to` knows */
	char data[PIECE_BYTES];
};

struct side {
	struct pair *pair;
	int fd;
	struct loop_source *source;
	uint32_t waits_for;
	bool connecting;
};

struct pair {
	struct relay *relay;
	struct side client, egress;
	struct half up, down;
};

struct relay {
	struct loop *loop;
	int listen;
	struct loop_source *source;
	unsigned n_pairs, most_pairs;
};

static void end_pair(struct pair *pair)
{
	struct side *const sides[] = {&pair->client, &pair->egress};
	struct relay *relay = pair->relay;

	for (size_t i = 0; i < ARRAY_LEN(sides); i++) {
		loop_remove(sides[i]->source);
		util_close_fd(&sides[i]->fd);
	}
	free(pair);
	if (relay->n_pairs-- == relay->most_pairs)
		loop_modify(relay->source, EPOLLIN);
}

static bool is_lasting(ssize_t n)
{
	return n < 0 && errno != EAGAIN && errno != EINTR;
}

/* Nobody reads there any more. What comes the other way is still to arrive. */
static void give_up(struct half *half)
{
	half->len = 0;
	half->ended = half->told = true;
}

static void write_on(struct half *half)
{
	while (half->len > 0 && !half->to->connecting) {
		ssize_t n = send(half->to->fd, half->data + half->at, half->len, MSG_NOSIGNAL);

		if (is_lasting(n))
			give_up(half);
		if (n <= 0)
			return;
		half->at += (size_t)n;
		half->len -= (size_t)n;
	}
	if (half->len == 0 && half->ended && !half->told && !half->to->connecting) {
		half->told = true;
		(void)shutdown(half->to->fd, SHUT_WR);
	}
}

/* One piece after the other, as far as they go on: what is not taken there is not read here. */
static void move(struct half *half)
{
	while (!half->ended && half->len == 0 && !half->from->connecting) {
		ssize_t n = recv(half->from->fd, half->data, sizeof(half->data), 0);

		half->ended = n == 0 || is_lasting(n);
		if (n < 0)
			break;
		half->at = 0;
		half->len = (size_t)n;
		write_on(half);
		if (half->len > 0)
			break;
	}
	write_on(half);
}

static void on_side(void *arg, uint32_t events);

static void wait_for(struct side *side, const struct half *in, const struct half *out)
{
	uint32_t events = 0;

	if (side->connecting || out->len > 0)
		events |= EPOLLOUT;
	if (!side->connecting && !in->ended && in->len == 0)
		events |= EPOLLIN;
	/* The end of the other side is told to whoever waits for nothing, too, and without end. */
	if (!events) {
		loop_remove(side->source);
		side->source = NULL;
	} else if (!side->source) {
		side->source = loop_add(side->pair->relay->loop, side->fd, events, on_side, side);
	} else if (events != side->waits_for) {
		loop_modify(side->source, events);
	}
	side->waits_for = events;
}

static void on_side(void *arg, uint32_t events)
{
	struct side *side = arg;
	struct pair *pair = side->pair;

	if (side->connecting && (events & (EPOLLOUT | EPOLLERR | EPOLLHUP)))
		side->connecting = false;
	/* A socket of the Unix family hangs up when its other end is closed: that reads nothing any more. */
	if (side == &pair->egress && (events & (EPOLLHUP | EPOLLERR)))
		give_up(&pair->up);
	move(&pair->up);
	move(&pair->down);
	if ((side == &pair->client && (events & EPOLLERR)) || (pair->up.told && pair->down.told)) {
		end_pair(pair);
		return;
	}
	wait_for(&pair->client, &pair->up, &pair->down);
	wait_for(&pair->egress, &pair->down, &pair->up);
}

/* -1 while nobody listens there: then whoever has connected here is turned away. */
static int connect_egress(bool *connecting)
{
	const struct sockaddr_un place = {.sun_family = AF_UNIX, .sun_path = RELAY_PROXY};
	auto_fd fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -1;
	*connecting = connect(fd, (const struct sockaddr *)&place, sizeof(place)) < 0;
	return *connecting && errno != EINPROGRESS ? -1 : steal_fd(&fd);
}

static void open_side(struct side *side, struct pair *pair, int fd, bool connecting)
{
	*side = (struct side){.pair = pair, .fd = fd, .connecting = connecting, .waits_for = connecting ? EPOLLOUT : EPOLLIN};
	side->source = loop_add(pair->relay->loop, fd, side->waits_for, on_side, side);
}

static void on_client(void *arg, uint32_t events)
{
	struct relay *relay = arg;
	auto_fd client = accept4(relay->listen, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	bool connecting;
	auto_fd egress = client < 0 ? -1 : connect_egress(&connecting);
	struct pair *pair;

	(void)events;
	if (egress < 0)
		return;
	pair = util_zalloc(sizeof(*pair));
	pair->relay = relay;
	open_side(&pair->client, pair, steal_fd(&client), false);
	open_side(&pair->egress, pair, steal_fd(&egress), connecting);
	pair->up.from = pair->down.to = &pair->client;
	pair->up.to = pair->down.from = &pair->egress;
	if (++relay->n_pairs == relay->most_pairs)
		loop_modify(relay->source, 0);
}

/* No file is opened any more; connecting to a named socket is no access to a file. Where there is no Landlock the table says the same. */
static int close_files(struct err *e)
{
	const struct landlock_ruleset_attr attr = {.handled_access_fs = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1};
	auto_fd ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);

	if (ruleset < 0)
		return 0;
	return syscall(SYS_landlock_restrict_self, ruleset, 0) < 0 ? err_sys(e, "landlock") : 0;
}

/* Two descriptors each. One that could not be accepted for want of descriptors would be told of again and again. */
static unsigned most_pairs(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) < 0 || files.rlim_cur >= 2 * LIMIT_RELAYED + OWN_FDS)
		return LIMIT_RELAYED;
	return files.rlim_cur > OWN_FDS + 2 ? (unsigned)(files.rlim_cur - OWN_FDS) / 2 : 1;
}

static int set_up(struct relay *relay, struct err *e)
{
	relay->most_pairs = most_pairs();
	relay->loop = loop_create(e);
	if (!relay->loop || close_files(e) < 0)
		return -1;
	if (prctl(PR_SET_DUMPABLE, 0) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_sys(e, "prctl");
	if (confine_load(&confine_relay, e) < 0)
		return -1;
	relay->source = loop_add(relay->loop, relay->listen, EPOLLIN, on_client, relay);
	return util_write_all(STDOUT_FILENO, "listening\n", 10) < 0 ? err_sys(e, "standard output") : 0;
}

int main(void)
{
	struct relay relay = {.listen = STDIN_FILENO};
	struct err e;

	log_init("glovebox-relay", NULL);
	(void)signal(SIGPIPE, SIG_IGN);
	if (set_up(&relay, &e) < 0) {
		log_err(LOG_ERROR, &e, "not started");
		return EXIT_FAILURE;
	}
	loop_run(relay.loop);
	return EXIT_SUCCESS;
}
