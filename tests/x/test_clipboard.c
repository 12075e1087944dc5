/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: input */
/* Clipboards: set and got, by owners that keep to the rules and by those that break them. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>
#include <unistd.h>

#include <cmocka.h>

#include "session/base/base64.h"
#include "session/base/limits.h"
#include "session/base/util.h"
#include "tests/x/bench.h"
#include "tests/x/clips.h"

#define PROMPT_MS 5000 /* on a busy machine; 0.8 s and a little is what a program that does not answer costs */
#define TEXT_FORM(text) {"UTF8_STRING", NULL, text, sizeof(text) - 1}

/* The smallest PNG: one black pixel. */
static const char PNG[] =
	"\x89\x50\x4e\x47\x0d\x0a\x1a\x0a\x00\x00\x00\x0d\x49\x48\x44\x52\x00\x00\x00\x01\x00\x00\x00\x01"
	"\x08\x00\x00\x00\x00\x3a\x7e\x9b\x55\x00\x00\x00\x0a\x49\x44\x41\x54\x78\x9c\x63\x60\x00\x00\x00"
	"\x02\x00\x01\x48\xaf\xa4\x71\x00\x00\x00\x00\x49\x45\x4e\x44\xae\x42\x60\x82";
#define PNG_LEN (sizeof(PNG) - 1)

static struct clips_display display_of(const struct bench *bench)
{
	return (struct clips_display){.name = bench->server.display};
}

/* What another program gets; malloced, NULL when it is refused. */
static char *fetched(struct bench *bench, struct clips_display display, const char *selection, const char *target, size_t *len)
{
	struct clips_reading reading;
	char *data;

	clips_read(&reading, display, selection, target);
	while (!clips_read_end(&reading, &data, len))
		loop_turn(bench->loop, 5);
	return data;
}

static void expect_fetched(struct bench *bench, const char *selection, const char *target, const char *want)
{
	size_t len;
	auto_free char *got = fetched(bench, display_of(bench), selection, target, &len);

	if (!want) {
		assert_null(got);
		return;
	}
	assert_non_null(got);
	assert_string_equal(got, want);
	assert_int_equal(len, strlen(want));
}

static void set_field(struct bench *bench, const char *field, const char *value, size_t len, const char *selection)
{
	json_t *action = json_pack("{s:s,s:s%,s:s}", "action", "clipboard_set", field, value, len, "selection", selection);
	auto_free char *text = json_dumps(action, 0);

	json_decref(action);
	bench_act(bench, text);
}

static void expect_got(struct bench *bench, const char *ask, const char *want)
{
	auto_free char *got = NULL;

	bench_act(bench, ask);
	got = json_dumps(bench->result, JSON_COMPACT | JSON_SORT_KEYS);
	assert_string_equal(got, want);
}

#define GET "{\"action\":\"clipboard_get\"}"
#define GET_HTML "{\"action\":\"clipboard_get\",\"format\":\"html\"}"
#define GET_PNG "{\"action\":\"clipboard_get\",\"format\":\"png\"}"
#define GET_PRIMARY "{\"action\":\"clipboard_get\",\"selection\":\"primary\"}"
#define NOTHING "{\"offered\":[],\"owner\":\"none\",\"text\":null}"

static void test_text(void **state)
{
	struct bench *bench = *state;

	expect_got(bench, GET, NOTHING);
	set_field(bench, "text", "é 日本 🚀\n", strlen("é 日本 🚀\n"), "clipboard");
	expect_got(bench, GET, "{\"offered\":[\"text\"],\"owner\":\"agent\",\"text\":\"é 日本 🚀\\n\"}");
	expect_fetched(bench, "CLIPBOARD", "UTF8_STRING", "é 日本 🚀\n");
	expect_fetched(bench, "CLIPBOARD", "text/plain;charset=utf-8", "é 日本 🚀\n");
	expect_fetched(bench, "CLIPBOARD", "STRING", NULL);
	expect_fetched(bench, "CLIPBOARD", "image/png", NULL);
	expect_fetched(bench, "PRIMARY", "UTF8_STRING", NULL);
	set_field(bench, "text", "caf\u00e9", 5, "primary");
	expect_fetched(bench, "PRIMARY", "STRING", "caf\xe9");
	expect_fetched(bench, "PRIMARY", "UTF8_STRING", "caf\u00e9");
	expect_got(bench, GET_PRIMARY, "{\"offered\":[\"text\"],\"owner\":\"agent\",\"text\":\"café\"}");
	expect_fetched(bench, "CLIPBOARD", "UTF8_STRING", "é 日本 🚀\n");
	set_field(bench, "text", "", 0, "clipboard");
	expect_got(bench, GET, "{\"offered\":[\"text\"],\"owner\":\"agent\",\"text\":\"\"}");
	expect_fetched(bench, "CLIPBOARD", "UTF8_STRING", "");
}

static void test_html(void **state)
{
	static const char html[] = "<p>one <b>two</b></p>\n<!-- x --><ul><li>a &amp; b<li>&#x1F680; &#233;</ul><script>no()</script>";
	struct bench *bench = *state;

	set_field(bench, "html", html, strlen(html), "clipboard");
	expect_fetched(bench, "CLIPBOARD", "UTF8_STRING", "one two\na & b\n🚀 é");
	bench_act(bench, GET_HTML);
	assert_string_equal(form_string(bench->result, "html", ""), html);
	auto_free char *marked = util_printf("<meta http-equiv=\"content-type\" content=\"text/html; charset=utf-8\">%s", html);

	expect_fetched(bench, "CLIPBOARD", "text/html", marked);
	bench_act(bench, "{\"action\":\"clipboard_set\",\"html\":\"<i>x</i>\",\"text\":\"given\"}");
	expect_got(bench, GET, "{\"offered\":[\"text\",\"html\"],\"owner\":\"agent\",\"text\":\"given\"}");
}

static void test_png(void **state)
{
	struct bench *bench = *state;
	size_t len;
	auto_free char *base64 = base64_encode(PNG, PNG_LEN, NULL);

	set_field(bench, "png", base64, strlen(base64), "clipboard");
	auto_free char *got = fetched(bench, display_of(bench), "CLIPBOARD", "image/png", &len);

	assert_int_equal(len, PNG_LEN);
	assert_memory_equal(got, PNG, len);
	bench_act(bench, GET_PNG);
	assert_string_equal(form_string(bench->result, "png", ""), base64);
	expect_got(bench, GET, "{\"offered\":[\"png\"],\"owner\":\"agent\",\"text\":null}");
}

static void expect_refused(struct bench *bench, const char *action, enum err_code code, const char *path)
{
	bench_try(bench, action, 0);
	assert_int_equal(bench->rc, -1);
	assert_int_equal(bench->e.code, code);
	assert_string_equal(bench->e.path, path);
}

static void test_refused(void **state)
{
	struct bench *bench = *state;
	char broken[PNG_LEN];
	auto_free char *large = util_alloc(LIMIT_CLIPBOARD_BYTES + 2), *action = NULL;

	set_field(bench, "text", "stays", 5, "clipboard");
	expect_refused(bench, "{\"action\":\"clipboard_set\"}", ERR_MISSING_FIELD, "/text");
	expect_refused(bench, "{\"action\":\"clipboard_set\",\"text\":\"a\",\"png\":\"aaaa\"}", ERR_BAD_FIELD, "/png");
	expect_refused(bench, "{\"action\":\"clipboard_set\",\"png\":\"?\"}", ERR_BAD_FIELD, "/png");
	expect_refused(bench, "{\"action\":\"clipboard_set\",\"png\":\"aaaa\"}", ERR_BAD_FIELD, "/png");
	expect_refused(bench, "{\"action\":\"clipboard_set\",\"text\":\"a\",\"selection\":\"secondary\"}", ERR_BAD_FIELD, "/selection");
	expect_refused(bench, "{\"action\":\"clipboard_get\",\"format\":\"rtf\"}", ERR_BAD_FIELD, "/format");
	for (size_t at = 0; at < PNG_LEN; at += 5) {
		memcpy(broken, PNG, PNG_LEN);
		broken[at] ^= 1;
		auto_free char *base64 = base64_encode(broken, PNG_LEN, NULL), *text = util_printf("{\"action\":\"clipboard_set\",\"png\":\"%s\"}", base64);

		expect_refused(bench, text, ERR_BAD_FIELD, "/png");
		auto_free char *shorter = base64_encode(PNG, at, NULL), *cut = util_printf("{\"action\":\"clipboard_set\",\"png\":\"%s\"}", at ? shorter : "==");

		expect_refused(bench, cut, ERR_BAD_FIELD, "/png");
	}
	memset(large, 'x', LIMIT_CLIPBOARD_BYTES + 1);
	large[LIMIT_CLIPBOARD_BYTES + 1] = '\0';
	action = util_printf("{\"action\":\"clipboard_set\",\"text\":\"%s\"}", large);
	expect_refused(bench, action, ERR_BAD_FIELD, "/text");
	expect_fetched(bench, "CLIPBOARD", "UTF8_STRING", "stays");
}

/* The largest, set fifty times, read by another program and by us from another program. */
static void test_large(void **state)
{
	struct bench *bench = *state;
	size_t len = LIMIT_CLIPBOARD_BYTES;
	auto_free char *text = util_alloc(len + 1), *got = NULL;
	int64_t slowest_ms = 0;

	for (size_t i = 0; i < len; i++)
		text[i] = (char)(' ' + i * 31 % 90);
	text[len] = '\0';
	for (int i = 0; i < 50; i++) {
		text[0] = (char)('!' + i);
		set_field(bench, "text", text, len, "clipboard");
		slowest_ms = MAX(slowest_ms, bench->took_ms);
	}
	assert_true(slowest_ms < PROMPT_MS);
	int64_t start_ms = util_now_ms();

	got = fetched(bench, display_of(bench), "CLIPBOARD", "UTF8_STRING", &len);
	print_message("set: at most %lld ms; another program fetched it in %lld ms\n", (long long)slowest_ms, (long long)(util_now_ms() - start_ms));
	assert_int_equal(len, LIMIT_CLIPBOARD_BYTES);
	assert_memory_equal(got, text, len);
	pid_t owner = clips_own(display_of(bench), "CLIPBOARD", CLIPS_GOOD, &(struct clips_form){"UTF8_STRING", NULL, text, len}, 1);

	bench_act(bench, GET);
	print_message("got from another program in %lld ms\n", (long long)bench->took_ms);
	assert_int_equal(json_string_length(json_object_get(bench->result, "text")), len);
	assert_memory_equal(form_string(bench->result, "text", ""), text, len);
	clips_end(owner);
	expect_got(bench, GET, NOTHING);
}

/* A program that fetches and never reads on does not hold up others, and what it holds is bounded. */
static void test_readers_that_stop(void **state)
{
	struct bench *bench = *state;
	size_t len = LIMIT_CLIPBOARD_BYTES;
	auto_free char *text = util_alloc(len + 1);
	struct clips_reading readings[12];
	size_t n_whole = 0;

	memset(text, 'x', len);
	text[len] = '\0';
	for (size_t i = 0; i < ARRAY_LEN(readings); i++) {
		set_field(bench, "text", text, len, "clipboard");
		clips_read(&readings[i], display_of(bench), "CLIPBOARD", "UTF8_STRING");
		/* Until it has begun to read. */
		while (lseek(readings[i].fd, 0, SEEK_END) == 0)
			loop_turn(bench->loop, 1);
		(void)kill(readings[i].pid, SIGSTOP);
	}
	expect_fetched(bench, "CLIPBOARD", "UTF8_STRING", text);
	set_field(bench, "text", "short", 5, "clipboard");
	for (size_t i = 0; i < ARRAY_LEN(readings); i++)
		(void)kill(readings[i].pid, SIGCONT);
	/* 32 MiB of it were kept: six of twelve. */
	while (n_whole < LIMIT_SELECTION_STALE_BYTES / LIMIT_CLIPBOARD_BYTES) {
		loop_turn(bench->loop, 5);
		for (size_t i = 0; i < ARRAY_LEN(readings); i++) {
			char *data = NULL;
			size_t got;

			if (readings[i].pid == 0 || !clips_read_end(&readings[i], &data, &got))
				continue;
			assert_int_equal(got, len);
			free(data);
			readings[i].pid = 0;
			n_whole++;
		}
	}
	/* The others have been given up: another look finds nothing that is being served. */
	expect_fetched(bench, "CLIPBOARD", "UTF8_STRING", "short");
	for (size_t i = 0; i < ARRAY_LEN(readings); i++)
		if (readings[i].pid) {
			assert_true(i < ARRAY_LEN(readings) - LIMIT_SELECTION_STALE_BYTES / LIMIT_CLIPBOARD_BYTES);
			assert_true(lseek(readings[i].fd, 0, SEEK_END) < (off_t)len);
			clips_end(readings[i].pid);
			(void)close(readings[i].fd);
		}
}

static void expect_from(struct bench *bench, enum clips_way way, const struct clips_form *forms, size_t n, const char *ask, const char *want)
{
	pid_t owner = clips_own(display_of(bench), "CLIPBOARD", way, forms, n);

	expect_got(bench, ask, want);
	assert_true(bench->took_ms < PROMPT_MS);
	clips_end(owner);
}

#define FROM(way, ask, want, ...)                                                                                                        \
	expect_from(bench, way, (const struct clips_form[]){__VA_ARGS__}, sizeof((const struct clips_form[]){__VA_ARGS__}) / sizeof(struct clips_form), ask, want)

static void test_encodings(void **state)
{
	struct bench *bench = *state;

	FROM(CLIPS_GOOD, GET, "{\"offered\":[\"text\"],\"owner\":\"app\",\"text\":\"日本\"}", {"STRING", NULL, "??", 2}, TEXT_FORM("日本"));
	FROM(CLIPS_GOOD, GET, "{\"offered\":[\"text\"],\"owner\":\"app\",\"text\":\"café\"}", {"STRING", NULL, "caf\xe9", 4});
	FROM(CLIPS_GOOD, GET, "{\"offered\":[\"text\"],\"owner\":\"app\",\"text\":\"café\"}", {"TEXT", "STRING", "caf\xe9", 4});
	FROM(CLIPS_GOOD, GET, "{\"offered\":[\"text\"],\"owner\":\"app\",\"text\":\"café\"}", {"text/plain", NULL, "caf\xe9", 4});
	FROM(CLIPS_GOOD, GET, "{\"offered\":[\"text\"],\"owner\":\"app\",\"text\":\"café\"}", {"text/plain", NULL, "caf\xc3\xa9", 5});
	FROM(CLIPS_NO_TARGETS, GET, "{\"offered\":[\"text\"],\"owner\":\"app\",\"text\":\"old\"}", {"STRING", NULL, "old", 3});
	FROM(CLIPS_GOOD, GET, "{\"offered\":[\"text\"],\"owner\":\"app\",\"text\":\"a\ufffd\ufffdb\ufffdc\"}", {"UTF8_STRING", NULL, "a\xff\xfe" "b\0c\0", 7});
	FROM(CLIPS_GOOD, GET_HTML, "{\"html\":\"<b>é🚀</b>\",\"offered\":[\"html\"],\"owner\":\"app\"}",
	     {"text/html", NULL, "\xff\xfe<\0b\0>\0\xe9\0\x3d\xd8\x80\xde<\0/\0b\0>\0", 24});
	FROM(CLIPS_GOOD, GET_HTML, "{\"html\":\"<b>é\ufffd</b>\",\"offered\":[\"html\"],\"owner\":\"app\"}",
	     {"text/html", NULL, "\0<\0b\0>\0\xe9\xd8\x3d\0<\0/\0b\0>", 18});
	FROM(CLIPS_GOOD, GET_HTML, "{\"html\":\"<b>x</b>\",\"offered\":[\"html\"],\"owner\":\"app\"}",
	     {"text/html", NULL, "<meta http-equiv=\"content-type\" content=\"text/html; charset=utf-8\"><b>x</b>", 75});
	FROM(CLIPS_GOOD, GET_PNG, "{\"offered\":[\"text\"],\"owner\":\"app\",\"png\":null}", TEXT_FORM("x"));
}

static void expect_fault(struct bench *bench, enum clips_way way, const struct clips_form *form, const char *ask, enum err_code code, int64_t within_ms)
{
	pid_t owner = clips_own(display_of(bench), "CLIPBOARD", way, form, 1);

	bench_try(bench, ask, 0);
	assert_int_equal(bench->rc, -1);
	assert_int_equal(bench->e.code, code);
	assert_true(bench->took_ms < within_ms);
	/* The next one is as if it had not been. */
	set_field(bench, "text", "after", 5, "clipboard");
	expect_got(bench, GET, "{\"offered\":[\"text\"],\"owner\":\"agent\",\"text\":\"after\"}");
	clips_end(owner);
}

static void test_owners_that_break_the_rules(void **state)
{
	static const struct clips_form text = TEXT_FORM("text"), png = {"image/png", NULL, "not a png", 9};
	struct bench *bench = *state;
	size_t len = LIMIT_CLIPBOARD_BYTES + 1;
	auto_free char *large = util_alloc(len);

	memset(large, 'x', len);
	expect_fault(bench, CLIPS_SILENT, &text, GET, ERR_TIMEOUT, PROMPT_MS);
	expect_fault(bench, CLIPS_HALF_SILENT, &text, GET, ERR_TIMEOUT, PROMPT_MS);
	expect_fault(bench, CLIPS_STOPS, &(const struct clips_form){"UTF8_STRING", NULL, large, 300000}, GET, ERR_TIMEOUT, PROMPT_MS);
	expect_fault(bench, CLIPS_DRIPS, &text, GET, ERR_TIMEOUT, LIMIT_CLIPBOARD_MS + PROMPT_MS);
	expect_fault(bench, CLIPS_ENDLESS, &(const struct clips_form){"UTF8_STRING", NULL, large, 300000}, GET, ERR_TOO_LARGE, PROMPT_MS);
	expect_fault(bench, CLIPS_GOOD, &(const struct clips_form){"UTF8_STRING", NULL, large, len}, GET, ERR_TOO_LARGE, PROMPT_MS);
	memset(large, '\xe9', len);
	expect_fault(bench, CLIPS_GOOD, &(const struct clips_form){"STRING", NULL, large, len - 1}, GET, ERR_TOO_LARGE, PROMPT_MS);
	expect_fault(bench, CLIPS_NUMBERS, &text, GET, ERR_CONFLICT, PROMPT_MS);
	expect_fault(bench, CLIPS_GOOD, &png, GET_PNG, ERR_CONFLICT, PROMPT_MS);
	FROM(CLIPS_ODD_TARGETS, GET, "{\"offered\":[],\"owner\":\"app\",\"text\":null}", TEXT_FORM("x"));
	FROM(CLIPS_DIES, GET, NOTHING, TEXT_FORM("x"));
	FROM(CLIPS_RIVAL, GET, "{\"offered\":[\"text\"],\"owner\":\"app\",\"text\":\"rival\"}", TEXT_FORM("x"));
}

static void test_cancel(void **state)
{
	struct bench *bench = *state;
	pid_t owner = clips_own(display_of(bench), "CLIPBOARD", CLIPS_SILENT, &(const struct clips_form)TEXT_FORM("x"), 1);

	bench_try(bench, GET, 50);
	assert_int_equal(bench->e.code, ERR_CANCELLED);
	assert_true(bench->took_ms < PROMPT_MS);
	clips_end(owner);
	expect_got(bench, GET, NOTHING);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, bench_set_up, bench_tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_text), TEST(test_html), TEST(test_png), TEST(test_refused), TEST(test_large), TEST(test_readers_that_stop),
		TEST(test_encodings), TEST(test_owners_that_break_the_rules), TEST(test_cancel),
	};

	return cmocka_run_group_tests_name("clipboards", tests, NULL, NULL);
}
