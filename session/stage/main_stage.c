/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * glovebox-stage: serves one session's display, input and apps to the front. Started by the warden, which hands it everything; it ends
 * when the warden does.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "sandbox/confine/confine.h"
#include "session/base/limits.h"
#include "session/base/log.h"
#include "session/base/util.h"
#include "session/stage/calls.h"

struct program {
	struct loop *loop;
	struct stage *stage;
};

static void on_warden(void *arg, uint32_t events)
{
	struct program *program = arg;

	(void)events;
	if (viewers_receive(program->stage, CHILD_WARDEN))
		return;
	stage_end(program->stage, "the server ended");
	loop_stop(program->loop);
}

static json_t *hello(void *arg)
{
	return stage_hello(arg);
}

/* The status to end with, or -1. */
static int serve(struct ends *ends, struct err *e)
{
	struct program program = {.loop = loop_create(e)};
	struct connections_ops ops = {.hello = hello, .call = calls_take, .check_answer = calls_check_answer, .pass = gate_reply,
	                               .comes = calls_body_comes};

	if (!program.loop)
		return -1;
	program.stage = stage_create(program.loop, ends);
	ops.arg = program.stage;
	program.stage->connections = connections_create(program.loop, CHILD_LISTEN, &ops);
	(void)loop_add(program.loop, CHILD_WARDEN, EPOLLIN | EPOLLRDHUP, on_warden, &program);
	loop_run(program.loop);
	/* Coroutines may still stand on their stacks: the process ends with them, nothing is taken apart. */
	return program.stage->exit_status;
}

int main(void)
{
	struct ends ends;
	struct err e;
	int status;

	log_init("glovebox-stage", NULL);
	util_keep_freed(LIMIT_STAGE_FREED_BYTES);
	(void)signal(SIGPIPE, SIG_IGN);
	if (confine_enter(&confine_stage, &e) < 0 || ends_receive(&ends, CHILD_WARDEN, &e) < 0) {
		log_err(LOG_ERROR, &e, "start");
		return EXIT_FAILURE;
	}
	log_init("glovebox-stage", ends.session);
	status = serve(&ends, &e);
	if (status < 0) {
		log_err(LOG_ERROR, &e, "serve");
		return EXIT_FAILURE;
	}
	return status;
}
