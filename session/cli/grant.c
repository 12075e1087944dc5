/* SPDX-License-Identifier: GPL-2.0-or-later */
/* grant, grants, revoke: the tokens of a session. */
#include <string.h>

#include "session/base/json.h"
#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/cli/commands.h"
#include "session/cli/show.h"

static const struct arg_option grant_options[] = {
	{"role", 0, "ROLE", false, "agent, viewer or controller (viewer if not given)"},
	{"ttl", 0, "SECONDS", false, "it expires after this time; else with the session"},
	{"name", 0, "NAME", false, "what grants calls it"},
	{"link", 0, NULL, false, "print a link for a browser instead, good once and within five minutes"},
};

static int make_grant(const struct args *args, json_t **out, struct err *e)
{
	const char *role = args_get(args, "role"), *name = args_get(args, "name");
	json_auto_t *grant = json_object();
	long ttl_s = 0;

	if (args_number(args, "ttl", 1, LIMIT_TTL_S, &ttl_s, e))
		return -1;
	if (json_object_set_new(grant, "role", json_string(role ? role : "viewer")) ||
	    (name && json_object_set_new(grant, "name", json_string(name))))
		return err_set(e, ERR_BAD_REQUEST, NULL, "--role and --name must be UTF-8");
	if (ttl_s > 0)
		json_object_set_new(grant, "ttl_s", json_integer(ttl_s));
	*out = json_incref(grant);
	return 0;
}

/* The link is the server's as we reach it. */
static void show_link(const struct cli *cli, const json_t *answer)
{
	printf("%s", cli->client.server);
	show_value(stdout, json_object_get(answer, "link"), 0);
	putchar('\n');
}

static void show_grant(const char *session, const json_t *answer)
{
	show_value(stdout, json_object_get(answer, "token"), 0);
	putchar('\n');
	fprintf(stderr, "  take it back  glovebox revoke %s ", session);
	show_value(stderr, json_object_get(answer, "id"), 0);
	fputc('\n', stderr);
}

/* The token alone goes to standard output, so that TOKEN=$(glovebox grant ID) works. */
static int run_grant(struct cli *cli)
{
	bool is_link = args_get(&cli->args, "link") != NULL;
	json_auto_t *grant = NULL;
	auto_free char *path = NULL;
	auto_reply reply = {0};
	struct err e = {0};
	int status;

	if (cli_session_path(cli->args.words[0], is_link ? "/tickets" : "/tokens", &path, &e) || make_grant(&cli->args, &grant, &e))
		return cli_fail(cli, CLI_USAGE, &e);
	status = cli_call(cli, "POST", path, grant, &reply);
	if (status != CLI_DONE)
		return status;
	if (cli->json)
		show_json(reply.json);
	else if (is_link)
		show_link(cli, reply.json);
	else
		show_grant(cli->args.words[0], reply.json);
	return CLI_DONE;
}

const struct cli_command grant_make = {
	"grant", "ID [--role ROLE] [--ttl SECONDS] [--link]", "make one more token for a session and print it",
	grant_options, ARRAY_LEN(grant_options), 1, 1, ARGS_MAX, run_grant,
};

static int run_grants(struct cli *cli)
{
	static const struct show_column columns[] = {{"id", "ID", 18}, {"role", "ROLE", 12}, {"expires_at", "EXPIRES", 26}, {"name", "NAME", 0}};
	auto_free char *path = NULL;
	auto_reply reply = {0};
	struct err e = {0};
	int status;

	if (cli_session_path(cli->args.words[0], "/tokens", &path, &e))
		return cli_fail(cli, CLI_USAGE, &e);
	status = cli_call(cli, "GET", path, NULL, &reply);
	if (status != CLI_DONE)
		return status;
	if (cli->json) {
		show_json(reply.json);
		return CLI_DONE;
	}
	show_table(json_object_get(reply.json, "tokens"), columns, ARRAY_LEN(columns));
	return CLI_DONE;
}

const struct cli_command grant_ls = {
	"grants", "ID", "list the tokens of a session, without their text", NULL, 0, 1, 1, ARGS_MAX, run_grants,
};

static int run_revoke(struct cli *cli)
{
	auto_free char *token = cli_encode(cli->args.words[1]), *rest = util_printf("/tokens/%s", token), *path = NULL;
	auto_reply reply = {0};
	struct err e = {0};

	if (cli_session_path(cli->args.words[0], rest, &path, &e))
		return cli_fail(cli, CLI_USAGE, &e);
	return cli_call(cli, "DELETE", path, NULL, &reply);
}

const struct cli_command grant_revoke = {
	"revoke", "ID TOKEN_ID", "take a token of a session back; what runs with it stops", NULL, 0, 2, 2, ARGS_MAX, run_revoke,
};
