/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The input folder on an X server of its own. */
#include "tests/x/bench.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "session/base/util.h"

#define CALL_MS 30000

static void on_lost(void *arg)
{
	(void)arg;
}

static void create(void *arg)
{
	struct bench *bench = arg;
	struct err e = {0};

	if (input_create(&bench->input, &bench->x, NULL, &e) < 0)
		fail_msg("%s", e.msg);
}

int bench_set_up(void **state)
{
	struct bench *bench = util_zalloc(sizeof(*bench));
	struct err e = {0};

	xserver_start(&bench->server, BENCH_WIDTH, BENCH_HEIGHT);
	evwin_start(&bench->evwin, bench->server.display, EVWIN_NORMAL);
	bench->loop = loop_create(&e);
	if (xconn_open(&bench->x, bench->loop, bench->server.display, NULL, on_lost, NULL, &e) < 0)
		fail_msg("%s", e.msg);
	xserver_run(bench->loop, create, bench);
	*state = bench;
	return 0;
}

int bench_tear_down(void **state)
{
	struct bench *bench = *state;

	json_decref(bench->result);
	input_destroy(bench->input);
	xconn_close(&bench->x);
	loop_destroy(bench->loop);
	evwin_stop(&bench->evwin);
	xserver_stop(&bench->server);
	free(bench);
	return 0;
}

void bench_use_window(struct bench *bench, enum evwin_way way)
{
	evwin_stop(&bench->evwin);
	evwin_start(&bench->evwin, bench->server.display, way);
}

void bench_set_layout(struct bench *bench, const char *const *arguments)
{
	const char *argv[8] = {"setxkbmap", "-display", bench->server.display};
	int status, n = 3;
	pid_t pid;

	while (*arguments && n < 7)
		argv[n++] = *arguments++;
	pid = fork();
	if (pid == 0) {
		(void)execvp(argv[0], (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

struct call {
	struct bench *bench;
	const struct action_row *row;
	json_t *args;
	struct co *co;
	bool done;
};

static void run_call(void *arg)
{
	struct call *call = arg;
	struct bench *bench = call->bench;
	const struct space space = {BENCH_WIDTH, BENCH_HEIGHT};
	struct action_run run = {
		.home = bench->input,
		.args = call->args,
		.asked = call->args,
		.result = bench->result,
		.deadline_ms = util_now_ms() + CALL_MS,
		.space = space,
		.native = space,
	};
	int64_t start_ms = util_now_ms();

	bench->rc = form_check(&call->row->form, call->args, "", &(const struct bounds){space, space}, &bench->e);
	if (bench->rc == 0 && call->row->check)
		bench->rc = call->row->check(bench->input, call->args, &bench->e);
	if (bench->rc == 0)
		bench->rc = call->row->run(&run, &bench->e);
	bench->took_ms = util_now_ms() - start_ms;
	call->done = true;
}

static void cancel(void *arg)
{
	struct call *call = arg;

	if (!call->done)
		co_cancel(call->co);
}

void bench_try(struct bench *bench, const char *action, int64_t cancel_ms)
{
	const struct action_set set = {input_rows, input_n_rows, bench->input}, *found;
	json_t *args = json_loads(action, 0, NULL);
	const char *name = form_string(args, "action", "");
	struct call call = {.bench = bench, .args = args, .row = action_find(&set, 1, name, &found)};

	if (!args || !call.row)
		fail_msg("no such action: %s", action);
	json_object_del(args, "action");
	json_decref(bench->result);
	bench->result = json_object();
	bench->e = (struct err){0};
	call.co = co_start(bench->loop, run_call, &call);
	if (cancel_ms)
		(void)loop_at(bench->loop, util_now_ms() + cancel_ms, cancel, &call);
	while (!call.done)
		loop_turn(bench->loop, -1);
	loop_turn(bench->loop, 0);
	json_decref(args);
	if (bench->e.code != ERR_X_SILENT)
		bench_look(bench);
}

void bench_act(struct bench *bench, const char *action)
{
	bench_try(bench, action, 0);
	if (bench->rc < 0)
		fail_msg("%s: %s: %s", action, bench->e.path, bench->e.msg);
}

void bench_expect_typed(struct bench *bench, const char *text, const char *want)
{
	auto_free char *typed = NULL;
	json_t *action = json_pack("{s:s,s:s}", "action", "type", "text", text);
	auto_free char *json = json_dumps(action, 0);

	json_decref(action);
	bench_act(bench, json);
	typed = evwin_text(bench->events, bench->n_events);
	assert_string_equal(typed, want);
}

void bench_look(struct bench *bench)
{
	bench->n_events = evwin_look(&bench->evwin, bench->events, BENCH_EVENTS);
}

const struct evwin_event *bench_event(const struct bench *bench, char kind, size_t n)
{
	for (size_t i = 0; i < bench->n_events; i++)
		if (bench->events[i].kind == kind && n-- == 0)
			return &bench->events[i];
	return NULL;
}

size_t bench_count(const struct bench *bench, char kind)
{
	size_t n = 0;

	while (bench_event(bench, kind, n))
		n++;
	return n;
}

char *bench_held(struct bench *bench)
{
	json_t *held = input_held(bench->input);
	char *text = json_dumps(held, JSON_COMPACT | JSON_SORT_KEYS);

	json_decref(held);
	return text;
}
