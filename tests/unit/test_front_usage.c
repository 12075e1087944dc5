/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: glovebox-front */
/* Asking the warden what sessions use: many callers, seldom asked, never too soon. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "session/base/ipc.h"
#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/front/usage.h"

#define CALLERS 20
#define ROUNDS 4

/* A warden that counts, and the front's side of it. */
struct bench {
	struct loop *loop;
	int peer;
	struct sessions sessions;
	struct usage usage;
	int n_asked, n_refused;
	int64_t asked_ms;
	int n_running, n_failed;
	bool silent;
};

static void on_used(void *arg, const struct warden_event *event)
{
	struct bench *bench = arg;

	usage_take(&bench->usage, &bench->sessions, event);
}

static void on_ended(void *arg, const struct warden_event *event)
{
	(void)arg;
	(void)event;
}

static void on_gone(void *arg)
{
	(void)arg;
}

static void on_request(void *arg, uint32_t events)
{
	struct bench *bench = arg;
	struct warden_request request;
	size_t n_fds;
	struct err e;
	int64_t now_ms = util_now_ms();

	(void)events;
	assert_int_equal(ipc_recv(bench->peer, &request, sizeof(request), NULL, 0, &n_fds, &e), sizeof(request));
	assert_int_equal(request.op, WARDEN_USAGE);
	bool early = bench->n_asked++ > 0 && now_ms - bench->asked_ms < WARDEN_USAGE_MS;
	struct warden_event answer = {.op = early ? WARDEN_REFUSED : WARDEN_USED, .tag = request.tag, .code = ERR_BUSY,
	                              .usage = {.known = ISOLATION_PIDS, .pids = (uint64_t)bench->n_asked}};

	bench->n_refused += early;
	bench->asked_ms = now_ms;
	if (!bench->silent)
		assert_int_equal(ipc_send(bench->peer, &answer, sizeof(answer), NULL, 0, &e), 0);
}

static void run_caller(void *arg)
{
	struct bench *bench = arg;

	/* Each time something newer than what is known. */
	for (int i = 0; i < ROUNDS; i++)
		bench->n_failed += usage_refresh(&bench->usage, bench->usage.sample_ms + 1) < 0;
	bench->n_running--;
}

static void run(struct bench *bench, int n_callers)
{
	bench->n_running = n_callers;
	for (int i = 0; i < n_callers; i++)
		(void)co_start(bench->loop, run_caller, bench);
	while (bench->n_running > 0)
		loop_turn(bench->loop, -1);
}

static void test_many_callers_share_an_answer(void **state)
{
	struct bench *bench = *state;

	run(bench, CALLERS);
	assert_int_equal(bench->n_failed, 0);
	assert_int_equal(bench->n_refused, 0);
	assert_in_range(bench->n_asked, 2, 2 * ROUNDS);
	assert_int_equal(bench->usage.front.pids, bench->n_asked);
}

static void run_fresh(void *arg)
{
	struct bench *bench = arg;

	for (int i = 0; i < ROUNDS; i++)
		bench->n_failed += usage_refresh(&bench->usage, 0) < 0;
	bench->n_running--;
}

static void test_what_is_fresh_is_not_asked_again(void **state)
{
	struct bench *bench = *state;

	bench->n_running = 1;
	(void)co_start(bench->loop, run_fresh, bench);
	while (bench->n_running > 0)
		loop_turn(bench->loop, -1);
	assert_int_equal(bench->n_failed, 0);
	assert_int_equal(bench->n_asked, 1);
}

static void test_a_silent_warden_is_not_waited_for_long(void **state)
{
	struct bench *bench = *state;
	int64_t start_ms = util_now_ms();

	bench->silent = true;
	bench->n_running = 1;
	(void)co_start(bench->loop, run_fresh, bench);
	while (bench->n_running > 0)
		loop_turn(bench->loop, -1);
	assert_int_equal(bench->n_failed, ROUNDS);
	assert_in_range(util_now_ms() - start_ms, ROUNDS * LIMIT_USAGE_MS - 100, ROUNDS * 5 * LIMIT_USAGE_MS);
}

static int set_up(void **state)
{
	static struct bench bench;
	static const struct warden_ops ops = {.ended = on_ended, .used = on_used, .gone = on_gone, .arg = &bench};
	struct err e;
	int ends[2];

	memset(&bench, 0, sizeof(bench));
	bench.loop = loop_create(&e);
	if (!bench.loop || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0)
		return -1;
	bench.peer = ends[1];
	bench.usage.warden = warden_create(bench.loop, ends[0], &ops);
	(void)loop_add(bench.loop, bench.peer, EPOLLIN, on_request, &bench);
	*state = &bench;
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_many_callers_share_an_answer, set_up),
		cmocka_unit_test_setup(test_what_is_fresh_is_not_asked_again, set_up),
		cmocka_unit_test_setup(test_a_silent_warden_is_not_waited_for_long, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
