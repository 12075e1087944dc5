/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: session/replay */
/* Reports of replays, with text in them that was made to break out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "session/base/util.h"
#include "session/replay/page.h"
#include "session/replay/report.h"

static char *xml_text(const char *text, size_t len)
{
	char *out;
	size_t out_len;
	FILE *to = open_memstream(&out, &out_len);

	report_xml_text(to, text, len);
	fclose(to);
	return out;
}

static void test_xml_text(void **state)
{
	static const struct {
		const char *text;
		size_t len;
		const char *escaped;
	} cases[] = {
		{"plain Ä 日 😀", sizeof("plain Ä 日 😀") - 1, "plain Ä 日 😀"},
		{"<a b=\"c\">'&amp;]]>", 18, "&lt;a b=&quot;c&quot;&gt;&#39;&amp;amp;]]&gt;"},
		{"a\tb\nc\rd", 7, "a&#9;b&#10;c&#13;d"},
		{"\0\x01\x08\x0b\x0c\x1f\x7f", 7, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
		{"\xc2\x9b|\xef\xbf\xbe|\xef\xbf\xbf", 10, "\xef\xbf\xbd|\xef\xbf\xbd|\xef\xbf\xbd"}, /* C1, U+FFFE, U+FFFF */
		{"\xed\xa0\x80", 3, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, /* a surrogate: three bytes that are no UTF-8 */
		{"\xff\xc3", 2, "\xef\xbf\xbd\xef\xbf\xbd"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		auto_free char *escaped = xml_text(cases[i].text, cases[i].len);

		assert_string_equal(escaped, cases[i].escaped);
	}
}

static void test_script_json(void **state)
{
	json_auto_t *value = json_pack("{s:s}", "t", "</script><!--&\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaa\"\\");
	auto_free char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	(void)state;
	page_put_json(value, to);
	fclose(to);
	json_auto_t *back = json_loads(text, 0, NULL);

	assert_string_equal(text, "{\"t\":\"\\u003c/script\\u003e\\u003c!--\\u0026\\u2028\\u2029\xe2\x80\xaa\\\"\\\\\"}");
	assert_true(json_equal(value, back));
}

static char *written(const struct report *report, void (*put)(const struct report *report, FILE *to))
{
	char *out;
	size_t out_len;
	FILE *to = open_memstream(&out, &out_len);

	put(report, to);
	fclose(to);
	return out;
}

static void make_report(struct report *report)
{
	static const char hostile[] = "</script><script>alert(1)</script>{{DATA}}\"'&\x01";
	struct pixels red = pixels_create(2, 2);

	report_init(report);
	json_object_set_new(report->head, "journal", json_string(hostile));
	json_object_set_new(report->head, "started_at", json_string("2026-01-01T00:00:00.000Z"));
	json_object_set_new(report->head, "elapsed_ms", json_integer(2500));
	json_array_append_new(report->steps, json_pack("{s:i,s:s,s:s,s:i,s:b}", "step", 1, "title", hostile, "verdict", "passed", "elapsed_ms", 1000, "compared", 1));
	json_array_append_new(report->steps, json_pack("{s:i,s:s,s:s,s:s,s:i,s:[{s:s,s:{s:b},s:n,s:b}]}", "step", 2, "title", "b", "verdict", "differs", "reason", hostile,
	                                               "elapsed_ms", 1, "results", "action", "x", "expected", "ok", 1, "actual", "same", 0));
	json_array_append_new(report->steps, json_pack("{s:i,s:s,s:s}", "step", 3, "title", "c", "verdict", "not_played"));
	json_object_set_new(json_array_get(report->steps, 0), "note", json_string("its picture was not compared: </x>"));
	json_object_set_new(json_array_get(report->steps, 0), "hidden", json_pack("[{s:s,s:i,s:i,s:i,s:i}]", "why", "ticks", "x", 3, "y", 4, "width", 5, "height", 6));
	report_add_picture(report, "recorded-1", &red);
	report_add_picture(report, "recorded-1", &red);
	report_close(report);
	pixels_finish(&red);
}

static void test_counts(void **state)
{
	struct report report;

	(void)state;
	make_report(&report);
	assert_int_equal(report.n_pictures, 1);
	assert_int_equal(json_integer_value(json_object_get(report.head, "steps")), 3);
	assert_int_equal(json_integer_value(json_object_get(report.head, "passed")), 1);
	assert_int_equal(json_integer_value(json_object_get(report.head, "differing")), 1);
	assert_int_equal(json_integer_value(json_object_get(report.head, "not_played")), 1);
	assert_int_equal(json_integer_value(json_object_get(report.head, "compared")), 1);
	assert_string_equal(json_string_value(json_object_get(report.head, "verdict")), "differs");
	report_finish(&report);
	report_init(&report);
	report_close(&report);
	assert_string_equal(json_string_value(json_object_get(report.head, "verdict")), "differs"); /* nothing was played */
	report_finish(&report);
}

static void test_junit(void **state)
{
	struct report report;
	auto_free char *text = NULL;
	const char *escaped = "&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;{{DATA}}&quot;&#39;&amp;\xef\xbf\xbd";
	auto_free char *wanted = util_printf(
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<testsuites name=\"glovebox replay\" tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"1\" time=\"2.500\">\n"
		"  <testsuite name=\"%s\" tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"1\" time=\"2.500\" timestamp=\"2026-01-01T00:00:00.000Z\">\n"
		"    <testcase name=\"step 1: %s\" classname=\"%s\" time=\"1.000\">\n"
		"      <system-out>its picture was not compared: &lt;/x&gt;&#10;left out, since it ticks by itself: 5x6 at 3, 4&#10;</system-out>\n"
		"    </testcase>\n"
		"    <testcase name=\"step 2: b\" classname=\"%s\" time=\"0.001\">\n"
		"      <failure message=\"%s\" type=\"difference\">%s&#10;action 1: recorded {&quot;ok&quot;:true}, now null</failure>\n"
		"    </testcase>\n"
		"    <testcase name=\"step 3: c\" classname=\"%s\" time=\"0.000\">\n"
		"      <skipped message=\"not played: the replay stopped before it\"></skipped>\n"
		"    </testcase>\n"
		"  </testsuite>\n"
		"</testsuites>\n", escaped, escaped, escaped, escaped, escaped, escaped, escaped);

	(void)state;
	make_report(&report);
	text = written(&report, report_junit);
	assert_string_equal(text, wanted);
	report_finish(&report);
}

/* Whoever filters failures by their type finds what has moved and what is gone. */
static void test_types_of_differences(void **state)
{
	static const struct {
		const char *where, *state, *type;
	} rows[] = {
		{"before", "moved", "type=\"moved\""},     {"before", "gone", "type=\"gone\""},       {"before", "alike", "type=\"alike\""},
		{"before", "there", "type=\"difference\""}, {"after", "moved", "type=\"difference\""}, {"node", "there", "type=\"node\""},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct report report;
		auto_free char *text = NULL;

		report_init(&report);
		json_array_append_new(report.steps, json_pack("{s:i,s:s,s:s,s:s,s:s,s:{s:s}}", "step", 1, "title", "a", "verdict", "differs", "reason", "b", "where",
		                                              rows[i].where, "node", "state", rows[i].state));
		report_close(&report);
		text = written(&report, report_junit);
		assert_non_null(strstr(text, rows[i].type));
		report_finish(&report);
	}
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	while ((text = strstr(text, what))) {
		n++;
		text += strlen(what);
	}
	return n;
}

/* Nothing of what was recorded is markup: the page has its own elements and no more. */
static void test_html(void **state)
{
	struct report report;
	auto_free char *text = NULL;

	(void)state;
	make_report(&report);
	text = written(&report, report_html);
	assert_int_equal(count(text, "<script"), 3);
	assert_int_equal(count(text, "</script"), 3);
	assert_int_equal(count(text, "alert(1)"), 4);
	assert_int_equal(count(text, "{{POLICY}}") + count(text, "{{STYLE}}") + count(text, "{{SCRIPT}}") + count(text, "{{PICTURES}}"), 0);
	assert_non_null(strstr(text, "<title>Replay of &lt;/script&gt;"));
	assert_non_null(strstr(text, "content=\"default-src 'none'; img-src data:; script-src 'sha256-"));
	assert_non_null(strstr(text, "{\"recorded-1\":\"data:image/png;base64,iVBOR"));
	assert_int_equal(count(text, "http://") - count(text, "http://www.w3.org/2000/svg"), 0);
	assert_int_equal(count(text, "https://"), 0);
	report_finish(&report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_xml_text), cmocka_unit_test(test_script_json), cmocka_unit_test(test_counts), cmocka_unit_test(test_junit), cmocka_unit_test(test_types_of_differences),
		cmocka_unit_test(test_html),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
