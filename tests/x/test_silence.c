/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: display */
/* A server that leaves a wait without an answer: blamed, unless this process did not look in time. */
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/base/x/xconn.h"
#include "tests/x/xserver.h"

struct fixture {
	struct xserver server;
	struct loop *loop;
	struct xconn x;
	int blamed, rc;
	bool answered;
	int64_t took_ms;
	struct err e;
};

static void on_lost(void *arg)
{
	(void)arg;
}

static void on_silent(void *arg)
{
	((struct fixture *)arg)->blamed++;
}

static int set_up(void **state)
{
	struct fixture *f = util_zalloc(sizeof(*f));

	xserver_start(&f->server, 320, 200);
	f->loop = loop_create(&f->e);
	if (xconn_open(&f->x, f->loop, f->server.display, NULL, on_lost, f, &f->e) < 0)
		fail_msg("%s", f->e.msg);
	f->x.on_silent = on_silent;
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	(void)kill(f->server.pid, SIGCONT);
	xconn_close(&f->x);
	loop_destroy(f->loop);
	xserver_stop(&f->server);
	free(f);
	return 0;
}

static void ask(void *arg)
{
	struct fixture *f = arg;
	int64_t start_ms = util_now_ms();

	(void)kill(f->server.pid, SIGSTOP);
	f->rc = xconn_sync(&f->x, &f->e);
	f->took_ms = util_now_ms() - start_ms;
}

static void test_one_that_does_not_answer_is_blamed(void **state)
{
	struct fixture *f = *state;

	xserver_run(f->loop, ask, f);
	assert_int_equal(f->rc, -1);
	assert_int_equal(f->e.code, ERR_X_SILENT);
	assert_int_equal(f->blamed, 1);
	assert_true(f->took_ms >= LIMIT_X_WAIT_MS && f->took_ms < LIMIT_X_DEAD_MS);
}

static void answer_and_stall(void *arg)
{
	struct fixture *f = arg;
	unsigned int sequence = xcb_get_input_focus(f->x.xcb).sequence;
	auto_free void *reply = NULL;

	(void)kill(f->server.pid, SIGSTOP);
	f->rc = xconn_reply(&f->x, sequence, &reply, &f->e);
}

/* Stops this process beyond the end of the wait: the server has answered by the time that it runs on. */
static void stall(void *arg)
{
	struct fixture *f = arg;
	struct pollfd answer = {.fd = xcb_get_file_descriptor(f->x.xcb), .events = POLLIN};
	int64_t end_ms = util_now_ms() + LIMIT_X_WAIT_MS;

	(void)kill(f->server.pid, SIGCONT);
	assert_int_equal(poll(&answer, 1, 5000), 1);
	while (util_now_ms() <= end_ms)
		(void)poll(NULL, 0, (int)(end_ms + 1 - util_now_ms()));
}

static void test_an_answer_that_is_there_counts_however_late_it_is_read(void **state)
{
	struct fixture *f = *state;

	(void)loop_at(f->loop, util_now_ms() + 10, stall, f);
	xserver_run(f->loop, answer_and_stall, f);
	assert_int_equal(f->rc, 0);
	assert_int_equal(f->blamed, 0);
}

static void go_on(void *arg)
{
	(void)kill(((struct fixture *)arg)->server.pid, SIGCONT);
}

/* Stops this process beyond the end of the wait, as if all of the machine stood still: the server runs on only after it. */
static void stall_both(void *arg)
{
	struct fixture *f = arg;
	int64_t end_ms = util_now_ms() + LIMIT_X_WAIT_MS + LIMIT_X_EXTRA_MS;

	while (util_now_ms() <= end_ms)
		(void)poll(NULL, 0, (int)(end_ms + 1 - util_now_ms()));
	(void)loop_at(f->loop, util_now_ms() + LIMIT_X_EXTRA_MS / 4, go_on, f);
}

static void test_a_machine_that_stood_still_is_no_silence(void **state)
{
	struct fixture *f = *state;

	(void)loop_at(f->loop, util_now_ms() + 10, stall_both, f);
	xserver_run(f->loop, answer_and_stall, f);
	assert_int_equal(f->rc, 0);
	assert_int_equal(f->blamed, 0);
}

/* Asks, and goes on when the answer is there. */
static void ask_and_wait(void *arg)
{
	struct fixture *f = arg;

	f->rc = xconn_sync(&f->x, &f->e);
	f->answered = true;
}

/* Reads the answer to a request of its own as soon as it is there, and with it that to the request of the other one, who waits. */
static void take_all(void *arg)
{
	struct fixture *f = arg;
	struct pollfd answers = {.fd = xcb_get_file_descriptor(f->x.xcb), .events = POLLIN};
	unsigned int sequence;
	auto_free void *reply = NULL;

	(void)kill(f->server.pid, SIGSTOP);
	(void)co_start(f->loop, ask_and_wait, f);
	assert_int_equal(co_wait_until(util_now_ms() + 10, NULL), 0);
	sequence = xcb_get_input_focus(f->x.xcb).sequence;
	(void)xcb_flush(f->x.xcb);
	(void)kill(f->server.pid, SIGCONT);
	while (!reply) {
		assert_int_equal(poll(&answers, 1, 5000), 1);
		assert_int_equal(xconn_next_reply(&f->x, sequence, &reply, &f->e), 0);
	}
	while (!f->answered)
		assert_int_equal(co_wait_until(util_now_ms() + 1, NULL), 0);
}

static void test_what_another_one_read_wakes_who_waits_for_it(void **state)
{
	struct fixture *f = *state;

	xserver_run(f->loop, take_all, f);
	assert_int_equal(f->rc, 0);
	assert_int_equal(f->blamed, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_one_that_does_not_answer_is_blamed),
		TEST(test_an_answer_that_is_there_counts_however_late_it_is_read),
		TEST(test_what_another_one_read_wakes_who_waits_for_it),
		TEST(test_a_machine_that_stood_still_is_no_silence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
