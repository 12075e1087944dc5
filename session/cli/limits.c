/* SPDX-License-Identifier: GPL-2.0-or-later */
/* limits suggest: what sessions like these should be allowed, from what they have used. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "session/base/json.h"
#include "session/base/util.h"
#include "session/cli/commands.h"
#include "session/cli/fetch.h"
#include "session/cli/list.h"
#include "session/cli/show.h"

#define PERCENTILE 99
#define MARGIN_PERCENT 25

/* The limits of a spec whose use journals tell (lines `usage`), and to what a suggestion is rounded up. */
static const struct kind {
	const char *name;
	double step, least;
} kinds[] = {
	{"cpu", 0.1, 0.1}, {"memory_mb", 64, 256}, {"pids", 16, 64}, {"disk_mb", 16, 16}, {"inodes", 256, 1024}, {"x_mb", 32, 256},
};
#define N_KINDS ARRAY_LEN(kinds)

/* What sessions used at most, one number each. */
struct used {
	double *peaks;
	size_t n, met; /* sessions, and those of them that met the limit */
};

struct study {
	struct used used[N_KINDS];
	size_t n_sessions, n_left_out;
	long margin_percent;
};

static void study_finish(struct study *study)
{
	for (size_t i = 0; i < N_KINDS; i++)
		free(study->used[i].peaks);
}

static void add_peak(struct used *used, double peak, bool met)
{
	double *longer = reallocarray(used->peaks, used->n + 1, sizeof(*longer));

	if (!longer)
		DIE("no memory for a number");
	used->peaks = longer;
	used->peaks[used->n++] = peak;
	used->met += met;
}

static bool is_usage(const json_t *line)
{
	return strcmp(form_string(line, "event", ""), "usage") == 0;
}

/* The most of one session: of a journal without an end the lines so far. */
static bool read_kind(const json_t *lines, const char *name, double *peak, bool *met)
{
	const json_t *line;
	bool found = false;
	size_t i;

	*peak = 0;
	*met = false;
	json_array_foreach(lines, i, line) {
		const json_t *number = is_usage(line) ? json_object_get(json_object_get(line, "peaks"), name) : NULL;

		if (!json_is_number(number))
			continue;
		found = true;
		*peak = MAX(*peak, json_number_value(number));
		*met = *met || form_int(json_object_get(line, "hits"), name, 0) > 0;
	}
	return found;
}

/* Is it of the image and has it the labels that were asked for? */
static bool is_wanted(const struct args *args, const json_t *start)
{
	const char *image = args_get(args, "image"), *pair;
	const json_t *labels = json_object_get(json_object_get(start, "spec"), "labels");
	size_t at = 0;

	if (image && strcmp(form_string(start, "image", ""), image) != 0)
		return false;
	while ((pair = args_next(args, "label", &at))) {
		auto_free char *name = NULL;
		const char *value;

		if (cli_read_pair(pair, "label", &name, &value, NULL) < 0 || strcmp(form_string(labels, name, ""), value) != 0 || !json_object_get(labels, name))
			return false;
	}
	return true;
}

static void take(struct study *study, const struct reader *reader)
{
	bool any = false;

	for (size_t i = 0; i < N_KINDS; i++) {
		double peak;
		bool met;

		if (!read_kind(reader_lines(reader), kinds[i].name, &peak, &met))
			continue;
		add_peak(&study->used[i], peak, met);
		any = true;
	}
	study->n_sessions += any;
	study->n_left_out += !any;
}

static int take_files(struct cli *cli, struct study *study)
{
	for (size_t i = 0; i < cli->args.n_words; i++) {
		struct reader *reader = NULL;
		struct err e = {0};

		if (reader_open(cli->args.words[i], &reader, &e) < 0)
			return cli_fail(cli, CLI_USAGE, &e);
		if (is_wanted(&cli->args, reader_start(reader)))
			take(study, reader);
		reader_close(reader);
	}
	return CLI_DONE;
}

/* A journal that is gone, or that this token may not read, is left out. */
static int take_session(struct cli *cli, struct study *study, const char *id)
{
	struct reader *reader = NULL;
	int status = fetch_lines(cli, id, &reader);

	if (status == CLI_UNREACHABLE)
		return status;
	if (status == CLI_DONE)
		take(study, reader);
	else
		study->n_left_out++;
	reader_close(reader);
	return CLI_DONE;
}

/* The sessions that a server still lists, by their labels of now: a journal begins with those of the create. */
static int take_server(struct cli *cli, struct study *study)
{
	auto_free char *path = util_strdup("/v1/sessions");
	json_auto_t *sessions = NULL;
	const json_t *session;
	struct err e = {0};
	size_t i;
	int status;

	if (list_filter(&cli->args, &path, &e) < 0)
		return cli_fail(cli, CLI_USAGE, &e);
	status = list_sessions(cli, path, &sessions);
	json_array_foreach(sessions, i, session)
		if (status == CLI_DONE)
			status = take_session(cli, study, form_string(session, "id", ""));
	return status;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The nearest rank: of fewer than a hundred sessions the most. */
static double percentile(struct used *used)
{
	size_t rank = (used->n * PERCENTILE + 99) / 100;

	qsort(used->peaks, used->n, sizeof(*used->peaks), compare);
	return used->peaks[rank - 1];
}

static double suggest(const struct study *study, size_t at, double usual)
{
	const struct kind *kind = &kinds[at];
	double wanted = usual * (100 + (double)study->margin_percent) / 100;

	int64_t steps = (int64_t)(wanted / kind->step);

	/* Not up one step for what a division leaves. */
	steps += (double)steps * kind->step < wanted - 1e-9;
	return MAX(kind->least, (double)steps * kind->step);
}

static json_t *number(double value)
{
	json_int_t tenths = (json_int_t)(value * 10 + 0.5);

	return tenths % 10 == 0 ? json_integer(tenths / 10) : json_real((double)tenths / 10);
}

/* Files are memory: a disk may be half of it. */
static void fit_disk(json_t *limits)
{
	json_int_t disk = json_integer_value(json_object_get(limits, "disk_mb")), memory = json_integer_value(json_object_get(limits, "memory_mb"));

	if (json_object_get(limits, "memory_mb") && memory < 2 * disk)
		json_object_set_new(limits, "memory_mb", json_integer(2 * disk));
}

static json_t *result_of(struct study *study)
{
	json_t *rows = json_array(), *limits = json_object();

	for (size_t i = 0; i < N_KINDS; i++) {
		struct used *used = &study->used[i];
		double usual;

		if (used->n == 0)
			continue;
		usual = percentile(used);
		json_object_set_new(limits, kinds[i].name, number(suggest(study, i, usual)));
		json_array_append_new(rows, json_pack("{s:s,s:I,s:o,s:o,s:I}", "limit", kinds[i].name, "sessions", (json_int_t)used->n, "p99", number(usual),
		                                      "most", number(used->peaks[used->n - 1]), "met", (json_int_t)used->met));
	}
	fit_disk(limits);
	for (size_t i = 0; i < json_array_size(rows); i++) {
		json_t *row = json_array_get(rows, i);

		json_object_set(row, "suggested", json_object_get(limits, form_string(row, "limit", "")));
	}
	return json_pack("{s:I,s:I,s:I,s:o,s:{s:o}}", "sessions", (json_int_t)study->n_sessions, "left_out", (json_int_t)study->n_left_out, "margin_percent",
	                 (json_int_t)study->margin_percent, "rows", rows, "spec", "limits", limits);
}

static int show(struct cli *cli, struct study *study)
{
	static const struct show_column columns[] = {
		{"limit", "LIMIT", 12}, {"sessions", "SESSIONS", 10}, {"p99", "P99", 10}, {"most", "MOST", 10}, {"met", "MET", 6}, {"suggested", "SUGGESTED", 0},
	};
	json_auto_t *result = NULL;
	struct err e = {0};

	if (study->n_sessions == 0) {
		(void)err_set(&e, ERR_NOT_FOUND, NULL, "no journal of such a session says what it used (%zu left out)", study->n_left_out);
		return cli_fail(cli, CLI_REFUSED, &e);
	}
	result = result_of(study);
	if (cli->json) {
		show_json(result);
		return CLI_DONE;
	}
	show_table(json_object_get(result, "rows"), columns, ARRAY_LEN(columns));
	if (study->n_left_out > 0)
		fprintf(stderr, "%zu sessions are left out: their journals cannot be read, or say nothing of it\n", study->n_left_out);
	return CLI_DONE;
}

static const struct arg_option options[] = {
	{"label", 0, "K=V", true, "of sessions with this label"},
	{"image", 0, "NAME", false, "of sessions of this image"},
	{"margin", 0, "PERCENT", false, "more than they used (default 25)"},
};

static int run_suggest(struct cli *cli)
{
	struct study study = {.margin_percent = MARGIN_PERCENT};
	struct err e = {0};
	int status;

	if (args_number(&cli->args, "margin", 0, 1000, &study.margin_percent, &e) < 0)
		return cli_fail(cli, CLI_USAGE, &e);
	status = cli->args.n_words > 0 ? take_files(cli, &study) : take_server(cli, &study);
	if (status == CLI_DONE)
		status = show(cli, &study);
	study_finish(&study);
	return status;
}

const struct cli_command limits_suggest = {
	"limits suggest", "[FOLDER|ZIP]… [--label K=V]… [--image NAME] [--margin PERCENT]",
	"propose limits from what 99 of 100 sessions used, of a server or of journals", options, ARRAY_LEN(options), 0, ARGS_MAX, ARGS_MAX, run_suggest,
};
