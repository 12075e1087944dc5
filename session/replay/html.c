/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The HTML report of a replay, all of it in one page (page.h). */
#include <string.h>

#include "session/base/base64.h"
#include "session/base/util.h"
#include "session/replay/page.h"
#include "session/replay/report.h"

PAGE(page, "report", "data:");

static void put_title(const void *arg, FILE *to)
{
	const struct report *report = arg;
	const char *journal = json_string_value(json_object_get(report->head, "journal"));

	report_xml_text(to, journal ? journal : "", journal ? strlen(journal) : 0);
}

static void put_data(const void *arg, FILE *to)
{
	const struct report *report = arg;
	json_auto_t *all = json_pack("{s:O,s:O}", "head", report->head, "steps", report->steps);

	page_put_json(all, to);
}

/* {"NAME": "data:image/png;base64,…", …}: names are our own, and base64 needs no escape. */
static void put_pictures(const void *arg, FILE *to)
{
	const struct report *report = arg;

	fputc('{', to);
	for (size_t i = 0; i < report->n_pictures; i++) {
		auto_free char *encoded = base64_encode(report->pictures[i].png, report->pictures[i].len, NULL);

		fprintf(to, "%s\"%s\":\"data:image/png;base64,%s\"", i ? ",\n" : "", report->pictures[i].name, encoded);
	}
	fputc('}', to);
}

static const struct page_mark marks[] = {{"{{TITLE}}", put_title}, {"{{DATA}}", put_data}, {"{{PICTURES}}", put_pictures}};

void report_html(const struct report *report, FILE *to)
{
	page_write(&page, marks, ARRAY_LEN(marks), report, to);
}
