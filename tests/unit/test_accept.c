/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: glovebox-front */
/* Accept, as clients send it; and a body that is still being made. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "session/base/util.h"
#include "session/front/accept.h"
#include "session/front/flow.h"

static const struct {
	const char *first, *second; /* fields */
	bool json, events;
} rows[] = {
	{NULL, NULL, true, true},
	{"", NULL, true, true},
	{" , ", NULL, true, true},
	{"application/json", NULL, true, false},
	{"text/event-stream", NULL, false, true},
	{"application/json, text/event-stream", NULL, true, true},
	{"text/event-stream,application/json", NULL, true, true},
	{"application/json", "text/event-stream", true, true},
	{"*/*", NULL, true, true},
	{"application/*", NULL, true, false},
	{"text/*", NULL, false, true},
	{"text/html", NULL, false, false},
	{"text/html, */*;q=0.1", NULL, true, true},
	{"APPLICATION/JSON", NULL, true, false},
	{"application/json;q=0", NULL, false, false},
	{"application/json;q=0, text/event-stream", NULL, false, true},
	{"application/json; q=0.000 ,*/*", NULL, false, true},
	{"*/*;q=0, application/json", NULL, true, false},
	{"application/*;q=0, */*", NULL, false, true},
	{"application/json; charset=utf-8; Q=0", NULL, false, false},
	{"application/json;charset=utf-8", NULL, true, false},
	{"application/json;q=0.5", NULL, true, false},
	{"application/json;q=", NULL, true, false},
	{"application/jsonx, xapplication/json, application", NULL, false, false},
	{"application/json;;q", NULL, true, false},
	{"application/json;q=0, application/json", NULL, true, false},
};

static void test_accept(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct accept accept = {0};

		if (rows[i].first)
			accept_add(&accept, rows[i].first);
		if (rows[i].second)
			accept_add(&accept, rows[i].second);
		if (accept_json(&accept) != rows[i].json || accept_events(&accept) != rows[i].events)
			fail_msg("row %zu, %s: json %d, events %d", i, rows[i].first ? rows[i].first : "none", accept_json(&accept), accept_events(&accept));
	}
}

static int n_left, n_more;

static void count(void *arg)
{
	++*(int *)arg;
}

static void test_flow(void **state)
{
	struct flow *flow = flow_create(count, NULL, &n_left);
	char out[8];
	size_t n;

	(void)state;
	n_left = n_more = 0;
	assert_int_equal(flow_read(flow, out, sizeof(out), &n), STAGE_READ_WAIT);
	flow_watch(flow, count, &n_more);
	flow_write(flow, "abcdefghij", 10);
	assert_int_equal(n_more, 1);
	assert_int_equal(flow_waiting(flow), 10);
	assert_int_equal(flow_read(flow, out, sizeof(out), &n), STAGE_READ_SOME);
	assert_int_equal(n, 8);
	flow_write(flow, "klm", 3);
	assert_int_equal(flow_read(flow, out, sizeof(out), &n), STAGE_READ_SOME);
	assert_int_equal(n, 5);
	assert_memory_equal(out, "ijklm", 5);
	assert_int_equal(flow_read(flow, out, sizeof(out), &n), STAGE_READ_WAIT);
	flow_end(flow);
	assert_int_equal(n_more, 3);
	assert_int_equal(flow_read(flow, out, sizeof(out), &n), STAGE_READ_END);
	flow_leave(flow);
	assert_int_equal(n_left, 0);
}

/* The writer hears of a reader that goes, once, and may go on writing. */
static void test_reader_leaves(void **state)
{
	struct flow *flow = flow_create(count, NULL, &n_left);

	(void)state;
	n_left = n_more = 0;
	flow_watch(flow, count, &n_more);
	flow_leave(flow);
	assert_int_equal(n_left, 1);
	flow_write(flow, "abc", 3);
	assert_int_equal(flow_waiting(flow), 0);
	flow_end(flow);
	assert_int_equal(n_left, 1);
	assert_int_equal(n_more, 0);
}

/* The writer hears of what is taken, so that it need not keep much; what breaks off has no end. */
static void test_taken_and_broken(void **state)
{
	int n_taken = 0;
	struct flow *flow = flow_create(NULL, count, &n_taken);
	char out[4];
	size_t n;

	(void)state;
	flow_write(flow, "abcdef", 6);
	assert_int_equal(flow_read(flow, out, sizeof(out), &n), STAGE_READ_SOME);
	assert_int_equal(n_taken, 1);
	flow_break(flow);
	assert_int_equal(flow_read(flow, out, sizeof(out), &n), STAGE_READ_BROKEN);
	assert_int_equal(n_taken, 1);
	flow_leave(flow);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_accept), cmocka_unit_test(test_flow), cmocka_unit_test(test_reader_leaves),
	                                   cmocka_unit_test(test_taken_and_broken)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
