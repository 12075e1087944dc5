/* SPDX-License-Identifier: GPL-2.0-or-later */
/* act: a list of actions, sent as it is written; the server knows the actions and checks them. */
#include <string.h>

#include "session/base/json.h"
#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/cli/answer.h"
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
	if (cli_read_file(file ? file : "-", LIMIT_ACT_BODY_BYTES, &text, &len, e))
		return -1;
	return json_parse(text, len, out, e);
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
	if (args_get(args, "observe") || (args_get(args, "output") && !answer_has_screenshot(body)))
		json_object_set_new(body, "observe", json_true());
	return 0;
}

static int make_act(const struct args *args, json_t **body, struct err *e)
{
	json_auto_t *actions = NULL;

	if (read_actions(args, &actions, e))
		return -1;
	*body = answer_act(actions);
	return json_is_object(*body) ? put_options(*body, args, e) : 0;
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
		answer_show(reply.json);
	if (save_picture(&cli->args, reply.json, &e))
		return cli_fail(cli, CLI_REFUSED, &e);
	return json_is_true(json_object_get(reply.json, "ok")) ? CLI_DONE : CLI_REFUSED;
}

const struct cli_command act_send = {
	"act", "ID ACTION | ID '[ACTION, …]' | ID -f FILE", "act: one action, a list, or a whole act object, as JSON",
	act_options, ARRAY_LEN(act_options), 1, 2, ARGS_MAX, run_act,
};
