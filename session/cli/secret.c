/* SPDX-License-Identifier: GPL-2.0-or-later */
/* secret put, ls, rm: the stored secrets. A value comes from standard input or is typed unseen; it is never an argument, which other users of a machine see. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "session/base/limits.h"
#include "session/base/locked.h"
#include "session/base/util.h"
#include "session/cli/commands.h"
#include "session/cli/show.h"

#define VALUE_BYTES (LIMIT_SECRET_BYTES + 2) /* and the end of its line, and one that is too many */

static const struct arg_option put_options[] = {
	{"app", 0, "NAME", false, "the app of the catalogue that it may be typed into, with --origin; without both it is only masked"},
	{"origin", 0, "ORIGIN", false, "the origin of the page that it may be typed into: https://host or https://host:port"},
	{"field", 0, "KIND", false, "what it may be typed into there: password (if not given) or text"},
	{"inject", 0, "ORIGIN", false, "the origin of requests that it is put into on their way out, with --header: https://host or https://host:port (or http://, unencrypted)"},
	{"header", 0, "NAME", false, "their header that it is the value of"},
	{"prefix", 0, "TEXT", false, "what stands there before it, such as 'Bearer '"},
	{"exact", 0, NULL, false, "keep the end of a line that the input ends in"},
};

/* As much as there is, VALUE_BYTES at most. -1 with errno. */
static ssize_t read_input(char *value)
{
	size_t len = 0;
	ssize_t n = 1;

	while (n != 0 && len < VALUE_BYTES) {
		n = read(STDIN_FILENO, value + len, VALUE_BYTES - len);
		if (n < 0 && errno != EINTR)
			return -1;
		len += n > 0 ? (size_t)n : 0;
	}
	return (ssize_t)len;
}

/* A line from the terminal, which does not show it. */
static ssize_t read_unseen(char *value)
{
	struct termios shown, unseen;
	ssize_t n;

	if (tcgetattr(STDIN_FILENO, &shown) < 0)
		return -1;
	unseen = shown;
	unseen.c_lflag &= ~(tcflag_t)ECHO;
	/* Asked for once nothing is shown any more; what was typed before is dropped. */
	(void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &unseen);
	fputs("value: ", stderr);
	n = read(STDIN_FILENO, value, VALUE_BYTES);
	(void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown);
	fputc('\n', stderr);
	return n;
}

static int read_value(const struct args *args, char *value, size_t *len, struct err *e)
{
	ssize_t n = isatty(STDIN_FILENO) ? read_unseen(value) : read_input(value);

	if (n < 0)
		return err_set(e, ERR_BAD_REQUEST, NULL, "standard input cannot be read: %s", strerror(errno));
	if (n > 0 && value[n - 1] == '\n' && !args_get(args, "exact"))
		n--;
	if (n < 1 || n > LIMIT_SECRET_BYTES)
		return err_set(e, ERR_BAD_REQUEST, NULL, "a secret has 1 to %d bytes; it is read from standard input", LIMIT_SECRET_BYTES);
	*len = (size_t)n;
	return 0;
}

/* "/v1/secrets/NAME" with its rule; the caller's. */
static char *path_of(const struct args *args)
{
	static const char *const rule[] = {"app", "origin", "field", "inject", "header", "prefix"};
	auto_free char *name = cli_encode(args->words[0]);
	char *path = util_printf("/v1/secrets/%s", name);

	for (size_t i = 0; i < ARRAY_LEN(rule); i++)
		if (args_get(args, rule[i]))
			cli_add_parameter(&path, "", rule[i], args_get(args, rule[i]));
	return path;
}

static int run_put(struct cli *cli)
{
	auto_free char *path = path_of(&cli->args);
	auto_reply reply = {0};
	struct client_request request = {.method = "PUT", .path = path, .sink = -1};
	char *value = locked_alloc(VALUE_BYTES);
	struct err e = {0};
	int status = CLI_USAGE;

	if (read_value(&cli->args, value, &request.n_bytes, &e) < 0) {
		(void)cli_fail(cli, CLI_USAGE, &e);
	} else {
		request.bytes = value;
		status = cli_send(cli, &request, &reply);
	}
	locked_free(value, VALUE_BYTES);
	if (status == CLI_DONE && cli->json)
		show_json(reply.json);
	else if (status == CLI_DONE && !args_get(&cli->args, "app") && !args_get(&cli->args, "inject"))
		fprintf(stderr, "%s is masked in what its sessions say, and used in setup alone: --app and --origin, or --inject and --header, say where else\n", cli->args.words[0]);
	return status;
}

const struct cli_command secret_put = {
	"secret put", "NAME [--app APP --origin ORIGIN [--field KIND] | --inject ORIGIN --header NAME [--prefix TEXT]]", "store a secret, or replace it; its value is read from standard input",
	put_options, ARRAY_LEN(put_options), 1, 1, ARGS_MAX, run_put,
};

static int run_ls(struct cli *cli)
{
	static const struct show_column columns[] = {{"name", "NAME", 32}, {"app", "APP", 14}, {"origin", "ORIGIN", 40}, {"field", "FIELD", 10}, {"inject", "INJECT", 40}, {"header", "HEADER", 20}, {"changed_at", "CHANGED", 0}};
	auto_reply reply = {0};
	int status = cli_call(cli, "GET", "/v1/secrets", NULL, &reply);

	if (status != CLI_DONE)
		return status;
	if (cli->json) {
		show_json(reply.json);
		return CLI_DONE;
	}
	show_table(json_object_get(reply.json, "secrets"), columns, ARRAY_LEN(columns));
	return CLI_DONE;
}

const struct cli_command secret_ls = {
	"secret ls", "", "list the stored secrets: what they are for, never what they are", NULL, 0, 0, 0, ARGS_MAX, run_ls,
};

static int run_rm(struct cli *cli)
{
	auto_free char *name = cli_encode(cli->args.words[0]), *path = util_printf("/v1/secrets/%s", name);
	auto_reply reply = {0};

	return cli_call(cli, "DELETE", path, NULL, &reply);
}

const struct cli_command secret_rm = {
	"secret rm", "NAME", "remove a stored secret; sessions that run keep it until they end", NULL, 0, 1, 1, ARGS_MAX, run_rm,
};
