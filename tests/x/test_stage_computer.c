/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: glovebox-stage */
/* Calls in a dialect, at a stage: where its list is cut, what is done of it, what comes back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "session/base/json.h"
#include "session/base/util.h"
#include "tests/x/rig.h"

#define CALL(name, id, input) "{\"type\":\"tool_use\",\"toolset_name\":\"computer\",\"name\":\"" name "\",\"id\":\"" id "\",\"input\":" input "}"

/* The i-th result of a turn: its one text, with a mark before that of an error. */
static char *told(const json_t *results, size_t i)
{
	const json_t *result = json_array_get(results, i);
	const json_t *content = json_object_get(result, "content");

	assert_int_equal(json_array_size(content), 1);
	return util_printf("%s%s", json_is_true(json_object_get(result, "is_error")) ? "!" : "", form_string(json_array_get(content, 0), "text", "(none)"));
}

static void expect_told(const json_t *results, size_t i, const char *wanted)
{
	auto_free char *text = told(results, i);

	assert_string_equal(text, wanted);
}

static void expect_pointer(struct rig *rig, int x, int y)
{
	int at_x, at_y;

	(void)rig_pointer(rig, &at_x, &at_y);
	assert_int_equal(at_x, x);
	assert_int_equal(at_y, y);
}

/* The session's space is half the display. */
static void test_turn(void **state)
{
	struct rig *rig = *state;
	auto_fd fd = rig_open(rig);
	json_auto_t *results = rig_expect(fd, 200, "computer", "agent",
	                                  "[" CALL("mouse_move", "a", "{\"coordinate\":[0,0]}") "," CALL("mouse_move", "b", "{\"coordinate\":[319,199]}") ","
	                                      CALL("cursor_position", "c", "{}") "]");

	assert_int_equal(json_array_size(results), 3);
	expect_told(results, 0, "Moved the mouse.");
	expect_told(results, 2, "X=319,Y=199");
	expect_pointer(rig, RIG_WIDTH - 1, RIG_HEIGHT - 1);
}

/* Whether the dialect finds the fault or a row of the actions: what stands before it is done, and what was held is let go. */
static void test_fault_in_the_middle(void **state)
{
	static const char *const FAULTS[] = {CALL("mouse_move", "b", "{\"coordinate\":[320,0]}"), CALL("key", "b", "{\"text\":\"nokey\"}"),
	                                     CALL("nothing", "b", "{}")};
	struct rig *rig = *state;
	auto_fd fd = rig_open(rig);

	for (size_t i = 0; i < ARRAY_LEN(FAULTS); i++) {
		auto_free char *body = util_printf("[" CALL("left_mouse_down", "a", "{\"coordinate\":[%zu,7]}") ",%s," CALL("mouse_move", "c", "{\"coordinate\":[9,9]}") "]",
		                                   i, FAULTS[i]);
		json_auto_t *results = rig_expect(fd, 200, "computer", "agent", body);
		auto_free char *fault = told(results, 1);

		expect_told(results, 0, "Left mouse button pressed.");
		assert_int_equal(fault[0], '!');
		expect_told(results, 2, "!Not executed: an earlier computer action in this turn failed.");
		expect_pointer(rig, 2 * (int)i + (i > 0), 15);
		rig_wait_mask(rig, false);
	}
}

static void test_fault_at_the_start(void **state)
{
	struct rig *rig = *state;
	auto_fd fd = rig_open(rig);
	int x, y;
	json_t *results;

	(void)rig_pointer(rig, &x, &y);
	results = rig_expect(fd, 200, "computer", "agent",
	                     "{\"content\":[" CALL("type", "a", "{\"text\":\"\\u0000\"}") "," CALL("mouse_move", "b", "{\"coordinate\":[9,9]}") "]}");
	assert_int_equal(json_array_size(results), 2);
	expect_told(results, 1, "!Not executed: an earlier computer action in this turn failed.");
	json_decref(results);
	expect_pointer(rig, x, y);
	auto_free char *journal = rig_journal(rig);

	assert_null(strstr(journal, "\"intent\""));
}

/* A dialect whose list is all or nothing: nothing of it is done. */
static void test_whole_lists(void **state)
{
	struct rig *rig = *state;
	auto_fd fd = rig_open(rig);
	int x, y;

	(void)rig_pointer(rig, &x, &y);
	rig_send_call(fd, "computer", "agent", "{\"dialect\":\"openai\"}",
	              "{\"type\":\"computer_call\",\"call_id\":\"c\",\"status\":\"completed\",\"actions\":[{\"type\":\"move\",\"x\":9,\"y\":9},"
	              "{\"type\":\"move\",\"x\":900,\"y\":9}]}");
	struct rig_reply reply = rig_read_reply(fd);

	assert_int_equal(reply.status, 200);
	rig_free_reply(&reply);
	expect_pointer(rig, x, y);
}

static void test_refusals(void **state)
{
	struct rig *rig = *state;
	auto_fd fd = rig_open(rig);

	rig_expect_code(fd, 400, "bad_json", "computer", "agent", "[");
	rig_expect_code(fd, 400, "bad_json", "computer", "agent", NULL);
	rig_expect_code(fd, 400, "bad_field", "computer", "agent", "{}");
	rig_expect_code(fd, 400, "bad_field", "computer", "agent", "[" CALL("screenshot", "", "{}") "]");
	rig_expect_code(fd, 403, "forbidden", "computer", "viewer", CALL("screenshot", "a", "{}"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_turn, rig_set_up, rig_tear_down),
		cmocka_unit_test_setup_teardown(test_fault_in_the_middle, rig_set_up, rig_tear_down),
		cmocka_unit_test_setup_teardown(test_fault_at_the_start, rig_set_up, rig_tear_down),
		cmocka_unit_test_setup_teardown(test_whole_lists, rig_set_up, rig_tear_down),
		cmocka_unit_test_setup_teardown(test_refusals, rig_set_up, rig_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
