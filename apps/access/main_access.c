/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * glovebox-access: the program in the app jail that asks the apps what is on the screen, over AT-SPI, for the stage. Records (wire/proto.h)
 * come on standard input and go to standard output; end of input ends it. DBUS_SESSION_BUS_ADDRESS names the session bus.
 */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apps/access/desk.h"
#include "session/base/log.h"
#include "session/base/util.h"

#define MEMORY_BYTES (512UL * 1024 * 1024)

struct input {
	struct desk *desk;
	size_t len;
	char bytes[2 * LIMIT_ACCESS_RECORD_BYTES];
};

struct asked {
	struct desk *desk;
	struct access_record record;
};

void desk_tell(const struct access_record *record)
{
	char bytes[LIMIT_ACCESS_RECORD_BYTES];
	size_t len = access_pack(record, bytes);

	if (util_write_all(STDOUT_FILENO, bytes, len) < 0)
		_exit(0); /* the stage is gone */
}

void desk_fail(uint32_t question, enum access_fault fault, const char *fmt, ...)
{
	struct access_record record = {.op = ACCESS_FAILED, .question = question, .fault = fault};
	char text[LIMIT_NODE_NAME_BYTES + 1];
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	(void)atspi_copy(record.text, LIMIT_NODE_NAME_BYTES, text);
	desk_tell(&record);
}

static const struct {
	enum access_op op;
	void (*run)(struct desk *desk, const struct access_record *ask);
} QUESTIONS[] = {
	{ACCESS_AT, find_run}, {ACCESS_FOCUS, focus_run}, {ACCESS_TREE, walk_run}, {ACCESS_PRESS, change_press}, {ACCESS_SET, change_set},
	{ACCESS_GRAB, change_grab}, {ACCESS_READ, change_read}, {ACCESS_PLACE, change_place}, {ACCESS_CLIENTS, clients_run},
};

static void answer(void *arg)
{
	struct asked *asked = arg;
	struct desk *desk = asked->desk;

	if (!desk->ready && asked->record.op != ACCESS_FOCUS)
		desk_fail(asked->record.question, ACCESS_SILENT, "accessibility is not ready");
	else
		for (size_t i = 0; i < ARRAY_LEN(QUESTIONS); i++)
			if (QUESTIONS[i].op == asked->record.op)
				QUESTIONS[i].run(desk, &asked->record);
	free(asked);
	desk->n_asks--;
	desk_sweep(desk, false);
}

static void take(struct desk *desk, const struct access_record *record)
{
	struct asked *asked;

	if (record->op == ACCESS_FIRST) {
		if (!desk->nodes)
			desk->nodes = nodes_create(record->id);
		return;
	}
	if (!desk->nodes)
		desk->nodes = nodes_create(1);
	asked = util_alloc(sizeof(*asked));
	*asked = (struct asked){.desk = desk, .record = *record};
	desk->n_asks++;
	(void)co_start(desk->loop, answer, asked);
}

static void on_input(void *arg, uint32_t events)
{
	struct input *input = arg;
	ssize_t n = read(STDIN_FILENO, input->bytes + input->len, sizeof(input->bytes) - input->len);
	static struct access_record record;
	size_t at = 0;
	long used;

	(void)events;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		loop_stop(input->desk->loop);
		return;
	}
	input->len += (size_t)n;
	while ((used = access_unpack(input->bytes + at, input->len - at, &record)) > 0) {
		take(input->desk, &record);
		at += (size_t)used;
	}
	if (used < 0)
		DIE("the stage broke the protocol");
	memmove(input->bytes, input->bytes + at, input->len - at);
	input->len -= at;
}

static void on_child(void *arg, int signo)
{
	struct desk *desk = arg;
	pid_t pid;

	(void)signo;
	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
		if (pid == desk->launcher) {
			desk->launcher = 0;
			bus_close(&desk->a11y);
			desk->ready = false;
			co_signal(&desk->changed);
		}
}

static void on_session_lost(void *arg)
{
	struct desk *desk = arg;

	loop_stop(desk->loop);
}

int main(void)
{
	static const int CHILD[] = {SIGCHLD, 0};
	static struct input input;
	static struct desk desk;
	const struct rlimit memory = {MEMORY_BYTES, MEMORY_BYTES};
	const char *address = getenv("DBUS_SESSION_BUS_ADDRESS");
	struct access_record record = {.op = ACCESS_STATE};
	struct err e;

	(void)signal(SIGPIPE, SIG_IGN);
	(void)setrlimit(RLIMIT_AS, &memory);
	desk.loop = loop_create(&e);
	if (!desk.loop || loop_signals(desk.loop, CHILD, on_child, &desk, &e) < 0)
		DIE("%s", e.msg);
	desk.session = (struct bus){.lost = on_session_lost, .arg = &desk};
	if (bus_open(&desk.session, desk.loop, address ? address : "", &e) < 0) {
		(void)atspi_copy(record.text, LIMIT_NODE_NAME_BYTES, e.msg);
		desk_tell(&record);
		return 1;
	}
	input.desk = &desk;
	(void)loop_add(desk.loop, STDIN_FILENO, EPOLLIN, on_input, &input);
	(void)co_start(desk.loop, service_run, &desk);
	loop_run(desk.loop);
	return 0;
}
