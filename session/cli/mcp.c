/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mcp: this server as an MCP server on standard input and output. The client of one session gets a token of an agent of that session, which
 * opens nothing else; the user's own token is then used only to make that token or session, and to end it.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "session/base/limits.h"
#include "session/base/log.h"
#include "session/base/util.h"
#include "session/cli/commands.h"
#include "session/cli/mcp_bridge.h"

#define TOKEN_NAME "glovebox mcp"

static const struct arg_option mcp_options[] = {
	{"session", 0, "ID", false, "open this session to the client, and nothing else"},
	{"new", 0, NULL, false, "make a session for the client, which ends with it; the options below say what it is like"},
	SESSION_SPEC_OPTIONS,
};

/* What was made for the client, and is taken back when it has left. */
struct grant {
	char *token; /* NULL: the user's own is used */
	char *path;  /* of the token or the session, for DELETE; or NULL */
	struct keep keep;
};

static void grant_finish(struct grant *grant)
{
	if (grant->token)
		explicit_bzero(grant->token, strlen(grant->token));
	free(grant->token);
	free(grant->path);
	keep_finish(&grant->keep);
}

static void keep(struct grant *grant, const json_t *token, const char *path, const json_t *id)
{
	if (json_is_string(token) && json_is_string(id)) {
		grant->token = util_strdup(json_string_value(token));
		grant->path = util_printf("%s/%s", path, json_string_value(id));
	}
}

/* A token for a session that is there. Who may make none, an agent of that session, is known by his own. */
static int open_session(struct cli *cli, const char *id, struct grant *grant)
{
	json_auto_t *body = json_pack("{s:s, s:s}", "role", "agent", "name", TOKEN_NAME);
	auto_free char *path = NULL, *tokens = NULL;
	auto_reply reply = {0};
	struct err e = {0};
	int status;

	if (cli_session_path(id, "", &path, &e) || cli_session_path(id, "/tokens", &tokens, &e))
		return cli_fail(cli, CLI_USAGE, &e);
	if (client_call(&cli->client, "POST", tokens, body, &reply, &e))
		return cli_fail(cli, e.code == ERR_GONE ? CLI_UNREACHABLE : CLI_REFUSED, &e);
	if (reply.status < 300) {
		keep(grant, json_object_get(reply.json, "token"), tokens, json_object_get(reply.json, "id"));
		return CLI_DONE;
	}
	client_reply_finish(&reply);
	status = cli_call(cli, "GET", path, NULL, &reply);
	return status;
}

/* A session that is prolonged as long as the client is there, but for the times that the user gave. */
static int new_session(struct cli *cli, struct grant *grant)
{
	json_auto_t *spec = NULL;
	auto_reply reply = {0};
	struct err e = {0};
	int status;

	if (session_read_spec(&cli->args, &spec, &e))
		return cli_fail(cli, CLI_USAGE, &e);
	status = cli_call(cli, "POST", "/v1/sessions", spec, &reply);
	if (status != CLI_DONE)
		return status;
	keep(grant, json_object_get(json_object_get(reply.json, "tokens"), "agent"), "/v1/sessions", json_object_get(reply.json, "id"));
	keep_init(&grant->keep, &cli->client, reply.json, !json_object_get(spec, "ttl_s"), !json_object_get(spec, "idle_s"));
	return CLI_DONE;
}

static int check_words(const struct cli *cli, struct err *e)
{
	static const struct arg_option spec[] = {SESSION_SPEC_OPTIONS};

	if (args_get(&cli->args, "session") && args_get(&cli->args, "new"))
		return err_set(e, ERR_BAD_REQUEST, NULL, "--session opens a session that is there and --new makes one: give one of them");
	if (args_get(&cli->args, "spec") && strcmp(args_get(&cli->args, "spec"), "-") == 0)
		return err_set(e, ERR_BAD_REQUEST, NULL, "--spec takes a file here: standard input is the client's");
	for (size_t i = 0; i < ARRAY_LEN(spec) && !args_get(&cli->args, "new"); i++) {
		if (args_get(&cli->args, spec[i].name))
			return err_set(e, ERR_BAD_REQUEST, NULL, "--%s says what a session is like that --new makes", spec[i].name);
	}
	return 0;
}

static int open_grant(struct cli *cli, struct grant *grant)
{
	const char *session = args_get(&cli->args, "session");
	int status = cli_open(cli);

	if (status != CLI_DONE || (!session && !args_get(&cli->args, "new")))
		return status;
	return session ? open_session(cli, session, grant) : new_session(cli, grant);
}

static int run_mcp(struct cli *cli)
{
	struct grant grant = {0};
	struct err e = {0};
	int status;

	cli->json = false; /* standard output is the client's */
	if (check_words(cli, &e))
		return cli_fail(cli, CLI_USAGE, &e);
	status = open_grant(cli, &grant);
	if (status == CLI_DONE && bridge_run(&cli->client, grant.token ? grant.token : cli->client.token, &grant.keep, STDIN_FILENO,
	                                     STDOUT_FILENO, &e))
		status = cli_fail(cli, CLI_REFUSED, &e);
	if (grant.path) {
		auto_reply reply = {0};

		/* One that has ended meanwhile, or whose server has, needs no end. */
		if (client_call(&cli->client, "DELETE", grant.path, NULL, &reply, &e))
			log_warn("%s could not be ended: %s", grant.path, e.msg);
	}
	grant_finish(&grant);
	return status;
}

const struct cli_command mcp_serve = {
	"mcp", "[--session ID | --new [--image NAME]…]", "serve an MCP client on standard input and output",
	mcp_options, ARRAY_LEN(mcp_options), 0, 0, ARGS_MAX, run_mcp,
};
