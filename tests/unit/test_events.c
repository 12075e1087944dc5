/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: glovebox-stage */
/* Readers of events over a real connection: heartbeats, an end, one that does not read. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "session/base/ipc.h"
#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/stage/events.h"
#include "session/stage/link.h"

#define WAIT_MS 5000

struct place {
	struct loop *loop;
	struct readers readers;
	struct events *events;
	struct connections *connections;
	struct sockaddr_un address;
	socklen_t address_len;
	int fd;             /* the reader's end */
	char *text;         /* what it has read, heads of frames included */
	size_t len;
	bool over, finished;
	int n_begun, n_running;
};

static json_t *hello(void *arg)
{
	(void)arg;
	return json_object();
}

struct task {
	struct place *place;
	struct call *call;
};

static void run_call(void *arg)
{
	struct task *task = arg;

	events_call(task->place->events, task->call);
	call_finish(task->call);
	task->place->n_running--;
	free(task);
}

static void take_call(void *arg, struct call *call)
{
	struct place *place = arg;
	struct task *task = util_zalloc(sizeof(*task));

	*task = (struct task){.place = place, .call = call};
	place->n_begun++;
	place->n_running++;
	call->co = co_start(place->loop, run_call, task);
}

static void start(struct place *place, int64_t heartbeat_ms, int64_t patience_ms)
{
	struct connections_ops ops = {.hello = hello, .call = take_call, .arg = place};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	*place = (struct place){.loop = loop_create(NULL), .address = {.sun_family = AF_UNIX}, .address_len = sizeof(place->address)};
	/* Without a name it is given one. */
	assert_int_equal(bind(fd, (struct sockaddr *)&place->address, sizeof(sa_family_t)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&place->address, &place->address_len), 0);
	assert_int_equal(listen(fd, 4), 0);
	place->connections = connections_create(place->loop, fd, &ops);
	place->readers = (struct readers){.heartbeat_ms = heartbeat_ms, .patience_ms = patience_ms};
	place->events = events_create(&place->readers);
	place->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	assert_int_equal(connect(place->fd, (struct sockaddr *)&place->address, place->address_len), 0);
}

static void stop(struct place *place)
{
	int64_t until_ms = util_now_ms() + WAIT_MS;

	(void)close(place->fd);
	while (place->n_running > 0 && util_now_ms() < until_ms)
		loop_turn(place->loop, 10);
	assert_int_equal(place->n_running, 0);
	connections_destroy(place->connections);
	events_destroy(place->events);
	loop_destroy(place->loop);
	free(place->text);
}

static void call(const struct place *place)
{
	static const char text[] = "{\"call\":\"events\",\"role\":\"viewer\",\"query\":{\"last_event_id\":\"0\"}}";
	struct ipc_frame_head head = {.length = sizeof(text) - 1, .kind = LINK_CALL};

	assert_int_equal(write(place->fd, &head, sizeof(head)), (ssize_t)sizeof(head));
	assert_int_equal(write(place->fd, text, sizeof(text) - 1), (ssize_t)sizeof(text) - 1);
}

static void add(struct place *place, int seq, size_t n_bytes)
{
	auto_free char *filler = util_zalloc(n_bytes + 1);
	json_t *line;

	memset(filler, 'x', n_bytes);
	line = json_pack("{s:i,s:s,s:s}", "seq", seq, "event", "result", "filler", filler);
	events_add(place->events, line);
	json_decref(line);
}

static void read_some(struct place *place)
{
	char piece[65536];
	ssize_t n;

	while ((n = read(place->fd, piece, sizeof(piece))) > 0) {
		place->text = util_realloc(place->text, place->len + (size_t)n);
		memcpy(place->text + place->len, piece, (size_t)n);
		place->len += (size_t)n;
	}
	place->over = n == 0;
}

static size_t count(const struct place *place, const char *what)
{
	size_t n = 0;

	for (size_t i = 0; i + strlen(what) <= place->len; i++)
		n += memcmp(place->text + i, what, strlen(what)) == 0;
	return n;
}

/* Reads until `what` has come `n` times. */
static void read_until(struct place *place, const char *what, size_t n)
{
	int64_t until_ms = util_now_ms() + WAIT_MS;

	while (count(place, what) < n) {
		assert_true(util_now_ms() < until_ms);
		loop_turn(place->loop, 10);
		read_some(place);
	}
}

static void test_heartbeats(void **state)
{
	struct place place;

	(void)state;
	start(&place, 20, WAIT_MS);
	call(&place);
	add(&place, 1, 10);
	read_until(&place, ": nothing new\n\n", 3);
	assert_int_equal(count(&place, "event: result\n"), 1);
	add(&place, 2, 10);
	read_until(&place, "id: 2\nevent: result\n", 1);
	stop(&place);
}

static void finish(void *arg)
{
	struct place *place = arg;

	readers_finish(&place->readers, util_now_ms() + WAIT_MS);
	place->finished = true;
}

/* Everything that there is, then an end; the connection takes the next call. */
static void test_the_end(void **state)
{
	int64_t until_ms = util_now_ms() + WAIT_MS;
	struct place place;

	(void)state;
	start(&place, WAIT_MS, WAIT_MS);
	call(&place);
	read_until(&place, "retry: 1000\nid: 0\n\n", 1);
	add(&place, 1, 10);
	(void)co_start(place.loop, finish, &place);
	while (!place.finished && util_now_ms() < until_ms)
		loop_turn(place.loop, 10);
	assert_true(place.finished);
	read_until(&place, "event: result\n", 1);
	call(&place);
	read_until(&place, "event: result\n", 2);
	assert_false(place.over);
	stop(&place);
}

static void test_a_reader_that_does_not_read(void **state)
{
	int64_t until_ms = util_now_ms() + WAIT_MS;
	struct place place;

	(void)state;
	start(&place, WAIT_MS, 50);
	call(&place);
	for (int seq = 1; seq <= LIMIT_EVENTS; seq++)
		add(&place, seq, 4000);
	do {
		assert_true(util_now_ms() < until_ms);
		loop_turn(place.loop, 10);
	} while (place.n_begun == 0 || place.n_running > 0);
	read_some(&place);
	assert_true(place.over);
	assert_true(count(&place, "event: result\n") > 0 && place.len < LIMIT_EVENTS * 4000 / 2);
	stop(&place);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_heartbeats),
		cmocka_unit_test(test_the_end),
		cmocka_unit_test(test_a_reader_that_does_not_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
