/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lease: who holds the controls of a session; takes them, gives them back, waits until they change hands. */
#include <string.h>

#include "session/base/json.h"
#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/cli/commands.h"
#include "session/cli/show.h"

#define WAIT_MS 60000 /* of one long poll */

static const struct arg_option lease_options[] = {
	{"kind", 0, "KIND", false, "of a take: login, approve, captcha or other"},
	{"keep-running", 0, NULL, false, "of a take for a login: the agent's programs are not ended"},
	{"note", 0, "TEXT", false, "of a give: what the agent is told"},
	{"timeout", 0, "SECONDS", false, "of a wait: no longer than this"},
};

static int show(const struct cli *cli, json_t *lease)
{
	if (cli->json)
		show_json(lease);
	else
		show_members(stdout, lease);
	return CLI_DONE;
}

static int get(struct cli *cli, const char *path, json_t **lease)
{
	auto_reply reply = {0};
	int status = cli_call(cli, "GET", path, NULL, &reply);

	*lease = status == CLI_DONE ? json_incref(reply.json) : NULL;
	return status;
}

static int change(struct cli *cli, const char *path, const char *action)
{
	const char *kind = args_get(&cli->args, "kind"), *note = args_get(&cli->args, "note");
	json_auto_t *body = json_pack("{s:s,s:s*,s:s*}", "action", action, "kind", kind, "note", note);
	auto_reply reply = {0};
	struct err e = {0};
	int status;

	if (!body) {
		err_set(&e, ERR_BAD_REQUEST, NULL, "what is given is not UTF-8");
		return cli_fail(cli, CLI_USAGE, &e);
	}
	if (args_get(&cli->args, "keep-running"))
		json_object_set_new(body, "keep_running", json_true());
	status = cli_call(cli, "POST", path, body, &reply);
	return status == CLI_DONE ? show(cli, reply.json) : status;
}

/* Until the lease is another than when this began. */
static int wait_change(struct cli *cli, const char *path, long timeout_s)
{
	int64_t end_ms = util_now_ms() + timeout_s * 1000;
	json_auto_t *lease = NULL;
	int status = get(cli, path, &lease);
	long epoch = form_int(lease, "epoch", 0), now = epoch;

	while (status == CLI_DONE && now == epoch) {
		int64_t left_ms = timeout_s > 0 ? end_ms - util_now_ms() : WAIT_MS;
		auto_free char *query = util_printf("%s?wait_epoch=%ld&timeout_ms=%lld", path, epoch, (long long)(left_ms < WAIT_MS ? left_ms : WAIT_MS));

		if (left_ms <= 0)
			break;
		json_decref(lease);
		status = get(cli, query, &lease);
		now = form_int(lease, "epoch", 0);
	}
	if (status == CLI_DONE)
		(void)show(cli, lease);
	return status == CLI_DONE && now == epoch ? CLI_REFUSED : status;
}

/* An option is refused where it would do nothing. */
static int check_options(const struct args *args, const char *word, struct err *e)
{
	static const struct {
		const char *option, *word;
	} belongs[] = {{"kind", "take"}, {"keep-running", "take"}, {"note", "give"}, {"timeout", "wait"}};

	for (size_t i = 0; i < ARRAY_LEN(belongs); i++)
		if (args_get(args, belongs[i].option) && (!word || strcmp(word, belongs[i].word) != 0))
			return err_set(e, ERR_BAD_REQUEST, NULL, "--%s goes with %s", belongs[i].option, belongs[i].word);
	return 0;
}

static int run_lease(struct cli *cli)
{
	static const char *const actions[] = {"take", "give", "extend", "clear", "withdraw"};
	const char *word = cli->args.n_words > 1 ? cli->args.words[1] : NULL;
	json_auto_t *lease = NULL;
	auto_free char *path = NULL;
	struct err e = {0};
	long timeout_s = 0;
	char shown[40];
	int status;

	if (cli_session_path(cli->args.words[0], "/lease", &path, &e) || check_options(&cli->args, word, &e) ||
	    args_number(&cli->args, "timeout", 1, LIMIT_TTL_S, &timeout_s, &e))
		return cli_fail(cli, CLI_USAGE, &e);
	for (size_t i = 0; word && i < ARRAY_LEN(actions); i++)
		if (strcmp(word, actions[i]) == 0)
			return change(cli, path, word);
	if (word && strcmp(word, "wait") == 0)
		return wait_change(cli, path, timeout_s);
	if (word) {
		err_set(&e, ERR_BAD_REQUEST, NULL, "%s is none of take, give, extend, clear, withdraw, wait", err_quote(shown, sizeof(shown), word, strlen(word)));
		return cli_fail(cli, CLI_USAGE, &e);
	}
	status = get(cli, path, &lease);
	return status == CLI_DONE ? show(cli, lease) : status;
}

const struct cli_command lease_command = {
	"lease", "ID [take|give|extend|clear|withdraw|wait]", "show who holds the controls, take them, give them back",
	lease_options, ARRAY_LEN(lease_options), 1, 2, ARGS_MAX, run_lease,
};
