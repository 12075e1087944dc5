/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What came of a replay; text for XML and for scripts. */
#include "session/replay/report.h"

#include <string.h>

#include "session/base/util.h"

void report_init(struct report *report)
{
	*report = (struct report){.head = json_object(), .steps = json_array()};
}

void report_finish(struct report *report)
{
	for (size_t i = 0; i < report->n_pictures; i++)
		free(report->pictures[i].png);
	free(report->pictures);
	json_decref(report->head);
	json_decref(report->steps);
	*report = (struct report){.head = NULL};
}

void report_add_picture(struct report *report, const char *name, const struct pixels *pixels)
{
	struct report_picture *picture;

	for (size_t i = 0; i < report->n_pictures; i++)
		if (strcmp(report->pictures[i].name, name) == 0)
			return;
	report->pictures = util_realloc(report->pictures, (report->n_pictures + 1) * sizeof(*picture));
	picture = &report->pictures[report->n_pictures++];
	(void)snprintf(picture->name, sizeof(picture->name), "%s", name);
	picture->png = pixels_encode(pixels, &picture->len);
}

static size_t count(const struct report *report, const char *verdict)
{
	const json_t *step;
	size_t i, n = 0;

	json_array_foreach(report->steps, i, step)
		n += strcmp(json_string_value(json_object_get(step, "verdict")), verdict) == 0;
	return n;
}

void report_close(struct report *report)
{
	static const struct {
		const char *verdict, *name;
	} rows[] = {{"passed", "passed"}, {"differs", "differing"}, {"failed", "failed"}, {"not_played", "not_played"}};
	size_t n = json_array_size(report->steps), i, compared = 0;
	const json_t *step;

	json_object_set_new(report->head, "steps", json_integer((json_int_t)n));
	for (i = 0; i < ARRAY_LEN(rows); i++)
		json_object_set_new(report->head, rows[i].name, json_integer((json_int_t)count(report, rows[i].verdict)));
	json_array_foreach(report->steps, i, step)
		compared += json_is_true(json_object_get(step, "compared"));
	json_object_set_new(report->head, "compared", json_integer((json_int_t)compared));
	json_object_set_new(report->head, "verdict", json_string(count(report, "failed") > 0 ? "failed" : n > 0 && count(report, "passed") == n ? "passed" : "differs"));
}

/* Char of XML 1.0, without the controls that it discourages. */
static bool is_xml_char(uint32_t c)
{
	return c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c <= 0x7e) || (c >= 0xa0 && c <= 0xd7ff) || (c >= 0xe000 && c <= 0xfffd) ||
	       c >= 0x10000;
}

/* The entity of a character that cannot stand for itself, or NULL. Tab and line ends are kept in attributes only so. */
static const char *entity(uint32_t c)
{
	static const struct {
		uint32_t c;
		const char *text;
	} rows[] = {{'<', "&lt;"}, {'>', "&gt;"}, {'&', "&amp;"}, {'"', "&quot;"}, {'\'', "&#39;"}, {'\t', "&#9;"}, {'\n', "&#10;"}, {'\r', "&#13;"}};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].c == c)
			return rows[i].text;
	return NULL;
}

void report_xml_text(FILE *to, const char *text, size_t len)
{
	for (size_t at = 0; at < len;) {
		uint32_t c = 0;
		size_t n = util_utf8_decode(text + at, len - at, &c);

		if (n == 0 || !is_xml_char(c))
			fputs("\xef\xbf\xbd", to); /* U+FFFD */
		else if (entity(c))
			fputs(entity(c), to);
		else
			fwrite(text + at, 1, n, to);
		at += n ? n : 1;
	}
}
