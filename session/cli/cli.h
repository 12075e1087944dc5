/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line: what its commands have in common.
 *
 * A command is a row beside its function; main_cli.c lists the rows, which serve dispatch and help. A command prints its own results and
 * errors and returns the exit status. Standard output has results alone; everything else goes to standard error.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <jansson.h>
#include <stdbool.h>

#include "session/cli/args.h"
#include "session/cli/client.h"

enum cli_exit {
	CLI_DONE = 0,
	CLI_REFUSED = 1,     /* the server refused or the work failed */
	CLI_USAGE = 2,       /* wrong usage: nothing was sent */
	CLI_UNREACHABLE = 3, /* the server did not answer */
};

struct cli {
	struct args args;     /* options, and the words after the command's name */
	bool json;            /* --json: results and refusals as JSON on standard output */
	struct client client; /* opened by the first cli_call */
	/* From now on SIGINT, SIGTERM and SIGHUP do not end the program but become the number that is pointed to, 0 before. */
	const volatile sig_atomic_t *(*catch_signals)(void);
};

struct cli_command {
	const char *name;  /* "ls", "image build" */
	const char *usage; /* what follows the name */
	const char *doc;   /* one line */
	const struct arg_option *options;
	size_t n_options;
	size_t min_words, max_words; /* words that must, and may, follow the name */
	size_t stop_after;           /* args_parse: where options end; ARGS_MAX for nowhere */
	int (*run)(struct cli *cli);
};

/* Prints an error and returns `status`. */
int cli_fail(struct cli *cli, enum cli_exit status, const struct err *e);

/* Finds server and token, as the first cli_call does. CLI_DONE, or the error is printed and its exit status returned. */
int cli_open(struct cli *cli);

/*
 * One call to the server. CLI_DONE with *reply for a status below 400; else the error is printed and its exit status returned, with *reply
 * finished but for its status, 0 where there was no answer.
 */
int cli_call(struct cli *cli, const char *method, const char *path, const json_t *body, struct client_reply *reply);

/* The same for a request with more to it. */
int cli_send(struct cli *cli, const struct client_request *request, struct client_reply *reply);

/* Before what it is about is done: 0 if a file of this name can be written; else ERR_BAD_REQUEST. */
int cli_can_write(const char *file, struct err *e);

/* "/v1/sessions/ID" with `rest` after it, malloced into *path; ERR_BAD_REQUEST when `id` cannot be an id. */
int cli_session_path(const char *id, const char *rest, char **path, struct err *e);

/* The last part of a path; the caller's. */
char *cli_last_part(const char *path);

/* The same without ".zip", as the name of a folder in an archive: letters, digits, "-", "_" and "." within. */
char *cli_folder_name(const char *path);

/* Puts an option's number, min..LIMIT_TTL_S, into `body` as `field`; nothing if it was not given. ERR_BAD_REQUEST. */
int cli_put_seconds(json_t *body, const struct args *args, const char *option, const char *field, long min, struct err *e);

/* An option's NAME=VALUE: *name is malloced, *value borrowed from `pair`. ERR_BAD_REQUEST. */
int cli_read_pair(const char *pair, const char *option, char **name, const char **value, struct err *e);

/* Percent-encoded for one part of a URL; the caller's. */
char *cli_encode(const char *text);

/* Adds a parameter to a path (malloced): its name is the prefix as it is with `name` behind it, which is percent-encoded as the value is. */
void cli_add_parameter(char **path, const char *prefix, const char *name, const char *value);

/* The path of what lies at `rest`, seen from the folder of this program; the caller's. ERR_INTERNAL. */
int cli_beside(const char *rest, char **path, struct err *e);

/* The whole of a file ("-" is standard input), at most max bytes, NUL-terminated, the caller's. ERR_BAD_REQUEST. */
int cli_read_file(const char *file, size_t max, char **text, size_t *len, struct err *e);

#endif
