/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts as strokes and slots: what a client that reads the map late would still understand. */
/* links: input */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include <xkbcommon/xkbcommon-keysyms.h>

#include "input/keynames.h"
#include "input/plan.h"
#include "session/base/util.h"

#define FIRST_SLOT 200

/* A layout of a, A, Return, Tab and space, and n slots. */
static struct keymap_place places[] = {
	{XKB_KEY_space, 65, false}, {XKB_KEY_A, 38, true}, {XKB_KEY_a, 38, false}, {XKB_KEY_Tab, 23, false}, {XKB_KEY_Return, 36, false},
};

struct bench {
	struct keymap map;
	struct slots slots;
	struct plan plan;
	struct err e;
	uint32_t server[256][2]; /* what the map would be */
	char typed[4096];        /* UTF-8 of the strokes, Return as \n */
	size_t n_typed;
	int n_changes;
};

static struct bench *bench_create(size_t n_slots)
{
	struct bench *b = util_zalloc(sizeof(*b));

	b->map = (struct keymap){.places = places, .n_places = ARRAY_LEN(places), .shift_keycode = 50};
	b->slots.n = n_slots;
	for (size_t i = 0; i < n_slots; i++)
		b->slots.keycodes[i] = (uint8_t)(FIRST_SLOT + i);
	return b;
}

static void bench_destroy(struct bench *b)
{
	plan_finish(&b->plan);
	free(b);
}

static void add_char(struct bench *b, uint32_t keysym)
{
	uint32_t cp = keysym == XKB_KEY_Return ? '\n' : keysym == XKB_KEY_Tab ? '\t' : keysym >> 24 ? keysym & 0xffffff : keysym;
	char *out = b->typed + b->n_typed;

	assert_true(keysym != 0);
	if (cp < 0x80) {
		b->n_typed += 1;
		out[0] = (char)cp;
	} else if (cp < 0x800) {
		b->n_typed += 2;
		out[0] = (char)(0xc0 | cp >> 6);
		out[1] = (char)(0x80 | (cp & 0x3f));
	} else if (cp < 0x10000) {
		b->n_typed += 3;
		out[0] = (char)(0xe0 | cp >> 12);
		out[1] = (char)(0x80 | (cp >> 6 & 0x3f));
		out[2] = (char)(0x80 | (cp & 0x3f));
	} else {
		b->n_typed += 4;
		out[0] = (char)(0xf0 | cp >> 18);
		out[1] = (char)(0x80 | (cp >> 12 & 0x3f));
		out[2] = (char)(0x80 | (cp >> 6 & 0x3f));
		out[3] = (char)(0x80 | (cp & 0x3f));
	}
}

/* Changes the map as the plan says, then reads all strokes by the map after the change, as the slowest client would. */
static size_t run_batch(struct bench *b)
{
	size_t n_chars = 0;

	for (size_t slot = 0; slot < b->slots.n; slot++)
		if (b->plan.changed[slot])
			plan_slot_symbols(&b->slots, slot, b->server[b->slots.keycodes[slot]]);
	b->n_changes += b->plan.n_changed > 0;
	for (size_t i = 0; i < b->plan.n_strokes; i++) {
		const struct stroke *stroke = &b->plan.strokes[i];
		uint32_t keysym = b->server[stroke->keycode][stroke->shift];

		for (size_t p = 0; p < ARRAY_LEN(places); p++)
			if (places[p].keycode == stroke->keycode && places[p].shift == stroke->shift)
				keysym = places[p].keysym;
		add_char(b, keysym);
		n_chars += stroke->n_chars;
	}
	return n_chars;
}

/* Types a text; returns the characters counted. */
static size_t type(struct bench *b, const char *text)
{
	size_t len = strlen(text), used = 0, n_chars = 0;

	b->n_typed = 0;
	while (len > 0) {
		if (plan_make(&b->plan, &b->map, &b->slots, text, len, &used, &b->e) < 0)
			fail_msg("%s", b->e.msg);
		assert_true(used > 0 && used <= len);
		n_chars += run_batch(b);
		text += used;
		len -= used;
	}
	b->typed[b->n_typed] = '\0';
	return n_chars;
}

static void expect_typed(size_t n_slots, const char *text, const char *want, size_t n_chars, int n_changes)
{
	struct bench *b = bench_create(n_slots);

	assert_int_equal(type(b, text), n_chars);
	assert_string_equal(b->typed, want);
	assert_int_equal(b->n_changes, n_changes);
	bench_destroy(b);
}

static void test_real_keys(void **state)
{
	(void)state;
	expect_typed(4, "aA a", "aA a", 4, 0);
	expect_typed(0, "aA a\t\n", "aA a\t\n", 6, 0);
	expect_typed(4, "", "", 0, 0);
}

static void test_newlines(void **state)
{
	(void)state;
	expect_typed(0, "a\na\ta\r\na\r", "a\na\ta\na\n", 9, 0);
	expect_typed(0, "\r\r\n\n\r", "\n\n\n\n", 5, 0);
	expect_typed(0, "\n\r", "\n\n", 2, 0);
}

/* One change for a text; planes beyond the first, joiners and combining marks are single symbols of their own. */
static void test_one_change(void **state)
{
	(void)state;
	expect_typed(20, "Straße fløde", "Straße fløde", 12, 1);
	expect_typed(20, "日本🚀e\u0301👩\u200d🚀\ufe0f", "日本🚀e\u0301👩\u200d🚀\ufe0f", 9, 1);
}

/* More characters than slots: the second level, by Shift, in the same change. */
static void test_two_levels(void **state)
{
	struct bench *b = bench_create(3);

	(void)state;
	assert_int_equal(type(b, "éñüßøå"), 6);
	assert_string_equal(b->typed, "éñüßøå");
	assert_int_equal(b->n_changes, 1);
	assert_int_equal(b->plan.n_changed, 3);
	assert_false(b->plan.strokes[0].shift && b->plan.strokes[1].shift && b->plan.strokes[2].shift);
	bench_destroy(b);
	b = bench_create(3);
	b->map.shift_keycode = 0;
	assert_int_equal(type(b, "éñüßøå"), 6);
	assert_string_equal(b->typed, "éñüßøå");
	assert_int_equal(b->n_changes, 2);
	bench_destroy(b);
}

/* Both levels of a run are filled before the next run is begun: one request for as much as it holds. */
static void test_run_first(void **state)
{
	struct bench *b = bench_create(4);

	(void)state;
	b->slots.keycodes[2] = 220;
	b->slots.keycodes[3] = 221;
	assert_int_equal(type(b, "éñüß"), 4);
	assert_string_equal(b->typed, "éñüß");
	assert_int_equal(b->plan.n_changed, 2);
	assert_true(b->plan.changed[0] && b->plan.changed[1]);
	bench_destroy(b);
}

/* An odd symbol fills both levels, or the server would take it as a pair of cases. */
static void test_odd_symbol(void **state)
{
	struct bench *b = bench_create(2);
	uint32_t symbols[2];

	(void)state;
	(void)type(b, "É");
	plan_slot_symbols(&b->slots, 0, symbols);
	assert_int_equal(symbols[0], 0xc9);
	assert_int_equal(symbols[1], 0xc9);
	bench_destroy(b);
}

static void test_batches(void **state)
{
	struct bench *b = bench_create(2);
	char text[1200] = "", *end = text;

	(void)state;
	for (unsigned int i = 0; i < 100; i++) {
		uint32_t cp = 0x4e00 + i * 7 % 60;

		*end++ = (char)(0xe0 | cp >> 12);
		*end++ = (char)(0x80 | (cp >> 6 & 0x3f));
		*end++ = (char)(0x80 | (cp & 0x3f));
		*end++ = i % 3 ? 'a' : '\n';
	}
	assert_int_equal(type(b, text), 200);
	assert_string_equal(b->typed, text);
	assert_int_equal(b->n_changes, 25);
	bench_destroy(b);
}

/* A second text finds its symbols where they are; one that needs room says that it overwrites. */
static void test_reuse(void **state)
{
	struct bench *b = bench_create(2);

	(void)state;
	(void)type(b, "éñ");
	assert_false(b->plan.overwrites);
	assert_true(b->plan.uses_slots);
	(void)type(b, "ñé");
	assert_int_equal(b->n_changes, 1);
	(void)type(b, "üß");
	assert_false(b->plan.overwrites); /* the levels with Shift were free */
	assert_int_equal(b->n_changes, 2);
	(void)type(b, "øé");
	assert_true(b->plan.overwrites);
	assert_int_equal(b->plan.n_changed, 1);
	assert_string_equal(b->typed, "øé");
	(void)type(b, "aA");
	assert_false(b->plan.uses_slots);
	bench_destroy(b);
}

static void test_no_slot(void **state)
{
	struct bench *b = bench_create(0);
	size_t used = 77;

	(void)state;
	assert_int_equal(plan_make(&b->plan, &b->map, &b->slots, "aé", strlen("aé"), &used, &b->e), 0);
	assert_int_equal(used, 1);
	assert_int_equal(plan_make(&b->plan, &b->map, &b->slots, "é", strlen("é"), &used, &b->e), -1);
	assert_int_equal(b->e.code, ERR_UNSUPPORTED);
	assert_int_equal(used, 1);
	bench_destroy(b);
}

/* A symbol of a chord stands at the level without Shift, beside what texts have put there; both must go on working. */
static void test_chord(void **state)
{
	struct bench *b = bench_create(2);
	size_t slot, other;

	(void)state;
	(void)type(b, "éñü"); /* é and ñ, and ü with Shift on the first slot */
	plan_clear(&b->plan);
	assert_int_equal(plan_bind(&b->plan, &b->slots, keynames_of_char(0xf1), &slot, &b->e), 0);
	assert_int_equal(b->plan.n_changed, 0);
	assert_int_equal(b->slots.keysyms[slot][0], 0xf1);
	assert_int_equal(plan_bind(&b->plan, &b->slots, keynames_of_char(0xfc), &slot, &b->e), 0);
	assert_true(b->plan.overwrites);
	assert_int_equal(b->slots.keysyms[slot][0], 0xfc);
	assert_int_equal(plan_bind(&b->plan, &b->slots, 0x01002603, &other, &b->e), 0);
	assert_int_not_equal(slot, other);
	assert_int_equal(plan_bind(&b->plan, &b->slots, 0x01002604, &other, &b->e), -1);
	(void)run_batch(b);
	(void)type(b, "éñüßøå");
	assert_string_equal(b->typed, "éñüßøå");
	bench_destroy(b);
}

/* The same symbol in two places (a chord's and a text's) must not keep the search for a free cell going for ever. */
static void test_twin_symbols(void **state)
{
	struct bench *b = bench_create(2);

	(void)state;
	b->slots.keysyms[0][0] = b->slots.keysyms[1][1] = 0xe9;
	b->slots.keysyms[1][0] = 0xf1;
	b->slots.keysyms[0][1] = 0xfc;
	for (size_t slot = 0; slot < 2; slot++)
		plan_slot_symbols(&b->slots, slot, b->server[FIRST_SLOT + slot]);
	(void)type(b, "éñüß");
	assert_string_equal(b->typed, "éñüß");
	assert_int_equal(b->n_changes, 1);
	assert_int_equal(b->plan.n_changed, 1);
	bench_destroy(b);
}

/* A new layout wiped the slots, or uses their keys itself. */
static void test_layout_changes(void **state)
{
	struct bench *b = bench_create(3);

	(void)state;
	(void)type(b, "éñü");
	for (size_t i = 0; i < 3; i++) {
		b->map.ours[FIRST_SLOT + i] = b->map.used[FIRST_SLOT + i] = true;
		plan_slot_symbols(&b->slots, i, b->map.first[FIRST_SLOT + i]);
	}
	plan_compare(&b->slots, &b->map);
	assert_int_equal(b->slots.n, 3);
	b->map.used[FIRST_SLOT] = false;
	b->map.first[FIRST_SLOT + 1][0] = XKB_KEY_XF86Back;
	plan_compare(&b->slots, &b->map);
	assert_int_equal(b->slots.n, 2);
	assert_false(b->map.ours[FIRST_SLOT + 1]);
	assert_int_equal(b->slots.keycodes[0], FIRST_SLOT);
	assert_int_equal(b->slots.keysyms[0][0], 0);
	assert_int_equal(b->slots.keycodes[1], FIRST_SLOT + 2);
	(void)type(b, "éñü");
	assert_string_equal(b->typed, "éñü");
	bench_destroy(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_real_keys), cmocka_unit_test(test_newlines),    cmocka_unit_test(test_one_change),
		cmocka_unit_test(test_two_levels), cmocka_unit_test(test_run_first), cmocka_unit_test(test_odd_symbol), cmocka_unit_test(test_batches),
		cmocka_unit_test(test_reuse),     cmocka_unit_test(test_no_slot),     cmocka_unit_test(test_chord),
		cmocka_unit_test(test_twin_symbols), cmocka_unit_test(test_layout_changes),
	};

	return cmocka_run_group_tests_name("typing plan", tests, NULL, NULL);
}
