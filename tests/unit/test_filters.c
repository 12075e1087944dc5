/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: sandbox/filters sandbox/confine */
/* The tables of system calls as text, and the filters that are made of them. What the filters refuse is test_confine's. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "sandbox/filters/table.h"
#include "session/base/util.h"

#define BOTH(name) {&table_##name, &confine_##name},

static const struct {
	const struct table *table;
	const struct confine_filter *filter;
} ALL[] = {CONFINE_FILTERS(BOTH)};

/* Each row says why it is there, itself or by its group. */
static void test_each_row_has_a_reason(void **state)
{
	(void)state;
	for (size_t t = 0; t < ARRAY_LEN(ALL); t++)
		for (size_t i = 0; i < ALL[t].table->n_rules; i++)
			if (!table_why(ALL[t].table, i))
				fail_msg("table %s, row %zu (%s): nobody says why", ALL[t].table->name, i, ALL[t].table->rules[i].syscall);
}

/* A plain row is no call that its group refuses, as it is when a group begins without words. */
static void test_no_group_mixes_verdicts(void **state)
{
	(void)state;
	for (size_t t = 0; t < ARRAY_LEN(ALL); t++) {
		const struct table *table = ALL[t].table;
		const struct table_rule *first = NULL;

		for (size_t i = 0; i < table->n_rules; i++) {
			const struct table_rule *rule = &table->rules[i];

			if (!rule->syscall)
				first = NULL;
			else if (!rule->why && first && first->verdict != rule->verdict)
				fail_msg("table %s: %s stands in a group of %s with another verdict", table->name, rule->syscall, first->syscall);
			else if (!rule->why)
				first = rule;
		}
	}
}

static void test_no_row_is_there_twice(void **state)
{
	(void)state;
	for (size_t t = 0; t < ARRAY_LEN(ALL); t++) {
		const struct table *table = ALL[t].table;

		for (size_t i = 0; i < table->n_rules; i++)
			for (size_t k = 0; table->rules[i].syscall && k < i; k++)
				if (table->rules[k].syscall && strcmp(table->rules[k].syscall, table->rules[i].syscall) == 0 &&
				    memcmp(table->rules[k].tests, table->rules[i].tests, sizeof(table->rules[i].tests)) == 0)
					fail_msg("table %s: two rows of %s, %zu and %zu", table->name, table->rules[i].syscall, k, i);
	}
}

/* What programs carry is what their tables say, and comes out the same each time. */
static void test_filters_are_those_of_the_tables(void **state)
{
	(void)state;
	for (size_t t = 0; t < ARRAY_LEN(ALL); t++) {
		auto_free struct sock_filter *rows = NULL;
		struct err e = {0};
		size_t n_rows = 0;

		assert_int_equal(table_compile(ALL[t].table, &rows, &n_rows, &e), 0);
		assert_string_equal(ALL[t].filter->name, ALL[t].table->name);
		assert_int_equal(ALL[t].filter->land, ALL[t].table->land);
		assert_int_equal(ALL[t].filter->n_rows, n_rows);
		assert_memory_equal(ALL[t].filter->rows, rows, n_rows * sizeof(*rows));
	}
}

static void test_unknown_name_is_refused(void **state)
{
	static const struct table_rule rules[] = {{.syscall = "no_such_call"}};
	const struct table table = {.name = "test", .rules = rules, .n_rules = 1, .others = ENOSYS};
	struct sock_filter *rows = NULL;
	struct err e = {0};
	size_t n_rows = 0;

	(void)state;
	assert_int_equal(table_compile(&table, &rows, &n_rows, &e), -1);
	assert_non_null(strstr(e.msg, "no_such_call"));
	assert_null(rows);
	assert_int_equal(n_rows, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_row_has_a_reason),
		cmocka_unit_test(test_no_group_mixes_verdicts),
		cmocka_unit_test(test_no_row_is_there_twice),
		cmocka_unit_test(test_filters_are_those_of_the_tables),
		cmocka_unit_test(test_unknown_name_is_refused),
	};

	return cmocka_run_group_tests_name("filters", tests, NULL, NULL);
}
