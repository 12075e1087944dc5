/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: input */
/* Typing against a real X server: every layout, every state of the keyboard, slow and hanging windows, cancel. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <X11/keysym.h>
#include <cmocka.h>
#include <xcb/xkb.h>

#include "input/selection.h"
#include "session/base/util.h"
#include "tests/x/bench.h"

/* What people write and what breaks: accented capitals, punctuation that other layouts have elsewhere, a shell's signs, scripts beyond
 * Latin, planes beyond the first, joiners, combining marks. */
static const char *const texts[] = {
	"Straße fløde Århus ŁÓDŹ",
	"éÉñÑçÇüÜőŐ",
	"path\\to {a|b} [1] @x ~^ #£ 0123456789 QM zy/?.;'",
	"'\"$HOME `id` $(id) \\ %s %n ; & |",
	"日本語テキスト 한국어 Привет Ελληνικά العربية עברית",
	"👩\u200d👩\u200d👧 🇩🇪 ❤\ufe0f e\u0301 a\u0308\u0323",
};

static void test_texts_in_layouts(void **state)
{
	static const char *const layouts[][4] = {
		{"us"}, {"de"}, {"fr"}, {"it"}, {"gb"}, {"ru"}, {"us", "-variant", "dvorak"}, {"us", "-variant", "intl"},
	};
	struct bench *bench = *state;

	for (size_t i = 0; i < ARRAY_LEN(layouts); i++) {
		bench_set_layout(bench, layouts[i]);
		for (size_t t = 0; t < ARRAY_LEN(texts); t++)
			bench_expect_typed(bench, texts[t], texts[t]);
	}
}

static void lock_group(struct bench *bench, uint8_t group)
{
	xcb_xkb_use_extension(bench->evwin.xcb, 1, 0);
	xcb_xkb_latch_lock_state(bench->evwin.xcb, XCB_XKB_ID_USE_CORE_KBD, 0, 0, 1, group, 0, 0, 0);
	xcb_flush(bench->evwin.xcb);
	bench_look(bench);
}

/* The second of two layouts is active: its own letters by real keys, Latin ones by spare keys; and the same after going back. */
static void test_second_group(void **state)
{
	struct bench *bench = *state;

	bench_set_layout(bench, (const char *const[]){"us,ru", NULL});
	for (uint8_t group = 2; group-- > 0;) {
		lock_group(bench, group);
		for (size_t t = 0; t < ARRAY_LEN(texts); t++)
			bench_expect_typed(bench, texts[t], texts[t]);
	}
}

static void test_newline_and_tab(void **state)
{
	struct bench *bench = *state;

	bench_expect_typed(bench, "a\nb\tc\r\nd\r", "a\rb\tc\rd\r");
	assert_int_equal(json_integer_value(json_object_get(bench->result, "delivered")), 9);
	assert_int_equal(bench_event(bench, 'K', 1)->keysym, XK_Return);
	assert_int_equal(bench_event(bench, 'K', 3)->keysym, XK_Tab);
}

/* 400 characters, more than any keyboard holds, into a window that is slow to read: no slot gets a new symbol too early. */
static void test_more_characters_than_slots(void **state)
{
	struct bench *bench = *state;
	char text[1300] = "", *end = text;

	bench_use_window(bench, EVWIN_SLOW);
	for (unsigned int i = 0; i < 400; i++) {
		uint32_t cp = 0x4e00 + i * 37 % 400;

		*end++ = (char)(0xe0 | cp >> 12);
		*end++ = (char)(0x80 | (cp >> 6 & 0x3f));
		*end++ = (char)(0x80 | (cp & 0x3f));
	}
	bench_expect_typed(bench, text, text);
	assert_null(json_object_get(bench->result, "note"));
}

/* The next call takes slots from the last one's characters: the window must have read those. */
static void test_calls_that_follow(void **state)
{
	struct bench *bench = *state;
	json_t *action;

	bench_use_window(bench, EVWIN_SLOW);
	for (unsigned int i = 0; i < 12; i++) {
		auto_free char *text = NULL;
		char want[200] = "", *end = want;

		for (unsigned int k = 0; k < 30; k++) {
			uint32_t cp = 0x4e00 + i * 30 + k;

			*end++ = (char)(0xe0 | cp >> 12);
			*end++ = (char)(0x80 | (cp >> 6 & 0x3f));
			*end++ = (char)(0x80 | (cp & 0x3f));
		}
		action = json_pack("{s:s,s:s}", "action", "type", "text", want);
		text = json_dumps(action, 0);
		json_decref(action);
		bench_act(bench, text);
		auto_free char *typed = evwin_text(bench->events, bench->n_events);

		assert_string_equal(typed, want);
	}
}

static void test_held_modifiers(void **state)
{
	struct bench *bench = *state;

	bench_act(bench, "{\"action\":\"key_down\",\"keys\":\"shift\"}");
	bench_act(bench, "{\"action\":\"key_down\",\"keys\":\"ctrl\"}");
	bench_expect_typed(bench, "abc 123 w é", "abc 123 w é");
	for (size_t i = 0; i < bench->n_events; i++)
		if (bench->events[i].kind == 'K' && bench->events[i].keysym < 0xff00)
			assert_int_equal(bench->events[i].state, 0);
	auto_free char *held = bench_held(bench);

	assert_string_equal(held, "{\"buttons\":[],\"keys\":[\"shift\",\"ctrl\"]}");
	bench_act(bench, "{\"action\":\"click\",\"x\":10,\"y\":10}");
	assert_int_equal(bench_event(bench, 'B', 0)->state, 1 | 4);
	bench_act(bench, "{\"action\":\"key_up\",\"keys\":\"ctrl+shift\"}");
	bench_act(bench, "{\"action\":\"key\",\"keys\":\"a\"}");
	assert_int_equal(bench_event(bench, 'K', 0)->state, 0);
	auto_free char *none = bench_held(bench);

	assert_string_equal(none, "{\"buttons\":[],\"keys\":[]}");
}

static void test_caps_lock(void **state)
{
	struct bench *bench = *state;

	bench_act(bench, "{\"action\":\"key\",\"keys\":\"capslock\"}");
	bench_expect_typed(bench, "Abc éÉ 日本 zZ", "Abc éÉ 日本 zZ");
	bench_act(bench, "{\"action\":\"key\",\"keys\":\"F5\"}");
	assert_int_equal(bench_event(bench, 'K', 0)->state, 2);
	bench_act(bench, "{\"action\":\"key\",\"keys\":\"capslock\"}");
	bench_act(bench, "{\"action\":\"key\",\"keys\":\"F5\"}");
	assert_int_equal(bench_event(bench, 'K', 0)->state, 0);
}

static void test_num_lock(void **state)
{
	struct bench *bench = *state;

	bench_act(bench, "{\"action\":\"key\",\"keys\":\"numlock\"}");
	bench_expect_typed(bench, "1+2=3 é日", "1+2=3 é日");
	bench_act(bench, "{\"action\":\"key\",\"keys\":\"kp_7\"}");
	assert_int_equal(bench_event(bench, 'K', 0)->keysym, XK_KP_7);
	bench_act(bench, "{\"action\":\"key\",\"keys\":\"numlock\"}");
	bench_act(bench, "{\"action\":\"key\",\"keys\":\"kp_7\"}");
	assert_int_equal(bench_event(bench, 'K', bench_count(bench, 'K') - 1)->keysym, XK_KP_7);
	bench_act(bench, "{\"action\":\"key\",\"keys\":\"KP_Home\"}");
	assert_int_equal(bench_event(bench, 'K', 0)->keysym, XK_KP_Home);
}

/* A held letter would repeat within the text. */
static void test_held_letter(void **state)
{
	struct bench *bench = *state;

	bench_act(bench, "{\"action\":\"key_down\",\"keys\":\"w\"}");
	bench_try(bench, "{\"action\":\"type\",\"text\":\"abc\"}", 0);
	assert_int_equal(bench->rc, -1);
	assert_int_equal(bench->e.code, ERR_CONFLICT);
	assert_int_equal(bench_count(bench, 'K'), 0);
	bench_act(bench, "{\"action\":\"key_up\",\"keys\":\"w\"}");
}

/* The whole map as xkbcomp prints it; malloced. */
static char *dump_map(const struct bench *bench)
{
	auto_free char *command = util_printf("xkbcomp -w 0 -xkb %s -", bench->server.display);
	FILE *pipe = popen(command, "r");
	char *text = util_zalloc(256 * 1024);

	assert_non_null(pipe);
	assert_true(fread(text, 1, 256 * 1024 - 1, pipe) > 1000);
	assert_int_equal(pclose(pipe), 0);
	return text;
}

/* Afterwards the map is the same, spare keys and all: after texts that fill them more than once, chords, a cancel, held spare keys. */
static void test_map_is_as_before(void **state)
{
	static const char *const layouts[][4] = {
		{"us"}, {"de"}, {"fr"}, {"it"}, {"gb"}, {"ru"}, {"us", "-variant", "dvorak"}, {"us", "-variant", "intl"}, {"us,ru"},
	};
	struct bench *bench = *state;
	char many[1300] = "", *end = many;

	for (unsigned int cp = 0x4e00; cp < 0x4e00 + 400; cp++) {
		*end++ = (char)(0xe0 | cp >> 12);
		*end++ = (char)(0x80 | (cp >> 6 & 0x3f));
		*end++ = (char)(0x80 | (cp & 0x3f));
	}
	for (size_t i = 0; i < ARRAY_LEN(layouts); i++) {
		bench_set_layout(bench, layouts[i]);
		auto_free char *before = dump_map(bench);

		bench_expect_typed(bench, texts[4], texts[4]);
		bench_expect_typed(bench, many, many);
		bench_act(bench, "{\"action\":\"key\",\"keys\":\"ctrl+語\"}");
		bench_act(bench, "{\"action\":\"key_down\",\"keys\":\"日\"}");
		bench_act(bench, "{\"action\":\"key\",\"keys\":\"本\"}");
		bench_act(bench, "{\"action\":\"key_up\",\"keys\":\"日\"}");
		bench_try(bench, "{\"action\":\"type\",\"text\":\"日本語テキスト\",\"delay_ms\":50}", 120);
		assert_int_equal(bench->e.code, ERR_CANCELLED);
		auto_free char *after = dump_map(bench);

		assert_string_equal(before, after);
	}
}

/* A window without ping cannot say what it has read: its symbols stay for a while, and go without an action. */
static void test_map_is_as_before_later(void **state)
{
	struct bench *bench = *state;
	auto_free char *before = dump_map(bench);

	bench_use_window(bench, EVWIN_NO_PING);
	bench_expect_typed(bench, texts[4], texts[4]);
	auto_free char *typed = dump_map(bench);

	assert_string_not_equal(before, typed);
	bench_act(bench, "{\"action\":\"move\",\"x\":10,\"y\":10,\"duration_ms\":3500}");
	auto_free char *after = dump_map(bench);

	assert_string_equal(before, after);
	bench_expect_typed(bench, texts[4], texts[4]);
}

static void test_cancel(void **state)
{
	struct bench *bench = *state;
	auto_free char *text = util_zalloc(20001);
	auto_free char *action = NULL;

	memset(text, 'a', 20000);
	action = util_printf("{\"action\":\"type\",\"text\":\"%s\"}", text);
	bench_act(bench, "{\"action\":\"key_down\",\"keys\":\"shift\"}");
	bench_try(bench, action, 20);
	assert_int_equal(bench->rc, -1);
	assert_int_equal(bench->e.code, ERR_CANCELLED);
	size_t delivered = (size_t)json_integer_value(json_object_get(bench->result, "delivered"));

	assert_true(delivered > 0 && delivered < 20000);
	/* Each character is two events; the shift that is put back is one more. */
	assert_int_equal(bench_count(bench, 'k'), delivered + 1);
	assert_int_equal(bench_count(bench, 'K'), delivered + 1);
	input_release(bench->input);
	bench_act(bench, "{\"action\":\"key\",\"keys\":\"a\"}");
	assert_int_equal(bench_event(bench, 'K', 0)->state, 0);
}

static void test_delay(void **state)
{
	struct bench *bench = *state;

	bench_act(bench, "{\"action\":\"type\",\"text\":\"abcdef\",\"delay_ms\":20}");
	assert_true(bench_event(bench, 'K', 5)->time_ms - bench_event(bench, 'K', 0)->time_ms >= 95);
	bench_try(bench, "{\"action\":\"type\",\"text\":\"abcdef\",\"delay_ms\":1000}", 100);
	assert_int_equal(bench->e.code, ERR_CANCELLED);
	assert_int_equal(json_integer_value(json_object_get(bench->result, "delivered")), 1);
	assert_int_equal(bench_count(bench, 'K'), 1);
}

/* A window that hangs: the text goes out, after the limit, and the result says so. */
static void test_window_that_does_not_answer(void **state)
{
	struct bench *bench = *state;

	bench_use_window(bench, EVWIN_MUTE);
	bench_expect_typed(bench, "日本", "日本");
	assert_true(bench->took_ms >= 2000 && bench->took_ms < 4000);
	assert_non_null(json_object_get(bench->result, "note"));
	bench_use_window(bench, EVWIN_NO_PING);
	bench_expect_typed(bench, "本語", "本語");
	assert_true(bench->took_ms < 1500);
	assert_null(json_object_get(bench->result, "note"));
}

/* The one with the focus counts, when the window manager's word has not caught up with a click. */
static void test_window_with_the_focus(void **state)
{
	struct bench *bench = *state;
	xcb_intern_atom_cookie_t cookie = xcb_intern_atom(bench->evwin.xcb, 0, strlen("_NET_ACTIVE_WINDOW"), "_NET_ACTIVE_WINDOW");
	xcb_intern_atom_reply_t *atom = xcb_intern_atom_reply(bench->evwin.xcb, cookie, NULL);

	bench_use_window(bench, EVWIN_MUTE);
	xcb_change_property(bench->evwin.xcb, XCB_PROP_MODE_REPLACE, bench->x.root, atom->atom, XCB_ATOM_WINDOW, 32, 1, &(uint32_t){XCB_NONE});
	free(atom);
	bench_look(bench);
	bench_expect_typed(bench, "日本", "日本");
	assert_non_null(json_object_get(bench->result, "note")); /* it was asked, and did not answer */
}

struct owner {
	struct bench *bench;
	struct selection selection;
};

static void own(void *arg)
{
	struct owner *owner = arg;
	struct selection_content *content = NULL;

	assert_int_equal(selection_init(&owner->selection, &owner->bench->x, "TESTED", NULL), 0);
	content = selection_text(&owner->selection, "text", 4);
	assert_int_equal(selection_set(&owner->selection, XCB_CURRENT_TIME, content, NULL), 0);
	selection_drop(content);
}

static void sync_all(void *arg)
{
	struct owner *owner = arg;

	do
		assert_int_equal(xconn_sync(&owner->bench->x, NULL), 0);
	while (owner->selection.n_requests > 0);
}

/* A client can ask for a selection in the name of any window, also of the root and of our own: we go on hearing what these tell. */
static void test_selection_asked_for_in_our_name(void **state)
{
	struct bench *bench = *state;
	struct owner owner = {.bench = bench};
	xcb_connection_t *xcb = bench->evwin.xcb;

	xserver_run(bench->loop, own, &owner);
	xcb_query_tree_reply_t *tree = xcb_query_tree_reply(xcb, xcb_query_tree(xcb, bench->x.root), NULL);
	const xcb_window_t *windows = xcb_query_tree_children(tree);

	xcb_convert_selection(xcb, bench->x.root, owner.selection.name, owner.selection.utf8_string, XCB_ATOM_CUT_BUFFER0, XCB_CURRENT_TIME);
	for (int i = 0; i < tree->children_len; i++)
		xcb_convert_selection(xcb, windows[i], owner.selection.name, owner.selection.targets, XCB_ATOM_CUT_BUFFER0, XCB_CURRENT_TIME);
	free(tree);
	bench_look(bench);
	xserver_run(bench->loop, sync_all, &owner);
	bench_expect_typed(bench, "日本", "日本");
	assert_null(json_object_get(bench->result, "note"));
	selection_finish(&owner.selection);
}

static void test_refused_texts(void **state)
{
	static const struct {
		const char *json, *path, *in_message;
	} cases[] = {
		{"\"ab\\u001b[A\"", "/text", "character 2 (from 0) is U+001B"},
		{"\"\\b\"", "/text", "U+0008"},
		{"\"\\u007f\"", "/text", "U+007F"},
		{"\"\\u0085\"", "/text", "U+0085"},
		{"\"日\\uffff\"", "/text", "character 1 (from 0) is U+FFFF"},
		{"7", "/text", "string"},
	};
	struct bench *bench = *state;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		auto_free char *action = util_printf("{\"action\":\"type\",\"text\":%s}", cases[i].json);

		bench_try(bench, action, 0);
		assert_int_equal(bench->rc, -1);
		assert_int_equal(bench->e.code, ERR_BAD_FIELD);
		assert_string_equal(bench->e.path, cases[i].path);
		if (!strstr(bench->e.msg, cases[i].in_message))
			fail_msg("%s", bench->e.msg);
		assert_int_equal(bench->n_events, 0);
	}
}

static void test_too_long_texts(void **state)
{
	struct bench *bench = *state;
	auto_free char *text = util_zalloc(100002);
	auto_free char *action = NULL, *slow = NULL;

	memset(text, 'a', 100001);
	action = util_printf("{\"action\":\"type\",\"text\":\"%s\"}", text);
	bench_try(bench, action, 0);
	assert_int_equal(bench->e.code, ERR_BAD_FIELD);
	assert_non_null(strstr(bench->e.msg, "100001"));
	text[1000] = '\0';
	slow = util_printf("{\"action\":\"type\",\"text\":\"%s\",\"delay_ms\":1000}", text);
	bench_try(bench, slow, 0);
	assert_int_equal(bench->e.code, ERR_BAD_FIELD);
	assert_int_equal(bench->n_events, 0);
}

/* Not asked for within a text: the display stops. The call ends within the limit, and letting go waits for nothing. */
static void test_silent_display(void **state)
{
	struct bench *bench = *state;

	bench_act(bench, "{\"action\":\"key_down\",\"keys\":\"ctrl\"}");
	(void)kill(bench->server.pid, SIGSTOP);
	bench_try(bench, "{\"action\":\"type\",\"text\":\"abc\"}", 0);
	assert_int_equal(bench->rc, -1);
	assert_int_equal(bench->e.code, ERR_X_SILENT);
	int64_t start_ms = util_now_ms();

	input_release(bench->input);
	assert_true(util_now_ms() - start_ms < 100);
	(void)kill(bench->server.pid, SIGCONT);
	bench_act(bench, "{\"action\":\"key\",\"keys\":\"a\"}");
	assert_int_equal(bench_event(bench, 'K', bench_count(bench, 'K') - 1)->state, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, bench_set_up, bench_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_texts_in_layouts),
		TEST(test_second_group),
		TEST(test_newline_and_tab),
		TEST(test_more_characters_than_slots),
		TEST(test_calls_that_follow),
		TEST(test_held_modifiers),
		TEST(test_caps_lock),
		TEST(test_num_lock),
		TEST(test_held_letter),
		TEST(test_map_is_as_before),
		TEST(test_map_is_as_before_later),
		TEST(test_cancel),
		TEST(test_delay),
		TEST(test_window_that_does_not_answer),
		TEST(test_window_with_the_focus),
		TEST(test_selection_asked_for_in_our_name),
		TEST(test_refused_texts),
		TEST(test_too_long_texts),
		TEST(test_silent_display),
	};

	return cmocka_run_group_tests_name("typing on a display", tests, NULL, NULL);
}
