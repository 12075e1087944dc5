/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The action exec: a command of the agent's, its output and its end.
 *
 * It is over when the program itself has ended and what is in its pipes then has been read: a child that it left behind with the pipes
 * open is not waited for.
 */
#include <signal.h>
#include <string.h>
#include <sys/param.h>

#include "apps/state.h"
#include "apps/text.h"
#include "session/base/limits.h"
#include "session/base/util.h"

#define DEFAULT_MS 30000

/* What the action object asks for, as init wants it. */
struct command {
	struct environment environment;
	char **argv;
	struct spawn spawn;
};

static void command_finish(struct command *command)
{
	environment_finish(&command->environment);
	free(command->argv);
}

static int command_create(struct command *out, const struct apps *apps, const json_t *args, struct err *e)
{
	const json_t *list = json_object_get(args, "argv");
	struct command made = {.argv = NULL};
	const json_t *item;
	size_t i;

	if (environment_extend(&made.environment, &apps->environment, json_object_get(args, "env"), e) < 0)
		return -1;
	made.argv = util_zalloc((json_array_size(list) + 1) * sizeof(*made.argv));
	json_array_foreach(list, i, item)
		/* Init gets a copy; the type of the list is execve's. */
		made.argv[i] = (char *)(uintptr_t)json_string_value(item);
	made.spawn = (struct spawn){
		.group = INIT_GROUP_AGENT,
		.folder = form_string(args, "cwd", ENVIRONMENT_HOME),
		.argv = made.argv,
		.env = made.environment.list,
		.pipes = INIT_PIPE_STDOUT | INIT_PIPE_STDERR | (json_object_get(args, "stdin") ? INIT_PIPE_STDIN : 0),
	};
	*out = made;
	return 0;
}

/* The session's own limit is below that of the form. */
static long longest_ms(const struct apps *apps)
{
	return apps->ops.exec_ms > 0 ? apps->ops.exec_ms : LIMIT_EXEC_MS;
}

int exec_check(void *home, const json_t *args, struct err *e)
{
	long timeout_ms = form_int(args, "timeout_ms", 0);
	const char *cwd = form_string(args, "cwd", ENVIRONMENT_HOME);
	struct command command;
	char quoted[80];
	int rc;

	if (json_string_length(json_array_get(json_object_get(args, "argv"), 0)) == 0)
		return err_set(e, ERR_BAD_FIELD, "/argv/0", "the program's name is empty");
	if (cwd[0] != '/')
		return err_set(e, ERR_BAD_FIELD, "/cwd", "%s is not an absolute path", err_quote(quoted, sizeof(quoted), cwd, strlen(cwd)));
	if (timeout_ms > longest_ms(home))
		return err_set(e, ERR_BAD_FIELD, "/timeout_ms", "%ld is not allowed here: a command of this session may run for %ld ms (limits.exec_ms)",
		               timeout_ms, longest_ms(home));
	if (command_create(&command, home, args, e) < 0)
		return -1;
	rc = spawner_check(&command.spawn, e);
	command_finish(&command);
	return rc;
}

/* A command that runs. */
struct running {
	struct process *process;
	struct pipe_reader out, err;
	struct pipe_writer in;
	struct co_event changed;
};

static void start_pipes(struct running *running, struct loop *loop, const json_t *text)
{
	struct process *process = running->process;

	pipe_reader_start(&running->out, loop, steal_fd(&process->out), PIPE_KEEP_HEAD, LIMIT_EXEC_OUTPUT_BYTES, NULL);
	pipe_reader_start(&running->err, loop, steal_fd(&process->err), PIPE_KEEP_HEAD, LIMIT_EXEC_OUTPUT_BYTES, NULL);
	if (text)
		pipe_writer_start(&running->in, loop, steal_fd(&process->in), json_string_value(text), json_string_length(text));
}

static void put_output(json_t *result, const char *name, const struct pipe_reader *reader, bool *cut)
{
	size_t len;
	auto_free char *text = text_utf8(reader->data, reader->len, LIMIT_EXEC_OUTPUT_BYTES, &len, cut);

	*cut |= reader->cut;
	json_object_set_new(result, name, json_stringn(text, len));
}

static void put_result(struct running *running, json_t *result, bool timed_out)
{
	const struct process *process = running->process;
	bool exited = process->ended && process->exit_code >= 0;
	bool cut = false;

	pipe_reader_drain(&running->out);
	pipe_reader_drain(&running->err);
	put_output(result, "stdout", &running->out, &cut);
	put_output(result, "stderr", &running->err, &cut);
	json_object_set_new(result, "exit_code", exited ? json_integer(process->exit_code) : json_null());
	json_object_set_new(result, "signal", process->ended && process->signo > 0 ? json_integer(process->signo) : json_null());
	json_object_set_new(result, "timed_out", json_boolean(timed_out));
	json_object_set_new(result, "truncated", json_boolean(cut));
}

#define LOOK_AGAIN_MS 1000 /* while its clock stands still */

/* Its own time limit is of a clock that stands still in a hold. The call's is of the world outside. */
static int wait_own(struct running *running, const struct action_run *run, long own_ms, struct err *e)
{
	const struct apps *apps = run->home;
	int64_t end_ms = hold_clock_ms(apps) + own_ms;

	for (;;) {
		int64_t left_ms = end_ms - hold_clock_ms(apps), now_ms = util_now_ms();
		int64_t until_ms = now_ms + (apps->held_ms > 0 ? LOOK_AGAIN_MS : left_ms);

		if (spawner_wait_end(running->process, MIN(until_ms, run->deadline_ms), e) == 0)
			return 0;
		if (e->code != ERR_TIMEOUT || util_now_ms() >= run->deadline_ms || (apps->held_ms == 0 && hold_clock_ms(apps) >= end_ms))
			return -1;
	}
}

/* Its own time limit is a result, that of the call an error; what was said until then is in the result in any case. */
static int wait_for_end(struct running *running, struct action_run *run, struct err *e)
{
	long own_ms = form_int(run->args, "timeout_ms", MIN(DEFAULT_MS, longest_ms(run->home)));
	struct err why;
	bool timed_out, is_own;

	if (wait_own(running, run, own_ms, &why) == 0) {
		put_result(running, run->result, false);
		return 0;
	}
	timed_out = why.code == ERR_TIMEOUT;
	is_own = timed_out && util_now_ms() < run->deadline_ms;
	spawner_signal(running->process, SIGKILL);
	/* Also for a call that was cancelled: whoever stops it, or freezes the jail after that, finds it ended. */
	co_shield();
	(void)spawner_wait_end(running->process, util_now_ms() + LIMIT_KILL_MS, NULL);
	co_unshield();
	put_result(running, run->result, timed_out);
	if (is_own)
		return 0;
	if (e)
		*e = why;
	return -1;
}

int exec_run(struct action_run *run, struct err *e)
{
	struct apps *apps = run->home;
	struct running running = {.process = NULL};
	struct command command;
	int rc;

	if (command_create(&command, apps, run->args, e) < 0)
		return -1;
	command.spawn.changed = &running.changed;
	rc = spawner_start(apps->spawner, &command.spawn, run->deadline_ms, &running.process, e);
	command_finish(&command);
	if (rc < 0)
		return -1;
	start_pipes(&running, apps->x->loop, json_object_get(run->args, "stdin"));
	rc = wait_for_end(&running, run, e);
	pipe_reader_finish(&running.out);
	pipe_reader_finish(&running.err);
	pipe_writer_finish(&running.in);
	spawner_release(running.process);
	return rc;
}
