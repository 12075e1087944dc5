/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Callers of glovebox-launch: a name in, an answer out. */
#include "apps/init/door.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "session/base/ipc.h"
#include "session/base/limits.h"
#include "session/base/util.h"

struct caller {
	struct door *door;
	int fd; /* -1: the place is free */
	struct loop_source *source;
	struct loop_timer *limit; /* until the name is here */
	uint32_t ticket;          /* 0 until the name is here */
};

struct door {
	struct loop *loop;
	int fd;
	struct loop_source *source;
	door_ask_fn *ask;
	void *arg;
	uint32_t last_ticket;
	struct caller callers[LIMIT_DOOR];
};

static void show_out(struct caller *caller)
{
	loop_remove(caller->source);
	loop_cancel(caller->limit);
	util_close_fd(&caller->fd);
	*caller = (struct caller){.door = caller->door, .fd = -1};
	loop_modify(caller->door->source, EPOLLIN);
}

static void on_limit(void *arg)
{
	struct caller *caller = arg;

	caller->limit = NULL;
	show_out(caller);
}

static bool is_name(const char *text, size_t len)
{
	if (len == 0 || len >= INIT_NAME_SIZE)
		return false;
	for (size_t i = 0; i < len; i++)
		if (!((text[i] >= 'a' && text[i] <= 'z') || (text[i] >= '0' && text[i] <= '9') || text[i] == '-'))
			return false;
	return true;
}

static void refuse(struct caller *caller, const char *why)
{
	struct init_launched answer = {.op = INIT_LAUNCHED};

	(void)snprintf(answer.why, sizeof(answer.why), "%s", why);
	(void)ipc_send(caller->fd, &answer, sizeof(answer), NULL, 0, NULL);
	show_out(caller);
}

static void on_caller(void *arg, uint32_t events)
{
	struct caller *caller = arg;
	struct init_launch launch = {.op = INIT_LAUNCH};
	char text[INIT_NAME_SIZE];
	size_t n_fds = 0;
	ssize_t n = ipc_recv(caller->fd, text, sizeof(text), NULL, 0, &n_fds, NULL);

	(void)events;
	if (n < 0 && errno == EAGAIN)
		return;
	if (n == 0 || caller->ticket != 0) { /* gone, or says more than a name */
		show_out(caller);
		return;
	}
	if (n < 0 || !is_name(text, (size_t)n)) {
		refuse(caller, "a name is 1 to 63 of a-z, 0-9 and \"-\"");
		return;
	}
	loop_cancel(caller->limit);
	caller->limit = NULL;
	caller->ticket = ++caller->door->last_ticket;
	launch.ticket = caller->ticket;
	memcpy(launch.name, text, (size_t)n);
	caller->door->ask(caller->door->arg, &launch);
}

/* While no place is free, callers wait in their connect. */
static void on_knock(void *arg, uint32_t events)
{
	struct door *door = arg;
	struct caller *caller = door->callers;

	(void)events;
	while (caller < door->callers + ARRAY_LEN(door->callers) && caller->fd >= 0)
		caller++;
	if (caller == door->callers + ARRAY_LEN(door->callers)) {
		loop_modify(door->source, 0);
		return;
	}
	caller->fd = accept4(door->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (caller->fd < 0)
		return;
	caller->source = loop_add(door->loop, caller->fd, EPOLLIN, on_caller, caller);
	caller->limit = loop_at(door->loop, util_now_ms() + LIMIT_DOOR_MS, on_limit, caller);
}

static int listen_at(const char *path, struct err *e)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	auto_fd fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return err_sys(e, "socket");
	if (strlen(path) >= sizeof(name.sun_path))
		return err_set(e, ERR_BAD_REQUEST, NULL, "the path of the launch socket is too long");
	memcpy(name.sun_path, path, strlen(path) + 1);
	(void)unlink(path);
	if (bind(fd, (const struct sockaddr *)&name, sizeof(name)) < 0 || listen(fd, LIMIT_DOOR) < 0)
		return err_sys(e, "listening at %s", path);
	return steal_fd(&fd);
}

struct door *door_create(struct loop *loop, const char *path, door_ask_fn *ask, void *arg, struct err *e)
{
	struct door *door;
	int fd = listen_at(path ? path : INIT_DOOR, e);

	if (fd < 0 && !path)
		fd = listen_at(INIT_DOOR_ELSE, e);
	if (fd < 0)
		return NULL;
	door = util_zalloc(sizeof(*door));
	*door = (struct door){.loop = loop, .fd = fd, .ask = ask, .arg = arg};
	for (size_t i = 0; i < ARRAY_LEN(door->callers); i++)
		door->callers[i] = (struct caller){.door = door, .fd = -1};
	door->source = loop_add(loop, fd, EPOLLIN, on_knock, door);
	return door;
}

void door_destroy(struct door *door)
{
	if (!door)
		return;
	for (size_t i = 0; i < ARRAY_LEN(door->callers); i++)
		if (door->callers[i].fd >= 0)
			show_out(&door->callers[i]);
	loop_remove(door->source);
	util_close_fd(&door->fd);
	free(door);
}

void door_answer(struct door *door, const struct init_launched *answer)
{
	for (size_t i = 0; i < ARRAY_LEN(door->callers); i++) {
		struct caller *caller = &door->callers[i];

		if (caller->fd < 0 || caller->ticket != answer->ticket || answer->ticket == 0)
			continue;
		(void)ipc_send(caller->fd, answer, sizeof(*answer), NULL, 0, NULL);
		show_out(caller);
		return;
	}
}
