/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * glovebox-launch NAME: starts a catalogue app from inside the jail (a panel's launcher), through init and the stage. Exit status:
 * 0 its window is there, 1 refused, 2 wrong usage. GLOVEBOX_LAUNCH_SOCKET names another socket than those of proto.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "apps/init/proto.h"
#include "session/base/util.h"

static int call_door(const char *path)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	auto_fd fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd < 0 || strlen(path) >= sizeof(name.sun_path))
		return -1;
	memcpy(name.sun_path, path, strlen(path) + 1);
	return connect(fd, (const struct sockaddr *)&name, sizeof(name)) < 0 ? -1 : steal_fd(&fd);
}

static int find_door(void)
{
	const char *path = getenv("GLOVEBOX_LAUNCH_SOCKET");
	int fd = call_door(path ? path : INIT_DOOR);

	return fd < 0 && !path ? call_door(INIT_DOOR_ELSE) : fd;
}

/* The stage answers within its own limits; if it ends, so does the jail. */
static int ask(int fd, const char *name, struct init_launched *answer)
{
	if (send(fd, name, strlen(name), MSG_NOSIGNAL) < 0 || recv(fd, answer, sizeof(*answer), 0) != (ssize_t)sizeof(*answer))
		return -1;
	answer->why[sizeof(answer->why) - 1] = '\0';
	return 0;
}

int main(int argc, char **argv)
{
	struct init_launched answer;
	auto_fd fd = -1;

	if (argc != 2 || argv[1][0] == '\0' || argv[1][0] == '-') {
		(void)fprintf(stderr, "usage: glovebox-launch NAME\n");
		return 2;
	}
	fd = find_door();
	if (fd < 0 || ask(fd, argv[1], &answer) < 0) {
		(void)fprintf(stderr, "glovebox-launch: the session does not answer\n");
		return 1;
	}
	if (!answer.ok) {
		(void)fprintf(stderr, "glovebox-launch: %s: %s\n", argv[1], answer.why);
		return 1;
	}
	return 0;
}
