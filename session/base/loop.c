/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * epoll, a list of timers in order of time, and deferred calls.
 *
 * Removal inside callbacks: a removed source is only marked, and freed when the turn is over, since the kernel may already have
 * handed out an event that points at it.
 */
#include "session/base/loop.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "session/base/util.h"

struct loop_source {
	struct loop *loop;
	int fd;
	loop_fd_fn *fn; /* NULL once removed */
	void *arg;
	struct loop_source *next_dead;
};

struct loop_timer {
	struct loop *loop;
	struct loop_timer *next;
	int64_t at_ms;
	loop_timer_fn *fn;
	void *arg;
};

struct signals {
	struct loop *loop;
	struct loop_source *source;
	int fd;
	loop_signal_fn *fn;
	void *arg;
};

struct loop {
	int epoll_fd;
	bool stopped;
	struct loop_timer *timers;   /* soonest first */
	struct loop_timer *due;      /* those of this turn that still have to be called */
	struct loop_timer *deferred; /* in order of arrival */
	struct loop_source *dead;
	struct signals *signals;
};

struct loop *loop_create(struct err *e)
{
	struct loop *loop = util_zalloc(sizeof(*loop));

	loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (loop->epoll_fd < 0) {
		(void)err_sys(e, "epoll_create1");
		free(loop);
		return NULL;
	}
	return loop;
}

static void free_timers(struct loop_timer *timer)
{
	while (timer) {
		struct loop_timer *next = timer->next;

		free(timer);
		timer = next;
	}
}

static void bury(struct loop *loop)
{
	while (loop->dead) {
		struct loop_source *source = loop->dead;

		loop->dead = source->next_dead;
		free(source);
	}
}

void loop_destroy(struct loop *loop)
{
	if (!loop)
		return;
	if (loop->signals) {
		loop_remove(loop->signals->source);
		util_close_fd(&loop->signals->fd);
		free(loop->signals);
	}
	free_timers(loop->timers);
	free_timers(loop->due);
	free_timers(loop->deferred);
	bury(loop);
	util_close_fd(&loop->epoll_fd);
	free(loop);
}

struct loop_source *loop_add(struct loop *loop, int fd, uint32_t events, loop_fd_fn *fn, void *arg)
{
	struct loop_source *source = util_zalloc(sizeof(*source));
	struct epoll_event event = {.events = events, .data.ptr = source};

	*source = (struct loop_source){.loop = loop, .fd = fd, .fn = fn, .arg = arg};
	if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0)
		DIE("epoll refuses descriptor %d: %s", fd, strerror(errno));
	return source;
}

void loop_modify(struct loop_source *source, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.ptr = source};

	if (epoll_ctl(source->loop->epoll_fd, EPOLL_CTL_MOD, source->fd, &event) < 0)
		DIE("epoll refuses a change of descriptor %d: %s", source->fd, strerror(errno));
}

void loop_remove(struct loop_source *source)
{
	if (!source)
		return;
	(void)epoll_ctl(source->loop->epoll_fd, EPOLL_CTL_DEL, source->fd, NULL);
	source->fn = NULL;
	source->next_dead = source->loop->dead;
	source->loop->dead = source;
}

struct loop_timer *loop_at(struct loop *loop, int64_t at_ms, loop_timer_fn *fn, void *arg)
{
	struct loop_timer *timer = util_zalloc(sizeof(*timer));
	struct loop_timer **place = &loop->timers;

	*timer = (struct loop_timer){.loop = loop, .at_ms = at_ms, .fn = fn, .arg = arg};
	while (*place && (*place)->at_ms <= at_ms)
		place = &(*place)->next;
	timer->next = *place;
	*place = timer;
	return timer;
}

static bool unlink_timer(struct loop_timer **list, const struct loop_timer *timer)
{
	while (*list && *list != timer)
		list = &(*list)->next;
	if (!*list)
		return false;
	*list = timer->next;
	return true;
}

void loop_cancel(struct loop_timer *timer)
{
	if (!timer)
		return;
	if (!unlink_timer(&timer->loop->timers, timer) && !unlink_timer(&timer->loop->due, timer))
		DIE("a timer was cancelled that is not waiting");
	free(timer);
}

void loop_defer(struct loop *loop, loop_timer_fn *fn, void *arg)
{
	struct loop_timer *call = util_zalloc(sizeof(*call));
	struct loop_timer **end = &loop->deferred;

	*call = (struct loop_timer){.loop = loop, .fn = fn, .arg = arg};
	while (*end)
		end = &(*end)->next;
	*end = call;
}

static void on_signals(void *arg, uint32_t events)
{
	struct signals *signals = arg;
	struct signalfd_siginfo info;

	(void)events;
	while (read(signals->fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		signals->fn(signals->arg, (int)info.ssi_signo);
}

int loop_signals(struct loop *loop, const int *list, loop_signal_fn *fn, void *arg, struct err *e)
{
	struct signals *signals = util_zalloc(sizeof(*signals));
	sigset_t set;

	(void)sigemptyset(&set);
	for (; *list; list++)
		(void)sigaddset(&set, *list);
	*signals = (struct signals){.loop = loop, .fn = fn, .arg = arg, .fd = -1};
	if (sigprocmask(SIG_BLOCK, &set, NULL) == 0)
		signals->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signals->fd < 0) {
		free(signals);
		return err_sys(e, "signalfd");
	}
	if (loop->signals)
		DIE("a loop takes its signals once");
	loop->signals = signals;
	signals->source = loop_add(loop, signals->fd, EPOLLIN, on_signals, signals);
	return 0;
}

static void run_deferred(struct loop *loop)
{
	struct loop_timer *call = loop->deferred; /* those added meanwhile belong to the next turn */

	loop->deferred = NULL;
	while (call) {
		struct loop_timer done = *call;

		free(call);
		done.fn(done.arg);
		call = done.next;
	}
}

/* A timer that is set meanwhile belongs to the next turn, also if it is due: it must not keep the loop from its descriptors. */
static void run_timers(struct loop *loop)
{
	int64_t now = util_now_ms();
	struct loop_timer **end = &loop->timers;

	while (*end && (*end)->at_ms <= now)
		end = &(*end)->next;
	if (end == &loop->timers)
		return;
	loop->due = loop->timers;
	loop->timers = *end;
	*end = NULL;
	while (loop->due) {
		struct loop_timer timer = *loop->due;

		free(loop->due);
		loop->due = timer.next;
		timer.fn(timer.arg);
	}
}

static int wait_ms(const struct loop *loop, int max_wait_ms)
{
	const int64_t hour = 3600 * 1000;
	int64_t now = util_now_ms();
	int64_t left;

	if (loop->deferred)
		return 0;
	if (!loop->timers)
		return max_wait_ms;
	if (loop->timers->at_ms <= now)
		return 0;
	left = loop->timers->at_ms - now;
	if (left > hour)
		left = hour;
	return max_wait_ms >= 0 && max_wait_ms < left ? max_wait_ms : (int)left;
}

bool loop_turn(struct loop *loop, int max_wait_ms)
{
	struct epoll_event events[64];
	int n = epoll_wait(loop->epoll_fd, events, (int)ARRAY_LEN(events), wait_ms(loop, max_wait_ms));

	if (n < 0 && errno != EINTR)
		DIE("epoll_wait: %s", strerror(errno));
	for (int i = 0; i < n; i++) {
		struct loop_source *source = events[i].data.ptr;

		if (source->fn)
			source->fn(source->arg, events[i].events);
	}
	run_timers(loop);
	run_deferred(loop);
	bury(loop);
	return n > 0;
}

void loop_run(struct loop *loop)
{
	loop->stopped = false;
	while (!loop->stopped)
		(void)loop_turn(loop, -1);
}

void loop_stop(struct loop *loop)
{
	loop->stopped = true;
}
