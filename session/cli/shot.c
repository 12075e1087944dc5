/* SPDX-License-Identifier: GPL-2.0-or-later */
/* shot: a picture of a session, to a file. */
#include <string.h>

#include "session/base/util.h"
#include "session/cli/commands.h"
#include "session/cli/picture.h"
#include "session/cli/show.h"

static const struct arg_option shot_options[] = {
	{"output", 'o', "FILE", false, "where to write (default ID.png; - is standard output, which must not be a terminal)"},
};

/* {"file","bytes","at","space"}; for people one line on standard error, beside a picture that may be on standard output. */
static void show_shot(const struct cli *cli, const char *file, const struct client_reply *reply)
{
	json_auto_t *shot = json_pack("{s:s, s:I, s:s*, s:s*}", "file", file, "bytes", (json_int_t)reply->body_len, "at", reply->at,
	                              "space", reply->space);

	if (cli->json && strcmp(file, "-") != 0) {
		show_json(shot);
	} else if (strcmp(file, "-") != 0) {
		fprintf(stderr, "%s  %zu bytes  ", file, reply->body_len);
		show_value(stderr, json_object_get(shot, "space"), 0);
		fputs("  ", stderr);
		show_value(stderr, json_object_get(shot, "at"), 0);
		fputc('\n', stderr);
	}
}

static int run_shot(struct cli *cli)
{
	const char *id = cli->args.words[0], *given = args_get(&cli->args, "output");
	auto_free char *path = NULL, *file = given ? util_strdup(given) : util_printf("%s.png", id);
	auto_reply reply = {0};
	struct err e = {0};
	int status;

	if (cli_session_path(id, "/screenshot", &path, &e) || picture_check(file, &e))
		return cli_fail(cli, CLI_USAGE, &e);
	status = cli_call(cli, "GET", path, NULL, &reply);
	if (status != CLI_DONE)
		return status;
	if (picture_write(file, reply.body ? reply.body : "", reply.body_len, &e))
		return cli_fail(cli, CLI_REFUSED, &e);
	show_shot(cli, file, &reply);
	return CLI_DONE;
}

const struct cli_command shot_take = {
	"shot", "ID [-o FILE]", "take a picture of a session",
	shot_options, ARRAY_LEN(shot_options), 1, 1, ARGS_MAX, run_shot,
};
