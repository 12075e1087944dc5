/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * epoll, a heap of timers, and deferred calls. Timers of the same time fire in the order in which they were set.
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
	struct loop_timer *next; /* of those that are due, or deferred */
	size_t place;            /* in the heap; NOWHERE while it is due */
	uint64_t number;         /* grows with each that is set */
	int64_t at_ms;
	loop_timer_fn *fn;
	void *arg;
};

#define NOWHERE SIZE_MAX

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
	struct loop_timer **timers;  /* a heap: each is sooner than the two at twice its place and one or two more */
	size_t n_timers, size;
	uint64_t n_set;
	struct loop_timer *due;      /* those of this turn that still have to be called */
	struct loop_timer *deferred, **last_deferred; /* in order of arrival */
	struct loop_source *dead;
	struct loop_before *before;
	struct signals *signals;
};

struct loop_before {
	struct loop_before *next;
	loop_timer_fn *fn;
	void *arg;
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
	loop->last_deferred = &loop->deferred;
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
	for (size_t i = 0; i < loop->n_timers; i++)
		free(loop->timers[i]);
	free(loop->timers);
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

static bool is_sooner(const struct loop_timer *a, const struct loop_timer *b)
{
	return a->at_ms < b->at_ms || (a->at_ms == b->at_ms && a->number < b->number);
}

static void put_at(struct loop *loop, size_t place, struct loop_timer *timer)
{
	loop->timers[place] = timer;
	timer->place = place;
}

/* Moves it up from an empty place, as far as it is sooner than what is above. */
static void move_up(struct loop *loop, size_t place, struct loop_timer *timer)
{
	for (; place > 0 && is_sooner(timer, loop->timers[(place - 1) / 2]); place = (place - 1) / 2)
		put_at(loop, place, loop->timers[(place - 1) / 2]);
	put_at(loop, place, timer);
}

/* The place below an empty one that the sooner of its two moves up from; the empty one when none is sooner than this timer. */
static size_t next_below(const struct loop *loop, size_t place, const struct loop_timer *timer)
{
	size_t below = 2 * place + 1;

	if (below + 1 < loop->n_timers && is_sooner(loop->timers[below + 1], loop->timers[below]))
		below++;
	return below < loop->n_timers && is_sooner(loop->timers[below], timer) ? below : place;
}

/* Takes it out: the last one fills its place. */
static void take_out(struct loop *loop, struct loop_timer *timer)
{
	struct loop_timer *last = loop->timers[--loop->n_timers];
	size_t place = timer->place, below;

	timer->place = NOWHERE;
	if (last == timer)
		return;
	while ((below = next_below(loop, place, last)) != place) {
		put_at(loop, place, loop->timers[below]);
		place = below;
	}
	move_up(loop, place, last);
}

struct loop_timer *loop_at(struct loop *loop, int64_t at_ms, loop_timer_fn *fn, void *arg)
{
	struct loop_timer *timer = util_zalloc(sizeof(*timer));

	*timer = (struct loop_timer){.loop = loop, .number = ++loop->n_set, .at_ms = at_ms, .fn = fn, .arg = arg};
	if (loop->n_timers == loop->size) {
		loop->size = loop->size * 2 + 16;
		loop->timers = util_realloc(loop->timers, loop->size * sizeof(struct loop_timer *));
	}
	move_up(loop, loop->n_timers++, timer);
	return timer;
}

void loop_cancel(struct loop_timer *timer)
{
	struct loop_timer **place;

	if (!timer)
		return;
	if (timer->place != NOWHERE) {
		take_out(timer->loop, timer);
	} else {
		for (place = &timer->loop->due; *place != timer; place = &(*place)->next)
			if (!*place)
				DIE("a timer was cancelled that is not waiting");
		*place = timer->next;
	}
	free(timer);
}

void loop_defer(struct loop *loop, loop_timer_fn *fn, void *arg)
{
	struct loop_timer *call = util_zalloc(sizeof(*call));

	*call = (struct loop_timer){.loop = loop, .fn = fn, .arg = arg};
	*loop->last_deferred = call;
	loop->last_deferred = &call->next;
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

struct loop_before *loop_before_wait(struct loop *loop, loop_timer_fn *fn, void *arg)
{
	struct loop_before *before = util_zalloc(sizeof(*before));

	*before = (struct loop_before){.next = loop->before, .fn = fn, .arg = arg};
	loop->before = before;
	return before;
}

void loop_not_before_wait(struct loop *loop, struct loop_before *before)
{
	struct loop_before **at = &loop->before;

	while (*at && *at != before)
		at = &(*at)->next;
	if (!*at)
		return;
	*at = before->next;
	free(before);
}

static void run_deferred(struct loop *loop)
{
	struct loop_timer *call = loop->deferred; /* those added meanwhile belong to the next turn */

	loop->deferred = NULL;
	loop->last_deferred = &loop->deferred;
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
	int64_t now = loop->n_timers > 0 ? util_now_ms() : 0;
	struct loop_timer **end = &loop->due;

	for (struct loop_timer *timer; loop->n_timers > 0 && (timer = loop->timers[0])->at_ms <= now; end = &timer->next) {
		take_out(loop, timer);
		*end = timer;
	}
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
	if (loop->n_timers == 0)
		return max_wait_ms;
	if (loop->timers[0]->at_ms <= now)
		return 0;
	left = loop->timers[0]->at_ms - now;
	if (left > hour)
		left = hour;
	return max_wait_ms >= 0 && max_wait_ms < left ? max_wait_ms : (int)left;
}

bool loop_turn(struct loop *loop, int max_wait_ms)
{
	struct epoll_event events[64];
	int n;

	for (const struct loop_before *before = loop->before; before; before = before->next)
		before->fn(before->arg);
	n = epoll_wait(loop->epoll_fd, events, (int)ARRAY_LEN(events), wait_ms(loop, max_wait_ms));
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
