/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Turns, first come, first served. */
#include "session/stage/turns.h"

#include "session/base/limits.h"

/* Lives on the stack of the coroutine that waits. */
struct turn {
	struct turn *next;
	struct co *co;
	struct co_event granted;
};

static void append(struct turns *turns, struct turn *turn)
{
	struct turn **end = &turns->first;

	while (*end)
		end = &(*end)->next;
	*end = turn;
	turns->n_waiting++;
}

static void prepend(struct turns *turns, struct turn *turn)
{
	turn->next = turns->first;
	turns->first = turn;
	turns->n_waiting++;
}

static void leave(struct turns *turns, struct turn *turn)
{
	struct turn **place = &turns->first;

	while (*place != turn)
		place = &(*place)->next;
	*place = turn->next;
	turns->n_waiting--;
}

/* Whose turn is granted in the same moment in which the wait fails gives it back. */
static int wait_granted(struct turns *turns, struct turn *turn, int64_t deadline_ms, struct err *e)
{
	if (co_wait_event(&turn->granted, deadline_ms, e) == 0)
		return 0;
	if (turns->running == turn->co)
		turns_pass(turns);
	else
		leave(turns, turn);
	return -1;
}

/* Nobody has it: it is this coroutine's at once. */
static bool grab(struct turns *turns)
{
	if (turns->running)
		return false;
	turns->running = co_self();
	return true;
}

int turns_take(struct turns *turns, int64_t deadline_ms, struct err *e)
{
	struct turn turn = {.co = co_self()};

	if (grab(turns))
		return 0;
	if (turns->n_waiting >= LIMIT_WAITING_CALLS)
		return err_set(e, ERR_BUSY, NULL, "%d calls of this session wait for their turn already", LIMIT_WAITING_CALLS);
	append(turns, &turn);
	return wait_granted(turns, &turn, deadline_ms, e);
}

int turns_take_first(struct turns *turns, int64_t deadline_ms, struct err *e)
{
	struct turn turn = {.co = co_self()};

	if (grab(turns))
		return 0;
	prepend(turns, &turn);
	return wait_granted(turns, &turn, deadline_ms, e);
}

void turns_pass(struct turns *turns)
{
	struct turn *next = turns->first;

	turns->running = NULL;
	if (!next) {
		co_signal(&turns->none);
		return;
	}
	leave(turns, next);
	turns->running = next->co;
	co_signal(&next->granted);
}

int turns_wait_none(struct turns *turns, int64_t deadline_ms, struct err *e)
{
	while (turns->running)
		if (co_wait_event(&turns->none, deadline_ms, e) < 0)
			return -1;
	return 0;
}
