/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: input */
/* Which chords keys wait for: those that may move the focus. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "input/focus.h"
#include "session/base/util.h"

static uint32_t keysym_of(const char *name)
{
	json_auto_t *keys = json_string(name);
	struct chord chord;
	struct err e;

	if (keynames_parse(keys, "/keys", &chord, &e) < 0)
		fail_msg("%s: %s", name, e.msg);
	return chord.keys[0].keysym;
}

/* Whether the next key would wait after this chord, while this key (NULL: none) is held. */
static bool waits(const char *keys, const char *held)
{
	struct xconn x = {.lost = true};
	struct hands hands = {.x = &x};
	struct pointer pointer = {.x = &x, .hands = &hands};
	const struct input_ops none = {0};
	struct focus focus = {.pointer = &pointer, .ops = &none};
	json_auto_t *text = json_string(keys);
	struct chord chord;
	struct err e;

	if (held)
		assert_true(hands_press(&hands, 77, keysym_of(held), keysym_of(held)));
	if (keynames_parse(text, "/keys", &chord, &e) < 0)
		fail_msg("%s: %s", keys, e.msg);
	assert_int_equal(focus_note_chord(&focus, &chord, &e), 0);
	return focus.cause != NULL;
}

static void test_chords(void **state)
{
	static const char *const shortcuts[] = {"ctrl+l", "ctrl+v", "ctrl+s", "ctrl+t", "ctrl+shift+a", "ctrl+shift+delete", "ctrl+tab", "ctrl+alt+a",
	                                        "alt", "alt+tab", "alt+left", "super", "super+a", "f6", "shift+f10", "ctrl+a+l", "meta+x"};
	static const char *const others[] = {"a", "A", "enter", "tab", "shift+tab", "shift", "ctrl", "ctrl+shift", "left", "shift+left", "ctrl+a", "ctrl+c",
	                                     "CTRL+A", "ctrl+x", "ctrl+z", "ctrl+left", "ctrl+shift+left", "ctrl+home", "ctrl+shift+end", "ctrl+backspace", "ctrl+delete"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(shortcuts); i++)
		if (!waits(shortcuts[i], NULL))
			fail_msg("keys would not wait after %s", shortcuts[i]);
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (waits(others[i], NULL))
			fail_msg("keys would wait after %s", others[i]);
}

/* In LibreOffice alone: which window it is is asked for by the next key. */
static void test_delete(void **state)
{
	(void)state;
	assert_true(waits("delete", NULL));
	assert_false(waits("shift+delete", NULL));
	assert_false(waits("backspace", NULL));
	assert_false(waits("delete", "ctrl"));
}

/* What is held makes a shortcut of a key, and another one of a chord. */
static void test_held(void **state)
{
	(void)state;
	assert_true(waits("l", "ctrl"));
	assert_false(waits("a", "ctrl"));
	assert_true(waits("ctrl+a", "shift"));
	assert_true(waits("a", "alt"));
	assert_false(waits("ctrl+a", "b"));
	assert_false(waits("l", "shift"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_chords), cmocka_unit_test(test_delete), cmocka_unit_test(test_held)};

	return cmocka_run_group_tests_name("focus", tests, NULL, NULL);
}
