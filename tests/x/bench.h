/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The input folder on an X server of its own, with a window that tells what it gets. */
#ifndef TESTS_BENCH_H
#define TESTS_BENCH_H

#include <jansson.h>

#include "input/input.h"
#include "tests/x/evwin.h"
#include "tests/x/xserver.h"

#define BENCH_WIDTH 800
#define BENCH_HEIGHT 600
#define BENCH_EVENTS 20000

struct bench {
	struct xserver server;
	struct loop *loop;
	struct xconn x;
	struct input *input;
	struct evwin evwin;
	struct evwin_event events[BENCH_EVENTS];
	size_t n_events;
	/* Of the last action. */
	json_t *result;
	struct err e;
	int rc;
	int64_t took_ms;
};

/* Fixtures for cmocka; *state is the bench. The display has the layout of the environment's XKB default, us. */
int bench_set_up(void **state);
int bench_tear_down(void **state);
/* Another window in the place of the first. */
void bench_use_window(struct bench *bench, enum evwin_way way);

/* setxkbmap with these arguments (the last is NULL). */
void bench_set_layout(struct bench *bench, const char *const *arguments);

/*
 * Runs one action as the stage does: its form and check, then its row, in a coroutine. bench->rc is 0 or -1 with bench->e. When
 * cancel_ms is not 0, the call is cancelled after that time. Then looks at the window: bench->events.
 */
void bench_try(struct bench *bench, const char *action, int64_t cancel_ms);
/* bench_try that must succeed. */
void bench_act(struct bench *bench, const char *action);
/* {"action":"type","text":TEXT} that must succeed; what the window got must be `want`. */
void bench_expect_typed(struct bench *bench, const char *text, const char *want);

/* The events since the last action. */
void bench_look(struct bench *bench);
/* Of the events: the n-th of this kind, or NULL; and how many there are. */
const struct evwin_event *bench_event(const struct bench *bench, char kind, size_t n);
size_t bench_count(const struct bench *bench, char kind);

/* What is held: JSON text of input_held, malloced. */
char *bench_held(struct bench *bench);

#endif
