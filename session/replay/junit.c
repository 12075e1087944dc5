/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JUnit XML of a replay. */
#include <string.h>

#include "session/base/util.h"
#include "session/replay/report.h"

/* How a verdict is said: the element in a testcase. */
static const struct {
	const char *verdict, *element, *type;
} rows[] = {
	{"differs", "failure", "difference"},
	{"failed", "error", "server"},
	{"not_played", "skipped", NULL},
};

static void attribute(FILE *to, const char *name, const char *value)
{
	fprintf(to, " %s=\"", name);
	report_xml_text(to, value, strlen(value));
	fputc('"', to);
}

static const char *text_of(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}

static void seconds(FILE *to, const json_t *object)
{
	fprintf(to, " time=\"%.3f\"", (double)json_integer_value(json_object_get(object, "elapsed_ms")) / 1000);
}

/* Results that are not as recorded, a line each. */
static void results(FILE *to, const json_t *step)
{
	const json_t *result;
	size_t i;

	json_array_foreach(json_object_get(step, "results"), i, result) {
		auto_free char *expected = json_dumps(json_object_get(result, "expected"), JSON_COMPACT | JSON_ENCODE_ANY);
		auto_free char *actual = json_dumps(json_object_get(result, "actual"), JSON_COMPACT | JSON_ENCODE_ANY);
		auto_free char *line = util_printf("\naction %zu: recorded %s, now %s", i + 1, expected, actual);

		if (!json_is_true(json_object_get(result, "same")))
			report_xml_text(to, line, strlen(line));
	}
}

/* A difference is called by what it is, where that is known. */
static const char *type_of(const json_t *step, const char *otherwise)
{
	static const char *const states[] = {"moved", "gone", "alike"};
	const char *state = text_of(json_object_get(step, "node"), "state");

	if (strcmp(text_of(step, "where"), "node") == 0)
		return "node";
	for (size_t i = 0; i < ARRAY_LEN(states); i++)
		if (strcmp(text_of(step, "where"), "before") == 0 && strcmp(states[i], state) == 0)
			return states[i];
	return otherwise;
}

static void verdict(FILE *to, const json_t *step)
{
	const char *said = text_of(step, "verdict"), *reason = text_of(step, "reason");

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (strcmp(rows[i].verdict, said) != 0)
			continue;
		fprintf(to, "\n      <%s", rows[i].element);
		attribute(to, "message", *reason ? reason : "not played: the replay stopped before it");
		if (rows[i].type)
			attribute(to, "type", type_of(step, rows[i].type));
		fputc('>', to);
		report_xml_text(to, reason, strlen(reason));
		results(to, step);
		fprintf(to, "</%s>\n    ", rows[i].element);
	}
}

/* What was not compared, or left out: a step passes with it, but whoever reads the result is to know. */
static void notes(FILE *to, const json_t *step)
{
	static const char *const names[] = {"note_before", "note"};
	const json_t *hidden = json_object_get(step, "hidden"), *place;
	size_t i;

	if (!*text_of(step, names[0]) && !*text_of(step, names[1]) && json_array_size(hidden) == 0)
		return;
	fputs("\n      <system-out>", to);
	for (i = 0; i < ARRAY_LEN(names); i++) {
		auto_free char *line = util_printf("%s\n", text_of(step, names[i]));

		if (*text_of(step, names[i]))
			report_xml_text(to, line, strlen(line));
	}
	json_array_foreach(hidden, i, place) {
		auto_free char *line = util_printf("left out, since it %s by itself: %jdx%jd at %jd, %jd\n", text_of(place, "why"),
		                                   (intmax_t)json_integer_value(json_object_get(place, "width")),
		                                   (intmax_t)json_integer_value(json_object_get(place, "height")),
		                                   (intmax_t)json_integer_value(json_object_get(place, "x")),
		                                   (intmax_t)json_integer_value(json_object_get(place, "y")));

		report_xml_text(to, line, strlen(line));
	}
	fputs("</system-out>\n    ", to);
}

static void testcase(FILE *to, const json_t *step, const char *journal)
{
	auto_free char *name = util_printf("step %jd: %s", (intmax_t)json_integer_value(json_object_get(step, "step")), text_of(step, "title"));

	fputs("    <testcase", to);
	attribute(to, "name", name);
	attribute(to, "classname", journal);
	seconds(to, step);
	fputc('>', to);
	verdict(to, step);
	notes(to, step);
	fputs("</testcase>\n", to);
}

static void counts(FILE *to, const json_t *head)
{
	static const struct {
		const char *attribute, *member;
	} members[] = {{"tests", "steps"}, {"failures", "differing"}, {"errors", "failed"}, {"skipped", "not_played"}};

	for (size_t i = 0; i < ARRAY_LEN(members); i++)
		fprintf(to, " %s=\"%jd\"", members[i].attribute, (intmax_t)json_integer_value(json_object_get(head, members[i].member)));
	seconds(to, head);
}

void report_junit(const struct report *report, FILE *to)
{
	const char *journal = text_of(report->head, "journal");
	const json_t *step;
	size_t i;

	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites", to);
	attribute(to, "name", "glovebox replay");
	counts(to, report->head);
	fputs(">\n  <testsuite", to);
	attribute(to, "name", journal);
	counts(to, report->head);
	attribute(to, "timestamp", text_of(report->head, "started_at"));
	fputs(">\n", to);
	json_array_foreach(report->steps, i, step)
		testcase(to, step, journal);
	fputs("  </testsuite>\n</testsuites>\n", to);
}
