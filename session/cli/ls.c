/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ls: the list of sessions. */
#include <string.h>

#include "session/base/json.h"
#include "session/base/util.h"
#include "session/cli/commands.h"
#include "session/cli/files.h"
#include "session/cli/list.h"
#include "session/cli/show.h"

#define LIVING "starting,ready,paused,ending"

/* Who has the controls, as of people one must know which session waits for one. */
static const char *controls_of(const json_t *session)
{
	const char *holder = form_string(json_object_get(session, "lease"), "holder", "-");

	return strcmp(holder, "nobody") == 0 ? "waits" : strcmp(holder, "human") == 0 ? "a person" : strcmp(holder, "agent") == 0 ? "agent" : "-";
}

static void show_row(const json_t *session)
{
	const json_t *display = json_object_get(session, "display");
	json_auto_t *size = json_sprintf("%dx%d", (int)json_integer_value(json_object_get(display, "width")),
	                                 (int)json_integer_value(json_object_get(display, "height")));

	show_value(stdout, json_object_get(session, "id"), 18);
	show_value(stdout, json_object_get(session, "state"), 10);
	printf("%-10s", controls_of(session));
	show_value(stdout, json_object_get(session, "image"), 14);
	show_value(stdout, size, 11);
	show_value(stdout, json_object_get(session, "expires_at"), 26);
	show_value(stdout, json_object_get(session, "labels"), 0);
	putchar('\n');
}

static const struct arg_option ls_options[] = {
	{"all", 'a', NULL, false, "also the sessions that have ended"},
	{"state", 0, "STATE", false, "those in this state, or in one of several: ready,ended"},
	{"label", 0, "K=V", true, "those with this label"},
	{"image", 0, "NAME", false, "those of this image"},
	{"owner", 0, "NAME", false, "those that this key made"},
};

static int make_path(const struct args *args, char **out, struct err *e)
{
	static const char *const same[] = {"state", "owner"};
	auto_free char *path = util_strdup("/v1/sessions");

	if (!args_get(args, "all") && !args_get(args, "state"))
		cli_add_parameter(&path, "", "state", LIVING);
	for (size_t i = 0; i < ARRAY_LEN(same); i++)
		if (args_get(args, same[i]))
			cli_add_parameter(&path, "", same[i], args_get(args, same[i]));
	if (list_filter(args, &path, e) < 0)
		return -1;
	*out = steal_ptr(&path);
	return 0;
}

/* ID:PATH: what is in a folder of a session. */
static int run_folder(struct cli *cli)
{
	auto_free char *path = NULL;
	auto_reply reply = {0};
	const json_t *entry;
	struct err e = {0};
	size_t i;
	int status;

	if (files_path(cli->args.words[0], &path, &e))
		return cli_fail(cli, CLI_USAGE, &e);
	status = cli_call(cli, "GET", path, NULL, &reply);
	if (status != CLI_DONE)
		return status;
	if (!json_object_get(reply.json, "entries")) {
		(void)err_set(&e, ERR_BAD_REQUEST, NULL, "this is a file; glovebox cp fetches it");
		return cli_fail(cli, CLI_REFUSED, &e);
	}
	if (cli->json) {
		show_json(reply.json);
		return CLI_DONE;
	}
	printf("%-8s%-6s%14s  %-22s%s\n", "TYPE", "MODE", "SIZE", "MODIFIED", "NAME");
	json_array_foreach(json_object_get(reply.json, "entries"), i, entry) {
		show_value(stdout, json_object_get(entry, "type"), 8);
		show_value(stdout, json_object_get(entry, "mode"), 6);
		printf("%14lld  ", (long long)json_integer_value(json_object_get(entry, "size")));
		show_value(stdout, json_object_get(entry, "modified"), 22);
		show_value(stdout, json_object_get(entry, "name"), 0);
		putchar('\n');
	}
	if (json_is_true(json_object_get(reply.json, "more")))
		fputs("there are more\n", stderr);
	return CLI_DONE;
}

static int run_ls(struct cli *cli)
{
	auto_free char *path = NULL;
	json_auto_t *sessions = NULL;
	const json_t *session;
	struct err e = {0};
	size_t i;
	int status;

	if (cli->args.n_words > 0)
		return run_folder(cli);
	if (make_path(&cli->args, &path, &e))
		return cli_fail(cli, CLI_USAGE, &e);
	status = list_sessions(cli, path, &sessions);
	if (status != CLI_DONE)
		return status;
	if (cli->json) {
		json_auto_t *all = json_pack("{s:O}", "sessions", sessions);

		show_json(all);
		return CLI_DONE;
	}
	printf("%-18s%-10s%-10s%-14s%-11s%-26s%s\n", "ID", "STATE", "CONTROLS", "IMAGE", "DISPLAY", "EXPIRES", "LABELS");
	json_array_foreach(sessions, i, session)
		show_row(session);
	return CLI_DONE;
}

const struct cli_command ls_sessions = {
	"ls", "[--all] [--state STATE] [--label K=V]… | ID:PATH", "list the sessions, or a folder of one", ls_options, ARRAY_LEN(ls_options), 0, 1, ARGS_MAX, run_ls,
};
