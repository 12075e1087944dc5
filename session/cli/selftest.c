/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * selftest: on a host of an operator's own, through the server that runs there: what jails hold. Two sessions are made; in one the escape battery
 * runs (glovebox-battery, which lies in every jail) and everything is used up, in the other it is looked whether anything of that is seen.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/cli/commands.h"
#include "session/cli/show.h"

#define BATTERY "/run/glovebox/bin/glovebox-battery"
#define BATTERY_MS 120000
#define CHECK_MS 60000
#define PINGS 20
#define PING_MOST_MS 2000
#define CANARY_BYTES 8

static const struct arg_option selftest_options[] = {
	{"image", 0, "NAME", false, "the image of its sessions, minimal if not given"},
};

struct selftest {
	struct cli *cli;
	json_t *rows;
	char *hostile, *other; /* ids */
	char canary[2 * CANARY_BYTES + 1];
};

/* A command of a shell, in which %s is the canary; what it prints is expected to be `expect`. */
struct check {
	const char *name, *layer, *command, *expect;
};

/* Patterns with brackets do not find the command that looks for them. */
static const struct check PLANTS = {
	"leave traces", "", "for d in /home/user /tmp /var/tmp /dev/shm /run/user/1000; do echo canary-%1$s >$d/canary-%1$s; done; "
	                    "CANARY=canary-%1$s setsid sleep 600 >/dev/null 2>&1 & echo planted", "planted\n"};
static const struct check LEAKS[] = {
	{"files of another session", "own root", "grep -rls '[c]anary-%1$s' /home /tmp /var/tmp /dev/shm /run 2>/dev/null; find / -xdev -name '[c]anary-%1$s' 2>/dev/null; true", ""},
	{"processes of another session", "pid namespace", "cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep '[c]anary-%1$s'; true", ""},
	{"sockets of another session", "network namespace", "grep -c '[c]anary-%1$s' /proc/net/unix", "0\n"},
	{"shared memory of another session", "ipc namespace", "cat /proc/sysvipc/shm 2>/dev/null | tail -n +2", ""},
};
static const struct check EXHAUSTS[] = {
	{"open files", "resource limits", "[ $(ulimit -Hn) -le 8192 ] && echo bounded", "bounded\n"},
	{"a disk that is full", "size of the file system",
	 "head -c 64m /dev/zero >big 2>/dev/null && echo taken || echo bounded; rm -f big", "bounded\n"},
	{"inodes", "size of the file system",
	 "i=0; while [ $i -lt 5000 ] && true >f$i; do i=$((i+1)); done 2>/dev/null; [ $i -lt 5000 ] && echo bounded; rm -f f*", "bounded\n"},
	{"memory", "control group", "[ \"$(head -c 600m /dev/zero | tail -n 1 | wc -c)\" = 629145600 ] && echo taken || echo bounded", "bounded\n"},
	{"processes", "control group", "(for n in $(seq 300); do sleep 600 >/dev/null 2>&1 & done) 2>&1 | grep -o -m 1 fork", "fork\n"},
};
static const struct check BUSY = {"", "", "for n in 1 2 3 4; do (while :; do :; done) >/dev/null 2>&1 & done; echo busy", "busy\n"};

static void add_row(struct selftest *test, const char *name, const char *layer, const char *expected, const char *got, bool ok)
{
	(void)json_array_append_new(test->rows, json_pack("{s:s,s:s,s:s,s:s,s:b}", "name", name, "layer", layer, "expected", expected, "got", got, "ok", ok));
}

/* The caller's id of a new session with little of everything, or NULL. */
static char *make_session(struct cli *cli)
{
	const char *image = args_get(&cli->args, "image");
	json_auto_t *body = json_pack("{s:s,s:{s:s},s:{s:i,s:i,s:i,s:i}}", "image", image ? image : "minimal", "labels", "made_by", "selftest", "limits",
	                              "pids", 128, "memory_mb", 256, "disk_mb", 16, "inodes", 2000);
	auto_reply reply = {0};

	if (cli_call(cli, "POST", "/v1/sessions", body, &reply) != CLI_DONE)
		return NULL;
	return util_strdup(json_string_value(json_object_get(reply.json, "id")));
}

static void end_session(struct cli *cli, char *id)
{
	auto_free char *path = NULL;
	auto_reply reply = {0};
	struct err e;

	if (id && cli_session_path(id, "", &path, &e) == 0)
		(void)cli_call(cli, "DELETE", path, NULL, &reply);
	free(id);
}

/* Without the newline at its end; the caller's. */
static char *line_of(const char *text)
{
	return *text ? util_printf("%.*s", (int)strcspn(text, "\n"), text) : util_strdup("nothing");
}

/* What a command printed, the caller's; NULL if it could not be run. */
static char *run_command(struct cli *cli, const char *id, const json_t *argv, int timeout_ms)
{
	json_auto_t *body = json_pack("{s:[{s:s,s:O,s:i}],s:i}", "actions", "action", "exec", "argv", argv, "timeout_ms", timeout_ms, "timeout_ms",
	                              LIMIT_CALL_MS);
	auto_free char *path = NULL;
	auto_reply reply = {0};
	const json_t *result, *text;
	struct err e;

	if (cli_session_path(id, "/act", &path, &e) || cli_call(cli, "POST", path, body, &reply) != CLI_DONE)
		return NULL;
	result = json_array_get(json_object_get(reply.json, "results"), 0);
	text = json_object_get(result, "stdout");
	if (!json_is_string(text)) {
		show_problem("glovebox", json_object_get(result, "error"));
		return NULL;
	}
	return util_strdup(json_string_value(text));
}

/* The command with the canary in the place of each "%1$s". */
static char *with_canary(const char *command, const char *canary)
{
	static const char MARK[] = "%1$s";
	char *out = util_strdup("");

	for (const char *at; (at = strstr(command, MARK)); command = at + strlen(MARK)) {
		char *longer = util_printf("%s%.*s%s", out, (int)(at - command), command, canary);

		free(out);
		out = longer;
	}
	char *whole = util_printf("%s%s", out, command);

	free(out);
	return whole;
}

static char *run_shell(struct selftest *test, const char *id, const char *command)
{
	auto_free char *text = with_canary(command, test->canary);
	json_auto_t *argv = json_pack("[s,s,s]", "sh", "-c", text);

	return run_command(test->cli, id, argv, CHECK_MS);
}

static int run_check(struct selftest *test, const char *id, const struct check *check)
{
	auto_free char *said = run_shell(test, id, check->command);
	auto_free char *expected = line_of(check->expect);
	auto_free char *got = said ? line_of(said) : NULL;

	if (!said)
		return -1;
	if (*check->name)
		add_row(test, check->name, check->layer, expected, got, strcmp(said, check->expect) == 0);
	return 0;
}

static int run_battery(struct selftest *test)
{
	json_auto_t *argv = json_pack("[s]", BATTERY);
	auto_free char *said = run_command(test->cli, test->hostile, argv, BATTERY_MS);
	char *save = NULL;
	size_t n = 0;

	for (char *line = said ? strtok_r(said, "\n", &save) : NULL; line; line = strtok_r(NULL, "\n", &save)) {
		char *rest = line;
		const char *name = strsep(&rest, "\t"), *layer = strsep(&rest, "\t"), *expected = strsep(&rest, "\t"), *got = strsep(&rest, "\t");

		if (!rest)
			continue; /* the last line, which counts */
		add_row(test, name, layer, expected, got, strcmp(rest, "ok") == 0);
		n++;
	}
	if (said && n == 0)
		add_row(test, "the escape battery", "", "rows", "nothing: " BATTERY " does not run", false);
	return said ? 0 : -1;
}

/* Commands of the other session, one after the other. */
static int ping(struct selftest *test, const char *name)
{
	int64_t most_us = 0, sum_us = 0;
	char got[64];

	for (int i = 0; i < PINGS; i++) {
		int64_t since_us = util_now_us();
		auto_free char *said = run_shell(test, test->other, "echo pong");

		if (!said)
			return -1;
		since_us = util_now_us() - since_us;
		sum_us += since_us;
		most_us = since_us > most_us ? since_us : most_us;
	}
	(void)snprintf(got, sizeof(got), "%.1f ms, at most %.1f ms", (double)sum_us / PINGS / 1000, (double)most_us / 1000);
	add_row(test, name, "control group", "at most 2000 ms", got, most_us <= PING_MOST_MS * 1000);
	return 0;
}

static int run_all(struct selftest *test)
{
	if (run_battery(test) || ping(test, "a command in a quiet host") || run_check(test, test->hostile, &PLANTS))
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(LEAKS); i++)
		if (run_check(test, test->other, &LEAKS[i]))
			return -1;
	for (size_t i = 0; i < ARRAY_LEN(EXHAUSTS); i++)
		if (run_check(test, test->hostile, &EXHAUSTS[i]))
			return -1;
	/* In the one whose processes are at their limit nothing more would start. */
	end_session(test->cli, steal_ptr(&test->hostile));
	test->hostile = make_session(test->cli);
	return !test->hostile || run_check(test, test->hostile, &BUSY) || ping(test, "a command beside a busy session") ? -1 : 0;
}

static int show(struct selftest *test)
{
	static const struct show_column columns[] = {{"name", "PROBE", 44}, {"layer", "LAYER", 24}, {"expected", "EXPECTED", 14}, {"got", "GOT", 28}, {"ok", "OK", 0}};
	size_t n_wrong = 0, i;
	const json_t *row;
	json_auto_t *answer = NULL;

	json_array_foreach(test->rows, i, row)
		n_wrong += !json_is_true(json_object_get(row, "ok"));
	if (test->cli->json) {
		answer = json_pack("{s:b,s:I,s:O}", "ok", n_wrong == 0, "wrong", (json_int_t)n_wrong, "rows", test->rows);
		show_json(answer);
	} else {
		show_table(test->rows, columns, ARRAY_LEN(columns));
		printf("\n%zu checks, %zu wrong\n", json_array_size(test->rows), n_wrong);
	}
	return n_wrong ? CLI_REFUSED : CLI_DONE;
}

static int run_selftest(struct cli *cli)
{
	uint8_t bytes[CANARY_BYTES];
	json_auto_t *rows = json_array();
	struct selftest test = {.cli = cli, .rows = rows};
	int status = CLI_REFUSED;

	util_random(bytes, sizeof(bytes));
	util_hex(test.canary, bytes, sizeof(bytes));
	test.hostile = make_session(cli);
	test.other = test.hostile ? make_session(cli) : NULL;
	if (test.other && run_all(&test) == 0)
		status = show(&test);
	end_session(cli, test.hostile);
	end_session(cli, test.other);
	return status;
}

const struct cli_command selftest_run = {
	"selftest", "", "try on this server what hostile programs would, in sessions of its own, two at a time (status 0 if all of it is held)",
	selftest_options, ARRAY_LEN(selftest_options), 0, 0, ARGS_MAX, run_selftest,
};
