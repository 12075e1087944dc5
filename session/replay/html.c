/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The HTML report of a replay. The page is three files of this folder, put into the program by the assembler. What was recorded goes in as JSON, which
 * the script shows as text and pictures; the page's policy allows this style and this script, by their hashes, and pictures that are in it.
 */
#include <string.h>

#include "session/base/base64.h"
#include "session/base/hash.h"
#include "session/base/util.h"
#include "session/replay/report.h"

#define ASSET(name, file) \
	__asm__(".pushsection .rodata\n" #name "_start:\n\t.incbin \"" file "\"\n" #name "_end:\n\t.byte 0\n\t.popsection\n"); \
	extern const char name##_start[], name##_end[]

ASSET(report_page, "session/replay/report.html");
ASSET(report_script, "session/replay/report.js");
ASSET(report_style, "session/replay/report.css");

/* 'sha256-…' of an element's text. */
static char *source_hash(const char *text, const char *end)
{
	uint8_t hash[HASH_BYTES];
	auto_free char *encoded = NULL;

	hash_sha256(text, (size_t)(end - text), hash);
	encoded = base64_encode(hash, sizeof(hash), NULL);
	return util_printf("'sha256-%s'", encoded);
}

static void put_policy(const struct report *report, FILE *to)
{
	auto_free char *script = source_hash(report_script_start, report_script_end), *style = source_hash(report_style_start, report_style_end);

	(void)report;
	fprintf(to, "default-src 'none'; img-src data:; script-src %s; style-src %s; base-uri 'none'; form-action 'none'", script, style);
}

static void put_style(const struct report *report, FILE *to)
{
	(void)report;
	fwrite(report_style_start, 1, (size_t)(report_style_end - report_style_start), to);
}

static void put_script(const struct report *report, FILE *to)
{
	(void)report;
	fwrite(report_script_start, 1, (size_t)(report_script_end - report_script_start), to);
}

static void put_title(const struct report *report, FILE *to)
{
	const char *journal = json_string_value(json_object_get(report->head, "journal"));

	report_xml_text(to, journal ? journal : "", journal ? strlen(journal) : 0);
}

static void put_data(const struct report *report, FILE *to)
{
	json_auto_t *all = json_pack("{s:O,s:O}", "head", report->head, "steps", report->steps);
	auto_free char *text = report_script_json(all);

	fputs(text, to);
}

/* {"NAME": "data:image/png;base64,…", …}: names are our own, and base64 needs no escape. */
static void put_pictures(const struct report *report, FILE *to)
{
	fputc('{', to);
	for (size_t i = 0; i < report->n_pictures; i++) {
		auto_free char *encoded = base64_encode(report->pictures[i].png, report->pictures[i].len, NULL);

		fprintf(to, "%s\"%s\":\"data:image/png;base64,%s\"", i ? ",\n" : "", report->pictures[i].name, encoded);
	}
	fputc('}', to);
}

/* What the page has in place of its marks {{NAME}}. */
static const struct {
	const char *mark;
	void (*put)(const struct report *report, FILE *to);
} marks[] = {
	{"{{POLICY}}", put_policy}, {"{{STYLE}}", put_style}, {"{{SCRIPT}}", put_script},
	{"{{TITLE}}", put_title}, {"{{DATA}}", put_data}, {"{{PICTURES}}", put_pictures},
};

void report_html(const struct report *report, FILE *to)
{
	for (const char *at = report_page_start; at < report_page_end;) {
		size_t mark = 0;

		while (mark < ARRAY_LEN(marks) && strncmp(at, marks[mark].mark, strlen(marks[mark].mark)) != 0)
			mark++;
		if (mark == ARRAY_LEN(marks)) {
			fputc(*at++, to);
			continue;
		}
		marks[mark].put(report, to);
		at += strlen(marks[mark].mark);
	}
}
