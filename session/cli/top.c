/* SPDX-License-Identifier: GPL-2.0-or-later */
/* top: what sessions use of their limits, again and again. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session/base/json.h"
#include "session/base/util.h"
#include "session/cli/commands.h"
#include "session/cli/show.h"

#define EVERY_S 2
#define CLEAR "\033[H\033[2J"

static const struct {
	const char *limit, *title;
	int width;
} columns[] = {
	{"cpu", "CPU", 10}, {"memory_mb", "MEMORY", 14}, {"pids", "PIDS", 12}, {"disk_mb", "DISK", 12}, {"inodes", "INODES", 14}, {"x_mb", "X", 12},
};

/* "used/limit" */
static void show_use(const json_t *use, int width)
{
	const json_t *used = json_object_get(use, "used");
	auto_free char *text = json_is_number(used)
	                               ? util_printf("%.10g/%.10g", json_number_value(used), json_number_value(json_object_get(use, "value")))
	                               : util_strdup("-");

	printf("%-*s", width, text);
}

/* The limits that it has met so far: "pids:3". */
static void show_met(const json_t *limits)
{
	auto_free char *met = util_strdup("");
	const char *name;
	json_t *use;

	json_object_foreach((json_t *)(uintptr_t)limits, name, use)
		if (form_int(use, "hits", 0) > 0) {
			char *more = util_printf("%s%s%.40s:%ld", met, met[0] ? " " : "", name, form_int(use, "hits", 0));

			free(met);
			met = more;
		}
	show_text(stdout, met[0] ? met : "-", met[0] ? strlen(met) : 1);
	putchar('\n');
}

static void show_session(const json_t *session)
{
	const json_t *limits = json_object_get(json_object_get(session, "usage"), "limits");

	show_value(stdout, json_object_get(session, "id"), 18);
	show_value(stdout, json_object_get(session, "state"), 9);
	for (size_t i = 0; i < ARRAY_LEN(columns); i++)
		show_use(json_object_get(limits, columns[i].limit), columns[i].width);
	show_met(limits);
}

/* One that has ended meanwhile is left out. */
static int add_session(struct cli *cli, const char *id, json_t *list)
{
	auto_free char *path = NULL;
	auto_reply reply = {0};
	struct err e = {0};
	struct client_request asked = {.method = "GET", .sink = -1, .or_none = true};
	int status;

	if (cli_session_path(id, "", &path, &e) < 0)
		return cli_fail(cli, CLI_REFUSED, &e);
	asked.path = path;
	status = cli_send(cli, &asked, &reply);
	if (status == CLI_DONE && json_object_get(reply.json, "usage"))
		json_array_append(list, reply.json);
	return status;
}

static int take(struct cli *cli, json_t *list)
{
	auto_reply reply = {0};
	int status = cli_call(cli, "GET", "/v1/sessions?state=ready,paused", NULL, &reply);
	const json_t *session;
	size_t i;

	json_array_foreach(json_object_get(reply.json, "sessions"), i, session)
		if (status == CLI_DONE)
			status = add_session(cli, form_string(session, "id", ""), list);
	return status;
}

static void show(const json_t *list)
{
	const json_t *session;
	size_t i;

	printf("%-18s%-9s", "ID", "STATE");
	for (size_t c = 0; c < ARRAY_LEN(columns); c++)
		printf("%-*s", columns[c].width, columns[c].title);
	printf("MET\n");
	json_array_foreach(list, i, session)
		show_session(session);
	(void)fflush(stdout);
}

static int show_once(struct cli *cli, const char *before)
{
	json_auto_t *list = json_array();
	int status = take(cli, list);

	if (status != CLI_DONE)
		return status;
	if (cli->json) {
		show_json(list);
		return CLI_DONE;
	}
	fputs(before, stdout);
	show(list);
	return CLI_DONE;
}

static const struct arg_option options[] = {
	{"once", 0, NULL, false, "once and no more; as when it is not shown on a terminal"},
	{"every", 0, "SECONDS", false, "how often (default 2)"},
};

static int run_top(struct cli *cli)
{
	bool once = args_get(&cli->args, "once") || cli->json || !isatty(STDOUT_FILENO);
	long every_s = EVERY_S;
	struct err e = {0};
	int status;

	if (args_number(&cli->args, "every", 1, 3600, &every_s, &e) < 0)
		return cli_fail(cli, CLI_USAGE, &e);
	while ((status = show_once(cli, once ? "" : CLEAR)) == CLI_DONE && !once)
		(void)poll(NULL, 0, (int)every_s * 1000);
	return status;
}

const struct cli_command top_show = {
	"top", "[--once] [--every SECONDS]", "show what sessions use of their limits", options, ARRAY_LEN(options), 0, 0, ARGS_MAX, run_top,
};
