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

/* What is made for the client, and taken back when it has left. */
struct grant {
	struct cli *cli;
	char *token; /* NULL: the user's own is used */
	char *path;  /* of the token or the session, for DELETE; or NULL */
	struct bridge_door door;
};

static void grant_finish(struct grant *grant)
{
	if (grant->token)
		explicit_bzero(grant->token, strlen(grant->token));
	free(grant->token);
	free(grant->path);
}

static void keep(struct grant *grant, const json_t *token, const char *path, const json_t *id)
{
	if (json_is_string(token) && json_is_string(id)) {
		grant->token = util_strdup(json_string_value(token));
		grant->path = util_printf("%s/%s", path, json_string_value(id));
	}
}

/* One call to the server that must succeed. ERR_GONE, or ERR_CONFLICT with what the server says. */
static int ask_server(struct grant *grant, const char *method, const char *path, const json_t *body, struct client_reply *reply, struct err *e)
{
	const char *detail;

	if (client_call(&grant->cli->client, method, path, body, reply, e))
		return -1;
	if (reply->status < 300)
		return 0;
	detail = json_string_value(json_object_get(reply->json, "detail"));
	(void)err_set(e, ERR_CONFLICT, NULL, "%s", detail ? detail : "the server gives no reason");
	return -1;
}

/* A token for a session that is there. Who may make none, such as an agent of that session, is known by his own. */
static int open_session(struct grant *grant, const char *id, struct err *e)
{
	json_auto_t *body = json_pack("{s:s, s:s}", "role", "agent", "name", TOKEN_NAME);
	auto_free char *path = NULL, *tokens = NULL;
	auto_reply made = {0}, seen = {0};

	if (cli_session_path(id, "", &path, e) || cli_session_path(id, "/tokens", &tokens, e))
		return -1;
	if (ask_server(grant, "POST", tokens, body, &made, e) == 0)
		keep(grant, json_object_get(made.json, "token"), tokens, json_object_get(made.json, "id"));
	else if (made.status != 403)
		return -1;
	return grant->token ? 0 : ask_server(grant, "GET", path, NULL, &seen, e);
}

/* A session that is prolonged as long as the client is there, but for the times that the user gave. */
static int new_session(struct grant *grant, struct err *e)
{
	json_auto_t *spec = NULL;
	auto_reply reply = {0};

	if (session_read_spec(&grant->cli->args, &spec, e) || ask_server(grant, "POST", "/v1/sessions", spec, &reply, e))
		return -1;
	keep(grant, json_object_get(json_object_get(reply.json, "tokens"), "agent"), "/v1/sessions", json_object_get(reply.json, "id"));
	keep_init(&grant->door.keep, &grant->cli->client, reply.json, !json_object_get(spec, "ttl_s"), !json_object_get(spec, "idle_s"));
	return 0;
}

static int open_door(void *arg, const char **token, struct err *e)
{
	struct grant *grant = arg;
	const char *session = args_get(&grant->cli->args, "session");

	if ((session && open_session(grant, session, e)) || (args_get(&grant->cli->args, "new") && new_session(grant, e)))
		return -1;
	*token = grant->token ? grant->token : grant->cli->client.token;
	return 0;
}

static int check_words(const struct cli *cli, struct err *e)
{
	static const struct arg_option spec[] = {SESSION_SPEC_OPTIONS};
	const char *session = args_get(&cli->args, "session");
	auto_free char *path = NULL;
	json_auto_t *asked = NULL;

	if (session && args_get(&cli->args, "new"))
		return err_set(e, ERR_BAD_REQUEST, NULL, "--session opens a session that is there and --new makes one: give one of them");
	if (args_get(&cli->args, "spec") && strcmp(args_get(&cli->args, "spec"), "-") == 0)
		return err_set(e, ERR_BAD_REQUEST, NULL, "--spec takes a file here: standard input is the client's");
	for (size_t i = 0; i < ARRAY_LEN(spec) && !args_get(&cli->args, "new"); i++) {
		if (args_get(&cli->args, spec[i].name))
			return err_set(e, ERR_BAD_REQUEST, NULL, "--%s says what a session is like that --new makes", spec[i].name);
	}
	return session ? cli_session_path(session, "", &path, e) : session_read_spec(&cli->args, &asked, e);
}

static int run_mcp(struct cli *cli)
{
	struct grant grant = {.cli = cli, .door = {.open = open_door, .arg = &grant}};
	struct err e = {0};
	int status;

	cli->json = false; /* standard output is the client's */
	if (check_words(cli, &e))
		return cli_fail(cli, CLI_USAGE, &e);
	status = cli_open(cli);
	if (status != CLI_DONE)
		return status;
	if (bridge_run(&cli->client, &grant.door, STDIN_FILENO, STDOUT_FILENO, &e))
		status = cli_fail(cli, CLI_REFUSED, &e);
	if (grant.path) {
		auto_reply reply = {0};

		/* One that has ended meanwhile needs no end. */
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
