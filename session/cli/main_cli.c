/* SPDX-License-Identifier: GPL-2.0-or-later */
/* glovebox, the command line: a plain user of the public API. The table below serves dispatch and help. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "session/base/log.h"
#include "session/base/util.h"
#include "session/cli/commands.h"

static const struct cli_command *const commands[] = {
	&session_new, &ls_sessions, &session_show, &set_session, &session_pause, &session_resume, &lease_command, &session_rm,
	&grant_make, &grant_ls, &grant_revoke, &view_open, &approvals_ls, &approvals_show, &approvals_allow, &approvals_deny, &approvals_rules,
	&shot_take, &act_send, &exec_run, &cp_file, &workspace_get, &run_file, &replay_journal, &export_journal, &mcp_serve, &image_build, &image_ls, &token_make,
	&secret_put, &secret_ls, &secret_rm, &limits_suggest, &top_show, &doctor_look, &selftest_run,
};

static const struct arg_option common[] = {
	{"server", 0, "URL", false, "the server: http://…, https://… or unix:/PATH (GLOVEBOX_SERVER; default http://127.0.0.1:7070)"},
	{"cacert", 0, "FILE", false, "certificates to trust instead of this machine's (GLOVEBOX_CACERT)"},
	{"token-file", 0, "FILE", false,
	  "the token (GLOVEBOX_TOKEN_FILE; default ~/.config/glovebox/token, then /var/lib/glovebox/operator.token)"},
	{"json", 0, NULL, false, "answers and refusals as JSON on standard output"},
	{"help", 'h', NULL, false, "show this"},
	{"version", 0, NULL, false, "show the version"},
};

static void help_options(FILE *to, const char *title, const struct arg_option *rows, size_t n_rows)
{
	if (n_rows > 0)
		fprintf(to, "\n%s\n", title);
	for (size_t i = 0; i < n_rows; i++) {
		auto_free char *names = rows[i].letter ? util_printf("-%c, --%s", rows[i].letter, rows[i].name)
		                                       : util_printf("--%s", rows[i].name);
		auto_free char *whole = util_printf("%s %s", names, rows[i].value ? rows[i].value : "");

		fprintf(to, "  %-20s %s%s\n", whole, rows[i].doc, rows[i].many ? " (may be given again)" : "");
	}
}

static void help(FILE *to)
{
	fprintf(to, "usage: glovebox COMMAND [OPTION]…\n\n");
	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		fprintf(to, "  %-16s %s\n", commands[i]->name, commands[i]->doc);
	help_options(to, "options of every command:", common, ARRAY_LEN(common));
	fprintf(to, "\nexit status: 0 done, 1 refused or failed, 2 wrong usage, 3 server not reachable\n"
	            "glovebox COMMAND --help tells more.\n");
}

/* "glovebox NAME WORDS": free() it. */
static char *usage_of(const struct cli_command *command)
{
	return util_printf("glovebox %s%s%s", command->name, *command->usage ? " " : "", command->usage);
}

static void help_command(FILE *to, const struct cli_command *command)
{
	auto_free char *usage = usage_of(command);

	fprintf(to, "usage: %s\n%s\n", usage, command->doc);
	help_options(to, "options:", command->options, command->n_options);
	help_options(to, "options of every command:", common, ARRAY_LEN(common));
}

/* The command that the first words name, and how many words that takes. */
static const struct cli_command *find_command(const struct args *args, size_t *n_name)
{
	for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
		const char *space = strchr(commands[i]->name, ' ');
		size_t first = space ? (size_t)(space - commands[i]->name) : strlen(commands[i]->name);

		*n_name = space ? 2 : 1;
		if (args->n_words < *n_name || strlen(args->words[0]) != first || memcmp(args->words[0], commands[i]->name, first) != 0)
			continue;
		if (!space || strcmp(args->words[1], space + 1) == 0)
			return commands[i];
	}
	return NULL;
}

/* What a command is called behind a first word: "ls" of "approvals ls", "" of "ls"; NULL: it has another first word. */
static const char *name_behind(const struct cli_command *command, const char *word)
{
	size_t len = strlen(word);

	if (strncmp(command->name, word, len) != 0 || (command->name[len] != ' ' && command->name[len] != '\0'))
		return NULL;
	return command->name + len + (command->name[len] == ' ');
}

/* A word that is no command, or but the first half of some: says what there is. */
static int refuse_command(struct cli *cli, const char *word)
{
	auto_free char *all = util_strdup(""), *group = util_strdup("");
	char quoted[64];
	struct err e = {0};

	for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
		const char *name = commands[i]->name, *rest = name_behind(commands[i], word);
		size_t first = strcspn(name, " ");
		char *longer;

		if (rest) {
			longer = util_printf("%s%s %s", group, *group ? "," : "", rest);
			free(group);
			group = longer;
		}
		if (i > 0 && strncmp(commands[i - 1]->name, name, first + (name[first] == ' ')) == 0)
			continue; /* another of the same first word */
		longer = util_printf("%s%s %.*s", all, *all ? "," : "", (int)first, name);
		free(all);
		all = longer;
	}
	err_quote(quoted, sizeof(quoted), word, strlen(word));
	if (*group)
		err_set(&e, ERR_BAD_REQUEST, NULL, "glovebox %s takes one of:%s", word, group);
	else
		err_set(&e, ERR_BAD_REQUEST, NULL, "there is no command %s; the commands are%s", quoted, all);
	return cli_fail(cli, CLI_USAGE, &e);
}

/* "help", "help WORDS", or the first half of a command's name with --help: all commands, or those that begin so. */
static int help_words(struct cli *cli, const char *const *words, size_t n)
{
	bool any = false;

	if (n == 0) {
		help(stdout);
		return CLI_DONE;
	}
	for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
		const char *rest = name_behind(commands[i], words[0]);

		if (!rest || (n > 1 && strcmp(rest, words[1]) != 0))
			continue;
		if (any)
			putchar('\n');
		help_command(stdout, commands[i]);
		any = true;
	}
	return any ? CLI_DONE : refuse_command(cli, words[0]);
}

/* Parses what follows the command's name and runs it. */
static int run_command(struct cli *cli, const struct cli_command *command, size_t n_name)
{
	const struct arg_options sets[] = {{command->options, command->n_options}, {common, ARRAY_LEN(common)}};
	struct args rest = {.n_given = cli->args.n_given};
	struct err e = {0};
	int status;

	memcpy(rest.given, cli->args.given, sizeof(rest.given));
	status = args_parse(&rest, sets, ARRAY_LEN(sets), command->stop_after, (int)(cli->args.n_words - n_name),
	                    cli->args.words + n_name, &e);
	cli->args = rest;
	cli->json = args_get(&cli->args, "json") != NULL;
	if (status)
		return cli_fail(cli, CLI_USAGE, &e);
	if (args_get(&cli->args, "help")) {
		help_command(stdout, command);
		return CLI_DONE;
	}
	if (cli->args.n_words < command->min_words || cli->args.n_words > command->max_words) {
		auto_free char *usage = usage_of(command);

		err_set(&e, ERR_BAD_REQUEST, NULL, "usage: %s", usage);
		return cli_fail(cli, CLI_USAGE, &e);
	}
	return command->run(cli);
}

static int run(struct cli *cli, int argc, const char *const *argv)
{
	const struct arg_options sets[] = {{common, ARRAY_LEN(common)}};
	const struct cli_command *command;
	struct err e = {0};
	size_t n_name = 0;
	int status = args_parse(&cli->args, sets, ARRAY_LEN(sets), 0, argc - 1, argv + 1, &e);

	cli->json = args_get(&cli->args, "json") != NULL;
	if (status)
		return cli_fail(cli, CLI_USAGE, &e);
	command = find_command(&cli->args, &n_name);
	if (command)
		return run_command(cli, command, n_name);
	if (args_get(&cli->args, "version")) {
		puts("glovebox " GLOVEBOX_VERSION);
		return CLI_DONE;
	}
	if (cli->args.n_words > 0 && strcmp(cli->args.words[0], "help") == 0)
		return help_words(cli, cli->args.words + 1, cli->args.n_words - 1);
	if (args_get(&cli->args, "help"))
		return help_words(cli, cli->args.words, cli->args.n_words);
	if (cli->args.n_words == 2 && (strcmp(cli->args.words[1], "--help") == 0 || strcmp(cli->args.words[1], "-h") == 0))
		return help_words(cli, cli->args.words, 1);
	if (cli->args.n_words > 0)
		return refuse_command(cli, cli->args.words[0]);
	help(stderr);
	return CLI_USAGE;
}

static volatile sig_atomic_t caught;

static void on_signal(int signo)
{
	caught = signo;
}

static const volatile sig_atomic_t *catch_signals(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction action = {.sa_handler = on_signal};

	for (size_t i = 0; i < ARRAY_LEN(signals); i++)
		(void)sigaction(signals[i], &action, NULL);
	return &caught;
}

int main(int argc, char **argv)
{
	static struct cli cli = {.catch_signals = catch_signals};
	int status;

	log_init("glovebox", NULL);
	status = run(&cli, argc, (const char *const *)argv);
	client_finish(&cli.client);
	if (fflush(stdout) != 0 && status == CLI_DONE) {
		perror("glovebox: standard output");
		status = CLI_REFUSED;
	}
	return status;
}
