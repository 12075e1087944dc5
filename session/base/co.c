/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Coroutines by ucontext.
 *
 * Whatever wakes a coroutine only schedules it (loop_defer): it is always entered from the loop itself, never from inside another
 * callback, so that no caller of co_signal or co_cancel can be surprised.
 */
#include "session/base/co.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "session/base/util.h"

/* The address sanitizer must know of every change of stacks; gcc and clang say differently that they build for it. */
#if defined(__SANITIZE_ADDRESS__)
#define UNDER_ASAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define UNDER_ASAN
#endif
#endif
#ifdef UNDER_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#define STACK_BYTES ((size_t)512 * 1024)
#define SPARE_STACKS 8 /* of coroutines that have ended, kept for the next ones: a fresh one costs calls into the kernel and page faults */

enum wake { WAKE_NONE, WAKE_READY, WAKE_TIMEOUT };

struct co {
	struct loop *loop;
	co_fn *fn;
	void *arg;
	ucontext_t context, caller;
	char *stack; /* guard page, then STACK_BYTES */
	bool finished, cancelled, scheduled, waiting;
	int shields;
	enum wake wake;
	struct loop_source *source;
	struct loop_timer *timer;
	struct co_event *event;
	struct co *next_waiter;
#ifdef UNDER_ASAN
	void *fake_stack;
	const void *caller_stack;
	size_t caller_stack_size;
#endif
};

/* The coroutine that runs now, and the spare stacks: what here belongs to the thread and not to an object. */
static struct co *current;
static char *spare[SPARE_STACKS];
static size_t n_spare;

struct co *co_self(void)
{
	return current;
}

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static char *take_stack(void)
{
	char *stack;

	if (n_spare > 0)
		return spare[--n_spare];
	stack = mmap(NULL, page_size() + STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (stack == MAP_FAILED || mprotect(stack, page_size(), PROT_NONE) < 0)
		DIE("no stack for a coroutine: %s", strerror(errno));
	return stack;
}

static void give_back_stack(char *stack)
{
#ifdef UNDER_ASAN
	/* Of the calls that never return, as that which leaves a coroutine for the last time. */
	ASAN_UNPOISON_MEMORY_REGION(stack + page_size(), STACK_BYTES);
#endif
	if (n_spare < SPARE_STACKS)
		spare[n_spare++] = stack;
	else
		(void)munmap(stack, page_size() + STACK_BYTES);
}

static void entered(struct co *co)
{
#ifdef UNDER_ASAN
	__sanitizer_finish_switch_fiber(co->fake_stack, &co->caller_stack, &co->caller_stack_size);
#else
	(void)co;
#endif
}

/* From the coroutine back to the loop. */
static void leave(struct co *co)
{
#ifdef UNDER_ASAN
	__sanitizer_start_switch_fiber(co->finished ? NULL : &co->fake_stack, co->caller_stack, co->caller_stack_size);
#endif
	(void)swapcontext(&co->context, &co->caller);
	entered(co);
}

static void trampoline(void)
{
	struct co *co = current;

	entered(co);
	co->fn(co->arg);
	co->finished = true;
	leave(co);
}

static void resume(void *arg)
{
	struct co *co = arg;
#ifdef UNDER_ASAN
	void *fake_stack = NULL;

	__sanitizer_start_switch_fiber(&fake_stack, co->stack + page_size(), STACK_BYTES);
#endif
	co->scheduled = false;
	current = co;
	(void)swapcontext(&co->caller, &co->context);
	current = NULL;
#ifdef UNDER_ASAN
	__sanitizer_finish_switch_fiber(fake_stack, NULL, NULL);
#endif
	if (co->finished) {
		give_back_stack(co->stack);
		free(co);
	}
}

static void wake(struct co *co, enum wake reason)
{
	if (!co->waiting)
		return;
	if (co->wake != WAKE_READY) /* ready and late at once: ready counts */
		co->wake = reason;
	if (co->scheduled)
		return;
	co->scheduled = true;
	loop_defer(co->loop, resume, co);
}

struct co *co_start(struct loop *loop, co_fn *fn, void *arg)
{
	struct co *co = util_zalloc(sizeof(*co));

	*co = (struct co){.loop = loop, .fn = fn, .arg = arg, .scheduled = true};
	co->stack = take_stack();
	if (getcontext(&co->context) < 0)
		DIE("no context for a coroutine: %s", strerror(errno));
	co->context.uc_stack.ss_sp = co->stack + page_size();
	co->context.uc_stack.ss_size = STACK_BYTES;
	makecontext(&co->context, trampoline, 0);
	loop_defer(loop, resume, co);
	return co;
}

void co_cancel(struct co *co)
{
	co->cancelled = true;
	if (co->shields == 0)
		wake(co, WAKE_READY);
}

bool co_cancelled(const struct co *co)
{
	return co->cancelled;
}

void co_shield(void)
{
	current->shields++;
}

void co_unshield(void)
{
	current->shields--;
}

static bool must_stop(const struct co *co)
{
	return co->cancelled && co->shields == 0;
}

static int cancelled(struct err *e)
{
	return err_set(e, ERR_CANCELLED, NULL, "the call was cancelled");
}

static void on_deadline(void *arg)
{
	struct co *co = arg;

	co->timer = NULL;
	wake(co, WAKE_TIMEOUT);
}

static void on_fd(void *arg, uint32_t events)
{
	(void)events;
	wake(arg, WAKE_READY);
}

static void forget_event(struct co *co)
{
	struct co **place;

	for (place = co->event ? &co->event->waiters : NULL; place && *place; place = &(*place)->next_waiter)
		if (*place == co) {
			*place = co->next_waiter;
			break;
		}
	co->event = NULL;
	co->next_waiter = NULL;
}

/* Gives up the processor until a wake; the caller has armed what wakes it. */
static int wait_armed(struct co *co, int64_t deadline_ms, struct err *e)
{
	if (deadline_ms != CO_FOREVER)
		co->timer = loop_at(co->loop, deadline_ms, on_deadline, co);
	co->wake = WAKE_NONE;
	co->waiting = true;
	leave(co);
	co->waiting = false;
	loop_cancel(co->timer);
	co->timer = NULL;
	loop_remove(co->source);
	co->source = NULL;
	forget_event(co);
	if (must_stop(co))
		return cancelled(e);
	if (co->wake == WAKE_TIMEOUT)
		return err_set(e, ERR_TIMEOUT, NULL, "the time limit was reached");
	return 0;
}

static struct co *running(void)
{
	if (!current)
		DIE("a wait outside a coroutine");
	return current;
}

int co_wait_until(int64_t at_ms, struct err *e)
{
	struct co *co = running();

	if (must_stop(co))
		return cancelled(e);
	/* at_ms is what this wait is for, not its limit. */
	(void)wait_armed(co, at_ms, NULL);
	return must_stop(co) ? cancelled(e) : 0;
}

int co_wait_fd(int fd, uint32_t events, int64_t deadline_ms, struct err *e)
{
	struct co *co = running();

	if (must_stop(co))
		return cancelled(e);
	co->source = loop_add(co->loop, fd, events, on_fd, co);
	return wait_armed(co, deadline_ms, e);
}

int co_wait_event(struct co_event *event, int64_t deadline_ms, struct err *e)
{
	struct co *co = running();
	struct co **end = &event->waiters;

	if (must_stop(co))
		return cancelled(e);
	co->event = event;
	while (*end)
		end = &(*end)->next_waiter;
	*end = co;
	return wait_armed(co, deadline_ms, e);
}

void co_signal(struct co_event *event)
{
	while (event->waiters) {
		struct co *co = event->waiters;

		event->waiters = co->next_waiter;
		co->next_waiter = NULL;
		co->event = NULL;
		wake(co, WAKE_READY);
	}
}
