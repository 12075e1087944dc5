/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: */
/* Coroutines on the loop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

#include "session/base/co.h"
#include "session/base/loop.h"
#include "session/base/util.h"

/* What happened, in order: coroutines append letters. */
struct diary {
	struct loop *loop;
	char text[64];
	size_t len;
};

static void note(struct diary *diary, char letter)
{
	assert_true(diary->len + 1 < sizeof(diary->text));
	diary->text[diary->len++] = letter;
}

static int set_up(void **state)
{
	struct diary *diary = util_zalloc(sizeof(*diary));

	diary->loop = loop_create(NULL);
	*state = diary;
	return diary->loop ? 0 : -1;
}

static int tear_down(void **state)
{
	struct diary *diary = *state;

	loop_destroy(diary->loop);
	free(diary);
	return 0;
}

static void turns(struct diary *diary, int n)
{
	while (n-- > 0)
		loop_turn(diary->loop, 0);
}

/* One coroutine of a test: what it waits for, and how that ended. */
struct walk {
	struct diary *diary;
	char letter;
	struct co_event *event;
	int fd;
	int64_t deadline_ms;
	int rc;
	struct err e;
	bool ended;
};

static void walk_event(void *arg)
{
	struct walk *w = arg;

	w->rc = co_wait_event(w->event, w->deadline_ms, &w->e);
	w->ended = true;
	if (w->diary)
		note(w->diary, w->letter);
}

static void walk_fd(void *arg)
{
	struct walk *w = arg;

	w->rc = co_wait_fd(w->fd, EPOLLIN, w->deadline_ms, &w->e);
	w->ended = true;
}

static void test_co_signal(void **state)
{
	struct diary *d = *state;
	struct co_event event = {0};
	struct walk a = {.diary = d, .letter = 'a', .event = &event, .deadline_ms = CO_FOREVER};
	struct walk b = {.diary = d, .letter = 'b', .event = &event, .deadline_ms = util_now_ms() + 3600 * 1000};
	struct walk c = {.diary = d, .letter = 'c', .event = &event, .deadline_ms = CO_FOREVER};

	co_start(d->loop, walk_event, &a);
	co_start(d->loop, walk_event, &b);
	co_start(d->loop, walk_event, &c);
	assert_string_equal(d->text, ""); /* not inside co_start */
	co_signal(&event);                /* nobody waits yet */
	turns(d, 2);
	assert_string_equal(d->text, "");
	co_signal(&event);
	co_signal(&event);
	assert_string_equal(d->text, ""); /* not inside co_signal */
	turns(d, 2);
	assert_string_equal(d->text, "abc"); /* who waited first goes first */
	assert_int_equal(a.rc | b.rc | c.rc, 0);
	assert_null(event.waiters);
	assert_null(co_self());
}

/* The event may go as soon as it was signalled. */
static void test_co_event_gone(void **state)
{
	struct diary *d = *state;
	struct co_event *event = util_zalloc(sizeof(*event));
	struct walk a = {.diary = d, .letter = 'a', .event = event, .deadline_ms = CO_FOREVER}, b = a;

	co_start(d->loop, walk_event, &a);
	co_start(d->loop, walk_event, &b);
	turns(d, 1);
	co_signal(event);
	memset(event, 0xEE, sizeof(*event));
	turns(d, 1);
	assert_string_equal(d->text, "aa");
	free(event);
}

static void test_co_deadline(void **state)
{
	struct diary *d = *state;
	struct co_event event = {0};
	auto_fd silent = eventfd(0, EFD_CLOEXEC);
	auto_fd ready = eventfd(1, EFD_CLOEXEC);
	int64_t at_ms = util_now_ms() + 3;
	struct walk a = {.event = &event, .deadline_ms = at_ms}, b = {.event = &event, .deadline_ms = CO_FOREVER};
	struct walk c = {.fd = silent, .deadline_ms = at_ms}, r = {.fd = ready, .deadline_ms = 0};

	co_start(d->loop, walk_event, &a);
	co_start(d->loop, walk_event, &b);
	co_start(d->loop, walk_fd, &c);
	co_start(d->loop, walk_fd, &r);
	while (!a.ended || !c.ended)
		loop_turn(d->loop, -1);
	assert_true(util_now_ms() >= at_ms);
	assert_int_equal(a.e.code, ERR_TIMEOUT);
	assert_int_equal(c.e.code, ERR_TIMEOUT);
	assert_true(r.ended && r.rc == 0); /* ready and late at once: ready counts */
	assert_false(b.ended);
	co_signal(&event);
	turns(d, 1);
	assert_true(b.ended && b.rc == 0);
}

static void signal_it(void *arg)
{
	co_signal(arg);
}

/* Signalled after the deadline has passed, but before the coroutine came on: a signal is not lost. */
static void test_co_late_signal(void **state)
{
	struct diary *d = *state;
	struct co_event event = {0};
	struct walk w = {.event = &event, .deadline_ms = 1, .rc = 7};

	co_start(d->loop, walk_event, &w);
	turns(d, 1); /* its timer is due in the next turn */
	loop_at(d->loop, 2, signal_it, &event);
	turns(d, 1);
	assert_true(w.ended);
	assert_int_equal(w.rc, 0);
}

static void test_co_cancel(void **state)
{
	struct diary *d = *state;
	struct co_event event = {0};
	auto_fd silent = eventfd(0, EFD_CLOEXEC);
	struct walk a = {.event = &event, .deadline_ms = CO_FOREVER}, b = {.fd = silent, .deadline_ms = CO_FOREVER};
	struct walk unborn = {.event = &event, .deadline_ms = CO_FOREVER};
	struct co *co_a = co_start(d->loop, walk_event, &a);
	struct co *co_b = co_start(d->loop, walk_fd, &b);

	turns(d, 1);
	assert_false(co_cancelled(co_a));
	co_cancel(co_a);
	co_cancel(co_a);
	co_cancel(co_b);
	co_cancel(co_start(d->loop, walk_event, &unborn)); /* before it began */
	assert_true(co_cancelled(co_a));
	assert_false(a.ended); /* not inside co_cancel */
	turns(d, 1);
	assert_int_equal(a.e.code, ERR_CANCELLED);
	assert_int_equal(b.e.code, ERR_CANCELLED);
	assert_int_equal(unborn.e.code, ERR_CANCELLED);
	assert_null(event.waiters);
}

/* A signal and a cancel before the coroutine comes on: cancelled. A cancelled coroutine waits no more. */
static void walk_clean_up(void *arg)
{
	struct walk *w = arg;
	struct err e = {0};

	w->rc = co_wait_event(w->event, CO_FOREVER, &w->e);
	assert_int_equal(co_wait_until(CO_FOREVER, &e), -1);
	assert_int_equal(e.code, ERR_CANCELLED);
	assert_int_equal(co_wait_fd(w->fd, EPOLLIN, CO_FOREVER, NULL), -1);
	assert_int_equal(co_wait_event(w->event, CO_FOREVER, NULL), -1);
	co_shield();
	co_shield();
	note(w->diary, '(');
	assert_int_equal(co_wait_until(0, &e), 0);
	note(w->diary, '1');
	co_unshield();
	assert_int_equal(co_wait_event(w->event, util_now_ms() + 2, &e), -1);
	assert_int_equal(e.code, ERR_TIMEOUT);
	note(w->diary, '2');
	assert_int_equal(co_wait_event(w->event, CO_FOREVER, &e), 0);
	note(w->diary, ')');
	co_unshield();
	assert_int_equal(co_wait_until(0, &e), -1);
	assert_int_equal(e.code, ERR_CANCELLED);
	w->ended = true;
}

static void test_co_shield(void **state)
{
	struct diary *d = *state;
	struct co_event event = {0};
	auto_fd silent = eventfd(0, EFD_CLOEXEC);
	struct walk w = {.diary = d, .event = &event, .fd = silent};
	struct co *co = co_start(d->loop, walk_clean_up, &w);

	turns(d, 1);
	co_signal(&event);
	co_cancel(co);
	while (d->len < 3)
		loop_turn(d->loop, -1);
	assert_int_equal(w.e.code, ERR_CANCELLED);
	assert_string_equal(d->text, "(12");
	co_cancel(co); /* does not disturb the shielded wait */
	turns(d, 2);
	assert_string_equal(d->text, "(12");
	co_signal(&event);
	turns(d, 1);
	assert_string_equal(d->text, "(12)");
	assert_true(w.ended);
}

static void walk_shielded(void *arg)
{
	struct walk *w = arg;

	co_shield();
	w->rc = co_wait_event(w->event, CO_FOREVER, &w->e);
	co_unshield();
	assert_int_equal(co_wait_until(0, &w->e), -1);
	w->ended = true;
}

/* A cancel that comes during a shielded wait takes effect after the pair. */
static void test_co_cancel_in_shield(void **state)
{
	struct diary *d = *state;
	struct co_event event = {0};
	struct walk w = {.event = &event, .rc = 7};
	struct co *co = co_start(d->loop, walk_shielded, &w);

	turns(d, 1);
	co_cancel(co);
	turns(d, 2);
	assert_false(w.ended);
	co_signal(&event);
	turns(d, 1);
	assert_true(w.ended);
	assert_int_equal(w.rc, 0);
	assert_int_equal(w.e.code, ERR_CANCELLED);
}

static void walk_self(void *arg)
{
	struct walk *w = arg;

	assert_non_null(co_self());
	co_cancel(co_self());
	w->rc = co_wait_until(0, &w->e);
	w->ended = true;
}

static void test_co_cancels_itself(void **state)
{
	struct diary *d = *state;
	struct walk w = {0};

	co_start(d->loop, walk_self, &w);
	turns(d, 1);
	assert_true(w.ended);
	assert_int_equal(w.e.code, ERR_CANCELLED);
}

static void walk_deep(void *arg)
{
	struct walk *w = arg;
	volatile char room[384 * 1024];

	room[0] = 1;
	for (int i = 1; i <= 10; i++)
		(void)co_wait_until(util_now_ms() + i % 3, NULL);
	w->rc += room[0];
}

/* Many at once, each with a large part of its stack in use. */
static void test_co_many(void **state)
{
	struct diary *d = *state;
	struct walk w = {0};

	for (int i = 0; i < 100; i++)
		co_start(d->loop, walk_deep, &w);
	while (w.rc < 100)
		loop_turn(d->loop, 10);
	assert_int_equal(w.rc, 100);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_co_signal), TEST(test_co_event_gone),       TEST(test_co_deadline),       TEST(test_co_late_signal),
		TEST(test_co_cancel), TEST(test_co_shield),           TEST(test_co_cancel_in_shield),
		TEST(test_co_many),   TEST(test_co_cancels_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
