/* SPDX-License-Identifier: GPL-2.0-or-later */
/* set: changes a session that lives. */
#include "session/base/json.h"
#include "session/base/util.h"
#include "session/cli/commands.h"
#include "session/cli/show.h"

static const struct arg_option set_options[] = {
	{"size", 0, "WxH", false, "give its display this size"},
	{"ttl", 0, "SECONDS", false, "end it so long from now"},
	{"idle", 0, "SECONDS", false, "end it when no agent called for so long, from now on; 0: never"},
	{"label", 0, "K=V", true, "set this label"},
	{"unlabel", 0, "K", true, "take this label away"},
};

static int put_labels(json_t *labels, const struct args *args, struct err *e)
{
	const char *pair, *gone;
	size_t at = 0;

	while ((pair = args_next(args, "label", &at))) {
		auto_free char *name = NULL;
		const char *value;

		if (cli_read_pair(pair, "label", &name, &value, e))
			return -1;
		if (json_object_set_new(labels, name, json_string(value)))
			return err_set(e, ERR_BAD_REQUEST, NULL, "--label is not UTF-8");
	}
	at = 0;
	while ((gone = args_next(args, "unlabel", &at)))
		if (json_object_set_new(labels, gone, json_null()))
			return err_set(e, ERR_BAD_REQUEST, NULL, "--unlabel is not UTF-8");
	return 0;
}

static int make_change(const struct args *args, json_t **out, struct err *e)
{
	static const char *const sides[] = {"width", "height"};
	json_auto_t *change = json_object(), *labels = json_object();

	if (session_put_size(change, args, "size", sides, e) || cli_put_seconds(change, args, "ttl", "ttl_s", 1, e) || cli_put_seconds(change, args, "idle", "idle_s", 0, e) ||
	    put_labels(labels, args, e))
		return -1;
	if (json_object_size(labels) > 0)
		json_object_set(change, "labels", labels);
	if (json_object_size(change) == 0)
		return err_set(e, ERR_BAD_REQUEST, NULL, "say what to change: --size, --ttl, --idle, --label, --unlabel");
	*out = json_incref(change);
	return 0;
}

static int run_set(struct cli *cli)
{
	json_auto_t *change = NULL;
	auto_free char *path = NULL;
	auto_reply reply = {0};
	struct err e = {0};
	int status;

	if (cli_session_path(cli->args.words[0], "", &path, &e) || make_change(&cli->args, &change, &e))
		return cli_fail(cli, CLI_USAGE, &e);
	status = cli_call(cli, "PATCH", path, change, &reply);
	if (status == CLI_DONE && cli->json)
		show_json(reply.json);
	return status;
}

const struct cli_command set_session = {
	"set", "ID [--size WxH] [--ttl SECONDS] [--idle SECONDS] [--label K=V]…", "change the size, labels and times of a session",
	set_options, ARRAY_LEN(set_options), 1, 1, ARGS_MAX, run_set,
};
