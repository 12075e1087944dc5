/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: glovebox-stage */
/* Records of keys: what is the same call, what is kept, and for how long. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "session/base/co.h"
#include "session/base/limits.h"
#include "session/base/loop.h"
#include "session/base/util.h"
#include "session/stage/records.h"

static struct records *records;
static struct record *record;
static bool is_new;
static struct err e;

static int set_up(void **state)
{
	(void)state;
	records = records_create();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	records_destroy(records);
	return 0;
}

static int take_of(const char *token, long episode, const char *key, const char *body, int64_t now_ms)
{
	struct records_key asked = {.key = key, .token = token, .request_id = "r1", .episode = episode, .body = body, .body_len = strlen(body)};

	return records_take(records, &asked, now_ms, &record, &is_new, &e);
}

static int take(const char *key, const char *body, int64_t now_ms)
{
	return take_of("t1", 1, key, body, now_ms);
}

/* A call that ran at this time and was answered with so many bytes. */
static void run_call(const char *key, size_t reply_bytes, int64_t now_ms)
{
	char *reply = util_alloc(reply_bytes + 1);

	memset(reply, 'x', reply_bytes);
	reply[reply_bytes] = '\0';
	assert_int_equal(take(key, "b", now_ms), 0);
	assert_true(is_new);
	records_finish(records, record, reply, now_ms);
}

static void assert_kept(const char *key, int64_t now_ms)
{
	assert_int_equal(take(key, "b", now_ms), 0);
	assert_false(is_new);
	assert_non_null(record_reply(record));
}

static void assert_bare(const char *key, int64_t now_ms)
{
	assert_int_equal(take(key, "b", now_ms), -1);
	assert_int_equal(e.code, ERR_ALREADY_DONE);
	assert_int_equal(take(key, "other", now_ms), -1);
	assert_int_equal(e.code, ERR_KEY_REUSED);
}

static int take_in(const char *dialect)
{
	struct records_key asked = {.key = "k", .token = "t1", .request_id = "r1", .episode = 1, .dialect = dialect, .body = "b", .body_len = 1};

	return records_take(records, &asked, 0, &record, &is_new, &e);
}

/* The same bytes say something else in another dialect. */
static void test_dialects(void **state)
{
	static const char *const OTHERS[] = {NULL, "computer_20241022"};

	(void)state;
	assert_int_equal(take_in("computer_20251124"), 0);
	for (size_t i = 0; i < ARRAY_LEN(OTHERS); i++) {
		assert_int_equal(take_in(OTHERS[i]), -1);
		assert_int_equal(e.code, ERR_KEY_REUSED);
	}
	assert_int_equal(take_in("computer_20251124"), 0);
	assert_false(is_new);
}

static void test_life(void **state)
{
	(void)state;
	assert_int_equal(take("k", "b", 0), 0);
	assert_true(is_new);
	assert_int_equal(take("k", "b", 0), 0);
	assert_false(is_new);
	assert_null(record_reply(record));
	assert_int_equal(take("k", "other", 0), -1);
	assert_int_equal(e.code, ERR_KEY_REUSED);
	records_finish(records, record, util_strdup("{}"), 0);
	assert_kept("k", 1);
	assert_string_equal(record_reply(record), "{}");
}

static void test_scope(void **state)
{
	(void)state;
	run_call("k", 2, 0);
	assert_int_equal(take_of("t2", 1, "k", "other", 0), 0);
	assert_true(is_new);
	assert_int_equal(take_of("t1", 2, "k", "other", 0), 0);
	assert_true(is_new);
}

static void test_what_was_refused_is_forgotten(void **state)
{
	(void)state;
	assert_int_equal(take("k", "b", 0), 0);
	records_release(records, record);
	assert_int_equal(take("k", "other", 0), 0);
	assert_true(is_new);
}

static void test_running_calls_are_listed(void **state)
{
	json_t *list;

	(void)state;
	run_call("done", 2, 0);
	assert_int_equal(take("k", "b", 0), 0);
	list = records_running(records);
	assert_int_equal(json_array_size(list), 1);
	assert_string_equal(json_string_value(json_array_get(list, 0)), "r1");
	json_decref(list);
}

static void test_age(void **state)
{
	(void)state;
	run_call("k", 2, 1000);
	assert_kept("k", 1000 + LIMIT_RESULTS_MS - 1);
	assert_bare("k", 1000 + LIMIT_RESULTS_MS);
}

static void test_number(void **state)
{
	char key[32];

	(void)state;
	for (int i = 0; i <= LIMIT_RESULTS; i++) {
		(void)snprintf(key, sizeof(key), "k%d", i);
		run_call(key, 2, 0);
	}
	assert_bare("k0", 0);
	assert_kept("k1", 0);
}

static void test_bytes(void **state)
{
	(void)state;
	run_call("a", LIMIT_RESULTS_BYTES / 2, 0);
	run_call("b", LIMIT_RESULTS_BYTES / 2, 0);
	assert_kept("a", 0);
	run_call("c", 1, 0);
	assert_bare("a", 0);
	assert_kept("b", 0);
	run_call("d", LIMIT_RESULTS_BYTES + 1, 0);
	assert_bare("d", 0);
}

static void test_the_last_key(void **state)
{
	char key[32];

	(void)state;
	for (int i = 0; i < LIMIT_KEYS; i++) {
		(void)snprintf(key, sizeof(key), "k%d", i);
		run_call(key, 2, 0);
	}
	assert_int_equal(take("one more", "b", 0), -1);
	assert_int_equal(e.code, ERR_LIMIT);
	assert_bare("k0", 0);
	assert_kept(key, 0);
}

static void cancel_me(void *arg)
{
	records_revoke(records, arg);
}

/* Calls of two tokens that run; the one of "t2" is revoked meanwhile. */
static void run_keyed(void *arg)
{
	const char *token = arg;
	struct err why = {0};
	struct record *mine;
	int rc;

	assert_int_equal(take_of(token, 1, token, "b", 0), 0);
	mine = record;
	rc = co_wait_until(util_now_ms() + 50, &why);
	assert_int_equal(rc, strcmp(token, "t2") == 0 ? -1 : 0);
	assert_int_equal(why.code, rc < 0 ? ERR_CANCELLED : ERR_NONE);
	records_finish(records, mine, util_strdup("{}"), 0);
}

static void test_a_revoked_token(void **state)
{
	struct loop *loop = loop_create(NULL);
	json_auto_t *running = NULL;
	char one[] = "t1", two[] = "t2";

	(void)state;
	(void)co_start(loop, run_keyed, one);
	(void)co_start(loop, run_keyed, two);
	(void)loop_at(loop, util_now_ms() + 10, cancel_me, two);
	for (int64_t end_ms = util_now_ms() + 80; util_now_ms() < end_ms;)
		loop_turn(loop, 10);
	running = records_running(records);
	assert_int_equal(json_array_size(running), 0);
	assert_int_equal(take_of("t2", 1, "t2", "b", 0), -1);
	assert_int_equal(e.code, ERR_UNAUTHORIZED);
	assert_int_equal(take_of("t1", 1, "t1", "b", 0), 0);
	assert_false(is_new);
	loop_destroy(loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_dialects, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_life, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_scope, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_what_was_refused_is_forgotten, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_running_calls_are_listed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_revoked_token, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_age, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_number, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_bytes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_the_last_key, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
