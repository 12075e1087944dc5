/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: input */
/* The keyboard map out of the bytes of the X server's answer: groups, levels, spares, and bytes that make no sense. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <xcb/xkb.h>
#include <xkbcommon/xkbcommon-keysyms.h>

#include "input/keymap.h"
#include "session/base/util.h"

#define NUM_LOCK 0x10

enum { ONE_LEVEL, ALPHABETIC, KEYPAD, TWO_LEVEL };

/* A reply while it is written. */
struct writer {
	uint8_t bytes[16384];
	size_t len;
};

static void put(struct writer *w, const void *data, size_t len)
{
	if (len > 0)
		memcpy(w->bytes + w->len, data, len);
	w->len += len;
}

static void put_type(struct writer *w, uint8_t mask, uint8_t n_entries, const uint8_t entries[][2], bool preserve)
{
	xcb_xkb_key_type_t head = {.mods_mask = mask, .mods_mods = mask, .numLevels = 2, .nMapEntries = n_entries, .hasPreserve = preserve};

	put(w, &head, sizeof(head));
	for (size_t i = 0; i < n_entries; i++) {
		xcb_xkb_kt_map_entry_t entry = {.active = 1, .mods_mask = entries[i][0], .level = entries[i][1]};

		put(w, &entry, sizeof(entry));
	}
	for (size_t i = 0; preserve && i < n_entries; i++)
		put(w, &(xcb_xkb_mod_def_t){0}, sizeof(xcb_xkb_mod_def_t));
}

static void put_key(struct writer *w, uint8_t type, uint8_t group_info, uint8_t width, const uint32_t *syms)
{
	size_t n = (size_t)(group_info & 0x0f) * width;
	xcb_xkb_key_sym_map_t head = {
		.kt_index = {type, type, type, type}, .groupInfo = group_info, .width = width, .nSyms = (uint16_t)n};

	put(w, &head, sizeof(head));
	put(w, syms, n * sizeof(*syms));
}

#define KEY(w, type, group_info, width, ...) put_key(w, type, group_info, width, (const uint32_t[]){__VA_ARGS__})

/* Keycodes 8 to 19; all others of 20 to 255 are empty. */
static void write_reply(struct writer *w)
{
	static const uint8_t shift[][2] = {{KEYMAP_SHIFT, 1}};
	static const uint8_t alphabetic[][2] = {{KEYMAP_SHIFT, 1}, {KEYMAP_CAPS, 1}};
	static const uint8_t keypad[][2] = {{KEYMAP_SHIFT, 1}, {NUM_LOCK, 1}};
	xcb_xkb_get_map_reply_t head = {
		.minKeyCode = 8, .maxKeyCode = 255, .nTypes = 4, .totalTypes = 4, .firstKeySym = 8, .nKeySyms = 248, .totalModMapKeys = 4};
	xcb_xkb_key_mod_map_t modifiers[] = {{9, KEYMAP_SHIFT}, {10, NUM_LOCK}, {16, 0x08}, {17, 0x80}};

	head.present = XCB_XKB_MAP_PART_KEY_TYPES | XCB_XKB_MAP_PART_KEY_SYMS | XCB_XKB_MAP_PART_MODIFIER_MAP;
	*w = (struct writer){0};
	put(w, &head, sizeof(head));
	put_type(w, 0, 0, NULL, false);
	put_type(w, KEYMAP_SHIFT | KEYMAP_CAPS, 2, alphabetic, true);
	put_type(w, KEYMAP_SHIFT | NUM_LOCK, 2, keypad, false);
	put_type(w, KEYMAP_SHIFT, 1, shift, false);
	KEY(w, ONE_LEVEL, 0, 0, 0);                                                                    /* 8: none */
	KEY(w, ONE_LEVEL, 1, 1, XKB_KEY_Shift_L);                                                      /* 9 */
	KEY(w, ONE_LEVEL, 1, 1, XKB_KEY_Num_Lock);                                                     /* 10 */
	KEY(w, ALPHABETIC, 2, 2, XKB_KEY_a, XKB_KEY_A, XKB_KEY_Cyrillic_ef, XKB_KEY_Cyrillic_EF);      /* 11 */
	KEY(w, TWO_LEVEL, 1, 2, XKB_KEY_1, XKB_KEY_exclam);                                            /* 12: one group, wraps */
	KEY(w, KEYPAD, 1, 2, XKB_KEY_KP_Home, XKB_KEY_KP_7);                                           /* 13 */
	KEY(w, ONE_LEVEL, 1, 1, XKB_KEY_7);                                                            /* 14 */
	KEY(w, ONE_LEVEL, 1, 1, XKB_KEY_Return);                                                       /* 15 */
	KEY(w, TWO_LEVEL, 1, 2, XKB_KEY_Alt_L, XKB_KEY_Meta_L);                                        /* 16 */
	KEY(w, TWO_LEVEL, 1, 2, XKB_KEY_NoSymbol, XKB_KEY_Hyper_L);                                    /* 17 */
	KEY(w, TWO_LEVEL, 0x40 | 2, 2, XKB_KEY_b, XKB_KEY_B, XKB_KEY_c, XKB_KEY_C);                    /* 18: two groups, clamps */
	KEY(w, TWO_LEVEL, 0x80 | 0x10 | 2, 2, XKB_KEY_d, XKB_KEY_D, XKB_KEY_e, XKB_KEY_E);             /* 19: goes to its second */
	for (int i = 20; i <= 255; i++)
		put_key(w, ONE_LEVEL, 0, 0, NULL);
	put(w, modifiers, sizeof(modifiers));
}

static struct keymap *parse(const struct writer *w, uint8_t group, uint8_t locked)
{
	struct keymap *map = util_zalloc(sizeof(*map));

	map->group = group;
	map->locked = locked;
	assert_int_equal(keymap_parse(map, w->bytes, w->len), 0);
	return map;
}

static void destroy(struct keymap *map)
{
	keymap_finish(map);
	free(map);
}

static void expect_place(const struct keymap *map, uint32_t keysym, uint8_t keycode, bool shift)
{
	const struct keymap_place *place = keymap_find(map, keysym);

	if (!place || place->keycode != keycode || place->shift != shift)
		fail_msg("%#x is at %d %d, not at %d %d", keysym, place ? place->keycode : 0, place ? place->shift : 0, keycode, shift);
}

static void test_first_group(void **state)
{
	struct writer w;

	(void)state;
	write_reply(&w);
	struct keymap *map = parse(&w, 0, 0);

	expect_place(map, XKB_KEY_a, 11, false);
	expect_place(map, XKB_KEY_A, 11, true);
	expect_place(map, XKB_KEY_exclam, 12, true);
	expect_place(map, XKB_KEY_Return, 15, false);
	expect_place(map, XKB_KEY_7, 14, false); /* the number pad's is another keysym */
	expect_place(map, XKB_KEY_KP_7, 13, true);
	expect_place(map, XKB_KEY_KP_Home, 13, false);
	expect_place(map, XKB_KEY_b, 18, false);
	assert_null(keymap_find(map, 0x01000444));
	assert_null(keymap_find(map, XKB_KEY_z));
	assert_int_equal(map->shift_keycode, 9);
	assert_int_equal(map->num_lock, NUM_LOCK);
	destroy(map);
}

/* The names of a modifier key's other levels are the same key, without Shift. */
static void test_modifier_keys(void **state)
{
	struct writer w;

	(void)state;
	write_reply(&w);
	struct keymap *map = parse(&w, 0, 0);

	expect_place(map, XKB_KEY_Alt_L, 16, false);
	expect_place(map, XKB_KEY_Meta_L, 16, false);
	expect_place(map, XKB_KEY_Hyper_L, 17, false);
	destroy(map);
}

static void test_num_lock(void **state)
{
	struct writer w;

	(void)state;
	write_reply(&w);
	struct keymap *map = parse(&w, 0, NUM_LOCK | KEYMAP_CAPS);

	expect_place(map, XKB_KEY_KP_7, 13, false);
	expect_place(map, XKB_KEY_KP_Home, 13, true); /* Shift undoes Num Lock */
	expect_place(map, XKB_KEY_a, 11, false);        /* Caps Lock is not the map's business */
	destroy(map);
}

/* A keysym of a legacy set is found as its character; keys with fewer groups wrap, clamp or redirect. */
static void test_other_groups(void **state)
{
	struct writer w;

	(void)state;
	write_reply(&w);
	struct keymap *second = parse(&w, 1, 0), *third = parse(&w, 2, 0), *fourth = parse(&w, 3, 0);

	expect_place(second, 0x01000444, 11, false);
	expect_place(second, 0x01000424, 11, true);
	assert_null(keymap_find(second, XKB_KEY_a));
	expect_place(second, XKB_KEY_1, 12, false);
	expect_place(second, XKB_KEY_c, 18, false);
	expect_place(third, XKB_KEY_a, 11, false);
	expect_place(third, XKB_KEY_c, 18, false);
	expect_place(third, XKB_KEY_e, 19, false);
	expect_place(fourth, 0x01000444, 11, false);
	destroy(second);
	destroy(third);
	destroy(fourth);
}

static void test_spares(void **state)
{
	uint8_t spares[256];
	struct writer w;
	size_t n;

	(void)state;
	write_reply(&w);
	struct keymap *map = parse(&w, 0, 0);

	n = keymap_spares(map, spares, sizeof(spares));
	/* 8, and 20 to 255 without the browser's five. */
	assert_int_equal(n, 1 + 236 - 5);
	assert_int_equal(spares[0], 20); /* 20 to 165 is the longest run, 183 to 255 the next */
	assert_int_equal(spares[145], 165);
	assert_int_equal(spares[146], 183);
	assert_int_equal(spares[n - 1], 8);
	for (size_t i = 0; i < n; i++)
		assert_true(spares[i] != 166 && spares[i] != 167 && (spares[i] < 180 || spares[i] > 182));
	assert_int_equal(keymap_spares(map, spares, 3), 3);
	destroy(map);
}

/* Symbols on our own keys are no part of the layout. */
static void test_ours(void **state)
{
	struct keymap *map = util_zalloc(sizeof(*map));
	struct writer w;

	(void)state;
	write_reply(&w);
	map->ours[11] = true;
	assert_int_equal(keymap_parse(map, w.bytes, w.len), 0);
	assert_null(keymap_find(map, XKB_KEY_a));
	assert_int_equal(map->first[11][0], XKB_KEY_a);
	assert_int_equal(map->first[11][1], XKB_KEY_A);
	assert_true(map->ours[11]);
	destroy(map);
}

/* Parses a copy of exactly these bytes, so that a sanitizer sees every step beyond them. */
static int parse_exact(const uint8_t *bytes, size_t len)
{
	struct keymap *map = util_zalloc(sizeof(*map));
	auto_free uint8_t *copy = util_alloc(len + 1);
	int rc;

	memcpy(copy, bytes, len);
	rc = keymap_parse(map, copy, len);
	if (rc < 0)
		assert_null(map->places);
	destroy(map);
	return rc;
}

static void test_cut_off(void **state)
{
	struct writer w;

	(void)state;
	write_reply(&w);
	for (size_t len = 0; len < w.len; len++)
		assert_int_equal(parse_exact(w.bytes, len), -1);
}

static void test_nonsense(void **state)
{
	struct writer w;

	(void)state;
	srand(1);
	for (int i = 0; i < 20000; i++) {
		write_reply(&w);
		for (int k = rand() % 4; k >= 0; k--)
			w.bytes[(size_t)rand() % (i % 2 ? sizeof(xcb_xkb_get_map_reply_t) : w.len)] = (uint8_t)rand();
		(void)parse_exact(w.bytes, w.len);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_group), cmocka_unit_test(test_modifier_keys), cmocka_unit_test(test_num_lock),
		cmocka_unit_test(test_other_groups), cmocka_unit_test(test_spares),       cmocka_unit_test(test_ours),
		cmocka_unit_test(test_cut_off),     cmocka_unit_test(test_nonsense),
	};

	return cmocka_run_group_tests_name("keymap", tests, NULL, NULL);
}
