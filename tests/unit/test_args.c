/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: session/cli session/replay */
/* Command lines read by rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "session/base/util.h"
#include "session/cli/args.h"

static const struct arg_option rows[] = {
	{"image", 0, "NAME", false, "an image"},
	{"output", 'o', "FILE", false, "a file"},
	{"label", 0, "K=V", true, "a label"},
	{"all", 'a', NULL, false, "a switch"},
};
static const struct arg_options sets[] = {{rows, 2}, {rows + 2, 2}};

struct test {
	struct args args;
	struct err e;
	int status;
};

/* Parses up to a NULL. */
static void parse(struct test *test, size_t stop_after, const char *const *argv)
{
	int argc = 0;

	*test = (struct test){0};
	while (argv[argc])
		argc++;
	test->status = args_parse(&test->args, sets, ARRAY_LEN(sets), stop_after, argc, argv, &test->e);
}
#define PARSE(test, stop_after, ...) parse(test, stop_after, (const char *const[]){__VA_ARGS__, NULL})

static struct test test; /* too large for some stacks */

static void test_forms_of_options(void **state)
{
	(void)state;
	PARSE(&test, ARGS_MAX, "--image", "a", "x", "--label=k=v", "-o", "-", "--label", "l=w", "-a", "y");
	assert_int_equal(test.status, 0);
	assert_string_equal(args_get(&test.args, "image"), "a");
	assert_string_equal(args_get(&test.args, "output"), "-");
	assert_string_equal(args_get(&test.args, "all"), "");
	assert_int_equal(test.args.n_words, 2);
	assert_string_equal(test.args.words[1], "y");

	size_t at = 0;

	assert_string_equal(args_next(&test.args, "label", &at), "k=v");
	assert_string_equal(args_next(&test.args, "label", &at), "l=w");
	assert_null(args_next(&test.args, "label", &at));
	assert_null(args_get(&test.args, "server"));
}

static void test_where_options_end(void **state)
{
	(void)state;
	PARSE(&test, 1, "id", "-a", "ls", "-l", "--", "--all");
	assert_int_equal(test.status, 0);
	assert_string_equal(args_get(&test.args, "all"), "");
	assert_int_equal(test.args.n_words, 5);
	assert_string_equal(test.args.words[2], "-l");
	assert_string_equal(test.args.words[3], "--");

	PARSE(&test, 1, "id", "--", "-l");
	assert_int_equal(test.status, 0);
	assert_int_equal(test.args.n_words, 2);
	assert_string_equal(test.args.words[1], "-l");

	PARSE(&test, ARGS_MAX, "-", "--", "-a");
	assert_int_equal(test.status, 0);
	assert_int_equal(test.args.n_words, 2);
	assert_null(args_get(&test.args, "all"));
}

static void test_refused(void **state)
{
	static const struct {
		const char *words[4];
		const char *said;
	} cases[] = {
		{{"--imag", "a"}, "--image --output --label --all"},
		{{"--images", "a"}, "no option"},
		{{"--", "x"}, NULL},
		{{"-x"}, "no option"},
		{{"--image"}, "needs a value: NAME"},
		{{"--all=yes"}, "takes no value"},
		{{"--image=a", "--image=b"}, "given twice"},
		{{"--i\x1b[0m"}, "\\x1b"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		parse(&test, ARGS_MAX, cases[i].words);
		assert_int_equal(test.status, cases[i].said ? -1 : 0);
		if (cases[i].said && !strstr(test.e.msg, cases[i].said))
			fail_msg("case %zu says \"%s\", not \"%s\"", i, test.e.msg, cases[i].said);
	}
}

static void test_numbers(void **state)
{
	static const char *const wrong[] = {"", " 5", "+5", "5s", "0", "11", "99999999999999999999", "0x5", "five"};
	long number = 3;

	(void)state;
	PARSE(&test, ARGS_MAX, "--image", "10");
	assert_int_equal(args_number(&test.args, "output", 1, 10, &number, &test.e), 0);
	assert_int_equal(number, 3);
	assert_int_equal(args_number(&test.args, "image", 1, 10, &number, &test.e), 0);
	assert_int_equal(number, 10);
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		PARSE(&test, ARGS_MAX, "--image", wrong[i]);
		if (args_number(&test.args, "image", 1, 10, &number, &test.e) != -1)
			fail_msg("\"%s\" was taken for %ld", wrong[i], number);
		assert_int_equal(number, 10);
	}
}

static void test_too_many(void **state)
{
	static const char *words[ARGS_MAX + 2];

	(void)state;
	for (size_t i = 0; i <= ARGS_MAX; i++)
		words[i] = "w";
	parse(&test, ARGS_MAX, words);
	assert_int_equal(test.status, -1);
	for (size_t i = 0; i <= ARGS_MAX; i++)
		words[i] = "--label=a=b";
	parse(&test, ARGS_MAX, words);
	assert_int_equal(test.status, -1);
	words[ARGS_MAX] = NULL;
	parse(&test, ARGS_MAX, words);
	assert_int_equal(test.status, 0);
}

/* The list of options in a refusal ends with a whole name, however many there are. */
static void test_many_options(void **state)
{
	static const struct arg_option row = {"eleven-long", 0, NULL, false, "a switch"};
	struct arg_option many[30];
	const struct arg_options all = {many, ARRAY_LEN(many)};
	const char *const argv[] = {"--no"};
	static const char LAST[] = " --eleven-long --eleven-long …";

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(many); i++)
		many[i] = row;
	test = (struct test){0};
	assert_int_equal(args_parse(&test.args, &all, 1, ARGS_MAX, 1, argv, &test.e), -1);
	assert_true(strlen(test.e.msg) > sizeof(LAST));
	assert_string_equal(test.e.msg + strlen(test.e.msg) - strlen(LAST), LAST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms_of_options),
		cmocka_unit_test(test_many_options),
		cmocka_unit_test(test_where_options_end),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
