/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: apps */
/* Hostile bytes come out as valid UTF-8, bounded and cut between characters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "apps/text.h"
#include "session/base/util.h"

#define FFFD "\xEF\xBF\xBD"

struct row {
	const char *in;
	size_t len;
	const char *out;
	size_t out_len;
};
#define ROW(in, out) {in, sizeof(in) - 1, out, sizeof(out) - 1}

static void utf8(void **state)
{
	static const struct row rows[] = {
		ROW("", ""),
		ROW("plain \t\n", "plain \t\n"),
		ROW("äß日本🚀", "äß日本🚀"),
		ROW("a\0b", "a\0b"),
		ROW("\xFF\xFE", FFFD FFFD),
		ROW("\xC0\x80", FFFD FFFD),                   /* overlong NUL */
		ROW("\xED\xA0\x80", FFFD FFFD FFFD),          /* a surrogate */
		ROW("\xF4\x90\x80\x80", FFFD FFFD FFFD FFFD), /* beyond U+10FFFF */
		ROW("a\xE6\x97", "a" FFFD FFFD),              /* half a character at the end */
		ROW("\xE6\x97z", FFFD FFFD "z"),
		ROW("\x80", FFFD),
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		size_t len;
		bool cut = false;
		auto_free char *text = text_utf8(rows[i].in, rows[i].len, 100, &len, &cut);

		assert_int_equal(len, rows[i].out_len);
		assert_memory_equal(text, rows[i].out, len);
		assert_int_equal(text[len], 0);
		assert_false(cut);
	}
}

/* At every limit: as much as fits, never half a character, and told. */
static void cut_between_characters(void **state)
{
	static const char text[] = "aä日🚀\xFFz";
	static const size_t ends[] = {0, 1, 3, 6, 10, 13, 14};

	(void)state;
	for (size_t max = 0; max <= 20; max++) {
		size_t len, expected = 0;
		bool cut = false;
		auto_free char *out = text_utf8(text, sizeof(text) - 1, max, &len, &cut);

		for (size_t i = 0; i < ARRAY_LEN(ends); i++)
			expected = ends[i] <= max ? ends[i] : expected;
		assert_int_equal(len, expected);
		assert_true(util_utf8_valid(out, len));
		assert_int_equal(cut, max < 14);
	}
}

static void names(void **state)
{
	static const struct row latin[] = {ROW("caf\xE9", "café"), ROW("\x80\xFF", "\xC2\x80ÿ"), ROW("a\0b", "a" FFFD "b")};
	static const struct row utf[] = {ROW("café", "café"), ROW("a\0b", "a" FFFD "b"), ROW("\xE9", FFFD)};
	size_t len;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(latin); i++) {
		auto_free char *text = text_name(latin[i].in, latin[i].len, true, 100, &len);

		assert_string_equal(text, latin[i].out);
		assert_int_equal(len, strlen(text));
	}
	for (size_t i = 0; i < ARRAY_LEN(utf); i++) {
		auto_free char *text = text_name(utf[i].in, utf[i].len, false, 100, &len);

		assert_string_equal(text, utf[i].out);
	}
	auto_free char *bounded = text_name("\xE9\xE9\xE9", 3, true, 5, &len);
	assert_string_equal(bounded, "éé");
}

static void controls(void **state)
{
	static const char *const good[] = {"", "a b", "/tmp/ä", "日本", "'\"$HOME `id` $(id) \\ %s ; & |"};
	static const char *const bad[] = {"\n", "a\tb", "\x1B[0m", "\x7F", "\xC2\x80", "\xC2\x9F", "\xFF", "\xC0\x80"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++)
		assert_false(text_has_control(good[i], strlen(good[i])));
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_true(text_has_control(bad[i], strlen(bad[i])));
	assert_true(text_has_control("a\0b", 3));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(utf8),     cmocka_unit_test(cut_between_characters), cmocka_unit_test(names),
		cmocka_unit_test(controls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
