/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: glovebox-stage */
/* Turns, cancel, lost callers, what is held down, and the journal of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "session/base/json.h"
#include "session/base/limits.h"
#include "session/base/util.h"
#include "tests/x/rig.h"

static const char DOWN[] = "{\"actions\":[{\"action\":\"mouse_down\",\"x\":5,\"y\":5},{\"action\":\"key_down\",\"keys\":\"shift\"}]}";

static void test_held_until_a_call_fails(void **state)
{
	struct rig *rig = *state;
	auto_fd fd = rig_open(rig);

	json_decref(rig_expect(fd, 200, "act", "agent", DOWN));
	assert_int_not_equal(rig_pointer(rig, NULL, NULL), 0);
	json_t *described = rig_expect(fd, 200, "state", "agent", NULL);

	assert_int_equal(json_array_size(json_object_get(json_object_get(described, "held"), "keys")), 1);
	assert_int_equal(json_array_size(json_object_get(json_object_get(described, "held"), "buttons")), 1);
	json_decref(described);
	/* A refusal does nothing, also not this. */
	rig_expect_code(fd, 400, "unknown_action", "act", "agent", "{\"actions\":[{\"action\":\"nothing\"}]}");
	assert_int_not_equal(rig_pointer(rig, NULL, NULL), 0);
	/* A good call keeps what is held, a failing one lets go. */
	json_decref(rig_expect(fd, 200, "act", "agent", "{\"actions\":[{\"action\":\"move\",\"x\":9,\"y\":9}]}"));
	assert_int_not_equal(rig_pointer(rig, NULL, NULL), 0);
	json_t *reply = rig_expect(fd, 200, "act", "agent", "{\"actions\":[{\"action\":\"wait\",\"duration_ms\":5000}],\"timeout_ms\":50}");

	assert_true(json_is_false(json_object_get(reply, "ok")));
	assert_int_equal(form_int(reply, "done", -1), 0);
	assert_string_equal(form_string(json_object_get(rig_result(reply, 0), "error"), "code", ""), "timeout");
	assert_string_equal(form_string(json_object_get(rig_result(reply, 0), "error"), "pointer", ""), "/actions/0");
	json_decref(reply);
	rig_wait_mask(rig, false);
}

static void test_lost_caller_lets_go(void **state)
{
	struct rig *rig = *state;
	auto_fd fd = rig_open(rig);
	int other = rig_connect(rig);

	rig_send_call(other, "act", "agent", NULL,
	          "{\"actions\":[{\"action\":\"mouse_down\",\"x\":5,\"y\":5},{\"action\":\"wait\",\"duration_ms\":60000}]}");
	rig_wait_mask(rig, true);
	(void)close(other);
	rig_wait_mask(rig, false);
	/* The turn is free again. */
	json_decref(rig_expect(fd, 200, "act", "agent", "{\"actions\":[]}"));
}

static void test_cancel(void **state)
{
	struct rig *rig = *state;
	auto_fd fd = rig_open(rig);
	auto_fd other = rig_connect(rig);
	json_t *answer = rig_expect(fd, 200, "cancel", "agent", NULL);

	assert_true(json_is_false(json_object_get(answer, "cancelled")));
	json_decref(answer);
	rig_send_call(other, "act", "agent", NULL,
	          "{\"actions\":[{\"action\":\"mouse_down\",\"x\":5,\"y\":5},{\"action\":\"wait\",\"duration_ms\":60000},"
	          "{\"action\":\"move\",\"x\":1,\"y\":1}],\"observe\":true}");
	rig_wait_journal(rig, "\"action\":\"wait\"");
	rig_wait_mask(rig, true);
	answer = rig_expect(fd, 200, "cancel", "agent", NULL);
	assert_true(json_is_true(json_object_get(answer, "cancelled")));
	json_decref(answer);
	struct rig_reply reply = rig_read_reply(other);

	assert_int_equal(reply.status, 200);
	assert_int_equal(form_int(reply.json, "done", -1), 1);
	assert_int_equal(json_array_size(json_object_get(reply.json, "results")), 2);
	assert_string_equal(form_string(json_object_get(rig_result(reply.json, 1), "error"), "code", ""), "cancelled");
	rig_free_reply(&reply);
	rig_wait_mask(rig, false);
}

/* Waiting calls have their turn in order; looks and state do not wait; one too many is refused. */
static void test_queue(void **state)
{
	struct rig *rig = *state;
	auto_fd fd = rig_open(rig);
	int waiting[LIMIT_WAITING_CALLS];
	auto_fd running = rig_connect(rig);

	rig_send_call(running, "act", "agent", NULL, "{\"actions\":[{\"action\":\"wait\",\"duration_ms\":60000}]}");
	rig_wait_journal(rig, "\"event\":\"intent\"");
	for (int i = 0; i < LIMIT_WAITING_CALLS; i++) {
		auto_free char *body = util_printf("{\"actions\":[{\"action\":\"move\",\"x\":%d,\"y\":0}],\"timeout_ms\":60000}", i);

		waiting[i] = rig_connect(rig);
		rig_send_call(waiting[i], "act", "agent", NULL, body);
		json_decref(rig_expect(fd, 200, "state", "agent", NULL)); /* it is in the queue when this is answered */
	}
	rig_expect_code(fd, 429, "busy", "act", "agent", "{\"actions\":[]}");
	rig_send_call(fd, "screenshot", "agent", NULL, NULL);
	struct rig_reply picture = rig_read_reply(fd);

	assert_int_equal(picture.status, 200);
	rig_free_reply(&picture);
	/* One that waits and leaves is not run. */
	(void)close(waiting[7]);
	json_decref(rig_expect(fd, 200, "cancel", "agent", NULL));
	for (int i = 0; i < LIMIT_WAITING_CALLS; i++) {
		if (i == 7)
			continue;
		struct rig_reply reply = rig_read_reply(waiting[i]);

		assert_int_equal(reply.status, 200);
		rig_free_reply(&reply);
		(void)close(waiting[i]);
	}
	auto_free char *text = rig_journal(rig);
	const char *at = text;

	for (int i = 0; i < LIMIT_WAITING_CALLS; i++) {
		auto_free char *want = util_printf("\"action\":\"move\",\"x\":%d,", i);

		if (i == 7) {
			assert_null(strstr(text, want));
			continue;
		}
		at = strstr(at, want);
		assert_non_null(at);
	}
}

static void test_waiting_has_a_limit(void **state)
{
	struct rig *rig = *state;
	auto_fd fd = rig_open(rig);
	auto_fd running = rig_connect(rig);

	rig_send_call(running, "act", "agent", NULL, "{\"actions\":[{\"action\":\"wait\",\"duration_ms\":60000}]}");
	rig_wait_journal(rig, "\"event\":\"intent\"");
	rig_expect_code(fd, 504, "timeout", "act", "agent", "{\"actions\":[],\"timeout_ms\":100}");
}

/* Intent before the events, result before the reply, actor and request in both; of typed text the length: nothing tells what gets it. */
static void test_journal(void **state)
{
	struct rig *rig = *state;
	auto_fd fd = rig_open(rig);

	json_decref(rig_expect(fd, 200, "act", "agent", "{\"actions\":[{\"action\":\"type\",\"text\":\"hello\"},{\"action\":\"wait\",\"duration_ms\":1}]}"));
	auto_free char *text = rig_journal(rig);
	const char *intent = strstr(text, "\"event\":\"intent\",\"actor\":{\"role\":\"agent\",\"token\":\"t1\"},\"request\":\"r1\"");

	assert_non_null(intent);
	assert_non_null(strstr(intent, "\"action\":{\"action\":\"type\",\"text\":{\"bytes\":5,\"why\":\"unknown\"}}"));
	const char *result = strstr(intent, "\"event\":\"result\"");

	assert_non_null(result);
	assert_non_null(strstr(result, "\"ok\":true"));
	assert_non_null(strstr(strstr(result, "\"event\":\"intent\""), "\"index\":1"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_set_up, rig_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_held_until_a_call_fails),
		TEST(test_lost_caller_lets_go),
		TEST(test_cancel),
		TEST(test_queue),
		TEST(test_waiting_has_a_limit),
		TEST(test_journal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
