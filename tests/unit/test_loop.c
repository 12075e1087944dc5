/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: */
/* The event loop: descriptors, timers, deferred calls, signals. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
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

#include "session/base/loop.h"
#include "session/base/util.h"

/* What happened, in order: callbacks append letters. */
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

/* A callback with its letter. */
struct entry {
	struct diary *diary;
	char letter;
	struct loop_timer **victim; /* a timer that this one cancels */
};

static void write_entry(void *arg)
{
	struct entry *entry = arg;

	note(entry->diary, entry->letter);
	if (entry->victim) {
		loop_cancel(*entry->victim);
		*entry->victim = NULL;
	}
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

static void test_timers_in_order(void **state)
{
	struct diary *d = *state;
	struct entry a = {d, 'a', NULL}, b = {d, 'b', NULL}, c = {d, 'c', NULL}, z = {d, 'z', NULL};
	int64_t now = util_now_ms();

	loop_at(d->loop, now - 1, write_entry, &b);
	loop_at(d->loop, now + 3600 * 1000, write_entry, &z);
	loop_at(d->loop, now - 1, write_entry, &c); /* the same time: the first comes first */
	loop_at(d->loop, INT64_MIN, write_entry, &a);
	loop_at(d->loop, INT64_MAX, write_entry, &z);
	turns(d, 1);
	assert_string_equal(d->text, "abc");
	turns(d, 1);
	assert_string_equal(d->text, "abc");
}

#define MANY 1000

struct many {
	struct loop_timer *timer;
	int64_t at_ms;
	bool fired;
	struct many *all;
	int *last; /* that fired */
};

static void fire(void *arg)
{
	struct many *self = arg;
	const struct many *before = *self->last < 0 ? NULL : &self->all[*self->last];

	assert_false(self->fired);
	self->fired = true;
	if (before && (before->at_ms > self->at_ms || (before->at_ms == self->at_ms && before > self)))
		fail_msg("number %d fired after number %d", (int)(self - self->all), *self->last);
	*self->last = (int)(self - self->all);
}

/* However they are set and cancelled: each that waits fires once, in order of time and then of their setting. */
static void test_many_timers(void **state)
{
	struct diary *d = *state;
	struct many *all = util_zalloc(MANY * sizeof(*all));
	int64_t now = util_now_ms();
	uint32_t random = 1;
	int last = -1, n_fired = 0;

	for (int i = 0; i < MANY; i++) {
		random = random * 1664525 + 1013904223;
		all[i] = (struct many){.at_ms = now - 1 - random / 65536 % 200, .all = all, .last = &last};
		if (random / 256 % 16 == 0)
			all[i].at_ms += 3600 * 1000;
		all[i].timer = loop_at(d->loop, all[i].at_ms, fire, &all[i]);
		if (random / 1024 % 3 == 0) {
			struct many *other = &all[random / 4096 % (uint32_t)(i + 1)];

			loop_cancel(other->timer);
			other->timer = NULL;
		}
	}
	turns(d, 2);
	for (int i = 0; i < MANY; i++) {
		assert_int_equal(all[i].fired, all[i].timer && all[i].at_ms < now);
		n_fired += all[i].fired;
	}
	assert_true(n_fired > MANY / 3);
	free(all);
}

static void stop(void *arg)
{
	loop_stop(arg);
}

static void test_timer_is_not_early(void **state)
{
	struct diary *d = *state;

	for (int i = 0; i < 5; i++) {
		int64_t at_ms = util_now_ms() + 3;

		loop_at(d->loop, at_ms, stop, d->loop);
		loop_run(d->loop);
		assert_true(util_now_ms() >= at_ms);
	}
	/* max_wait_ms ends a turn in which nothing happens. */
	int64_t start_ms = util_now_ms();

	loop_at(d->loop, start_ms + 3600 * 1000, stop, d->loop);
	loop_turn(d->loop, 2);
	assert_true(util_now_ms() - start_ms < 60000);
}

static void test_timer_cancelled(void **state)
{
	struct diary *d = *state;
	struct loop_timer *first, *later;
	struct entry a = {d, 'a', &later}, b = {d, 'b', NULL}, c = {d, 'c', NULL};
	int64_t now = util_now_ms();

	first = loop_at(d->loop, now - 3, write_entry, &b);
	loop_at(d->loop, now - 2, write_entry, &a);
	later = loop_at(d->loop, now - 1, write_entry, &b); /* due in the same turn as the one that cancels it */
	loop_at(d->loop, now - 1, write_entry, &c);
	loop_cancel(first);
	loop_cancel(NULL);
	turns(d, 2);
	assert_string_equal(d->text, "ac");
}

static void again(void *arg)
{
	struct entry *entry = arg;

	note(entry->diary, entry->letter);
	if (entry->diary->len < 40)
		loop_at(entry->diary->loop, 0, again, entry);
}

/* A timer that is set again to a time that is past gives way to everything else first. */
static void test_timer_set_again(void **state)
{
	struct diary *d = *state;
	struct entry a = {d, 'a', NULL};

	loop_at(d->loop, 0, again, &a);
	turns(d, 2);
	assert_string_equal(d->text, "aa");
}

static void defer_again(void *arg)
{
	struct entry *entry = arg;

	if (entry->diary->len < 2)
		loop_defer(entry->diary->loop, defer_again, entry);
	note(entry->diary, entry->letter);
}

static void test_deferred(void **state)
{
	struct diary *d = *state;
	struct entry a = {d, 'a', NULL}, b = {d, 'b', NULL}, t = {d, 't', NULL};

	loop_defer(d->loop, defer_again, &a);
	loop_defer(d->loop, write_entry, &b);
	loop_at(d->loop, 0, write_entry, &t);
	loop_turn(d->loop, -1); /* does not wait: work is there */
	assert_string_equal(d->text, "tab");
	loop_turn(d->loop, -1); /* what was deferred meanwhile comes one turn later */
	assert_string_equal(d->text, "taba");
	turns(d, 1);
	assert_string_equal(d->text, "taba");
}

/* Two readable descriptors; whichever callback comes first removes the other source. */
struct pair {
	struct diary *diary;
	struct watched {
		struct pair *pair;
		int fd;
		struct loop_source *source;
	} side[2];
};

static void remove_other(void *arg, uint32_t events)
{
	struct watched *mine = arg;
	struct watched *other = &mine->pair->side[mine == &mine->pair->side[0]];

	assert_true(events & EPOLLIN);
	note(mine->pair->diary, 'x');
	loop_remove(other->source);
	util_close_fd(&other->fd);
	other->source = NULL;
}

static void test_removed_by_another(void **state)
{
	struct diary *d = *state;
	struct pair pair = {.diary = d};

	for (int i = 0; i < 2; i++) {
		struct watched *w = &pair.side[i];

		*w = (struct watched){.pair = &pair, .fd = eventfd(1, EFD_CLOEXEC)};
		w->source = loop_add(d->loop, w->fd, EPOLLIN, remove_other, w);
	}
	turns(d, 1);
	assert_string_equal(d->text, "x");
	for (int i = 0; i < 2; i++) {
		loop_remove(pair.side[i].source);
		util_close_fd(&pair.side[i].fd);
	}
	turns(d, 1);
	assert_string_equal(d->text, "x");
}

static void readd_itself(void *arg, uint32_t events)
{
	struct watched *w = arg;

	(void)events;
	note(w->pair->diary, 'r');
	loop_remove(w->source);
	w->source = loop_add(w->pair->diary->loop, w->fd, EPOLLIN, readd_itself, w);
}

static void test_readded(void **state)
{
	struct diary *d = *state;
	struct pair pair = {.diary = d};
	auto_fd fd = eventfd(1, EFD_CLOEXEC);
	struct watched *w = &pair.side[0];

	*w = (struct watched){.pair = &pair, .fd = fd};
	w->source = loop_add(d->loop, fd, EPOLLIN, readd_itself, w);
	turns(d, 3);
	assert_string_equal(d->text, "rrr");
	loop_modify(w->source, 0);
	turns(d, 1);
	assert_string_equal(d->text, "rrr");
	loop_modify(w->source, EPOLLIN);
	turns(d, 1);
	assert_string_equal(d->text, "rrrr");
	loop_remove(w->source);
	loop_remove(NULL);
}

static void on_signal(void *arg, int signo)
{
	note(arg, signo == SIGUSR1 ? '1' : '2');
}

static void test_signals(void **state)
{
	static const int list[] = {SIGUSR1, SIGUSR2, 0};
	struct diary *d = *state;
	sigset_t set;

	assert_int_equal(loop_signals(d->loop, list, on_signal, d, NULL), 0);
	assert_int_equal(raise(SIGUSR2), 0);
	assert_int_equal(raise(SIGUSR1), 0);
	assert_int_equal(raise(SIGUSR1), 0);
	turns(d, 1);
	assert_string_equal(d->text, "12");
	assert_int_equal(sigemptyset(&set) | sigaddset(&set, SIGUSR1) | sigaddset(&set, SIGUSR2), 0);
	assert_int_equal(sigprocmask(SIG_UNBLOCK, &set, NULL), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_timers_in_order), TEST(test_many_timers),        TEST(test_timer_is_not_early), TEST(test_timer_cancelled), TEST(test_timer_set_again),
		TEST(test_deferred),        TEST(test_removed_by_another), TEST(test_readded),         TEST(test_signals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
