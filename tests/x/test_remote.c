/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: input */
/* The hands of a person who is elsewhere: what a window gets of keysyms and buttons that a viewer tells. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <xkbcommon/xkbcommon-keysyms.h>

#include "input/keymap.h"
#include "session/base/limits.h"
#include "session/base/util.h"
#include "tests/x/bench.h"
#include "tests/x/clips.h"

enum kind { KEY_DOWN, KEY_UP, POINTER, COPY, READ, BEGIN, END };

/* Things done one after another in a coroutine. */
struct step {
	enum kind kind;
	uint32_t value;
	int x, y;
	const char *text;
};

struct work {
	struct bench *bench;
	const struct step *steps;
	size_t n;
	char *read;
};

static int do_step(struct work *work, const struct step *step, struct err *e)
{
	struct input *input = work->bench->input;
	size_t len;

	switch (step->kind) {
	case KEY_DOWN:
	case KEY_UP:
		return input_remote_key(input, step->value, step->kind == KEY_DOWN, e);
	case POINTER:
		return input_remote_pointer(input, step->value, step->x, step->y, step->x < BENCH_WIDTH && step->y < BENCH_HEIGHT, e);
	case COPY:
		return input_remote_copy(input, step->text, strlen(step->text), e);
	case READ:
		free(work->read);
		work->read = NULL;
		return input_remote_read(input, &work->read, &len, e);
	case BEGIN:
		return input_hold_begin(input, e);
	case END:
		return input_hold_end(input, e);
	}
	return -1;
}

static void run(void *arg)
{
	struct work *work = arg;
	struct err e = {0};

	for (size_t i = 0; i < work->n; i++)
		if (do_step(work, &work->steps[i], &e) < 0)
			fail_msg("step %zu: %s", i, e.msg);
	if (xconn_sync(&work->bench->x, &e) < 0)
		fail_msg("%s", e.msg);
}

static char *steps(struct bench *bench, const struct step *list, size_t n)
{
	struct work work = {.bench = bench, .steps = list, .n = n};

	xserver_run(bench->loop, run, &work);
	return work.read;
}

#define STEPS(bench, ...) steps(bench, (const struct step[]){__VA_ARGS__}, ARRAY_LEN(((const struct step[]){__VA_ARGS__})))
#define DOWN(keysym) {KEY_DOWN, keysym, 0, 0, NULL}
#define UP(keysym) {KEY_UP, keysym, 0, 0, NULL}
#define TAP(keysym) DOWN(keysym), UP(keysym)

/* What the window got, and that nothing is held any more. */
static void expect_text(struct bench *bench, const char *want)
{
	char *text;

	bench_look(bench);
	text = evwin_text(bench->events, bench->n_events);
	assert_string_equal(text, want);
	assert_int_equal(bench_count(bench, 'K'), bench_count(bench, 'k'));
	free(text);
}

/* The n-th key that went down, by its keysym and state. */
static void expect_key(struct bench *bench, size_t n, uint32_t keysym, unsigned int state)
{
	const struct evwin_event *event = bench_event(bench, 'K', n);

	assert_non_null(event);
	assert_int_equal(event->keysym, keysym);
	assert_int_equal(event->state, state);
}

struct reading {
	struct bench *bench;
	struct keymap *map;
};

static void do_read_map(void *arg)
{
	struct reading *reading = arg;

	assert_int_equal(keymap_read(reading->map, &reading->bench->x, NULL), 0);
}

static void read_map(struct bench *bench, struct keymap *map)
{
	struct reading reading = {bench, map};

	xserver_run(bench->loop, do_read_map, &reading);
}

/* Viewers hold Shift for what they call A, and for what they do not: the layouts differ. */
static void test_signs(void **state)
{
	struct bench *bench = *state;

	(void)STEPS(bench, TAP('a'), DOWN(XKB_KEY_Shift_L), TAP('A'), TAP('!'), UP(XKB_KEY_Shift_L), TAP('$'), TAP('('), TAP('('), TAP('4'));
	expect_text(bench, "aA!$((4");
	/* A German's slash is Shift and 7, the at-sign AltGr and q; a Frenchman's digit is with Shift. */
	(void)STEPS(bench, DOWN(XKB_KEY_Shift_L), TAP('/'), TAP('B'), UP(XKB_KEY_Shift_L), DOWN(XKB_KEY_ISO_Level3_Shift), TAP('@'),
	            UP(XKB_KEY_ISO_Level3_Shift), DOWN(XKB_KEY_Shift_R), TAP('1'), UP(XKB_KEY_Shift_R));
	expect_text(bench, "/B@1");
	/* What the viewer has locked is in its signs; what is locked here is not. */
	(void)STEPS(bench, TAP(XKB_KEY_Caps_Lock), TAP('A'), TAP('b'));
	expect_text(bench, "Ab");
	bench_act(bench, "{\"action\":\"key\",\"keys\":\"capslock\"}");
	(void)STEPS(bench, TAP('a'), TAP('B'), TAP('c'));
	expect_text(bench, "aBc");
}

static void test_signs_without_keys(void **state)
{
	struct bench *bench = *state;
	struct keymap map = {0};

	/* Both ways of naming a sign: Latin-1's own and Unicode's. */
	(void)STEPS(bench, {BEGIN, 0, 0, 0, NULL}, TAP(0xE9), TAP(0x01000000 + 0x65E5), TAP(0x01000000 + 0x672C), TAP(0x01000000 + 0x1F642), TAP(0xE9),
	            TAP(XKB_KEY_EuroSign), TAP('x'));
	expect_text(bench, "\303\251\346\227\245\346\234\254\360\237\231\202\303\251\342\202\254x");
	/* Nothing of it stays in the map. */
	(void)STEPS(bench, {END, 0, 0, 0, NULL});
	read_map(bench, &map);
	assert_null(keymap_find(&map, 0xE9));
	assert_null(keymap_find(&map, 0x01000000 + 0x65E5));
	keymap_finish(&map);
}

static void test_modifiers_are_held(void **state)
{
	struct bench *bench = *state;

	(void)STEPS(bench, DOWN(XKB_KEY_Control_L), DOWN(XKB_KEY_Shift_L), TAP('T'), UP(XKB_KEY_Shift_L), TAP('c'), UP(XKB_KEY_Control_L));
	bench_look(bench);
	expect_key(bench, 2, 'T', 5);
	expect_key(bench, 3, 'c', 4);
	/* With Caps Lock on the viewer says C: no Shift comes of that. */
	(void)STEPS(bench, DOWN(XKB_KEY_Control_L), TAP('C'), UP(XKB_KEY_Control_L), DOWN(XKB_KEY_Shift_L), TAP(XKB_KEY_Tab), TAP(XKB_KEY_Left),
	            UP(XKB_KEY_Shift_L), TAP(XKB_KEY_ISO_Left_Tab));
	bench_look(bench);
	expect_key(bench, 1, 'c', 4);
	expect_key(bench, 3, XKB_KEY_ISO_Left_Tab, 1);
	expect_key(bench, 4, XKB_KEY_Left, 1);
	assert_int_equal(bench_count(bench, 'K'), bench_count(bench, 'k'));
}

static void test_layout(void **state)
{
	struct bench *bench = *state;

	bench_set_layout(bench, (const char *const[]){"de", NULL});
	/* An American's keys on a German's map. */
	(void)STEPS(bench, TAP('z'), TAP('y'), TAP('/'), DOWN(XKB_KEY_Shift_L), TAP('?'), TAP('@'), UP(XKB_KEY_Shift_L), TAP('['), TAP('\\'), TAP(0xFC));
	expect_text(bench, "zy/?@[\\\303\274");
}

/* X repeats nothing by itself; the viewer's own repeats come as they are told. */
static void test_repeat(void **state)
{
	struct bench *bench = *state;
	int64_t until_ms;

	(void)STEPS(bench, DOWN('x'), DOWN('x'), DOWN('x'));
	bench_look(bench);
	assert_int_equal(bench_count(bench, 'K'), 3);
	/* Its word that the key went up does not come: X would repeat after 660 ms. */
	for (until_ms = util_now_ms() + 1200; util_now_ms() < until_ms;)
		(void)loop_turn(bench->loop, 50);
	bench_look(bench);
	assert_int_equal(bench_count(bench, 'K'), 0);
	assert_int_equal(bench_count(bench, 'k'), 1);
	(void)STEPS(bench, UP('x'), TAP('y'));
	expect_text(bench, "y");
}

static void test_pointer(void **state)
{
	struct bench *bench = *state;
	const struct evwin_event *event;

	(void)STEPS(bench, {POINTER, 0, 50, 60, NULL}, {POINTER, 1, 50, 60, NULL}, {POINTER, 1, 70, 80, NULL}, {POINTER, 0, 70, 80, NULL},
	            {POINTER, 8, 70, 80, NULL}, {POINTER, 0, 70, 80, NULL}, {POINTER, 128, 70, 80, NULL}, {POINTER, 0, 70, 80, NULL});
	bench_look(bench);
	event = bench_event(bench, 'B', 0);
	assert_int_equal(event->detail, 1);
	assert_int_equal(event->x, 50);
	event = bench_event(bench, 'b', 0);
	assert_int_equal(event->x, 70);
	assert_int_equal(event->y, 80);
	assert_int_equal(bench_event(bench, 'B', 1)->detail, 4);
	assert_int_equal(bench_event(bench, 'B', 2)->detail, 8);
	assert_int_equal(bench_count(bench, 'B'), bench_count(bench, 'b'));
	/* Outside nothing is pressed, but let go of. */
	(void)STEPS(bench, {POINTER, 1, 10, 10, NULL}, {POINTER, 5, BENCH_WIDTH, 10, NULL}, {POINTER, 0, 10, BENCH_HEIGHT, NULL});
	bench_look(bench);
	assert_int_equal(bench_count(bench, 'B'), 1);
	assert_int_equal(bench_count(bench, 'b'), 1);
	assert_int_equal(bench_event(bench, 'b', 0)->x, 10);
}

static void test_release(void **state)
{
	struct bench *bench = *state;
	char *held;

	(void)STEPS(bench, DOWN(XKB_KEY_Control_L), DOWN(XKB_KEY_Alt_L), DOWN('q'), {POINTER, 1, 10, 10, NULL});
	held = bench_held(bench);
	assert_string_equal(held, "{\"buttons\":[],\"keys\":[]}"); /* told to nobody */
	free(held);
	input_remote_release(bench->input);
	(void)STEPS(bench, {POINTER, 0, 11, 11, NULL});
	bench_look(bench);
	assert_int_equal(bench_count(bench, 'k'), 3);
	assert_int_equal(bench_count(bench, 'b'), 1);
	/* What comes up later was up already. */
	(void)STEPS(bench, UP('q'), UP(XKB_KEY_Control_L), TAP('f'));
	expect_text(bench, "f");
	expect_key(bench, 0, 'f', 0);
}

static void test_clipboard(void **state)
{
	struct bench *bench = *state;
	static const char text[] = "na\303\257ve \346\227\245\346\234\254 \360\237\231\202";
	char *got;

	bench_act(bench, "{\"action\":\"clipboard_set\",\"text\":\"the agent's\"}");
	got = STEPS(bench, {BEGIN, 0, 0, 0, NULL}, {COPY, 0, 0, 0, text}, {READ, 0, 0, 0, NULL});
	assert_null(got); /* one's own does not come back */
	bench_act(bench, "{\"action\":\"clipboard_get\"}");
	assert_string_equal(form_string(bench->result, "text", ""), text);
	bench_act(bench, "{\"action\":\"clipboard_get\",\"selection\":\"primary\"}");
	assert_string_equal(form_string(bench->result, "text", ""), text);
	bench_act(bench, "{\"action\":\"clipboard_set\",\"text\":\"another's\"}");
	got = STEPS(bench, {READ, 0, 0, 0, NULL});
	assert_string_equal(got, "another's");
	free(got);
	(void)STEPS(bench, {END, 0, 0, 0, NULL});
	bench_act(bench, "{\"action\":\"clipboard_get\"}");
	assert_string_equal(form_string(bench->result, "text", ""), "the agent's");
	bench_act(bench, "{\"action\":\"clipboard_get\",\"selection\":\"primary\"}");
	assert_string_equal(form_string(bench->result, "owner", ""), "none");
	/* What nobody touched stays as it is. */
	(void)STEPS(bench, {BEGIN, 0, 0, 0, NULL}, {END, 0, 0, 0, NULL});
	bench_act(bench, "{\"action\":\"clipboard_get\"}");
	assert_string_equal(form_string(bench->result, "text", ""), "the agent's");
}

struct begun {
	struct bench *bench;
	bool done;
};

static void begin(void *arg)
{
	struct begun *begun = arg;

	assert_int_equal(input_hold_begin(begun->bench->input, NULL), 0);
	begun->done = true;
}

/* A person who has gone before an app has said what it has copied has changed nothing. */
static void test_short_hold(void **state)
{
	struct bench *bench = *state;
	const struct clips_form form = {"UTF8_STRING", NULL, "marked", 6};
	const struct clips_display display = {.name = bench->server.display};
	pid_t slow = clips_own(display, "CLIPBOARD", CLIPS_HALF_SILENT, &form, 1), good = clips_own(display, "PRIMARY", CLIPS_GOOD, &form, 1);
	struct begun begun = {.bench = bench};

	(void)STEPS(bench, {POINTER, 0, 10, 10, NULL});
	(void)co_start(bench->loop, begin, &begun);
	while (loop_turn(bench->loop, 50))
		;
	assert_false(begun.done);
	(void)STEPS(bench, {END, 0, 0, 0, NULL});
	while (!begun.done)
		loop_turn(bench->loop, 50);
	bench_act(bench, "{\"action\":\"clipboard_get\",\"selection\":\"primary\"}");
	assert_string_equal(form_string(bench->result, "text", ""), "marked");
	assert_string_equal(form_string(bench->result, "owner", ""), "app");
	clips_end(slow);
	clips_end(good);
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, bench_set_up, bench_tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_signs),  TEST(test_signs_without_keys), TEST(test_modifiers_are_held), TEST(test_layout),    TEST(test_repeat),
		TEST(test_pointer), TEST(test_release),           TEST(test_clipboard),
		TEST(test_short_hold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
