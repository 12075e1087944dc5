/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: session/cli session/replay */
/* Text from a jail on its way to a terminal, and pictures on their way to a file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "session/base/base64.h"
#include "session/base/util.h"
#include "session/cli/picture.h"
#include "session/cli/cli.h"
#include "session/cli/show.h"

static void test_visible(void **state)
{
	static const struct {
		const char *text;
		const char *shown;
	} cases[] = {
		{"plain ÄÖ 日本 😀\n\t.", "plain ÄÖ 日本 😀\n\t."},
		{"\x1b]0;title\x07", "\\x1b]0;title\\x07"},
		{"a\rb\bc\x7f", "a\\x0db\\x08c\\x7f"},
		{"\xc2\x9b" "31m", "\\xc2\\x9b31m"},       /* C1 control sequence introducer */
		{"\x9b" "31m", "\\x9b31m"},                /* the same in a terminal that is not in UTF-8 */
		{"\xe2\x80\xae" "abc", "\\xe2\\x80\\xaeabc"}, /* right-to-left override */
		{"\xff\xc3", "\\xff\\xc3"},
		{"\xed\xa0\x80", "\\xed\\xa0\\x80"},       /* a surrogate */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		auto_free char *shown = show_visible(cases[i].text, strlen(cases[i].text), 1);

		assert_string_equal(shown, cases[i].shown);
	}
}

static void test_visible_on_one_line(void **state)
{
	auto_free char *shown = show_visible("a\nb\tc\0d", 7, 0);

	(void)state;
	assert_string_equal(shown, "a\\x0ab\\x09c\\x00d");
}

static void test_picture_of_answer(void **state)
{
	json_auto_t *both = json_pack("{s:[{s:{s:s}},{}], s:{s:{s:s}}}", "results", "picture", "data", "r", "observation", "picture",
	                              "data", "o");
	json_auto_t *results = json_pack("{s:[{s:{s:s}},{s:{s:s}},{}]}", "results", "picture", "data", "1", "picture", "data", "2");
	json_auto_t *none = json_pack("{s:[{}]}", "results");

	(void)state;
	assert_string_equal(json_string_value(json_object_get(picture_find(both), "data")), "o");
	assert_string_equal(json_string_value(json_object_get(picture_find(results), "data")), "2");
	assert_null(picture_find(none));
}

/* Every length modulo 3 comes back as it was. */
static void test_picture_saved(void **state)
{
	static const char bytes[] = "\0\xff\x10PNG\x80";
	char file[] = "/tmp/test_show.XXXXXX";
	auto_fd fd = mkstemp(file);

	(void)state;
	assert_true(fd >= 0);
	for (size_t len = 0; len < sizeof(bytes); len++) {
		auto_free char *data = base64_encode(bytes, len, NULL), *read_back = NULL;
		json_auto_t *picture = json_pack("{s:s}", "data", data);
		struct err e = {0};

		assert_int_equal(picture_save(file, picture, &e), 0);
		assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
		assert_int_equal(util_read_file(fd, 100, &read_back), len);
		assert_memory_equal(read_back, bytes, len);
	}
	unlink(file);
}

static void test_picture_refused(void **state)
{
	static const char *const wrong[] = {"a!b=", "abc\n", "=abc"};
	struct err e = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		json_auto_t *picture = json_pack("{s:s}", "data", wrong[i]);

		assert_int_equal(picture_save("/dev/null", picture, &e), -1);
	}
	assert_int_equal(picture_save("/dev/null", NULL, &e), -1);
}

static void test_names_out_of_paths(void **state)
{
	static const struct {
		const char *path, *last, *folder;
	} rows[] = {
		{"s1", "s1", "s1"}, {"a/b.zip", "b.zip", "b"}, {"/var/x y/", "x y", "x_y"}, {"a.b.zip", "a.b.zip", "a.b"}, {".zip", ".zip", "_zip"},
		{"/", "/", "journal"}, {"//", "/", "journal"}, {".", ".", "journal"}, {"..", "..", "_."}, {"", "", "journal"}, {"\xc3\xa4", "\xc3\xa4", "journal"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		auto_free char *last = cli_last_part(rows[i].path), *folder = cli_folder_name(rows[i].path);

		assert_string_equal(last, rows[i].last);
		assert_string_equal(folder, rows[i].folder);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_visible),
		cmocka_unit_test(test_visible_on_one_line),
		cmocka_unit_test(test_picture_of_answer),
		cmocka_unit_test(test_picture_saved),
		cmocka_unit_test(test_picture_refused),
		cmocka_unit_test(test_names_out_of_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
