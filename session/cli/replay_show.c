/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What comes out of `glovebox replay`, and what goes in from a server. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/cli/fetch.h"
#include "session/cli/picture.h"
#include "session/cli/replay.h"
#include "session/cli/show.h"

int replay_fetch(struct replay *replay, const char *id)
{
	int status = fetch_journal(replay->cli, id, &replay->reader);

	return status == CLI_REFUSED ? CLI_USAGE : status; /* what is refused here is the journal, before anything was played */
}

static void show_line(const char *before, const json_t *text)
{
	fputs(before, stdout);
	show_value(stdout, text, 0);
	putchar('\n');
}

void replay_show_step(void *arg, const json_t *facts)
{
	static const struct {
		const char *verdict, *shown;
	} rows[] = {{"passed", "passed"}, {"differs", "DIFFERS"}, {"failed", "FAILED"}};
	const char *verdict = json_string_value(json_object_get(facts, "verdict"));
	const json_t *place;
	size_t i;

	(void)arg;
	for (i = 0; i < ARRAY_LEN(rows); i++)
		if (strcmp(rows[i].verdict, verdict) == 0)
			printf("%4jd %-7s %6jd ms  ", (intmax_t)json_integer_value(json_object_get(facts, "step")), rows[i].shown,
			       (intmax_t)json_integer_value(json_object_get(facts, "elapsed_ms")));
	show_line("", json_object_get(facts, "title"));
	if (json_object_get(facts, "reason"))
		show_line("       ", json_object_get(facts, "reason"));
	if (json_object_get(facts, "note_before"))
		show_line("       before it ", json_object_get(facts, "note_before"));
	if (json_object_get(facts, "note"))
		show_line("       ", json_object_get(facts, "note"));
	json_array_foreach(json_object_get(facts, "hidden"), i, place)
		printf("       left out, since it %s by itself: %jdx%jd at %jd, %jd\n", json_string_value(json_object_get(place, "why")),
		       (intmax_t)json_integer_value(json_object_get(place, "width")), (intmax_t)json_integer_value(json_object_get(place, "height")),
		       (intmax_t)json_integer_value(json_object_get(place, "x")), (intmax_t)json_integer_value(json_object_get(place, "y")));
	fflush(stdout);
}

static intmax_t number(const struct replay *replay, const char *name)
{
	return (intmax_t)json_integer_value(json_object_get(replay->report.head, name));
}

void replay_show_end(const struct replay *replay)
{
	json_auto_t *all = json_pack("{s:O,s:O}", "replay", replay->report.head, "steps", replay->report.steps);
	const json_t *updated = json_object_get(replay->report.head, "updated");

	if (replay->cli->json) {
		show_json(all);
		return;
	}
	printf("%s: %jd steps, %jd passed", json_string_value(json_object_get(replay->report.head, "verdict")), number(replay, "steps"),
	       number(replay, "passed"));
	if (number(replay, "differing") > 0)
		printf(", %jd differ", number(replay, "differing"));
	if (number(replay, "failed") > 0)
		printf(", %jd failed", number(replay, "failed"));
	if (number(replay, "not_played") > 0)
		printf(", %jd not played", number(replay, "not_played"));
	printf("; %jd compared by picture\n", number(replay, "compared"));
	if (updated)
		puts(json_is_true(updated) ? "the new journal is in place" : "not updated: results differ, or not all was played");
}

static int write_file(struct replay *replay, const char *file, void (*put)(const struct report *report, FILE *to), struct err *e)
{
	FILE *to = fopen(file, "we");
	bool good = to;

	if (to) {
		put(&replay->report, to);
		good = !ferror(to);
		good = fclose(to) == 0 && good;
	}
	return good ? 0 : err_set(e, ERR_BAD_REQUEST, NULL, "%s cannot be written: %s", file, strerror(errno));
}

/* The pictures that were not as recorded; all that are kept if there is a page with them. */
static int write_pictures(const struct replay *replay, const char *folder, struct err *e)
{
	for (size_t i = 0; i < replay->report.n_pictures; i++) {
		const struct report_picture *picture = &replay->report.pictures[i];
		auto_free char *file = util_printf("%s/step-%s.png", folder, picture->name);

		if (strncmp(picture->name, "recorded-", 9) == 0) {
			free(file);
			file = util_printf("%s/%s.png", folder, picture->name);
		}
		if (picture_write(file, picture->png, picture->len, e) < 0)
			return -1;
	}
	return 0;
}

int replay_can_write(const struct replay *replay, struct err *e)
{
	const char *junit = args_get(&replay->cli->args, "junit"), *page = args_get(&replay->cli->args, "report");

	return (junit && cli_can_write(junit, e) < 0) || (page && cli_can_write(page, e) < 0) ? -1 : 0;
}

int replay_write(struct replay *replay, struct err *e)
{
	const struct args *args = &replay->cli->args;
	const char *junit = args_get(args, "junit"), *page = args_get(args, "report"), *folder = args_get(args, "output");

	if ((junit && write_file(replay, junit, report_junit, e) < 0) || (page && write_file(replay, page, report_html, e) < 0))
		return -1;
	return folder && (write_pictures(replay, folder, e) < 0 || play_save(&replay->play, folder, e) < 0) ? -1 : 0;
}

void replay_free(struct replay *replay)
{
	report_finish(&replay->report);
	plan_finish(&replay->plan);
	reader_close(replay->reader);
	json_decref(replay->env);
	json_decref(replay->stdins);
	json_decref(replay->texts);
	json_decref(replay->ignore);
	free(replay->name);
	free(replay->etag);
}
