/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: input */
/* Clipboards between clients that are trusted and those that are not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "input/carry.h"
#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/base/x/xsecurity.h"
#include "tests/x/bench.h"
#include "tests/x/clips.h"

#define WAIT_MS 5000
#define TEXT_FORM(text) {"UTF8_STRING", NULL, text, sizeof(text) - 1}
#define GET "{\"action\":\"clipboard_get\"}"
#define PASTE "{\"action\":\"key\",\"keys\":\"ctrl+v\"}"

struct fixture {
	struct bench *bench;
	struct xconn untrusted;
	uint8_t cookie[XSECURITY_COOKIE_LEN];
	struct clips_display trusted_display, untrusted_display;
};

static void on_lost(void *arg)
{
	(void)arg;
}

static void connect(void *arg)
{
	struct fixture *f = arg;
	struct bench *bench = f->bench;
	struct err e = {0};

	if (xsecurity_untrusted_cookie(&bench->x, f->cookie, &e) < 0 ||
	    xconn_open_untrusted(&f->untrusted, bench->loop, bench->server.display, f->cookie, on_lost, f, &e) < 0 ||
	    input_carry(bench->input, &f->untrusted, &e) < 0)
		fail_msg("%s", e.msg);
}

static int set_up(void **state)
{
	struct fixture *f = util_zalloc(sizeof(*f));

	(void)bench_set_up((void **)&f->bench);
	xserver_run(f->bench->loop, connect, f);
	f->trusted_display = (struct clips_display){.name = f->bench->server.display};
	f->untrusted_display = (struct clips_display){.name = f->bench->server.display, .cookie = f->cookie};
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	void *bench = f->bench;

	input_destroy(f->bench->input);
	f->bench->input = NULL;
	xconn_close(&f->untrusted);
	(void)bench_tear_down(&bench);
	free(f);
	return 0;
}

static bool is_ours(struct fixture *f, const char *selection)
{
	xcb_connection_t *xcb = f->bench->evwin.xcb;
	xcb_intern_atom_reply_t *atom = xcb_intern_atom_reply(xcb, xcb_intern_atom(xcb, 0, (uint16_t)strlen(selection), selection), NULL);
	xcb_get_selection_owner_reply_t *reply = xcb_get_selection_owner_reply(xcb, xcb_get_selection_owner(xcb, atom->atom), NULL);
	const xcb_setup_t *setup = xcb_get_setup(f->bench->x.xcb);
	bool yes = (reply->owner & ~setup->resource_id_mask) == setup->resource_id_base;

	free(atom);
	free(reply);
	return yes;
}

static void wait_carried(struct fixture *f, const char *selection)
{
	int64_t end_ms = util_now_ms() + WAIT_MS;

	while (!is_ours(f, selection)) {
		loop_turn(f->bench->loop, 5);
		if (util_now_ms() > end_ms)
			fail_msg("%s is not carried", selection);
	}
}

/* Everything that could make it carry has been seen. */
static void expect_not_carried(struct fixture *f, const char *selection)
{
	int64_t end_ms = util_now_ms() + 3 * LIMIT_CARRY_EVERY_MS;

	while (util_now_ms() < end_ms)
		loop_turn(f->bench->loop, 5);
	assert_false(is_ours(f, selection));
}

static char *fetched(struct fixture *f, struct clips_display display, const char *selection, const char *target, size_t *len)
{
	struct clips_reading reading;
	char *data;

	clips_read(&reading, display, selection, target);
	while (!clips_read_end(&reading, &data, len))
		loop_turn(f->bench->loop, 5);
	return data;
}

static void expect_fetched(struct fixture *f, struct clips_display display, const char *selection, const char *target, const char *want)
{
	size_t len;
	auto_free char *got = fetched(f, display, selection, target, &len);

	assert_non_null(got);
	assert_string_equal(got, want);
	assert_int_equal(len, strlen(want));
}

static void set_focus(struct fixture *f, xcb_window_t window)
{
	xcb_connection_t *xcb = f->bench->evwin.xcb;

	xcb_set_input_focus(xcb, XCB_INPUT_FOCUS_POINTER_ROOT, window, XCB_CURRENT_TIME);
	free(xcb_get_input_focus_reply(xcb, xcb_get_input_focus(xcb), NULL));
}

static pid_t own(struct fixture *f, struct clips_display display, const char *selection, enum clips_way way, const char *text)
{
	(void)f;
	return clips_own(display, selection, way, &(const struct clips_form){"UTF8_STRING", NULL, text, strlen(text)}, 1);
}

static void test_from_untrusted_to_trusted(void **state)
{
	static const struct clips_form forms[] = {{"text/html", NULL, "\xff\xfe<\0b\0>\0", 8}, TEXT_FORM("copied"), {"x-special/files", NULL, "f", 1}};
	struct fixture *f = *state;
	pid_t owner = clips_own(f->untrusted_display, "CLIPBOARD", CLIPS_GOOD, forms, ARRAY_LEN(forms));

	wait_carried(f, "CLIPBOARD");
	expect_fetched(f, f->trusted_display, "CLIPBOARD", "UTF8_STRING", "copied");
	expect_fetched(f, f->trusted_display, "CLIPBOARD", "text/html", "<meta http-equiv=\"content-type\" content=\"text/html; charset=utf-8\"><b>");
	expect_fetched(f, f->untrusted_display, "CLIPBOARD", "UTF8_STRING", "copied");
	clips_end(owner);
	expect_fetched(f, f->trusted_display, "CLIPBOARD", "UTF8_STRING", "copied");
	bench_act(f->bench, GET);
	assert_string_equal(form_string(f->bench->result, "owner", ""), "app");
	assert_string_equal(form_string(f->bench->result, "text", ""), "copied");
	/* The next copy is carried as well. */
	owner = own(f, f->untrusted_display, "CLIPBOARD", CLIPS_GOOD, "again");
	wait_carried(f, "CLIPBOARD");
	expect_fetched(f, f->trusted_display, "CLIPBOARD", "UTF8_STRING", "again");
	clips_end(owner);
}

static void test_from_trusted_to_untrusted(void **state)
{
	struct fixture *f = *state;
	pid_t owner = own(f, f->trusted_display, "CLIPBOARD", CLIPS_GOOD, "copied");

	expect_fetched(f, f->untrusted_display, "CLIPBOARD", "UTF8_STRING", "copied");
	expect_not_carried(f, "CLIPBOARD");
	bench_act(f->bench, "{\"action\":\"clipboard_set\",\"text\":\"for all\"}");
	expect_fetched(f, f->untrusted_display, "CLIPBOARD", "UTF8_STRING", "for all");
	expect_fetched(f, f->trusted_display, "CLIPBOARD", "UTF8_STRING", "for all");
	clips_end(owner);
}

static void test_large(void **state)
{
	struct fixture *f = *state;
	size_t len = LIMIT_CLIPBOARD_BYTES;
	auto_free char *text = util_alloc(len), *got = NULL;

	for (size_t i = 0; i < len; i++)
		text[i] = (char)(' ' + i * 37 % 90);
	pid_t owner = clips_own(f->untrusted_display, "CLIPBOARD", CLIPS_GOOD, &(const struct clips_form){"UTF8_STRING", NULL, text, len}, 1);

	wait_carried(f, "CLIPBOARD");
	got = fetched(f, f->trusted_display, "CLIPBOARD", "UTF8_STRING", &len);
	assert_int_equal(len, LIMIT_CLIPBOARD_BYTES);
	assert_memory_equal(got, text, len);
	clips_end(owner);
}

/* While no trusted window has the focus an app keeps what it has, and is read all the same. */
static void test_only_when_a_trusted_window_is_about_to_paste(void **state)
{
	struct fixture *f = *state;

	set_focus(f, XCB_INPUT_FOCUS_POINTER_ROOT);
	pid_t owner = own(f, f->untrusted_display, "CLIPBOARD", CLIPS_GOOD, "copied");

	expect_not_carried(f, "CLIPBOARD");
	bench_act(f->bench, GET);
	assert_string_equal(form_string(f->bench->result, "text", ""), "copied");
	assert_false(is_ours(f, "CLIPBOARD"));
	set_focus(f, f->bench->evwin.window);
	assert_false(is_ours(f, "CLIPBOARD"));
	bench_act(f->bench, PASTE);
	assert_true(is_ours(f, "CLIPBOARD"));
	clips_end(owner);
}

static void test_primary_goes_with_the_middle_button(void **state)
{
	struct fixture *f = *state;
	pid_t owner = own(f, f->untrusted_display, "PRIMARY", CLIPS_GOOD, "marked");

	bench_act(f->bench, PASTE);
	bench_act(f->bench, "{\"action\":\"click\",\"x\":10,\"y\":10}");
	expect_not_carried(f, "PRIMARY");
	bench_act(f->bench, "{\"action\":\"click\",\"x\":50,\"y\":50,\"button\":\"middle\"}");
	assert_true(is_ours(f, "PRIMARY"));
	expect_fetched(f, f->trusted_display, "PRIMARY", "UTF8_STRING", "marked");
	clips_end(owner);
}

static void test_pause(void **state)
{
	struct fixture *f = *state;

	input_pause_carry(f->bench->input, true);
	pid_t owner = own(f, f->untrusted_display, "CLIPBOARD", CLIPS_GOOD, "copied");

	bench_act(f->bench, PASTE);
	expect_not_carried(f, "CLIPBOARD");
	input_pause_carry(f->bench->input, false);
	wait_carried(f, "CLIPBOARD");
	clips_end(owner);
}

/* One that is paused in the middle of it: an owner that gives a byte now and then. */
static void test_pause_in_the_middle(void **state)
{
	struct fixture *f = *state;
	pid_t owner = own(f, f->untrusted_display, "CLIPBOARD", CLIPS_HALF_SILENT, "x");
	int64_t end_ms = util_now_ms() + LIMIT_SELECTION_ANSWER_MS / 2;

	while (util_now_ms() < end_ms)
		loop_turn(f->bench->loop, 5);
	input_pause_carry(f->bench->input, true);
	clips_end(owner);
	owner = own(f, f->untrusted_display, "CLIPBOARD", CLIPS_GOOD, "copied");
	expect_not_carried(f, "CLIPBOARD");
	clips_end(owner);
}

/* Keys wait for it once, then for a while not at all. */
static void test_an_owner_that_does_not_answer(void **state)
{
	struct fixture *f = *state;

	set_focus(f, XCB_INPUT_FOCUS_POINTER_ROOT);
	pid_t owner = own(f, f->untrusted_display, "CLIPBOARD", CLIPS_SILENT, "x");

	set_focus(f, f->bench->evwin.window);
	bench_act(f->bench, PASTE);
	assert_true(f->bench->took_ms >= LIMIT_SELECTION_ANSWER_MS && f->bench->took_ms < WAIT_MS);
	pid_t other = own(f, f->untrusted_display, "CLIPBOARD", CLIPS_SILENT, "x");

	for (int i = 0; i < 3; i++) {
		bench_act(f->bench, PASTE);
		assert_true(f->bench->took_ms < LIMIT_SELECTION_ANSWER_MS);
	}
	clips_end(owner);
	clips_end(other);
}

static void test_storm(void **state)
{
	struct fixture *f = *state;
	pid_t owner = own(f, f->untrusted_display, "CLIPBOARD", CLIPS_STORM, "storm");
	int64_t start_ms = util_now_ms(), slowest_ms = 0;
	unsigned int n = 0;

	while (util_now_ms() < start_ms + 2000) {
		bench_act(f->bench, PASTE);
		slowest_ms = f->bench->took_ms > slowest_ms ? f->bench->took_ms : slowest_ms;
		n++;
	}
	print_message("in a storm: %u keys in 2 s, the slowest in %lld ms\n", n, (long long)slowest_ms);
	assert_true(n >= 2 && slowest_ms < WAIT_MS);
	clips_end(owner);
	bench_act(f->bench, "{\"action\":\"clipboard_set\",\"text\":\"calm\"}");
	expect_fetched(f, f->trusted_display, "CLIPBOARD", "UTF8_STRING", "calm");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_from_untrusted_to_trusted),
		TEST(test_from_trusted_to_untrusted),
		TEST(test_large),
		TEST(test_only_when_a_trusted_window_is_about_to_paste),
		TEST(test_primary_goes_with_the_middle_button),
		TEST(test_pause),
		TEST(test_pause_in_the_middle),
		TEST(test_an_owner_that_does_not_answer),
		TEST(test_storm),
	};

	return cmocka_run_group_tests_name("carrying clipboards", tests, NULL, NULL);
}
