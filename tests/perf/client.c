/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The caller of the bench: runs the steps of a plan again and again and prints how long each took. It does as little as it can between
 * the first byte that it sends and the last that it reads, so that what is measured is the server.
 *
 * The plan is one JSON object on standard input:
 *   target     "ADDRESS:PORT" of a server, or the path of a stage's socket; absent when all steps are programs
 *   token      the bearer token
 *   n          rounds that count, after `warm` that do not; or seconds: rounds until then. start_at: wall seconds to start at
 *   pids       processes whose CPU is counted beside that of the programs
 *   x, y, width, height  the area of the points @x @y of the texts below; @c is a letter, @i the round. They differ from round to round
 *   helper     argv of tests/perf/helper.c on the display, which answers each byte with a time
 *   steps      what one round does, in order:
 *     name     what it is measured as; absent: it is not
 *     call, query (of a stage), headers (of HTTP), body, expect (a status, default 200), contains (in the body), match (true: If-None-Match
 *              with the tag of before)
 *     argv, file   a program that must end with 0, and what it has written
 *     poke     true: the helper's turn
 *     quiet_ms, drawn, over   of a call that waits for so much quiet while the helper watches, and names of two more series: from the
 *              start to the last drawing, and what was waited beyond that and the quiet time. Not drawn in time: counted as "same"
 *     pause_ms to give something else time
 *     differs  true: an answer that equals the one of the same kind before counts as "same"
 *     save     the file that gets the last answer
 * Prints {"steps":[{"name","us":[…],"bytes":median,"cpu_us":mean of a round,"same":n}],"elapsed_us"}; steps of the same name are one.
 * CPU runs from the start of a step to the start of the next one.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "session/base/util.h"
#include "tests/perf/wire.h"

#define MAX_STEPS 32
#define MAX_ARGS 32

extern char **environ;

/* All that was measured under one name. */
struct series {
	const char *name;
	double *us;
	size_t n, size, same;
	size_t *bytes;
	int64_t cpu_ns;
};

struct plan {
	json_t *json;
	const json_t *steps;
	struct wire *wire;
	long x, y, width, height;
	long round;
	bool counts; /* this round does */
	struct series series[MAX_STEPS];
	size_t n_series;
	int to_helper, from_helper;
	pid_t helper;
	int64_t programs_ns; /* CPU of the programs so far */
	int64_t cpu_ns;      /* of all at the start of the step before */
	struct series *charged; /* for that step; NULL when it does not count */
	int64_t start_ns;    /* of the first round that counts */
	char etag[128];
	char *last; /* of the steps that must differ */
	size_t last_len;
};

static int64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	return clock_gettime(clock, &now) < 0 ? 0 : now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static int64_t cpu_ns(const struct plan *plan)
{
	int64_t sum = plan->programs_ns;
	const json_t *pid;
	size_t i;

	json_array_foreach(json_object_get(plan->json, "pids"), i, pid) {
		clockid_t clock;

		if (clock_getcpuclockid((pid_t)json_integer_value(pid), &clock) != 0)
			errx(1, "process %lld is gone", (long long)json_integer_value(pid));
		sum += clock_ns(clock);
	}
	return sum;
}

static const char *text_of(const json_t *object, const char *name, const char *fallback)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : fallback;
}

static double number_of(const json_t *object, const char *name, double fallback)
{
	const json_t *value = json_object_get(object, name);

	return json_is_number(value) ? json_number_value(value) : fallback;
}

/* The text with the points and letters of this round. */
static char *expand(const struct plan *plan, const char *text)
{
	char *out = util_alloc(strlen(text) * 12 + 1), *to = out;

	for (; *text; text++) {
		long value;

		if (*text != '@' || !text[1] || !strchr("xyci", text[1])) {
			*to++ = *text;
			continue;
		}
		text++;
		value = *text == 'x'   ? plan->x + 23 * plan->round % plan->width
		        : *text == 'y' ? plan->y + 17 * plan->round % plan->height
		                       : plan->round;
		if (*text == 'c')
			*to++ = (char)('a' + value % 26);
		else
			to += sprintf(to, "%ld", value % 1000000);
	}
	*to = '\0';
	return out;
}

static struct series *find_series(struct plan *plan, const char *name)
{
	for (size_t i = 0; i < plan->n_series; i++)
		if (strcmp(plan->series[i].name, name) == 0)
			return &plan->series[i];
	plan->series[plan->n_series].name = name;
	return &plan->series[plan->n_series++];
}

static void note(struct plan *plan, struct series *series, int64_t ns, size_t bytes)
{
	if (!series || !plan->counts)
		return;
	if (series->n == series->size) {
		series->size = series->size ? 2 * series->size : 1024;
		series->us = util_realloc(series->us, series->size * sizeof(*series->us));
		series->bytes = util_realloc(series->bytes, series->size * sizeof(*series->bytes));
	}
	series->bytes[series->n] = bytes;
	series->us[series->n++] = (double)ns / 1000;
}

static void compare(struct plan *plan, struct series *series, const char *body, size_t len)
{
	if (plan->counts && series && plan->last && plan->last_len == len && memcmp(plan->last, body, len) == 0)
		series->same++;
	plan->last = util_realloc(plan->last, len + 1);
	memcpy(plan->last, body, len);
	plan->last_len = len;
}

static void save(const char *path, const char *body, size_t len)
{
	auto_fd fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || util_write_all(fd, body, len) < 0)
		err(1, "%s", path);
}

/* The helper's turn: the time that it answers. */
static int64_t poke(const struct plan *plan)
{
	int64_t answer_ns;

	if (write(plan->to_helper, "", 1) != 1 || read(plan->from_helper, &answer_ns, sizeof(answer_ns)) != sizeof(answer_ns))
		errx(1, "the helper is gone");
	return answer_ns;
}

/* Where the time from `start_ns` to `end_ns` went, of a call that waited for quiet. */
static void split(struct plan *plan, const json_t *step, struct series *series, int64_t start_ns, int64_t end_ns)
{
	int64_t drawn_ns = poke(plan), quiet_ns = (int64_t)(1e6 * number_of(step, "quiet_ms", 0));

	if (!series)
		return;
	if (drawn_ns < start_ns || drawn_ns > end_ns - quiet_ns) { /* nothing yet, or too late for this picture */
		series->same += plan->counts;
		return;
	}
	note(plan, find_series(plan, text_of(step, "drawn", "drawn")), drawn_ns - start_ns, 0);
	note(plan, find_series(plan, text_of(step, "over", "over")), end_ns - drawn_ns - quiet_ns, 0);
}

static void do_call(struct plan *plan, const json_t *step, struct series *series)
{
	auto_free char *call = expand(plan, text_of(step, "call", ""));
	auto_free char *body = expand(plan, text_of(step, "body", ""));
	const char *contains = text_of(step, "contains", NULL);
	const json_t *fields = json_object_get(step, "headers");
	struct answer answer;
	int64_t start_ns, end_ns;

	wire_prepare(plan->wire, call, fields ? fields : json_object_get(step, "query"), body,
	             json_is_true(json_object_get(step, "match")) ? plan->etag : "");
	start_ns = clock_ns(CLOCK_MONOTONIC);
	wire_exchange(plan->wire);
	end_ns = clock_ns(CLOCK_MONOTONIC);
	wire_answer(plan->wire, &answer);
	if (answer.status != (int)number_of(step, "expect", 200) || (contains && !memmem(answer.body, answer.len, contains, strlen(contains))))
		errx(1, "%s: %d %.*s", call, answer.status, (int)(answer.len < 500 ? answer.len : 500), answer.body);
	if (*answer.etag)
		memcpy(plan->etag, answer.etag, sizeof(plan->etag));
	if (json_is_true(json_object_get(step, "differs")))
		compare(plan, series, answer.body, answer.len);
	if (json_object_get(step, "save"))
		save(text_of(step, "save", ""), answer.body, answer.len);
	if (json_object_get(step, "quiet_ms"))
		split(plan, step, series, start_ns, end_ns);
	note(plan, series, end_ns - start_ns, answer.len);
}

/* Starts a program; out and in are its standard output and input, -1 for /dev/null. */
static pid_t start(char *const *argv, int in, int out)
{
	posix_spawn_file_actions_t files;
	pid_t pid;
	int code;

	if (posix_spawn_file_actions_init(&files) != 0 ||
	    (in < 0 ? posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0) : posix_spawn_file_actions_adddup2(&files, in, 0)) != 0 ||
	    (out < 0 ? posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0) : posix_spawn_file_actions_adddup2(&files, out, 1)) != 0)
		errx(1, "no memory");
	code = posix_spawnp(&pid, argv[0], &files, NULL, argv, environ);
	(void)posix_spawn_file_actions_destroy(&files);
	if (code != 0)
		errx(1, "%s: %s", argv[0], strerror(code));
	return pid;
}

/* The words of a list with this round's points in them; freed by free_words. */
static void read_words(const struct plan *plan, const json_t *list, char *argv[MAX_ARGS])
{
	const json_t *word;
	size_t i;

	if (json_array_size(list) == 0 || json_array_size(list) >= MAX_ARGS)
		errx(1, "a program needs 1 to %d words", MAX_ARGS - 1);
	json_array_foreach(list, i, word)
		argv[i] = expand(plan, json_string_value(word));
	argv[i] = NULL;
}

static void free_words(char *argv[MAX_ARGS])
{
	for (size_t i = 0; argv[i]; i++)
		free(argv[i]);
}

static void do_program(struct plan *plan, const json_t *step, struct series *series)
{
	const char *file = text_of(step, "file", NULL);
	char *argv[MAX_ARGS];
	struct rusage used;
	struct stat written = {0};
	int64_t before;
	int status;
	pid_t pid;

	read_words(plan, json_object_get(step, "argv"), argv);
	before = clock_ns(CLOCK_MONOTONIC);
	pid = start(argv, -1, -1);
	if (wait4(pid, &status, 0, &used) < 0)
		err(1, "wait4");
	before = clock_ns(CLOCK_MONOTONIC) - before;
	if (status != 0)
		errx(1, "%s %s ended with %d", argv[0], argv[1] ? argv[1] : "", WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
	free_words(argv);
	plan->programs_ns += (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * INT64_C(1000000000) +
	                     (used.ru_utime.tv_usec + used.ru_stime.tv_usec) * INT64_C(1000);
	if (file && stat(file, &written) < 0)
		err(1, "%s", file);
	note(plan, series, before, (size_t)written.st_size);
}

static void do_poke(struct plan *plan, const json_t *step, struct series *series)
{
	int64_t start_ns = clock_ns(CLOCK_MONOTONIC);

	(void)step;
	note(plan, series, poke(plan) - start_ns, 0);
}

static void do_pause(struct plan *plan, const json_t *step, struct series *series)
{
	(void)plan;
	(void)series;
	(void)usleep((useconds_t)(1000 * number_of(step, "pause_ms", 0)));
}

static const struct step_row {
	const char *field;
	void (*work)(struct plan *plan, const json_t *step, struct series *series);
} rows[] = {{"call", do_call}, {"argv", do_program}, {"poke", do_poke}, {"pause_ms", do_pause}};

/* What was used since the last time is that series'; what will be is that of `next`. */
static void charge(struct plan *plan, struct series *next)
{
	int64_t now = cpu_ns(plan);

	if (plan->charged)
		plan->charged->cpu_ns += now - plan->cpu_ns;
	plan->cpu_ns = now;
	plan->charged = plan->counts ? next : NULL;
}

static void do_step(struct plan *plan, const json_t *step)
{
	const char *name = text_of(step, "name", NULL);
	struct series *series = name ? find_series(plan, name) : NULL;

	charge(plan, series);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (json_object_get(step, rows[i].field))
			rows[i].work(plan, step, series);
}

static void start_helper(struct plan *plan)
{
	int to[2], from[2];
	char *argv[MAX_ARGS];
	int64_t ready_ns;

	if (!json_object_get(plan->json, "helper"))
		return;
	if (pipe2(to, O_CLOEXEC) < 0 || pipe2(from, O_CLOEXEC) < 0)
		err(1, "pipe2");
	read_words(plan, json_object_get(plan->json, "helper"), argv);
	plan->helper = start(argv, to[0], from[1]);
	free_words(argv);
	close(to[0]);
	close(from[1]);
	plan->to_helper = to[1];
	plan->from_helper = from[0];
	if (read(plan->from_helper, &ready_ns, sizeof(ready_ns)) != sizeof(ready_ns))
		errx(1, "the helper did not start");
}

static void do_round(struct plan *plan)
{
	const json_t *step;
	size_t i;

	json_array_foreach(plan->steps, i, step)
		do_step(plan, step);
	plan->round++;
}

static void run(struct plan *plan)
{
	long warm = (long)number_of(plan->json, "warm", 3), n = (long)number_of(plan->json, "n", 1);
	int64_t length_ns = (int64_t)(1e9 * number_of(plan->json, "seconds", 0));
	int64_t wait_ns;

	while (plan->round < warm)
		do_round(plan);
	wait_ns = (int64_t)(1e9 * number_of(plan->json, "start_at", 0)) - clock_ns(CLOCK_REALTIME);
	if (wait_ns > 0)
		(void)usleep((useconds_t)(wait_ns / 1000));
	charge(plan, NULL);
	plan->counts = true;
	plan->start_ns = clock_ns(CLOCK_MONOTONIC);
	while (length_ns > 0 ? clock_ns(CLOCK_MONOTONIC) - plan->start_ns < length_ns : plan->round < warm + n)
		do_round(plan);
	charge(plan, NULL);
}

static int by_size(const void *a, const void *b)
{
	size_t one = *(const size_t *)a, other = *(const size_t *)b;

	return one < other ? -1 : one > other;
}

static void print(const struct plan *plan)
{
	json_auto_t *out = json_pack("{s:[],s:f}", "steps", "elapsed_us", (double)(clock_ns(CLOCK_MONOTONIC) - plan->start_ns) / 1000);

	for (size_t i = 0; i < plan->n_series; i++) {
		const struct series *series = &plan->series[i];
		json_t *us = json_array();

		for (size_t k = 0; k < series->n; k++)
			json_array_append_new(us, json_real(series->us[k]));
		if (series->n > 0)
			qsort(series->bytes, series->n, sizeof(*series->bytes), by_size);
		json_array_append_new(json_object_get(out, "steps"),
		                      json_pack("{s:s,s:o,s:I,s:f,s:I}", "name", series->name, "us", us, "bytes",
		                                (json_int_t)(series->n ? series->bytes[series->n / 2] : 0), "cpu_us",
		                                series->n ? (double)series->cpu_ns / 1000 / (double)series->n : 0.0, "same", (json_int_t)series->same));
	}
	(void)json_dumpf(out, stdout, JSON_COMPACT | JSON_REAL_PRECISION(6));
	(void)putchar('\n');
}

int main(void)
{
	json_error_t fault;
	struct plan plan = {.json = json_loadf(stdin, 0, &fault)};

	if (!plan.json)
		errx(2, "the plan: line %d: %s", fault.line, fault.text);
	plan.steps = json_object_get(plan.json, "steps");
	if (json_array_size(plan.steps) == 0 || json_array_size(plan.steps) > MAX_STEPS)
		errx(2, "the plan: needs 1 to %d steps", MAX_STEPS);
	plan.x = (long)number_of(plan.json, "x", 0);
	plan.y = (long)number_of(plan.json, "y", 0);
	plan.width = (long)number_of(plan.json, "width", 1);
	plan.height = (long)number_of(plan.json, "height", 1);
	if (json_object_get(plan.json, "target"))
		plan.wire = wire_open(text_of(plan.json, "target", ""), text_of(plan.json, "token", ""));
	start_helper(&plan);
	run(&plan);
	print(&plan);
	if (plan.helper > 0) {
		close(plan.to_helper);
		(void)waitpid(plan.helper, NULL, 0);
	}
	wire_close(plan.wire);
	for (size_t i = 0; i < plan.n_series; i++) {
		free(plan.series[i].us);
		free(plan.series[i].bytes);
	}
	free(plan.last);
	json_decref(plan.json);
	return 0;
}
