/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: glovebox-init */
/* longest: 1024 */
/*
 * What comes to pid 1 of the app jail: spawn records of the stage and, behind a first byte that is odd, names that programs of the jail call out at its door. What is
 * taken has its form; a caller is asked for, or told why not.
 */
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/un.h>

#include "apps/init/door.h"
#include "apps/init/request.h"
#include "tests/fuzz/frames.h"

#define MOST_BYTES 4096

static void insist(bool holds, const char *what)
{
	if (!holds)
		DIE("%s", what);
}

static void check_list(char *const *list, const char *record, size_t size)
{
	for (; *list; list++)
		insist(*list >= record && *list < record + size && memchr(*list, '\0', (size_t)(record + size - *list)), "a string is not of the record");
}

static void try_spawn(const uint8_t *data, size_t size, size_t n_fds)
{
	auto_free char *record = util_alloc(size + 1); /* malloc of nothing is none */
	struct request request;
	struct err e = {0};

	memcpy(record, data, size);
	record = util_realloc(record, size ? size : 1); /* so that checkers see what lies beyond it */
	if (request_parse(record, size, n_fds, &request, &e) < 0) {
		insist(e.code == ERR_BAD_REQUEST && e.msg[0], "a refused record has no reason");
		return;
	}
	insist(request.group < INIT_N_GROUPS && request.folder[0] == '/' && request.argv[0] && request.argv[0][0], "a request without its parts");
	check_list(request.argv, record, size);
	check_list(request.env, record, size);
	check_list(request.runs, record, size);
	request_finish(&request);
}

/* --- the door --- */

static char folder[] = "/tmp/fuzz-door-XXXXXX", path[sizeof(folder) + 8];
static struct door *door;

static void clean_up(void)
{
	(void)unlink(path);
	(void)rmdir(folder);
}

static void on_ask(void *arg, const struct init_launch *launch)
{
	struct init_launched answer = {.op = INIT_LAUNCHED, .ticket = launch->ticket, .ok = 1};
	size_t len = strnlen(launch->name, sizeof(launch->name));

	(void)arg;
	insist(len > 0 && len < sizeof(launch->name) && strspn(launch->name, "abcdefghijklmnopqrstuvwxyz0123456789-") == len, "a name that is none");
	if (launch->ticket % 3)
		door_answer(door, &answer);
}

static struct loop *open_door(void)
{
	struct err e;
	struct loop *loop = loop_create(&e);

	if (!mkdtemp(folder))
		DIE("no folder: %s", strerror(errno));
	(void)snprintf(path, sizeof(path), "%s/sock", folder);
	(void)atexit(clean_up);
	(void)signal(SIGPIPE, SIG_IGN);
	door = loop ? door_create(loop, path, on_ask, NULL, &e) : NULL;
	if (!door)
		DIE("no door: %s", e.msg);
	return loop;
}

static void try_door(const uint8_t *data, size_t size)
{
	static struct loop *loop;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	auto_fd fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct init_launched answer;
	ssize_t n;

	if (!loop)
		loop = open_door();
	memcpy(address.sun_path, path, sizeof(path));
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		DIE("nobody at the door: %s", strerror(errno));
	frames_records(fd, data, size);
	while (loop_turn(loop, 0))
		;
	n = recv(fd, &answer, sizeof(answer), MSG_DONTWAIT);
	insist(n <= 0 || (n == (ssize_t)sizeof(answer) && memchr(answer.why, '\0', sizeof(answer.why)) && (answer.ok || answer.why[0])), "an answer that is none");
	util_close_fd(&fd);
	while (loop_turn(loop, 0))
		;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 1 || size > MOST_BYTES)
		return 0;
	if (data[0] % 2)
		try_door(data + 1, size - 1);
	else
		try_spawn(data + 1, size - 1, data[0] / 2 % 4);
	return 0;
}
