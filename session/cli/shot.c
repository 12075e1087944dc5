/* SPDX-License-Identifier: GPL-2.0-or-later */
/* shot: a picture of a session, to a file. */
#include <string.h>

#include "session/base/util.h"
#include "session/cli/commands.h"
#include "session/cli/picture.h"
#include "session/cli/show.h"

static const struct arg_option shot_options[] = {
	{"output", 'o', "FILE", false, "where to write (default ID.FORMAT; - is standard output, which must not be a terminal)"},
	{"format", 0, "FORMAT", false, "png (default), jpeg, webp or raw"},
	{"quality", 0, "N", false, "1 to 100, of jpeg and webp"},
	{"compression", 0, "HOW", false, "of png: fast (default) or small"},
	{"max-bytes", 0, "N", false, "of the picture, which gets less quality or a smaller scale to fit"},
	{"region", 0, "X,Y,W,H", false, "a part of the screen, in the session's space"},
	{"window", 0, "ID", false, "one window alone, with its menus and dialogs; its id is what the action windows tells"},
	{"space", 0, "WxH", false, "the scale: the size that all of the screen would have, or native"},
	{"no-cursor", 0, NULL, false, "without the pointer"},
};

/* The query of what was asked for; the path is malloced into *path. */
static int make_path(const struct args *args, const char *id, char **path, struct err *e)
{
	static const char *const same[][2] = {{"quality", "quality"}, {"compression", "compression"}, {"max-bytes", "max_bytes"},
	                                      {"region", "region"},   {"window", "window"},           {"space", "space"}};

	if (cli_session_path(id, "/screenshot", path, e))
		return -1;
	cli_add_parameter(path, "", "format", args_get(args, "format") ? args_get(args, "format") : "png");
	for (size_t i = 0; i < ARRAY_LEN(same); i++)
		if (args_get(args, same[i][0]))
			cli_add_parameter(path, "", same[i][1], args_get(args, same[i][0]));
	if (args_get(args, "no-cursor"))
		cli_add_parameter(path, "", "cursor", "false");
	return 0;
}

/* {"file","bytes","size","space","region","covered","at","fallback"}, region of a part or a window, covered of a window; for people one line on standard error, beside a picture that may be on standard output. */
static void show_shot(const struct cli *cli, const char *file, const struct client_reply *reply)
{
	json_auto_t *shot = json_pack("{s:s, s:I, s:s*, s:s*, s:s*, s:s*, s:s*}", "file", file, "bytes", (json_int_t)reply->body_len,
	                              "size", reply->size, "space", reply->space, "region", reply->region, "at", reply->at, "fallback", reply->fallback);

	if (reply->covered)
		json_object_set_new(shot, "covered", json_boolean(strcmp(reply->covered, "true") == 0));

	if (cli->json && strcmp(file, "-") != 0) {
		show_json(shot);
	} else if (strcmp(file, "-") != 0) {
		fprintf(stderr, "%s  %zu bytes  ", file, reply->body_len);
		show_value(stderr, json_object_get(shot, "size"), 0);
		if (reply->region)
			fprintf(stderr, "  at %s of %s%s", reply->region, reply->space ? reply->space : "the screen", json_is_true(json_object_get(shot, "covered")) ? ", partly covered" : "");
		fputs("  ", stderr);
		show_value(stderr, json_object_get(shot, "at"), 0);
		fputc('\n', stderr);
	}
	if (!cli->json && reply->fallback) {
		fputs("not as asked: ", stderr);
		show_value(stderr, json_object_get(shot, "fallback"), 0);
		fputc('\n', stderr);
	}
}

static int run_shot(struct cli *cli)
{
	const char *id = cli->args.words[0], *given = args_get(&cli->args, "output"), *format = args_get(&cli->args, "format");
	auto_free char *path = NULL, *file = given ? util_strdup(given) : util_printf("%s.%s", id, format ? format : "png");
	auto_reply reply = {0};
	struct err e = {0};
	int status;

	if (make_path(&cli->args, id, &path, &e) || picture_check(file, &e))
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
	"shot", "ID [-o FILE] [--format FORMAT] [--region X,Y,W,H] [--space WxH]…", "take a picture of a session",
	shot_options, ARRAY_LEN(shot_options), 1, 1, ARGS_MAX, run_shot,
};
