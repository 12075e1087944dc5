/* SPDX-License-Identifier: GPL-2.0-or-later */
/* exec: a command inside a session, with its output and exit status here. */
#include <string.h>

#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/cli/commands.h"
#include "session/cli/show.h"

#define EXIT_TIMED_OUT 124 /* as timeout(1) */
#define EXIT_SIGNAL 128    /* and the signal's number, as shells */

static const struct arg_option exec_options[] = {
	{"timeout", 0, "MS", false, "end the command after this time, 30000 if not given; the exit status is 124 then"},
	{"stdin", 'i', NULL, false, "send standard input (UTF-8 text) to the command"},
	{"env", 0, "K=V", true, "an environment variable of the command"},
	{"cwd", 0, "DIR", false, "the directory to run it in"},
};

static int put_env(json_t *action, const struct args *args, struct err *e)
{
	json_t *env = json_object();
	const char *pair;
	size_t at = 0;

	json_object_set_new(action, "env", env);
	while ((pair = args_next(args, "env", &at))) {
		const char *equals = strchr(pair, '=');
		auto_free char *name = equals ? util_printf("%.*s", (int)(equals - pair), pair) : NULL;

		if (!equals || equals == pair || json_object_set_new(env, name, json_string(equals + 1)))
			return err_set(e, ERR_BAD_REQUEST, NULL, "--env takes NAME=VALUE in UTF-8");
	}
	return 0;
}

static int put_stdin(json_t *action, struct err *e)
{
	auto_free char *text = NULL;
	size_t len;

	if (cli_read_file("-", LIMIT_BODY_BYTES, &text, &len, e))
		return -1;
	if (json_object_set_new(action, "stdin", json_stringn(text, len)))
		return err_set(e, ERR_BAD_REQUEST, NULL, "standard input is not UTF-8 text");
	return 0;
}

static int make_exec(const struct args *args, json_t **out, struct err *e)
{
	json_auto_t *action = json_pack("{s:s, s:[]}", "action", "exec", "argv");
	const char *cwd = args_get(args, "cwd");
	long timeout_ms = 0;

	if (args_number(args, "timeout", 1, LIMIT_EXEC_MS, &timeout_ms, e))
		return -1;
	for (size_t i = 1; i < args->n_words; i++) {
		if (json_array_append_new(json_object_get(action, "argv"), json_string(args->words[i])))
			return err_set(e, ERR_BAD_REQUEST, NULL, "the command is not UTF-8");
	}
	if (timeout_ms > 0)
		json_object_set_new(action, "timeout_ms", json_integer(timeout_ms));
	if (cwd && json_object_set_new(action, "cwd", json_string(cwd)))
		return err_set(e, ERR_BAD_REQUEST, NULL, "--cwd is not UTF-8");
	if ((args_get(args, "env") && put_env(action, args, e)) || (args_get(args, "stdin") && put_stdin(action, e)))
		return -1;
	*out = json_pack("{s:[O], s:i}", "actions", action, "timeout_ms", LIMIT_CALL_MS);
	return 0;
}

static void show_stream(FILE *to, const json_t *text)
{
	show_text(to, json_is_string(text) ? json_string_value(text) : "", json_string_length(text));
	fflush(to);
}

/* Those that were met meanwhile. */
static void show_limits(const json_t *limits)
{
	const json_t *met;
	size_t i;

	json_array_foreach(limits, i, met) {
		fputs("glovebox: the limit ", stderr);
		show_value(stderr, json_object_get(met, "limit"), 0);
		fprintf(stderr, " of %.15g was met: ", json_number_value(json_object_get(met, "value")));
		show_value(stderr, json_object_get(met, "fix"), 0);
		if (json_object_get(met, "ended")) {
			fputs("; a fork bomb was ended, with all programs of the group ", stderr);
			show_value(stderr, json_object_get(met, "ended"), 0);
		}
		fputc('\n', stderr);
	}
}

/* Prints the command's output; its exit status, as a shell would give it. */
static int show_result(const json_t *result)
{
	const json_t *signo = json_object_get(result, "signal");

	show_stream(stdout, json_object_get(result, "stdout"));
	show_stream(stderr, json_object_get(result, "stderr"));
	if (json_is_true(json_object_get(result, "truncated")))
		fputs("glovebox: the output was longer; the rest is not shown\n", stderr);
	show_limits(json_object_get(result, "limits"));
	if (json_is_true(json_object_get(result, "timed_out"))) {
		fputs("glovebox: the command ran into its time limit\n", stderr);
		return EXIT_TIMED_OUT;
	}
	if (json_integer_value(signo) > 0)
		return EXIT_SIGNAL + (int)json_integer_value(signo);
	return (int)json_integer_value(json_object_get(result, "exit_code"));
}

static int run_exec(struct cli *cli)
{
	auto_free char *path = NULL;
	json_auto_t *body = NULL;
	auto_reply reply = {0};
	struct err e = {0};
	const json_t *result;
	int status;

	if (cli_session_path(cli->args.words[0], "/act", &path, &e) || make_exec(&cli->args, &body, &e))
		return cli_fail(cli, CLI_USAGE, &e);
	status = cli_call(cli, "POST", path, body, &reply);
	if (status != CLI_DONE)
		return status;
	result = json_array_get(json_object_get(reply.json, "results"), 0);
	if (cli->json)
		show_json(result);
	if (!json_is_true(json_object_get(result, "ok"))) {
		if (!cli->json)
			show_problem("glovebox", json_object_get(result, "error"));
		return CLI_REFUSED;
	}
	return cli->json ? CLI_DONE : show_result(result);
}

const struct cli_command exec_run = {
	"exec", "ID -- COMMAND [ARGUMENT]…",
	"run a command in a session; the exit status is the command's (with --json 0, and exit_code says it)",
	exec_options, ARRAY_LEN(exec_options), 2, ARGS_MAX, 1, run_exec,
};
