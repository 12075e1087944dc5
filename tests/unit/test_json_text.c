/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: */
/* What is written is what jansson would write, and can be read back. */
#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "session/base/json_text.h"
#include "session/base/util.h"

#define LONGEST 100 /* more than three blocks of what is looked through at once */

static void check(json_t *value)
{
	auto_free char *right = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
	size_t len = 99;
	auto_free char *text = json_text(value, &len);

	assert_non_null(right);
	assert_string_equal(text, right);
	assert_int_equal(len, strlen(right));
	assert_int_equal(json_text_len(value), len);
	json_decref(value);
}

static void test_scalars(void **state)
{
	static const json_int_t integers[] = {0, 1, -1, 10, 9007199254740993, INT64_MAX, INT64_MIN};
	static const double reals[] = {0, -0.0, 1, -2.5, 1e22, DBL_MAX, DBL_MIN, 12345678.125, 1.0 / 3, 0.1 + 0.2};

	(void)state;
	check(json_true());
	check(json_false());
	check(json_null());
	for (size_t i = 0; i < ARRAY_LEN(integers); i++)
		check(json_integer(integers[i]));
	for (size_t i = 0; i < ARRAY_LEN(reals); i++)
		check(json_real(reals[i]));
}

/* No more digits than the number needs. */
static void test_reals(void **state)
{
	static const struct {
		double value;
		const char *text;
	} rows[] = {{0.1, "0.1"}, {7.3, "7.3"}, {-28.1, "-28.1"}, {1e-7, "1e-7"}, {1e300, "1e300"}, {2, "2.0"}, {0.1 + 0.2, "0.30000000000000004"}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		json_auto_t *value = json_real(rows[i].value);
		auto_free char *text = json_text(value, NULL);

		assert_string_equal(text, rows[i].text);
	}
}

/* Every character of one byte, and some longer ones, at every place of strings of every length. */
static void test_strings(void **state)
{
	static const char *const others[] = {"\xC2\x80", "ß", "日", "\xEF\xBF\xBF", "🚀", "\xF4\x8F\xBF\xBF"};
	char text[LONGEST + 4];

	(void)state;
	for (size_t len = 0; len <= LONGEST; len++) {
		memset(text, 'x', sizeof(text));
		check(json_stringn(text, len));
		for (size_t at = 0; at < len; at++) {
			for (int c = at % 7 == 0 ? 0 : 0x1f; c < 0x80; c += c == 0x22 && at % 7 != 0 ? 0x5c - 0x22 : 1) {
				text[at] = (char)c;
				check(json_stringn(text, len));
			}
			text[at] = 'x';
		}
	}
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		for (size_t at = 0; at < 40; at++) {
			memset(text, 'x', sizeof(text));
			memcpy(text + at, others[i], strlen(others[i]));
			check(json_stringn(text, 80));
		}
	memset(text, '"', sizeof(text));
	check(json_stringn(text, LONGEST));
}

static void test_containers(void **state)
{
	json_t *deep = json_array();
	json_t *big = json_object();

	(void)state;
	check(json_object());
	check(json_array());
	check(json_pack("[[],{},[{}],n]"));
	check(json_pack("{s:i,s:[i,s,n],s:{s:b,s:{}},s:f}", "a", 1, "b\"\n", 2, "c\\", "ä", "d", 1, "e", "", 0.5));
	for (int i = 0; i < 500; i++)
		deep = json_pack("[o]", deep);
	check(deep);
	for (int i = 0; i < 3000; i++) {
		char key[16];

		(void)snprintf(key, sizeof(key), "key %d", i);
		json_object_set_new(big, key, json_integer(i));
	}
	check(big);
}

/* A picture: a long text in which nothing has to be escaped. */
static void test_long_text(void **state)
{
	const size_t n = 3 * 1024 * 1024 + 1;
	auto_free char *data = util_alloc(n);

	(void)state;
	memset(data, 'A', n);
	check(json_pack("{s:s%,s:i}", "data", data, n, "after", 1));
	data[n - 1] = '\n';
	check(json_pack("{s:s%,s:i}", "data", data, n, "after", 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scalars),
		cmocka_unit_test(test_reals),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_containers),
		cmocka_unit_test(test_long_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
