/* SPDX-License-Identifier: GPL-2.0-or-later */
/* new, show, rm: the life of sessions. */
#include <string.h>

#include "session/base/json.h"
#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/cli/commands.h"
#include "session/cli/workspace.h"
#include "session/cli/show.h"

static const struct arg_option new_options[] = {
	SESSION_SPEC_OPTIONS,
	{"count", 0, "N", false, "make so many, all or none"},
	{"workspace", 0, "FOLDER", false, "copy this folder to ~/workspace: keys and credentials stay here, .git is read-only"},
	{"include", 0, "PATH", true, "of the workspace: take this file or folder, although it looks like a key or credentials"},
	{"quiet", 'q', NULL, false, "print the id and nothing else"},
};

static int read_spec(const char *file, json_t **spec, struct err *e)
{
	auto_free char *text = NULL;
	size_t len;
	json_t *read;

	if (!file) {
		*spec = json_object();
		return 0;
	}
	if (cli_read_file(file, LIMIT_BODY_BYTES, &text, &len, e) || json_parse(text, len, &read, e))
		return -1;
	if (!json_is_object(read)) {
		json_decref(read);
		return err_set(e, ERR_BAD_FIELD, NULL, "%s must hold a JSON object", file);
	}
	*spec = read;
	return 0;
}

/* The object or array under `name`, made if it is not there; borrowed. */
static json_t *spec_member(json_t *spec, const char *name, json_type type)
{
	json_t *member = json_object_get(spec, name);

	if (!member || json_typeof(member) != type) {
		member = type == JSON_ARRAY ? json_array() : json_object();
		json_object_set_new(spec, name, member);
	}
	return member;
}

static int put_pairs(json_t *spec, const char *member, const struct args *args, const char *option, struct err *e)
{
	const char *pair;
	size_t at = 0;

	while ((pair = args_next(args, option, &at))) {
		auto_free char *name = NULL;
		const char *value;

		if (cli_read_pair(pair, option, &name, &value, e))
			return -1;
		if (json_object_set_new(spec_member(spec, member, JSON_OBJECT), name, json_string(value)))
			return err_set(e, ERR_BAD_REQUEST, NULL, "--%s is not UTF-8", option);
	}
	return 0;
}

int session_put_size(json_t *spec, const struct args *args, const char *option, const char *const sides[2], struct err *e)
{
	const char *size = args_get(args, option);
	json_t *display;
	int width, height, end = 0;

	if (!size)
		return 0;
	if (sscanf(size, "%4dx%4d%n", &width, &height, &end) != 2 || size[end] != '\0')
		return err_set(e, ERR_BAD_REQUEST, NULL, "--%s takes WIDTHxHEIGHT in pixels, such as 1280x800", option);
	display = spec_member(spec, "display", JSON_OBJECT);
	json_object_set_new(display, sides[0], json_integer(width));
	json_object_set_new(display, sides[1], json_integer(height));
	return 0;
}

/* Whoever lists hosts wants a list. */
static int put_egress(json_t *spec, const struct args *args, struct err *e)
{
	const char *mode = args_get(args, "egress"), *host;
	json_t *egress;
	size_t at = 0;

	while ((host = args_next(args, "allow", &at))) {
		egress = spec_member(spec, "egress", JSON_OBJECT);
		if (json_array_append_new(spec_member(egress, "allow", JSON_ARRAY), json_string(host)))
			return err_set(e, ERR_BAD_REQUEST, NULL, "--allow is not UTF-8");
		if (!mode)
			json_object_set_new(egress, "mode", json_string("allowlist"));
	}
	if (mode && json_object_set_new(spec_member(spec, "egress", JSON_OBJECT), "mode", json_string(mode)))
		return err_set(e, ERR_BAD_REQUEST, NULL, "--egress is not UTF-8");
	return 0;
}

int session_put_options(json_t *spec, const struct args *args, struct err *e)
{
	static const char *const now[] = {"width", "height"}, *const most[] = {"max_width", "max_height"};
	const char *image = args_get(args, "image"), *app;
	size_t at = 0;

	if (session_put_size(spec, args, "size", now, e) || session_put_size(spec, args, "max-size", most, e) || put_pairs(spec, "labels", args, "label", e) || put_pairs(spec, "env", args, "env", e) ||
	    cli_put_seconds(spec, args, "ttl", "ttl_s", 1, e) || cli_put_seconds(spec, args, "idle", "idle_s", 0, e) || put_egress(spec, args, e))
		return -1;
	if (image && json_object_set_new(spec, "image", json_string(image)))
		return err_set(e, ERR_BAD_REQUEST, NULL, "--image is not UTF-8");
	while ((app = args_next(args, "app", &at))) {
		if (json_array_append_new(spec_member(spec, "apps", JSON_ARRAY), json_string(app)))
			return err_set(e, ERR_BAD_REQUEST, NULL, "--app is not UTF-8");
	}
	return 0;
}

int session_read_spec(const struct args *args, json_t **out, struct err *e)
{
	json_auto_t *spec = NULL;

	if (read_spec(args_get(args, "spec"), &spec, e) || session_put_options(spec, args, e))
		return -1;
	*out = json_incref(spec);
	return 0;
}

/* The id alone goes to standard output, so that ID=$(glovebox new) works. */
static void show_new(const json_t *session, bool quiet)
{
	const char *id = json_string_value(json_object_get(session, "id"));
	auto_free char *visible = show_visible(id ? id : "", id ? strlen(id) : 0, 0);

	printf("%s\n", visible);
	if (quiet)
		return;
	fprintf(stderr,
	        "  look   glovebox shot %s\n"
	        "  click  glovebox act %s '{\"action\":\"click\",\"x\":640,\"y\":400}'\n"
	        "  run    glovebox exec %s -- uname -a\n"
	        "  end    glovebox rm %s\n"
	        "Tokens for an agent and for viewers come with --json.\n",
	        visible, visible, visible, visible);
}

/* One session with what can be done with it, or the ids of several, a line each. */
static void show_made(const json_t *answer, bool quiet)
{
	const json_t *sessions = json_object_get(answer, "sessions"), *session;
	size_t i;

	if (!sessions)
		show_new(answer, quiet);
	json_array_foreach(sessions, i, session)
		show_new(session, true);
}

static int run_new(struct cli *cli)
{
	json_auto_t *spec = NULL;
	auto_reply reply = {0};
	struct err e = {0};
	auto_fd archive = -1;
	long count = 0;
	int status;

	if (session_read_spec(&cli->args, &spec, &e) || args_number(&cli->args, "count", 1, LIMIT_COUNT, &count, &e))
		return cli_fail(cli, CLI_USAGE, &e);
	if (count > 0)
		json_object_set_new(spec, "count", json_integer(count));
	if (workspace_pack(&cli->args, &archive, &e))
		return cli_fail(cli, CLI_USAGE, &e);
	status = cli_call(cli, "POST", "/v1/sessions", spec, &reply);
	if (status == CLI_DONE && archive >= 0)
		status = workspace_send(cli, reply.json, archive);
	if (status != CLI_DONE)
		return status;
	if (cli->json)
		show_json(reply.json);
	else
		show_made(reply.json, args_get(&cli->args, "quiet") != NULL);
	return CLI_DONE;
}

const struct cli_command session_new = {
	"new", "[--image NAME] [--app NAME]…", "start a session and print its id",
	new_options, ARRAY_LEN(new_options), 0, 0, ARGS_MAX, run_new,
};

static int run_show(struct cli *cli)
{
	auto_free char *path = NULL;
	auto_reply reply = {0};
	struct err e = {0};
	int status;

	if (cli_session_path(cli->args.words[0], "", &path, &e))
		return cli_fail(cli, CLI_USAGE, &e);
	status = cli_call(cli, "GET", path, NULL, &reply);
	if (status != CLI_DONE)
		return status;
	if (cli->json)
		show_json(reply.json);
	else
		show_members(stdout, reply.json);
	return CLI_DONE;
}

const struct cli_command session_show = {
	"show", "ID", "show one session", NULL, 0, 1, 1, ARGS_MAX, run_show,
};

static int switch_one(struct cli *cli, const char *rest)
{
	auto_free char *path = NULL;
	auto_reply reply = {0};
	struct err e = {0};
	int status;

	if (cli_session_path(cli->args.words[0], rest, &path, &e))
		return cli_fail(cli, CLI_USAGE, &e);
	status = cli_call(cli, "POST", path, NULL, &reply);
	if (status == CLI_DONE && cli->json)
		show_json(reply.json);
	return status;
}

static int run_pause(struct cli *cli)
{
	return switch_one(cli, "/pause");
}

static int run_resume(struct cli *cli)
{
	return switch_one(cli, "/resume");
}

const struct cli_command session_pause = {
	"pause", "ID", "stop what runs in a session and freeze its processes", NULL, 0, 1, 1, ARGS_MAX, run_pause,
};
const struct cli_command session_resume = {
	"resume", "ID", "let a paused session go on", NULL, 0, 1, 1, ARGS_MAX, run_resume,
};

static int remove_one(struct cli *cli, const char *id)
{
	auto_free char *path = NULL;
	auto_reply reply = {0};
	struct err e = {0};

	if (cli_session_path(id, "", &path, &e))
		return cli_fail(cli, CLI_USAGE, &e);
	return cli_call(cli, "DELETE", path, NULL, &reply);
}

/* Ends each of them, also after one that could not be ended. */
static int run_rm(struct cli *cli)
{
	int worst = CLI_DONE;
	json_auto_t *removed = json_array();

	for (size_t i = 0; i < cli->args.n_words; i++) {
		int status = remove_one(cli, cli->args.words[i]);

		worst = status > worst ? status : worst;
		if (status == CLI_DONE) {
			workspace_forget(cli->args.words[i]);
			json_array_append_new(removed, json_string(cli->args.words[i]));
		}
	}
	if (cli->json && json_array_size(removed) > 0) {
		json_auto_t *answer = json_pack("{s:O}", "removed", removed);

		show_json(answer);
	}
	return worst;
}

const struct cli_command session_rm = {
	"rm", "ID…", "end sessions; returns when their last process is gone", NULL, 0, 1, ARGS_MAX, ARGS_MAX, run_rm,
};
