/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: */
/* JSON read strictly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "session/base/json.h"
#include "session/base/limits.h"
#include "session/base/util.h"

/* Says which case of a table failed. */
#define CASE(what, ...)                                                                                                        \
	do {                                                                                                                   \
		if (!(what))                                                                                                   \
			fail_msg(__VA_ARGS__);                                                                                 \
	} while (0)

struct fault {
	const char *text;
	size_t len; /* 0: a plain string */
	long offset;
	int line, column;
	const char *why;
};

static const struct fault faults[] = {
	{"", 0, 0, 1, 1, "empty"},
	{" \n ", 0, 3, 2, 2, "empty"},
	{"\0", 1, 0, 1, 1, "value is needed"},
	{"{", 0, 1, 1, 2, "too early"},
	{"{\"a\"", 0, 4, 1, 5, "too early"},
	{"{\"a\":", 0, 5, 1, 6, "too early"},
	{"[1,2", 0, 4, 1, 5, "too early"},
	{"[1,", 0, 3, 1, 4, "too early"},
	{"\"abc", 0, 4, 1, 5, "too early"},
	{"\"abc\\", 0, 5, 1, 6, "too early"},
	{"\"\\u12", 0, 5, 1, 6, "too early"},
	{"\"\\ud800", 0, 7, 1, 8, "too early"},
	{"\"\\ud800\\", 0, 8, 1, 9, "too early"},
	{"-", 0, 1, 1, 2, "too early"},
	{"1.", 0, 2, 1, 3, "too early"},
	{"1e+", 0, 3, 1, 4, "too early"},
	{"{\"a\":}", 0, 5, 1, 6, "value is needed"},
	{"[1,]", 0, 3, 1, 4, "value is needed"},
	{"[,1]", 0, 1, 1, 2, "value is needed"},
	{"{\"a\": tru}", 0, 6, 1, 7, "value is needed"},
	{"nul", 0, 0, 1, 1, "value is needed"},
	{"NaN", 0, 0, 1, 1, "value is needed"},
	{"[Infinity]", 0, 1, 1, 2, "value is needed"},
	{"[-Infinity]", 0, 2, 1, 3, "digit"},
	{"'a'", 0, 0, 1, 1, "value is needed"},
	{"[.5]", 0, 1, 1, 2, "value is needed"},
	{"[+1]", 0, 1, 1, 2, "value is needed"},
	{"// a\n1", 0, 0, 1, 1, "value is needed"},
	{"{\"a\" 1}", 0, 5, 1, 6, "colon"},
	{"{a:1}", 0, 1, 1, 2, "double quotes"},
	{"{\"a\":1,}", 0, 7, 1, 8, "double quotes"},
	{"{\"a\":1]", 0, 6, 1, 7, "comma or }"},
	{"[1}", 0, 2, 1, 3, "comma or ]"},
	{"[\n\n  1 2]", 0, 7, 3, 5, "comma or ]"},
	{"[1]]", 0, 3, 1, 4, "something follows"},
	{"{\"a\":1} x", 0, 8, 1, 9, "something follows"},
	{"{}\0", 3, 2, 1, 3, "something follows"},
	{"{} \n\n{}", 0, 5, 3, 1, "something follows"},
	{"{\"a\":1,\n \"a\":2}", 0, 9, 2, 2, "twice"},
	{"[{\"b\":{\"a\":1, \"b\":2, \"a\":3}}]", 0, 21, 1, 22, "twice"},
	{"{\"a\":1,\"\\u0061\":2}", 0, 7, 1, 8, "twice"},
	{"[1e999]", 0, 1, 1, 2, "too large"},
	{"[0, -1e400]", 0, 4, 1, 5, "too large"},
	{"123456789012345678901234567890", 0, 0, 1, 1, "too large"},
	{"[9223372036854775808]", 0, 1, 1, 2, "too large"},
	{"[-9223372036854775809 ]", 0, 1, 1, 2, "too large"},
	{"[01]", 0, 1, 1, 2, "begin with 0"},
	{"[-00.5]", 0, 1, 1, 2, "begin with 0"},
	{"[-]", 0, 2, 1, 3, "digit"},
	{"[1.]", 0, 3, 1, 4, "digit"},
	{"[1e]", 0, 3, 1, 4, "digit"},
	{"[0x10]", 0, 2, 1, 3, "comma or ]"},
	{"\xef\xbb\xbf{}", 0, 0, 1, 1, "byte order mark"},
	{"\xff\xfe{", 0, 0, 1, 1, "not UTF-8"},
	{"[\"\xc0\x80\"]", 0, 2, 1, 3, "not UTF-8"},
	{"[\"a\xed\xa0\x80\"]", 0, 3, 1, 4, "not UTF-8"},
	{"[\"\xf4\x90\x80\x80\"]", 0, 2, 1, 3, "not UTF-8"},
	{"[\"é\xe2\x82\"]", 0, 4, 1, 4, "not UTF-8"},
	{"{\"\x80\":1}", 0, 2, 1, 3, "not UTF-8"},
	{"[\"é\",x]", 0, 6, 1, 6, "value is needed"},
	{"[\"\\ud800\"]", 0, 2, 1, 3, "surrogate"},
	{"[\"\\udc00x\"]", 0, 2, 1, 3, "surrogate"},
	{"[\"\\ud800x\"]", 0, 2, 1, 3, "surrogate"},
	{"[\"\\ud800\\n\"]", 0, 2, 1, 3, "surrogate"},
	{"[\"\\ud800\\u0041\"]", 0, 2, 1, 3, "surrogate"},
	{"[\"\\ud800\\ue000\"]", 0, 2, 1, 3, "surrogate"},
	{"[\"\\ud83d\\ud83d\"]", 0, 2, 1, 3, "surrogate"},
	{"[\"a\nb\"]", 0, 3, 1, 4, "control character"},
	{"[\"a\0b\"]", 7, 3, 1, 4, "control character"},
	{"[\"\\x41\"]", 0, 2, 1, 3, "escape"},
	{"[\"\\\0\"]", 6, 2, 1, 3, "escape"},
	{"[\"\\u00g0\"]", 0, 6, 1, 7, "hex"},
	{"{\"a\\u0000b\":1}", 0, 3, 1, 4, "NUL"},
};

/* The text is copied without a NUL after it, so that reading past its end is seen by a sanitizer. */
static int parse(const char *text, size_t len, json_t **out, struct err *e)
{
	auto_free char *copy = util_alloc(len);

	memcpy(copy, text, len);
	return json_parse(copy, len, out, e);
}

static void test_faults_of_form(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(faults); i++) {
		const struct fault *f = &faults[i];
		size_t len = f->len ? f->len : strlen(f->text);
		json_t *value = (json_t *)state;
		struct err e = {0};

		CASE(parse(f->text, len, &value, &e) == -1, "%zu: %s was taken", i, f->text);
		CASE(value == (json_t *)state, "%zu: the output was touched", i);
		CASE(e.code == ERR_BAD_JSON && e.path[0] == '\0', "%zu: %s: wrong code", i, f->text);
		CASE(e.offset == f->offset && e.line == f->line && e.column == f->column,
		     "%zu: %s is at %ld, line %d, column %d and not at %ld, %d, %d", i, f->text, e.offset, e.line, e.column, f->offset,
		     f->line, f->column);
		CASE(strstr(e.msg, f->why), "%zu: %s: \"%s\" does not say \"%s\"", i, f->text, e.msg, f->why);
		CASE(util_utf8_valid(e.msg, strlen(e.msg)), "%zu: %s: the message is not UTF-8", i, f->text);
		assert_int_equal(parse(f->text, len, &value, NULL), -1);
	}
}

static void test_good_values(void **state)
{
	static const char *const good[] = {
		"0", "-0", "-0.0e-0", " [ ] ", "{}", "\"\"", "null", "[true,false]", "9223372036854775807", "-9223372036854775808",
		"1e308", "1E+2", "\t\r\n{\"a\" : [ 1 , {\"a\":2} ] }\n", "\"\\ud83d\\ude00 \\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\"",
		"\"\xf0\x9f\x98\x80\"", "{\"a\":{\"a\":{\"a\":1}},\"b\":{\"a\":1}}", "\"\\u0000\"", "[\"{[\\\"]}\"]", "\"\xef\xbb\xbf\"",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		struct err e = {0};
		json_t *value = NULL;

		CASE(parse(good[i], strlen(good[i]), &value, &e) == 0, "%s is refused: %s", good[i], e.msg);
		json_decref(value);
	}
}

/* A NUL inside a string is kept, so that a field can refuse it by name. */
static void test_nul_is_kept(void **state)
{
	json_auto_t *value = NULL;

	(void)state;
	assert_int_equal(parse("\"a\\u0000b\"", 10, &value, NULL), 0);
	assert_int_equal(json_string_length(value), 3);
}

/* A text that grows, of random JSON. */
struct random_text {
	unsigned seed;
	size_t len;
	char at[8192];
};

static unsigned any(struct random_text *text, unsigned n)
{
	text->seed = text->seed * 1103515245 + 12345;
	return text->seed / 65536 % n;
}

static void say(struct random_text *text, const char *word)
{
	size_t len = strlen(word);

	if (text->len + len < sizeof(text->at)) {
		memcpy(text->at + text->len, word, len);
		text->len += len;
	}
}

static void say_string(struct random_text *text)
{
	static const char *const pieces[] = {"", "plain words", "é", "日本", "🚀", "\\n", "\\\"", "\\\\", "\\/", "\\b\\f\\r\\t", "\\u00e9", "\\uD83D\\ude80",
	                                     "\\u65E5", "\x7f", "{[\\\"]}", "a"};

	say(text, "\"");
	for (unsigned n = any(text, 6); n > 0; n--)
		say(text, pieces[any(text, ARRAY_LEN(pieces))]);
	say(text, "\"");
}

static void say_value(struct random_text *text, int depth)
{
	static const char *const words[] = {"true", "false", "null", "0", "-0", "17", "-9223372036854775808", "9223372036854775807", "1.5", "-0.25e-3", "1E+2", "2e5",
	                                    "0.1", "1e-400", "123456.789012345678901234567890"};
	unsigned kind = any(text, depth > 5 ? 2 : 4);

	if (kind == 0)
		say(text, words[any(text, ARRAY_LEN(words))]);
	else if (kind == 1)
		say_string(text);
	else
		say(text, kind == 2 ? "[ " : "{\n");
	for (unsigned i = 0, n = any(text, 5); kind > 1 && i < n; i++) {
		say(text, i > 0 ? " ,\t" : "");
		if (kind == 3) {
			say_string(text);
			say(text, ":");
		}
		say_value(text, depth + 1);
	}
	if (kind > 1)
		say(text, kind == 2 ? " ]" : "}");
}

/* The values are those that jansson's own reader makes, and what that refuses is refused. */
static void test_as_jansson(void **state)
{
	size_t n_good = 0;

	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		struct random_text text = {.seed = i};
		struct err e = {0};
		json_auto_t *ours = NULL, *theirs = NULL;

		say_value(&text, 0);
		for (unsigned n = i % 3 ? 0 : any(&text, 4); n > 0; n--)
			text.at[any(&text, (unsigned)text.len)] = "\"\\u{}[],:x9.e-\x80"[any(&text, 15)];
		theirs = json_loadb(text.at, text.len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY, NULL);
		CASE((parse(text.at, text.len, &ours, &e) == 0) == (theirs != NULL), "%u: %.*s is %s: %s", i, (int)text.len, text.at,
		     theirs ? "refused" : "taken", e.msg);
		CASE(!theirs || json_equal(ours, theirs), "%u: %.*s is another value", i, (int)text.len, text.at);
		n_good += theirs != NULL;
	}
	assert_in_range(n_good, 10000, 19999);
}

static char *nested(size_t depth, const char *open, const char *inner, const char *close)
{
	size_t step = strlen(open), back = strlen(close);
	char *text = util_zalloc(depth * (step + back) + strlen(inner) + 1);

	for (size_t i = 0; i < depth; i++) {
		memcpy(text + i * step, open, step);
		memcpy(text + depth * step + strlen(inner) + i * back, close, back);
	}
	memcpy(text + depth * step, inner, strlen(inner));
	return text;
}

static void test_depth(void **state)
{
	static const char *const shapes[][3] = {{"[", "", "]"}, {"{\"a\":", "1", "}"}, {"[\n", "\"[[[[{{{\"", "]"}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
		auto_free char *good = nested(LIMIT_JSON_DEPTH, shapes[i][0], shapes[i][1], shapes[i][2]);
		auto_free char *bad = nested(LIMIT_JSON_DEPTH + 1, shapes[i][0], shapes[i][1], shapes[i][2]);
		struct err e = {0};
		json_t *value = NULL;

		assert_int_equal(parse(good, strlen(good), &value, &e), 0);
		json_decref(value);
		assert_int_equal(parse(bad, strlen(bad), &value, &e), -1);
		assert_int_equal(e.offset, LIMIT_JSON_DEPTH * strlen(shapes[i][0]));
		assert_non_null(strstr(e.msg, "at most 32 "));
	}
	/* Closing makes room again. */
	auto_free char *wide = util_printf("[%s,%s]", "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]",
	                                   "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]");
	json_auto_t *value = NULL;

	assert_int_equal(parse(wide, strlen(wide), &value, NULL), 0);
}

/* A body of the largest size is refused at its fault, and soon. */
static void test_large_bodies(void **state)
{
	auto_free char *text = util_alloc(LIMIT_BODY_BYTES);
	struct err e = {0};
	json_t *value = NULL;

	(void)state;
	memset(text, '[', LIMIT_BODY_BYTES);
	assert_int_equal(json_parse(text, LIMIT_BODY_BYTES, &value, &e), -1);
	assert_int_equal(e.offset, LIMIT_JSON_DEPTH);
	memset(text, 'a', LIMIT_BODY_BYTES);
	text[0] = '"';
	assert_int_equal(json_parse(text, LIMIT_BODY_BYTES, &value, &e), -1);
	assert_int_equal(e.offset, LIMIT_BODY_BYTES);
	text[LIMIT_BODY_BYTES - 1] = '"';
	assert_int_equal(json_parse(text, LIMIT_BODY_BYTES, &value, &e), 0);
	assert_int_equal(json_string_length(value), LIMIT_BODY_BYTES - 2);
	json_decref(value);
	memset(text, '1', LIMIT_BODY_BYTES);
	assert_int_equal(json_parse(text, LIMIT_BODY_BYTES, &value, &e), -1);
	assert_int_equal(e.offset, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_faults_of_form),
		cmocka_unit_test(test_good_values),
		cmocka_unit_test(test_nul_is_kept),
		cmocka_unit_test(test_as_jansson),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_large_bodies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
