/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: input */
/* Pointer and keys against a real X server: what a window gets, and that nothing stays down. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <X11/keysym.h>
#include <cmocka.h>

#include "input/drag.h"
#include "input/keynames.h"
#include "session/base/util.h"
#include "tests/x/bench.h"

#define SHIFT 1u
#define CTRL 4u

static void expect_at(const struct evwin_event *event, unsigned int detail, int x, int y)
{
	assert_non_null(event);
	assert_int_equal(event->detail, detail);
	assert_int_equal(event->x, x);
	assert_int_equal(event->y, y);
}

static void expect_nothing_held(struct bench *bench)
{
	auto_free char *held = bench_held(bench);

	assert_string_equal(held, "{\"buttons\":[],\"keys\":[]}");
	bench_act(bench, "{\"action\":\"key\",\"keys\":\"F9\"}");
	assert_int_equal(bench_event(bench, 'K', 0)->state, 0);
}

static void test_move_and_read_back(void **state)
{
	static const int points[][2] = {{0, 0}, {BENCH_WIDTH - 1, 0}, {0, BENCH_HEIGHT - 1}, {BENCH_WIDTH - 1, BENCH_HEIGHT - 1}, {123, 45}};
	struct bench *bench = *state;

	for (size_t i = 0; i < ARRAY_LEN(points); i++) {
		auto_free char *move = util_printf("{\"action\":\"move\",\"x\":%d,\"y\":%d}", points[i][0], points[i][1]);
		xcb_query_pointer_reply_t *other;

		bench_act(bench, move);
		expect_at(bench_event(bench, 'M', bench_count(bench, 'M') - 1), 0, points[i][0], points[i][1]);
		bench_act(bench, "{\"action\":\"cursor_position\"}");
		assert_int_equal(json_integer_value(json_object_get(bench->result, "x")), points[i][0]);
		assert_int_equal(json_integer_value(json_object_get(bench->result, "y")), points[i][1]);
		other = xcb_query_pointer_reply(bench->evwin.xcb, xcb_query_pointer(bench->evwin.xcb, bench->evwin.window), NULL);
		assert_int_equal(other->root_x, points[i][0]);
		assert_int_equal(other->root_y, points[i][1]);
		free(other);
	}
}

static void test_buttons(void **state)
{
	static const struct {
		const char *name;
		unsigned int number;
	} buttons[] = {{"left", 1}, {"middle", 2}, {"right", 3}, {"back", 8}, {"forward", 9}};
	struct bench *bench = *state;

	for (size_t i = 0; i < ARRAY_LEN(buttons); i++) {
		auto_free char *click = util_printf("{\"action\":\"click\",\"x\":70,\"y\":80,\"button\":\"%s\"}", buttons[i].name);

		bench_act(bench, click);
		assert_int_equal(bench_count(bench, 'B'), 1);
		assert_int_equal(bench_count(bench, 'b'), 1);
		expect_at(bench_event(bench, 'B', 0), buttons[i].number, 70, 80);
		expect_at(bench_event(bench, 'b', 0), buttons[i].number, 70, 80);
	}
	bench_act(bench, "{\"action\":\"move\",\"x\":9,\"y\":8}");
	bench_act(bench, "{\"action\":\"click\",\"hold\":[\"ctrl\",\"shift\"]}");
	expect_at(bench_event(bench, 'B', 0), 1, 9, 8);
	assert_int_equal(bench_event(bench, 'B', 0)->state, SHIFT | CTRL);
	expect_nothing_held(bench);
}

/* What toolkits take for a double click: presses of one button at one place within 250 ms (xterm's limit, the shortest). */
static void test_double_and_triple_click(void **state)
{
	struct bench *bench = *state;

	for (size_t count = 2; count <= 3; count++) {
		auto_free char *click = util_printf("{\"action\":\"click\",\"x\":300,\"y\":200,\"count\":%zu}", count);

		bench_act(bench, click);
		assert_int_equal(bench_count(bench, 'B'), count);
		assert_int_equal(bench_count(bench, 'b'), count);
		assert_true(bench_event(bench, 'B', count - 1)->time_ms - bench_event(bench, 'B', 0)->time_ms < 250);
	}
}

/* Two clicks are two single clicks: no toolkit's limit is beyond 500 ms. */
static void test_clicks_are_not_merged(void **state)
{
	struct bench *bench = *state;
	uint32_t before = 0;

	for (int i = 0; i < 3; i++) {
		bench_act(bench, i == 2 ? "{\"action\":\"click\",\"x\":304,\"y\":197,\"count\":2}" : "{\"action\":\"click\",\"x\":300,\"y\":200}");
		assert_true(i == 0 || bench_event(bench, 'B', 0)->time_ms - before > 500);
		before = bench_event(bench, 'B', bench_count(bench, 'B') - 1)->time_ms;
	}
	/* GTK would take the next press as the third of a triple click for twice its time after the first one. */
	before = bench_event(bench, 'B', 0)->time_ms;
	bench_act(bench, "{\"action\":\"click\",\"x\":300,\"y\":200}");
	assert_true(bench_event(bench, 'B', 0)->time_ms - before > 1000);
	/* Another place, another button: no wait. */
	bench_act(bench, "{\"action\":\"click\",\"x\":400,\"y\":200}");
	assert_true(bench->took_ms < 300);
	bench_act(bench, "{\"action\":\"click\",\"x\":400,\"y\":200,\"button\":\"right\"}");
	assert_true(bench->took_ms < 300);
	/* A series of single actions is the caller's own; after a click it is none. */
	bench_act(bench, "{\"action\":\"mouse_down\",\"x\":500,\"y\":100}");
	before = bench_event(bench, 'B', 0)->time_ms;
	bench_act(bench, "{\"action\":\"mouse_up\"}");
	bench_act(bench, "{\"action\":\"mouse_down\",\"x\":500,\"y\":100}");
	assert_true(bench_event(bench, 'B', 0)->time_ms - before < 250);
	bench_act(bench, "{\"action\":\"mouse_up\"}");
	bench_act(bench, "{\"action\":\"click\",\"x\":600,\"y\":100}");
	before = bench_event(bench, 'B', 0)->time_ms;
	bench_act(bench, "{\"action\":\"mouse_down\",\"x\":600,\"y\":100}");
	assert_true(bench_event(bench, 'B', 0)->time_ms - before > 500);
	bench_act(bench, "{\"action\":\"mouse_up\"}");
	/* A drag that begins where the last click was would select words. */
	bench_act(bench, "{\"action\":\"click\",\"x\":100,\"y\":100}");
	before = bench_event(bench, 'B', 0)->time_ms;
	bench_act(bench, "{\"action\":\"drag\",\"path\":[[100,100],[200,100]],\"duration_ms\":0}");
	assert_true(bench_event(bench, 'B', 0)->time_ms - before > 500);
}

static void test_drag(void **state)
{
	struct bench *bench = *state;
	size_t n;

	bench_act(bench, "{\"action\":\"drag\",\"path\":[[300,260],[100,100]]}");
	assert_int_equal(json_integer_value(json_object_get(bench->result, "delivered")), 2);
	expect_at(bench_event(bench, 'B', 0), 1, 300, 260);
	expect_at(bench_event(bench, 'b', 0), 1, 100, 100);
	n = bench_count(bench, 'M');
	assert_true(n >= 14);
	for (size_t i = 0; i < n; i++) {
		const struct evwin_event *motion = bench_event(bench, 'M', i);

		/* On the line: x - 100 over 200 as y - 100 over 160, to the pixel. At last a pixel back and forth. */
		assert_true(abs((motion->x - 100) * 160 - (motion->y - 100) * 200) <= 200);
		assert_true(i == 0 || i == n - 1 || motion->x < bench_event(bench, 'M', i - 1)->x || (i == n - 2 && motion->x == 101));
	}
	expect_at(bench_event(bench, 'M', n - 1), 0, 100, 100);
	assert_true(bench_event(bench, 'b', 0)->time_ms - bench_event(bench, 'B', 0)->time_ms >= 290);
	/* Rests before it lets go, at least so long after the last motion. */
	assert_true(bench_event(bench, 'b', 0)->time_ms - bench_event(bench, 'M', n - 1)->time_ms >= DRAG_NUDGE_MS - 2);
}

/* Every point of a path is passed, also where it turns back, and with no time at all. */
static void test_drag_along_a_path(void **state)
{
	static const int path[][2] = {{10, 10}, {200, 10}, {200, 300}, {10, 10}, {10, 10}, {11, 10}};
	struct bench *bench = *state;
	size_t at = 0;

	bench_act(bench, "{\"action\":\"drag\",\"path\":[[10,10],[200,10],[200,300],[10,10],[10,10],[11,10]],"
	                 "\"duration_ms\":0,\"button\":\"middle\",\"hold\":\"shift\"}");
	assert_int_equal(json_integer_value(json_object_get(bench->result, "delivered")), 6);
	for (size_t i = 0; i < bench_count(bench, 'M') && at < 6; i++)
		while (at < 6 && bench_event(bench, 'M', i)->x == path[at][0] && bench_event(bench, 'M', i)->y == path[at][1])
			at++;
	assert_int_equal(at, 6);
	expect_at(bench_event(bench, 'B', 0), 2, 10, 10);
	expect_at(bench_event(bench, 'b', 0), 2, 11, 10);
	assert_int_equal(bench_event(bench, 'B', 0)->state, SHIFT);
	expect_nothing_held(bench);
}

static void test_cancelled_drag_lets_go(void **state)
{
	struct bench *bench = *state;

	bench_try(bench, "{\"action\":\"drag\",\"path\":[[10,10],[500,10],[500,500]],\"duration_ms\":2000,\"hold\":\"ctrl\"}", 150);
	assert_int_equal(bench->rc, -1);
	assert_int_equal(bench->e.code, ERR_CANCELLED);
	assert_int_equal(json_integer_value(json_object_get(bench->result, "delivered")), 1);
	assert_true(bench->took_ms < 400);
	assert_int_equal(bench_count(bench, 'b'), 1);
	expect_nothing_held(bench);
}

/* Moves with single actions make a drag that rests before the button goes up; one that goes nowhere is a click. */
static void test_drag_by_single_actions(void **state)
{
	struct bench *bench = *state;

	bench_act(bench, "{\"action\":\"mouse_down\",\"x\":100,\"y\":100}");
	bench_act(bench, "{\"action\":\"move\",\"x\":300,\"y\":100}");
	bench_act(bench, "{\"action\":\"mouse_up\"}");
	assert_true(bench_count(bench, 'M') >= 2);
	expect_at(bench_event(bench, 'M', 0), 0, 299, 100);
	expect_at(bench_event(bench, 'M', bench_count(bench, 'M') - 1), 0, 300, 100);
	expect_at(bench_event(bench, 'b', 0), 1, 300, 100);
	bench_act(bench, "{\"action\":\"mouse_down\",\"x\":500,\"y\":100}");
	bench_act(bench, "{\"action\":\"mouse_up\"}");
	assert_int_equal(bench_count(bench, 'M'), 0);
	expect_nothing_held(bench);
}

/* In the time that it was given, on the line, and no further once it is cancelled. */
static void test_smooth_move(void **state)
{
	struct bench *bench = *state;
	size_t n;

	bench_act(bench, "{\"action\":\"move\",\"x\":10,\"y\":400}");
	bench_act(bench, "{\"action\":\"move\",\"x\":410,\"y\":200,\"duration_ms\":200}");
	n = bench_count(bench, 'M');
	assert_in_range(n, 20, 22);
	for (size_t i = 0; i < n; i++) {
		const struct evwin_event *motion = bench_event(bench, 'M', i);

		assert_true(abs((motion->x - 10) * 200 + (motion->y - 400) * 400) <= 400);
		assert_true(i == 0 || motion->x > bench_event(bench, 'M', i - 1)->x);
	}
	expect_at(bench_event(bench, 'M', n - 1), 0, 410, 200);
	assert_true(bench_event(bench, 'M', n - 1)->time_ms - bench_event(bench, 'M', 0)->time_ms >= 150);
	bench_try(bench, "{\"action\":\"move\",\"x\":10,\"y\":200,\"duration_ms\":20000}", 100);
	assert_int_equal(bench->e.code, ERR_CANCELLED);
	assert_true(bench_event(bench, 'M', bench_count(bench, 'M') - 1)->x > 390);
	bench_look(bench);
	assert_int_equal(bench->n_events, 0);
	bench_try(bench, "{\"action\":\"move\",\"x\":1,\"y\":1,\"duration_ms\":60000}", 0);
	assert_int_equal(bench->e.code, ERR_TIMEOUT);
	bench_try(bench, "{\"action\":\"move\",\"x\":1,\"y\":1,\"duration_ms\":60001}", 0);
	assert_string_equal(bench->e.path, "/duration_ms");
	assert_int_equal(bench->n_events, 0);
}

static void test_scroll(void **state)
{
	struct bench *bench = *state;

	bench_act(bench, "{\"action\":\"scroll\",\"x\":50,\"y\":60,\"dy\":3,\"dx\":-2,\"hold\":\"ctrl\"}");
	assert_int_equal(bench_count(bench, 'B'), 5);
	assert_int_equal(bench_count(bench, 'b'), 5);
	for (size_t i = 0; i < 5; i++) {
		expect_at(bench_event(bench, 'B', i), i < 3 ? 5 : 6, 50, 60);
		assert_int_equal(bench_event(bench, 'B', i)->state, CTRL);
	}
	bench_act(bench, "{\"action\":\"scroll\",\"dy\":-100,\"dx\":100}");
	assert_int_equal(bench_count(bench, 'B'), 200);
	assert_int_equal(bench_event(bench, 'B', 99)->detail, 4);
	assert_int_equal(bench_event(bench, 'B', 100)->detail, 7);
	expect_nothing_held(bench);
}

static void test_mouse_down_and_up(void **state)
{
	struct bench *bench = *state;

	bench_act(bench, "{\"action\":\"mouse_down\",\"x\":40,\"y\":50}");
	auto_free char *held = bench_held(bench);

	assert_string_equal(held, "{\"buttons\":[\"left\"],\"keys\":[]}");
	expect_at(bench_event(bench, 'B', 0), 1, 40, 50);
	bench_try(bench, "{\"action\":\"click\",\"x\":40,\"y\":50}", 0);
	assert_int_equal(bench->e.code, ERR_CONFLICT);
	bench_try(bench, "{\"action\":\"mouse_down\",\"x\":40,\"y\":50}", 0);
	assert_int_equal(bench->e.code, ERR_CONFLICT);
	assert_int_equal(bench->n_events, 0);
	bench_act(bench, "{\"action\":\"move\",\"x\":90,\"y\":50}");
	assert_int_equal(bench_event(bench, 'M', 0)->state, 256);
	bench_act(bench, "{\"action\":\"mouse_up\",\"x\":91,\"y\":51}");
	expect_at(bench_event(bench, 'b', 0), 1, 91, 51);
	/* Up is what is asked for: once more is no fault. */
	bench_act(bench, "{\"action\":\"mouse_up\"}");
	expect_nothing_held(bench);
}

/* Runs the actions one after the other, and looks until the window has got n presses and releases of buttons or keys in all; they are
 * written to `kinds` in their order ("BbKk"), their states to `states`. */
static void run_all(struct bench *bench, const char *const *actions, size_t n, char kinds[17], unsigned int states[16])
{
	size_t found = 0;

	for (size_t i = 0; actions[i] || found < n; i += actions[i] != NULL) {
		if (actions[i])
			bench_act(bench, actions[i]);
		else
			bench_look(bench);
		for (size_t k = 0; k < bench->n_events && found < 16; k++)
			if (bench->events[k].kind != 'M') {
				kinds[found] = bench->events[k].kind;
				states[found++] = bench->events[k].state;
			}
	}
	kinds[found] = '\0';
}

/* The window manager holds each press back; what comes after it must not come before it, and finds it as it was made. */
static void test_nothing_overtakes_a_press(void **state)
{
	static const char click[] = "{\"action\":\"click\",\"x\":50,\"y\":60}";
	static const char other[] = "{\"action\":\"click\",\"x\":350,\"y\":60,\"button\":\"right\",\"hold\":\"ctrl\"}";
	static const char up[] = "{\"action\":\"key_up\",\"keys\":\"shift\"}";
	static const struct {
		const char *actions[4];
		const char *kinds;
		unsigned int states[8];
	} cases[] = {
		{{click, "{\"action\":\"key\",\"keys\":\"a\"}"}, "BbKk", {0, 256, 0, 0}},
		{{click, "{\"action\":\"type\",\"text\":\"a\"}"}, "BbKk", {0, 256, 0, 0}},
		{{click, "{\"action\":\"hold_key\",\"keys\":\"a\",\"duration_ms\":1}"}, "BbKk", {0, 256, 0, 0}},
		{{click, other}, "BbKBbk", {0, 256, 0, CTRL, CTRL | 1024, CTRL}},
		{{click, "{\"action\":\"scroll\",\"dy\":1,\"hold\":\"ctrl\"}"}, "BbKBbk", {0, 256, 0, CTRL, CTRL | 4096, CTRL}},
		{{"{\"action\":\"key_down\",\"keys\":\"shift\"}", click, up}, "KBbk", {0, SHIFT, SHIFT | 256, SHIFT}},
		{{"{\"action\":\"click\",\"x\":200,\"y\":300,\"count\":3}", "{\"action\":\"key\",\"keys\":\"a\"}"}, "BbBbBbKk",
		 {0, 256, 0, 256, 0, 256, 0, 0}},
	};
	struct bench *bench = *state;
	unsigned int states[16];
	char kinds[17];

	bench_use_window(bench, EVWIN_MANAGED);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		size_t n = strlen(cases[i].kinds);

		bench_act(bench, "{\"action\":\"click\",\"x\":700,\"y\":500}"); /* far away: the next press is a series of its own */
		run_all(bench, (const char *const[]){NULL}, 2, kinds, states);
		run_all(bench, cases[i].actions, n, kinds, states);
		assert_string_equal(kinds, cases[i].kinds);
		for (size_t k = 0; k < n; k++)
			if (states[k] != cases[i].states[k])
				fail_msg("case %zu: event %zu has state %u, not %u", i, k, states[k], cases[i].states[k]);
	}
}

/* While the window manager holds a press back the server folds motions and knows no new place of the pointer. */
static void test_motions_after_a_press_are_told(void **state)
{
	struct bench *bench = *state;
	size_t n = 0;

	bench_use_window(bench, EVWIN_MANAGED);
	bench_act(bench, "{\"action\":\"mouse_down\",\"x\":40,\"y\":50}");
	for (int i = 1; i <= 3; i++) {
		auto_free char *move = util_printf("{\"action\":\"move\",\"x\":%d,\"y\":50}", 40 + i);

		bench_act(bench, move);
		for (size_t k = 0; k < bench_count(bench, 'M'); k++)
			n += (bench_event(bench, 'M', k)->state & 256) != 0;
	}
	assert_int_equal(n, 3);
	bench_act(bench, "{\"action\":\"mouse_up\"}");
	bench_act(bench, "{\"action\":\"click\",\"x\":300,\"y\":50}");
	bench_act(bench, "{\"action\":\"move\",\"x\":350,\"y\":70}");
	bench_act(bench, "{\"action\":\"cursor_position\"}");
	assert_int_equal(json_integer_value(json_object_get(bench->result, "x")), 350);
}

static void test_release(void **state)
{
	struct bench *bench = *state;

	bench_act(bench, "{\"action\":\"mouse_down\",\"button\":\"right\"}");
	bench_act(bench, "{\"action\":\"key_down\",\"keys\":\"ctrl+alt\"}");
	bench_act(bench, "{\"action\":\"key_down\",\"keys\":\"A\"}");
	auto_free char *held = bench_held(bench);

	assert_string_equal(held, "{\"buttons\":[\"right\"],\"keys\":[\"ctrl\",\"alt\",\"shift\",\"A\"]}");
	input_release(bench->input);
	/* The releases were flushed, and it waits for nothing: a question on the same connection comes behind them. */
	bench_act(bench, "{\"action\":\"cursor_position\"}");
	assert_int_equal(bench_count(bench, 'b'), 1);
	assert_int_equal(bench_count(bench, 'k'), 4);
	expect_nothing_held(bench);
}

/* A key that was pressed in one layout is let go in another, and a capital takes its Shift with it. */
static void test_key_up_knows_what_was_pressed(void **state)
{
	struct bench *bench = *state;

	bench_act(bench, "{\"action\":\"key_down\",\"keys\":\"Z\"}");
	bench_set_layout(bench, (const char *const[]){"de", NULL});
	bench_act(bench, "{\"action\":\"key_up\",\"keys\":\"Z\"}");
	expect_nothing_held(bench);
	bench_act(bench, "{\"action\":\"key_down\",\"keys\":\"shift\"}");
	bench_act(bench, "{\"action\":\"key_down\",\"keys\":\"Z\"}");
	bench_act(bench, "{\"action\":\"key_up\",\"keys\":\"Z\"}");
	auto_free char *held = bench_held(bench);

	assert_string_equal(held, "{\"buttons\":[],\"keys\":[\"shift\"]}");
	bench_act(bench, "{\"action\":\"key_up\",\"keys\":\"Shift_L\"}");
	expect_nothing_held(bench);
}

static void test_hold_key(void **state)
{
	struct bench *bench = *state;
	const struct evwin_event *up;

	bench_act(bench, "{\"action\":\"hold_key\",\"keys\":\"shift\",\"duration_ms\":120}");
	up = bench_event(bench, 'k', 0);
	assert_true(up && up->time_ms - bench_event(bench, 'K', 0)->time_ms >= 115);
	bench_try(bench, "{\"action\":\"hold_key\",\"keys\":\"ctrl+a\",\"duration_ms\":20000}", 100);
	assert_int_equal(bench->e.code, ERR_CANCELLED);
	assert_int_equal(bench_count(bench, 'k'), 2);
	expect_nothing_held(bench);
	bench_try(bench, "{\"action\":\"hold_key\",\"keys\":\"a\",\"duration_ms\":100000}", 0);
	assert_int_equal(bench->e.code, ERR_TIMEOUT);
	assert_int_equal(bench->n_events, 0);
}

/* Keysym and modifiers that arrive for chords of all kinds. */
static void test_chords_arrive(void **state)
{
	static const struct {
		const char *keys;
		uint32_t keysym;
		unsigned int state;
	} cases[] = {
		{"\"enter\"", XK_Return, 0},           {"\"A\"", XK_A, SHIFT},
		{"\"a\"", XK_a, 0},                    {"\"ctrl+c\"", XK_c, CTRL},
		{"\"CTRL+C\"", XK_c, CTRL},            {"\"ctrl-c\"", XK_c, CTRL},
		{"\"ctrl+shift+t\"", XK_T, CTRL | SHIFT}, {"\"shift+tab\"", XK_ISO_Left_Tab, SHIFT},
		{"\"cmd+a\"", XK_a, 64},               {"\"alt+F4\"", XK_F4, 8},
		{"\"ctrl++\"", XK_plus, CTRL | SHIFT}, {"\"ctrl+plus\"", XK_plus, CTRL | SHIFT},
		{"\"ctrl+-\"", XK_minus, CTRL},        {"[\"ctrl\",\"a\"]", XK_a, CTRL},
		{"\"?\"", XK_question, SHIFT},         {"\"kp_enter\"", XK_KP_Enter, 0},
		{"\"F13\"", XK_F13, 0},                {"\"F24\"", XK_F24, 0},
		{"\"é\"", XK_eacute, 0},               {"\"É\"", XK_Eacute, 0},
		{"\"ctrl+日\"", 0x010065e5, CTRL},     {"\"break\"", XK_Pause, 0},
		{"\"playpause\"", 0x1008ff14, 0},
	};
	struct bench *bench = *state;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		auto_free char *key = util_printf("{\"action\":\"key\",\"keys\":%s}", cases[i].keys);
		const struct evwin_event *last;

		bench_act(bench, key);
		last = bench_event(bench, 'K', bench_count(bench, 'K') - 1);
		if (!last || last->keysym != cases[i].keysym || last->state != cases[i].state)
			fail_msg("%s came as %#x with state %u", cases[i].keys, last ? last->keysym : 0, last ? last->state : 0);
		assert_int_equal(bench_count(bench, 'K'), bench_count(bench, 'k'));
	}
	bench_act(bench, "{\"action\":\"key\",\"keys\":\"Down\",\"repeat\":7}");
	assert_int_equal(bench_count(bench, 'K'), 7);
	expect_nothing_held(bench);
}

/* Every row of the table of names comes as its key, and is gone again. Locks are pressed a second time. */
static void test_all_names_arrive(void **state)
{
	struct bench *bench = *state;
	struct keyname key;
	const char *spellings;

	for (size_t i = 0; (spellings = keynames_row(i, &key)); i++) {
		int len = (int)strcspn(spellings, " ");
		bool locks = key.keysym == XK_Caps_Lock || key.keysym == XK_Num_Lock || key.keysym == XK_Scroll_Lock;
		auto_free char *action = util_printf("{\"action\":\"key\",\"keys\":\"%.*s\",\"repeat\":%d}", len, spellings, locks ? 2 : 1);
		const struct evwin_event *last;

		bench_act(bench, action);
		last = bench_event(bench, 'K', bench_count(bench, 'K') - 1);
		if (!last || (last->keysym != key.keysym && last->keysym != key.other))
			fail_msg("%.*s came as %#x", len, spellings, last ? last->keysym : 0);
		assert_int_equal(bench_count(bench, 'K'), bench_count(bench, 'k'));
	}
	expect_nothing_held(bench);
}

/* Refused before anything happens, with the field at fault. */
static void test_refused(void **state)
{
	static const struct {
		const char *action;
		enum err_code code;
		const char *path;
	} cases[] = {
		{"{\"action\":\"key\",\"keys\":\"hyperspace\"}", ERR_UNKNOWN_KEY, "/keys"},
		{"{\"action\":\"key\",\"keys\":\"\"}", ERR_BAD_FIELD, "/keys"},
		{"{\"action\":\"key\",\"keys\":\"+\"}", ERR_UNKNOWN_KEY, "/keys"},
		{"{\"action\":\"key\",\"keys\":\"ctrl+\"}", ERR_UNKNOWN_KEY, "/keys"},
		{"{\"action\":\"key\",\"keys\":\"ctrl+ctrl\"}", ERR_UNKNOWN_KEY, "/keys"},
		{"{\"action\":\"key\",\"keys\":\"ctrl+nokey\"}", ERR_UNKNOWN_KEY, "/keys"},
		{"{\"action\":\"key\",\"keys\":[\"ctrl\",7]}", ERR_BAD_FIELD, "/keys/1"},
		{"{\"action\":\"key\",\"keys\":\"a\",\"repeat\":101}", ERR_BAD_FIELD, "/repeat"},
		{"{\"action\":\"key_down\",\"keys\":[\"shift\",\"x\",\"bogus\"]}", ERR_UNKNOWN_KEY, "/keys/2"},
		{"{\"action\":\"hold_key\",\"keys\":\"nokey\",\"duration_ms\":10}", ERR_UNKNOWN_KEY, "/keys"},
		{"{\"action\":\"click\",\"x\":1,\"y\":1,\"hold\":\"nokey\"}", ERR_UNKNOWN_KEY, "/hold"},
		{"{\"action\":\"click\",\"x\":1}", ERR_MISSING_FIELD, "/y"},
		{"{\"action\":\"click\",\"y\":1}", ERR_MISSING_FIELD, "/x"},
		{"{\"action\":\"click\",\"x\":800,\"y\":1}", ERR_BAD_FIELD, "/x"},
		{"{\"action\":\"click\",\"x\":1,\"y\":1,\"count\":4}", ERR_BAD_FIELD, "/count"},
		{"{\"action\":\"click\",\"button\":9999}", ERR_BAD_FIELD, "/button"},
		{"{\"action\":\"click\",\"button\":\"left \"}", ERR_BAD_FIELD, "/button"},
		{"{\"action\":\"click\",\"button\":\"LEFT\"}", ERR_BAD_FIELD, "/button"},
		{"{\"action\":\"mouse_down\",\"y\":1}", ERR_MISSING_FIELD, "/x"},
		{"{\"action\":\"move\",\"x\":1}", ERR_MISSING_FIELD, "/y"},
		{"{\"action\":\"drag\",\"path\":[[1,1]]}", ERR_BAD_FIELD, "/path"},
		{"{\"action\":\"drag\",\"path\":[[1,1],[1,600]]}", ERR_BAD_FIELD, "/path/1/1"},
		{"{\"action\":\"drag\",\"path\":[[1,1],[2,2]],\"hold\":\"\"}", ERR_BAD_FIELD, "/hold"},
		{"{\"action\":\"scroll\",\"x\":1,\"y\":1}", ERR_MISSING_FIELD, "/dy"},
		{"{\"action\":\"scroll\",\"dx\":0,\"dy\":0}", ERR_MISSING_FIELD, "/dy"},
		{"{\"action\":\"scroll\",\"dy\":101}", ERR_BAD_FIELD, "/dy"},
		{"{\"action\":\"cursor_position\",\"x\":1}", ERR_UNKNOWN_FIELD, "/x"},
	};
	struct bench *bench = *state;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		bench_try(bench, cases[i].action, 0);
		if (bench->rc == 0 || bench->e.code != cases[i].code || strcmp(bench->e.path, cases[i].path) != 0)
			fail_msg("%s: rc %d, %s %s", cases[i].action, bench->rc, bench->e.path, bench->e.msg);
		assert_int_equal(bench->n_events, 0);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, bench_set_up, bench_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_move_and_read_back),
		TEST(test_buttons),
		TEST(test_double_and_triple_click),
		TEST(test_clicks_are_not_merged),
		TEST(test_drag),
		TEST(test_drag_along_a_path),
		TEST(test_cancelled_drag_lets_go),
		TEST(test_drag_by_single_actions),
		TEST(test_smooth_move),
		TEST(test_scroll),
		TEST(test_mouse_down_and_up),
		TEST(test_nothing_overtakes_a_press),
		TEST(test_motions_after_a_press_are_told),
		TEST(test_release),
		TEST(test_key_up_knows_what_was_pressed),
		TEST(test_hold_key),
		TEST(test_chords_arrive),
		TEST(test_all_names_arrive),
		TEST(test_refused),
	};

	return cmocka_run_group_tests_name("hands", tests, NULL, NULL);
}
