/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is told to init of a program that is to start, and what is told to its caller when it does not. */
#include <errno.h>
#include <string.h>

#include "apps/spawner_inner.h"
#include "session/base/limits.h"
#include "session/base/util.h"

static size_t strings_len(char *const *list, size_t *n)
{
	size_t len = 0;

	for (; list && *list; list++, (*n)++)
		len += strlen(*list) + 1;
	return len;
}

int spawner_check(const struct spawn *spawn, struct err *e)
{
	size_t n = 0;
	size_t len = strlen(spawn->folder) + 1 + strings_len(spawn->argv, &n) + strings_len(spawn->env, &n) + strings_len(spawn->runs, &n);

	if (len > LIMIT_SPAWN_BYTES)
		return err_set(e, ERR_BAD_FIELD, "/argv", "arguments, environment and folder have %zu bytes; at most %d (stdin takes more)", len,
		               LIMIT_SPAWN_BYTES);
	if (n > LIMIT_SPAWN_STRINGS)
		return err_set(e, ERR_BAD_FIELD, "/argv", "%zu arguments and variables; at most %d", n, LIMIT_SPAWN_STRINGS);
	return 0;
}

static char *put_strings(char *at, char *const *list)
{
	for (; list && *list; list++)
		at = stpcpy(at, *list) + 1;
	return at;
}

char *spawner_record(const struct process *process, const struct spawn *spawn, size_t *len)
{
	struct init_spawn head = {.op = INIT_SPAWN, .tag = process->tag, .group = (uint8_t)spawn->group, .flags = (uint8_t)(spawn->pipes | (spawn->trusted ? INIT_TRUSTED : 0) | (spawn->listens ? INIT_LISTENER : 0))};
	char *record = util_alloc(sizeof(head) + LIMIT_SPAWN_BYTES);
	size_t n_argv = 0, n_env = 0, n_runs = 0;
	char *at = stpcpy(record + sizeof(head), spawn->folder) + 1;

	(void)strings_len(spawn->argv, &n_argv);
	(void)strings_len(spawn->env, &n_env);
	(void)strings_len(spawn->runs, &n_runs);
	head.n_argv = (uint16_t)n_argv;
	head.n_env = (uint16_t)n_env;
	head.n_runs = (uint16_t)n_runs;
	memcpy(record, &head, sizeof(head));
	at = put_strings(put_strings(put_strings(at, spawn->argv), spawn->env), spawn->runs);
	*len = (size_t)(at - record);
	return record;
}

static int bad_folder(const char *folder, int error, struct err *e)
{
	char quoted[100];

	(void)err_quote(quoted, sizeof(quoted), folder, strlen(folder));
	if (error == ENOENT)
		return err_set(e, ERR_NOT_FOUND, "/cwd", "%s is not there", quoted);
	return err_set(e, ERR_BAD_FIELD, "/cwd", "%s is not a folder that the session's user may enter", quoted);
}

static int bad_program(const char *program, int error, struct err *e)
{
	char quoted[100];

	(void)err_quote(quoted, sizeof(quoted), program, strlen(program));
	if (error == E2BIG)
		return err_set(e, ERR_BAD_FIELD, "/argv", "an argument is too long for the system; stdin takes more");
	if (error == EACCES || error == ENOEXEC || error == EPERM)
		return err_set(e, ERR_BAD_FIELD, "/argv/0", "%s is not a program that the session's user may run", quoted);
	if (strchr(program, '/'))
		return err_set(e, ERR_NOT_FOUND, "/argv/0", "%s is not there, or the interpreter that it names is not", quoted);
	return err_set(e, ERR_NOT_FOUND, "/argv/0", "no program %s is in PATH; argv is [\"program\",\"argument\",…]", quoted);
}

int spawner_explain(const struct process *process, const struct spawn *spawn, struct err *e)
{
	const struct init_report *start = &process->start;

	if (start->error == 0)
		return err_set(e, ERR_GONE, NULL, "the session's programs are gone");
	if (start->status == INIT_STEP_FOLDER)
		return bad_folder(spawn->folder, start->error, e);
	if (start->status == INIT_STEP_EXEC && start->error != ENOMEM && start->error != EAGAIN)
		return bad_program(spawn->argv[0], start->error, e);
	if (start->error == EAGAIN || start->error == ENOMEM)
		return err_set(e, ERR_LIMIT, NULL, "the session can have no more processes now");
	errno = start->error;
	return err_sys(e, "the program could not be started (step %d)", start->status);
}
