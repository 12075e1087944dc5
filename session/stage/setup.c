/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Commands before the agent. */
#include "session/stage/setup.h"

#include <stdio.h>
#include <string.h>
#include <sys/param.h>

#include "session/base/log.h"
#include "session/base/util.h"
#include "session/stage/stage.h"

#define DEFAULT_S 300
#define KEPT_BYTES 2000 /* of what a command said, its end */
#define TOLD_BYTES 180  /* of that in a refusal */

/* A line for sh, or a program with its arguments. */
static json_t *argv_of(const json_t *command)
{
	if (json_is_array(command))
		return json_incref((json_t *)(uintptr_t)command);
	return json_pack("[s,s,O]", "sh", "-c", command);
}

/* Secrets by the names of their variables. */
static json_t *environment_of(const struct stage *stage, const json_t *names)
{
	json_t *env = json_object(), *name;
	const char *variable;

	json_object_foreach((json_t *)(uintptr_t)names, variable, name) {
		const struct secret *secret = secrets_find(&stage->secrets, json_string_value(name));

		if (secret)
			json_object_set_new(env, variable, json_stringn(secret->value, secret->len));
	}
	return env;
}

/* The end of a text, from a character on. */
static json_t *tail_of(const json_t *result, const char *name)
{
	const json_t *value = json_object_get(result, name);
	const char *text = json_string_value(value) ? json_string_value(value) : "";
	size_t len = strlen(text), skip = len > KEPT_BYTES ? len - KEPT_BYTES : 0;

	while (skip > 0 && ((unsigned char)text[skip] & 0xC0) == 0x80)
		skip++;
	return json_string(text + skip);
}

static json_t *told(const struct stage *stage, size_t index, const json_t *result)
{
	static const char *const members[] = {"exit_code", "signal", "timed_out", "elapsed_ms"};
	/* Masked as a whole: of a secret at the cut a part would stay. */
	json_auto_t *masked = gate_line((void *)(uintptr_t)stage, result);
	json_t *out = json_pack("{s:i,s:o,s:o}", "index", (int)index, "stdout", tail_of(masked, "stdout"), "stderr", tail_of(masked, "stderr"));

	for (size_t i = 0; i < ARRAY_LEN(members); i++)
		if (json_object_get(result, members[i]))
			json_object_set(out, members[i], json_object_get(result, members[i]));
	return out;
}

static int note(struct stage *stage, const char *state, json_t *fields, struct err *e)
{
	json_object_set_new(fields, "state", json_string(state));
	return journal_add(stage->journal, "setup", fields, e);
}

/* `met`: the limits that were met meanwhile, or NULL. */
static int fail(size_t index, const json_t *said, const json_t *met, const struct err *why, struct err *e)
{
	auto_free char *path = util_printf("/setup/commands/%zu", index);
	const char *text = form_string(said, "stderr", ""), *limit = form_string(json_array_get(met, 0), "limit", ""), *end;
	const char *at_limit = *limit ? " at the session's limit " : "";
	char shown[TOLD_BYTES + 40];
	size_t len;

	if (!*text)
		text = form_string(said, "stdout", "");
	len = strlen(text);
	end = text + (len > TOLD_BYTES ? len - TOLD_BYTES : 0);
	while (((unsigned char)*end & 0xC0) == 0x80)
		end++;
	(void)err_quote(shown, sizeof(shown), end, strlen(end));
	if (why)
		return err_set(e, ERR_SETUP, path, "the command was not run to its end: %s", why->msg);
	if (json_is_true(json_object_get(said, "timed_out")))
		return err_set(e, ERR_SETUP, path, "the command was stopped at the time limit of the setup phase (setup.timeout_s), and said at last: %s", shown);
	if (json_is_integer(json_object_get(said, "signal")))
		return err_set(e, ERR_SETUP, path, "the command was ended by signal %ld%s%s, and said at last: %s", form_int(said, "signal", 0), at_limit, limit, shown);
	return err_set(e, ERR_SETUP, path, "the command ended with status %ld%s%s, and said at last: %s", form_int(said, "exit_code", -1), at_limit, limit, shown);
}

/* One command, as the action exec runs them. */
static int run_one(struct stage *stage, size_t index, const json_t *command, json_t *env, int64_t deadline_ms, struct err *e)
{
	json_auto_t *result = json_object(), *said = NULL;
	json_auto_t *args = json_pack("{s:o,s:O,s:I}", "argv", argv_of(command), "env", env, "timeout_ms", (json_int_t)MAX(deadline_ms - util_now_ms(), 1));
	struct action_run run = {.home = stage->apps, .args = args, .asked = args, .result = result, .deadline_ms = deadline_ms + LIMIT_KILL_MS, .space = stage->space,
	                         .native = stage->native};
	const struct action_set *set;
	const struct action_row *row = action_find(stage->sets, stage->n_sets, "exec", &set);
	const struct meters_mark before = meters_mark(stage);
	int64_t start_ms = util_now_ms();
	json_auto_t *met = NULL;
	struct err why;
	int rc;

	if (!row)
		return err_set(e, ERR_INTERNAL, NULL, "there is no action exec");
	if (note(stage, "begun", json_pack("{s:i}", "index", (int)index), e) < 0)
		return -1;
	rc = row->run(&run, &why);
	json_object_set_new(result, "elapsed_ms", json_integer(util_now_ms() - start_ms));
	said = told(stage, index, result);
	json_array_append(stage->setup, said);
	if (note(stage, "done", json_copy(said), e) < 0)
		return -1;
	if (rc == 0 && json_is_integer(json_object_get(result, "exit_code")) && json_integer_value(json_object_get(result, "exit_code")) == 0)
		return 0;
	met = meters_since(stage, &before);
	return fail(index, said, met, rc < 0 ? &why : NULL, e);
}

/* What they have left behind; there is nobody else in that group yet. ERR_SETUP: it does not end. */
static int end_programs(struct stage *stage, struct err *e)
{
	int64_t deadline_ms = util_now_ms() + LIMIT_KILL_MS;

	lease_jail_end(stage);
	co_shield();
	while (!lease_jail_is_empty(stage) && util_now_ms() < deadline_ms)
		(void)co_wait_until(util_now_ms() + 2, NULL);
	co_unshield();
	return lease_jail_is_empty(stage) ? 0 : err_set(e, ERR_SETUP, "/setup", "what the commands have left running does not end");
}

static int run_all(struct stage *stage, const json_t *setup, int64_t deadline_ms, struct err *e)
{
	json_auto_t *env = environment_of(stage, json_object_get(setup, "secrets"));
	const json_t *command;
	size_t i;

	json_array_foreach(json_object_get(setup, "commands"), i, command)
		if (run_one(stage, i, command, env, deadline_ms, e) < 0)
			return -1;
	return 0;
}

int setup_run(struct stage *stage, struct err *e)
{
	const json_t *setup = json_object_get(stage->spec, "setup");
	int64_t deadline_ms = util_now_ms() + form_int(setup, "timeout_s", DEFAULT_S) * 1000;
	struct err ignored;
	int rc;

	if (json_array_size(json_object_get(setup, "commands")) == 0)
		return 0;
	if (!lease_jail_has_switch(stage))
		return err_set(e, ERR_UNSUPPORTED, "/setup", "there are no groups of cgroup v2 here: what commands of a setup phase leave running could not be ended before the agent");
	stage->setup = json_array();
	if (stage->egress.is_there && egress_setup_begin(stage, json_object_get(setup, "egress"), deadline_ms, e) < 0)
		return -1;
	apps_shut_door(stage->apps, true); /* an app would be left, of another group */
	rc = run_all(stage, setup, deadline_ms, e);
	if (end_programs(stage, rc < 0 ? &ignored : e) < 0)
		rc = -1;
	apps_shut_door(stage->apps, false);
	/* A cancelled one, too, ends cut off. */
	co_shield();
	if (stage->egress.is_there && egress_setup_end(stage, util_now_ms() + LIMIT_STATE_MS, rc < 0 ? &ignored : e) < 0)
		rc = -1;
	co_unshield();
	return rc;
}
