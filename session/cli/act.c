/* SPDX-License-Identifier: GPL-2.0-or-later */
/* act: a list of actions, sent as it is written; the server knows the actions and checks them. */
#include <string.h>

#include "session/base/json.h"
#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/cli/commands.h"
#include "session/cli/picture.h"
#include "session/cli/show.h"

static const struct arg_option act_options[] = {
	{"file", 'f', "FILE", false, "read the actions from this file (- is standard input)"},
	{"observe", 0, NULL, false, "wait until the picture is quiet and look"},
	{"output", 'o', "FILE", false, "write the last picture of the answer here; without a screenshot in the list this observes"},
	{"check-only", 0, NULL, false, "check the list, do nothing"},
	{"timeout", 0, "MS", false, "time limit of the whole call"},
};

/* The JSON of the command line or a file. */
static int read_actions(const struct args *args, json_t **out, struct err *e)
{
	const char *file = args_get(args, "file");
	auto_free char *text = NULL;
	size_t len;

	if (!file == (args->n_words < 2))
		return err_set(e, ERR_BAD_REQUEST, NULL, "give the actions as one argument, or as -f FILE");
	if (!file && strcmp(args->words[1], "-") != 0)
		return json_parse(args->words[1], strlen(args->words[1]), out, e);
	if (cli_read_file(file ? file : "-", LIMIT_BODY_BYTES, &text, &len, e))
		return -1;
	return json_parse(text, len, out, e);
}

/* One action, a list of actions, or a whole act object, as the act object. */
static json_t *make_body(json_t *actions)
{
	if (json_is_array(actions))
		return json_pack("{s:O}", "actions", actions);
	if (json_is_object(actions) && !json_object_get(actions, "actions"))
		return json_pack("{s:[O]}", "actions", actions);
	return json_incref(actions);
}

static bool has_screenshot(const json_t *body)
{
	const json_t *action;
	size_t i;

	json_array_foreach(json_object_get(body, "actions"), i, action) {
		const char *name = json_string_value(json_object_get(action, "action"));

		if (name && strcmp(name, "screenshot") == 0)
			return true;
	}
	return false;
}

static int put_options(json_t *body, const struct args *args, struct err *e)
{
	long timeout_ms = 0;

	if (args_number(args, "timeout", 1, LIMIT_CALL_MS, &timeout_ms, e))
		return -1;
	if (timeout_ms > 0)
		json_object_set_new(body, "timeout_ms", json_integer(timeout_ms));
	if (args_get(args, "check-only"))
		json_object_set_new(body, "check_only", json_true());
	if (args_get(args, "observe") || (args_get(args, "output") && !has_screenshot(body)))
		json_object_set_new(body, "observe", json_true());
	return 0;
}

static int make_act(const struct args *args, json_t **body, struct err *e)
{
	json_auto_t *actions = NULL;

	if (read_actions(args, &actions, e))
		return -1;
	*body = make_body(actions);
	return json_is_object(*body) ? put_options(*body, args, e) : 0;
}

/* "1 ok  12 ms  x=640 y=400" */
static void show_result(size_t number, json_t *result)
{
	const char *name;
	json_t *value;
	bool ok = json_is_true(json_object_get(result, "ok"));

	printf("%zu %s", number, ok ? "ok" : "failed");
	json_object_foreach(result, name, value) {
		if (strcmp(name, "ok") == 0 || strcmp(name, "error") == 0 || strcmp(name, "picture") == 0)
			continue;
		auto_free char *visible = show_visible(name, strlen(name), 0);

		printf("  %s=", visible);
		show_value(stdout, value, 0);
	}
	putchar('\n');
	if (!ok) {
		auto_free char *who = util_printf("glovebox: action %zu", number);

		fflush(stdout);
		show_problem(who, json_object_get(result, "error"));
	}
}

static void show_answer(const json_t *answer)
{
	const json_t *observation = json_object_get(answer, "observation");
	json_t *result;
	size_t i;

	json_array_foreach(json_object_get(answer, "results"), i, result)
		show_result(i + 1, result);
	if (json_is_object(observation)) {
		printf("%s after ", json_is_true(json_object_get(observation, "settled")) ? "settled" : "not settled");
		show_value(stdout, json_object_get(observation, "elapsed_ms"), 0);
		puts(" ms");
	}
}

static int save_picture(const struct args *args, const json_t *answer, struct err *e)
{
	const char *file = args_get(args, "output");
	const json_t *picture = picture_find(answer);

	if (!file)
		return 0;
	if (!picture)
		return err_set(e, ERR_BAD_REQUEST, NULL, "there is no picture in the answer");
	return picture_save(file, picture, e);
}

static int run_act(struct cli *cli)
{
	const char *file = args_get(&cli->args, "output");
	auto_free char *path = NULL;
	json_auto_t *body = NULL;
	auto_reply reply = {0};
	struct err e = {0};
	int status;

	if (cli_session_path(cli->args.words[0], "/act", &path, &e) || (file && picture_check(file, &e)) ||
	    make_act(&cli->args, &body, &e))
		return cli_fail(cli, CLI_USAGE, &e);
	status = cli_call(cli, "POST", path, body, &reply);
	if (status != CLI_DONE)
		return status;
	if (cli->json)
		show_json(reply.json);
	else if (!file || strcmp(file, "-") != 0)
		show_answer(reply.json);
	if (save_picture(&cli->args, reply.json, &e))
		return cli_fail(cli, CLI_REFUSED, &e);
	return json_is_true(json_object_get(reply.json, "ok")) ? CLI_DONE : CLI_REFUSED;
}

const struct cli_command act_send = {
	"act", "ID ACTION | ID '[ACTION, …]' | ID -f FILE", "act: one action, a list, or a whole act object, as JSON",
	act_options, ARRAY_LEN(act_options), 1, 2, ARGS_MAX, run_act,
};
