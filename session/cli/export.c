/* SPDX-License-Identifier: GPL-2.0-or-later */
/* export: a journal as an archive that opens without a server. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/cli/commands.h"
#include "session/cli/fetch.h"
#include "session/cli/show.h"
#include "session/replay/export.h"

static const struct arg_option export_options[] = {
	{"output", 'o', "FILE", false, "the archive (default NAME.zip)"},
	{"format", 0, "FORMAT", false, "page: with a page that shows it, also for glovebox replay (default); osworld: traj.jsonl and a picture for each step"},
};

static const struct format {
	const char *name;
	int (*write)(struct reader *reader, const char *name, struct archive_writer *zip, struct export_count *count, struct err *e);
} formats[] = {{"page", export_page}, {"osworld", export_osworld}};

static const struct format *read_format(const struct args *args, struct err *e)
{
	const char *asked = args_get(args, "format");
	char quoted[64];

	for (size_t i = 0; i < ARRAY_LEN(formats); i++)
		if (!asked || strcmp(asked, formats[i].name) == 0)
			return &formats[i];
	(void)err_set(e, ERR_BAD_REQUEST, NULL, "the format is %s; formats are page and osworld", err_quote(quoted, sizeof(quoted), asked, strlen(asked)));
	return NULL;
}

static int write_archive(const char *file, const struct format *format, struct reader *reader, const char *name, struct export_count *count,
                         struct err *e)
{
	struct archive_writer *writer;
	int rc;

	if (archive_writer_create(file, &writer, e) < 0)
		return -1;
	rc = format->write(reader, name, writer, count, e) == 0 ? archive_writer_finish(writer, e) : -1;
	archive_writer_destroy(writer);
	return rc;
}

/* What of the journal could not be shown is said, not held against the export. */
static void show(const struct cli *cli, const char *file, const struct reader *reader, const struct export_count *count)
{
	json_auto_t *done = json_pack("{s:s,s:I,s:I,s:I,s:s?}", "file", file, "steps", (json_int_t)count->n_steps, "pictures", (json_int_t)count->n_pictures,
	                              "missing", (json_int_t)count->n_missing, "broken", reader_broken(reader));
	json_auto_t *broken = reader_broken(reader) ? json_string(reader_broken(reader)) : NULL;

	if (cli->json) {
		show_json(done);
		return;
	}
	fprintf(stderr, "%s  %zu steps  %zu pictures\n", file, count->n_steps, count->n_pictures);
	if (count->n_missing > 0)
		fprintf(stderr, "%zu pictures are not in the journal, or damaged\n", count->n_missing);
	if (broken) {
		fputs("the journal is not as it was written: ", stderr);
		show_value(stderr, broken, 0);
		fputc('\n', stderr);
	}
}

/* A path if there is something at it, else a session's id. */
static int open_journal(struct cli *cli, const char *from, struct reader **out)
{
	struct stat st;
	struct err e = {0};

	if (!strchr(from, '/') && stat(from, &st) < 0)
		return fetch_journal(cli, from, out);
	return reader_open(from, out, &e) < 0 ? cli_fail(cli, CLI_USAGE, &e) : CLI_DONE;
}

static int run_export(struct cli *cli)
{
	const char *from = cli->args.words[0], *given = args_get(&cli->args, "output");
	auto_free char *name = cli_folder_name(from), *file = given ? util_strdup(given) : util_printf("%s.zip", name);
	struct export_count count = {0};
	struct reader *reader = NULL;
	struct err e = {0};
	const struct format *format = read_format(&cli->args, &e);
	int status;

	if (!format)
		return cli_fail(cli, CLI_USAGE, &e);
	status = open_journal(cli, from, &reader);
	if (status != CLI_DONE)
		return status;
	if (write_archive(file, format, reader, name, &count, &e) < 0)
		status = cli_fail(cli, CLI_REFUSED, &e);
	else
		show(cli, file, reader, &count);
	reader_close(reader);
	return status;
}

const struct cli_command export_journal = {
	"export", "ID|FOLDER|ZIP [-o FILE.zip] [--format osworld]", "write a session's journal as an archive with a page that shows it",
	export_options, ARRAY_LEN(export_options), 1, 1, ARGS_MAX, run_export,
};
