/* SPDX-License-Identifier: GPL-2.0-or-later */
/* approvals: what waits for a person's yes, and answering it. */
#include <string.h>

#include "session/base/json.h"
#include "session/base/util.h"
#include "session/cli/commands.h"
#include "session/cli/show.h"

static const struct arg_option ls_options[] = {
	{"session", 0, "ID", false, "those of this session alone"},
	{"wait", 0, "MS", false, "while there is none, wait for one for so long"},
};

static void show_row(const json_t *card)
{
	show_value(stdout, json_object_get(card, "id"), 22);
	show_value(stdout, json_object_get(card, "rule"), 18);
	show_value(stdout, json_object_get(card, "expires_at"), 22);
	show_value(stdout, json_object_get(card, "action"), 0);
	putchar('\n');
}

/* How often people are asked, and whether they still read. */
static void show_counts(const json_t *counts)
{
	const json_t *of;
	size_t i;

	json_array_foreach(counts, i, of) {
		if (form_int(of, "asked", 0) == 0)
			continue;
		fprintf(stderr, "%s: %ld asked, %ld answered, %ld expired", form_string(of, "session", ""), form_int(of, "asked", 0), form_int(of, "answered", 0),
		        form_int(of, "expired", 0));
		if (form_int(of, "answered", 0) > 0)
			fprintf(stderr, "; %.0f %% of the answers were yes", 100 * form_number(of, "yes_share", 0));
		fputc('\n', stderr);
	}
}

static int run_ls(struct cli *cli)
{
	static const char *const same[] = {"session", "wait"};
	auto_free char *path = util_strdup("/v1/approvals");
	auto_reply reply = {0};
	const json_t *card;
	size_t i;
	int status;

	for (i = 0; i < ARRAY_LEN(same); i++)
		if (args_get(&cli->args, same[i]))
			cli_add_parameter(&path, "", same[i], args_get(&cli->args, same[i]));
	status = cli_call(cli, "GET", path, NULL, &reply);
	if (status != CLI_DONE)
		return status;
	if (cli->json) {
		show_json(reply.json);
		return CLI_DONE;
	}
	printf("%-22s%-18s%-22s%s\n", "ID", "RULE", "EXPIRES", "ACTION");
	json_array_foreach(json_object_get(reply.json, "approvals"), i, card)
		show_row(card);
	show_counts(json_object_get(reply.json, "counts"));
	return CLI_DONE;
}

const struct cli_command approvals_ls = {
	"approvals ls", "[--session ID] [--wait MS]", "list what waits for a person's yes", ls_options, ARRAY_LEN(ls_options), 0, 0, ARGS_MAX, run_ls,
};

static int get(struct cli *cli, const char *path)
{
	auto_reply reply = {0};
	int status = cli_call(cli, "GET", path, NULL, &reply);

	if (status == CLI_DONE)
		show_json(reply.json);
	return status;
}

static char *path_of(const struct cli *cli)
{
	auto_free char *id = cli_encode(cli->args.words[0]);

	return util_printf("/v1/approvals/%s", id);
}

static int run_show(struct cli *cli)
{
	auto_free char *path = path_of(cli);

	return get(cli, path);
}

const struct cli_command approvals_show = {
	"approvals show", "APPROVAL", "what is asked, as JSON", NULL, 0, 1, 1, ARGS_MAX, run_show,
};

static int run_rules(struct cli *cli)
{
	return get(cli, "/v1/approvals/rules");
}

const struct cli_command approvals_rules = {
	"approvals rules", "", "the rules of the modes and of the configuration, as JSON", NULL, 0, 0, 0, ARGS_MAX, run_rules,
};

static int answer(struct cli *cli, const char *what, const char *reason)
{
	auto_free char *path = path_of(cli);
	json_auto_t *body = json_pack("{s:s}", "answer", what);
	auto_reply reply = {0};
	struct err e = {0};
	int status;

	if (reason && json_object_set_new(body, "reason", json_string(reason)) < 0) {
		(void)err_set(&e, ERR_BAD_REQUEST, NULL, "--reason is not UTF-8");
		return cli_fail(cli, CLI_USAGE, &e);
	}
	status = cli_call(cli, "POST", path, body, &reply);
	if (status == CLI_DONE && cli->json)
		show_json(reply.json);
	return status;
}

static const struct arg_option allow_options[] = {
	{"session", 0, NULL, false, "for the rest of the session, as far as the card says"},
};

static int run_allow(struct cli *cli)
{
	return answer(cli, args_get(&cli->args, "session") ? "session" : "once", NULL);
}

const struct cli_command approvals_allow = {
	"approvals allow", "APPROVAL [--session]", "answer with yes", allow_options, ARRAY_LEN(allow_options), 1, 1, ARGS_MAX, run_allow,
};

static const struct arg_option deny_options[] = {
	{"reason", 0, "TEXT", false, "what the agent reads"},
};

static int run_deny(struct cli *cli)
{
	return answer(cli, "deny", args_get(&cli->args, "reason"));
}

const struct cli_command approvals_deny = {
	"approvals deny", "APPROVAL [--reason TEXT]", "answer with no", deny_options, ARRAY_LEN(deny_options), 1, 1, ARGS_MAX, run_deny,
};
