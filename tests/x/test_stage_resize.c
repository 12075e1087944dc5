/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: glovebox-stage */
/* Another size of the display, seen from the front: which are taken, what coordinates mean then, pictures of the old size, programs that take the size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <xcb/randr.h>

#include "session/base/json.h"
#include "session/base/util.h"
#include "tests/x/rig.h"

#define IMAGE "\"image\":{\"name\":\"test\",\"hash\":\"00ff\",\"apps\":[]}}"
#define PLAIN "{\"spec\":{}," IMAGE
#define SMALL "{\"spec\":{\"display\":{\"width\":320,\"height\":200}}," IMAGE
#define QUICK "\"observe\":{\"quiet_ms\":20}"
#define SEIZURES 8
#define ROUNDS 12
#define PATIENCE_MS 10000

static int open_with(struct rig *rig, const char *body)
{
	int fd = rig_connect(rig);

	json_decref(rig_expect(fd, 200, "open", "server", body));
	json_decref(rig_expect(fd, 200, "start", "server", NULL));
	return fd;
}

static json_t *resize(int fd, int width, int height)
{
	auto_free char *body = util_printf("{\"actions\":[{\"action\":\"resize_display\",\"width\":%d,\"height\":%d}]}", width, height);

	return rig_expect(fd, 200, "act", "agent", body);
}

/* What the server itself says. */
static void expect_server(struct rig *rig, int width, int height)
{
	xcb_get_geometry_reply_t *root = xcb_get_geometry_reply(rig->x, xcb_get_geometry(rig->x, rig->root), NULL);

	assert_non_null(root);
	assert_int_equal(root->width, width);
	assert_int_equal(root->height, height);
	free(root);
}

static void expect_size(const json_t *value, int width, int height)
{
	assert_int_equal(form_int(value, "width", 0), width);
	assert_int_equal(form_int(value, "height", 0), height);
}

/* A raw picture of all of the screen has three bytes for each pixel. */
static void expect_picture(int fd, int width, int height)
{
	struct rig_reply reply;

	rig_send_call(fd, "screenshot", "agent", "{\"format\":\"raw\",\"space\":\"native\"}", NULL);
	reply = rig_read_reply(fd);
	assert_int_equal(reply.status, 200);
	assert_int_equal(reply.len, (size_t)width * (size_t)height * 3);
	rig_free_reply(&reply);
}

static void test_sizes(void **state)
{
	static const int sizes[][2] = {{320, 200}, {64, 64}, {640, 400}, {65, 399}, {639, 67}, {640, 400}, {401, 301}, {401, 301}};
	struct rig *rig = *state;
	auto_fd fd = open_with(rig, SMALL);
	int x, y;

	json_decref(rig_expect(fd, 200, "act", "agent", "{\"actions\":[{\"action\":\"move\",\"x\":319,\"y\":199}]}"));
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		const int width = sizes[i][0], height = sizes[i][1];
		json_auto_t *reply = i > 0 ? resize(fd, width, height) : NULL;
		json_auto_t *now = rig_expect(fd, 200, "state", "viewer", NULL);

		if (reply) {
			expect_size(rig_result(reply, 0), width, height);
			assert_true(json_is_true(json_object_get(rig_result(reply, 0), "settled")));
			expect_size(json_object_get(reply, "native"), width, height);
			expect_size(json_object_get(reply, "space"), width, height);
		}
		expect_size(json_object_get(now, "display"), width, height);
		expect_size(json_object_get(now, "space"), width, height);
		expect_server(rig, width, height);
		expect_picture(fd, width, height);
		(void)rig_pointer(rig, &x, &y);
		assert_in_range(x, 0, width - 1);
		assert_in_range(y, 0, height - 1);
	}
}

static void test_wrong_sizes(void **state)
{
	static const char *const fields[] = {"\"width\":63,\"height\":200", "\"width\":0,\"height\":200", "\"width\":-1,\"height\":200",
	                                     "\"width\":4097,\"height\":200", "\"width\":320.5,\"height\":200", "\"width\":\"320\",\"height\":200",
	                                     "\"width\":99999999999,\"height\":200"};
	struct rig *rig = *state;
	auto_fd fd = open_with(rig, SMALL);
	auto_free char *before = rig_journal(rig);

	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		auto_free char *body = util_printf("{\"actions\":[{\"action\":\"resize_display\",%s}]}", fields[i]);
		json_auto_t *problem = rig_expect(fd, 400, "act", "agent", body);

		assert_string_equal(form_string(problem, "code", ""), "bad_field");
		assert_string_equal(form_string(problem, "pointer", ""), "/actions/0/width");
	}
	json_auto_t *wide = rig_expect(fd, 409, "act", "agent", "{\"actions\":[{\"action\":\"resize_display\",\"width\":641,\"height\":400}]}");
	json_auto_t *high = rig_expect(fd, 409, "act", "agent", "{\"actions\":[{\"action\":\"resize_display\",\"width\":640,\"height\":401}]}");
	auto_free char *after = rig_journal(rig);

	assert_string_equal(form_string(wide, "code", ""), "display_max");
	assert_string_equal(form_string(wide, "pointer", ""), "/actions/0/width");
	assert_non_null(strstr(form_string(wide, "detail", ""), "640x400"));
	assert_string_equal(form_string(high, "code", ""), "display_max");
	assert_string_equal(form_string(high, "pointer", ""), "/actions/0/height");
	assert_string_equal(before, after);
	expect_server(rig, 320, 200);
}

/* What stands behind it in a list is checked in the new size, before anything is done. */
static void test_in_a_list(void **state)
{
	struct rig *rig = *state;
	auto_fd fd = open_with(rig, SMALL);
	json_auto_t *reply = rig_expect(fd, 200, "act", "agent",
	                                "{\"actions\":[{\"action\":\"move\",\"x\":319,\"y\":199},{\"action\":\"resize_display\",\"width\":640,\"height\":400},"
	                                "{\"action\":\"move\",\"x\":639,\"y\":399},{\"action\":\"cursor_position\"},{\"action\":\"screenshot\",\"format\":\"raw\"}],"
	                                "\"observe\":{\"quiet_ms\":20,\"region\":{\"x\":500,\"y\":300,\"width\":140,\"height\":100}}}");
	json_auto_t *problem = NULL;

	assert_true(json_is_true(json_object_get(reply, "ok")));
	assert_true(json_is_true(json_object_get(rig_result(reply, 1), "settled")));
	assert_int_equal(form_int(rig_result(reply, 3), "x", 0), 639);
	assert_int_equal(form_int(rig_result(reply, 3), "y", 0), 399);
	expect_size(json_object_get(rig_result(reply, 4), "picture"), 640, 400);
	expect_size(json_object_get(json_object_get(reply, "observation"), "space"), 640, 400);
	expect_size(json_object_get(json_object_get(reply, "observation"), "native"), 640, 400);
	expect_size(json_object_get(json_object_get(reply, "observation"), "picture"), 140, 100);
	problem = rig_expect(fd, 400, "act", "agent",
	                     "{\"actions\":[{\"action\":\"resize_display\",\"width\":100,\"height\":100},{\"action\":\"move\",\"x\":100,\"y\":1}]}");
	assert_string_equal(form_string(problem, "pointer", ""), "/actions/1/x");
	expect_server(rig, 640, 400);
	/* A list that stops before it is observed in the size that is there. */
	json_decref(reply);
	reply = rig_expect(fd, 200, "act", "agent",
	                   "{\"actions\":[{\"action\":\"focus_window\",\"window\":1},{\"action\":\"resize_display\",\"width\":100,\"height\":100}]," QUICK "}");
	expect_size(json_object_get(json_object_get(reply, "observation"), "picture"), 640, 400);
	expect_size(json_object_get(json_object_get(reply, "observation"), "space"), 640, 400);
}

/* A space that the spec names stays, and so does one that a call names. */
static void test_space_that_stays(void **state)
{
	struct rig *rig = *state;
	auto_fd fd = rig_open(rig); /* 320x200 on 640x400 */
	json_auto_t *reply = resize(fd, 320, 200);
	int x, y;

	expect_size(json_object_get(reply, "space"), 320, 200);
	/* As large as the display by chance: it stays all the same. */
	json_decref(reply);
	reply = resize(fd, 100, 400);
	expect_size(json_object_get(reply, "space"), 320, 200);
	json_decref(rig_expect(fd, 200, "act", "agent", "{\"actions\":[{\"action\":\"move\",\"x\":319,\"y\":100}]}"));
	(void)rig_pointer(rig, &x, &y);
	assert_int_equal(x, 99);
	assert_in_range(y, 199, 202);
	json_auto_t *named = rig_expect(fd, 200, "act", "agent",
	                                "{\"space\":{\"width\":500,\"height\":500},\"actions\":[{\"action\":\"resize_display\",\"width\":200,\"height\":200}]," QUICK "}");

	expect_size(json_object_get(json_object_get(named, "observation"), "picture"), 500, 500);
	json_auto_t *native = rig_expect(fd, 200, "act", "agent",
	                                 "{\"space\":\"native\",\"actions\":[{\"action\":\"resize_display\",\"width\":400,\"height\":300}]," QUICK "}");

	expect_size(json_object_get(json_object_get(native, "observation"), "picture"), 400, 300);
}

/* Decided on from a picture of another size. */
static void test_old_pictures(void **state)
{
	struct rig *rig = *state;
	auto_fd fd = open_with(rig, PLAIN);
	json_auto_t *before = rig_expect(fd, 200, "act", "agent", "{\"actions\":[]," QUICK "}");
	auto_free char *seen = json_dumps(json_object_get(before, "at"), JSON_COMPACT);
	static const int places[][2] = {{50, 50}, {600, 50}, {50, 380}};

	json_decref(resize(fd, 320, 200));
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		auto_free char *body = util_printf("{\"actions\":[{\"action\":\"click\",\"x\":%d,\"y\":%d}],\"seen\":%s}", places[i][0], places[i][1], seen);
		json_auto_t *problem = rig_expect(fd, 409, "act", "agent", body);

		assert_string_equal(form_string(problem, "code", ""), "stale_target");
		assert_non_null(strstr(form_string(problem, "detail", ""), "resized"));
		assert_string_equal(form_string(problem, "pointer", ""), i == 2 ? "/actions/0/y" : "/actions/0/x");
		expect_size(json_object_get(json_object_get(problem, "observation"), "picture"), 320, 200);
	}
	auto_free char *keys = util_printf("{\"actions\":[{\"action\":\"key\",\"keys\":\"a\"}],\"seen\":%s," QUICK "}", seen);
	json_auto_t *typed = rig_expect(fd, 200, "act", "agent", keys);
	json_auto_t *changed = json_pack("[{s:i,s:i,s:i,s:i}]", "x", 0, "y", 0, "width", 320, "height", 200);

	/* All of it is another. */
	assert_true(json_equal(json_object_get(json_object_get(typed, "observation"), "changed"), changed));
	rig_expect_code(fd, 400, "bad_field", "act", "agent", "{\"actions\":[{\"action\":\"click\",\"x\":600,\"y\":50}]}");
	auto_free char *now = json_dumps(json_object_get(typed, "at"), JSON_COMPACT);
	auto_free char *good = util_printf("{\"actions\":[{\"action\":\"click\",\"x\":300,\"y\":150}],\"seen\":%s}", now);

	json_decref(rig_expect(fd, 200, "act", "agent", good));
	/* A list that resizes by itself knows that what it aims at is new. */
	auto_free char *own = util_printf("{\"actions\":[{\"action\":\"resize_display\",\"width\":400,\"height\":200},{\"action\":\"click\",\"x\":390,\"y\":150}],"
	                                  "\"seen\":%s}", seen);

	json_decref(rig_expect(fd, 200, "act", "agent", own));
}

/* A program that may speak RandR makes the screen small, without its CRTC; false when the server was another's meanwhile. */
static bool seize(struct rig *rig, uint16_t width, uint16_t height)
{
	xcb_randr_get_screen_resources_current_reply_t *resources =
		xcb_randr_get_screen_resources_current_reply(rig->x, xcb_randr_get_screen_resources_current(rig->x, rig->root), NULL);
	xcb_randr_crtc_t crtc = *xcb_randr_get_screen_resources_current_crtcs(resources);
	xcb_generic_error_t *error;

	free(xcb_randr_set_crtc_config_reply(rig->x, xcb_randr_set_crtc_config(rig->x, crtc, 0, 0, 0, 0, XCB_NONE, 1, 0, NULL), NULL));
	error = xcb_request_check(rig->x, xcb_randr_set_screen_size_checked(rig->x, rig->root, width, height, 10, 10));
	free(error);
	free(resources);
	return !error;
}

static void wait_server(struct rig *rig, int width, int height)
{
	int64_t until_ms = util_now_ms() + PATIENCE_MS;
	bool same = false;

	while (!same && util_now_ms() < until_ms) {
		xcb_get_geometry_reply_t *root = xcb_get_geometry_reply(rig->x, xcb_get_geometry(rig->x, rig->root), NULL);

		same = root->width == width && root->height == height;
		free(root);
	}
	expect_server(rig, width, height);
}

/* It gets its size back, also the CRTC, and everything goes on meanwhile. */
static void test_programs_that_take_the_size(void **state)
{
	struct rig *rig = *state;
	auto_fd fd = open_with(rig, SMALL);
	int n_seized = 0;

	for (int i = 0; i < SEIZURES; i++) {
		n_seized += seize(rig, (uint16_t)(1 + 31 * i), (uint16_t)(1 + 17 * i));
		expect_picture(fd, 320, 200);
		json_decref(rig_expect(fd, 200, "act", "agent", "{\"actions\":[{\"action\":\"click\",\"x\":300,\"y\":190}]," QUICK "}"));
	}
	assert_true(n_seized > 0);
	wait_server(rig, 320, 200);
	/* By who may, also while another takes it. */
	assert_true(seize(rig, 77, 99));
	json_decref(resize(fd, 400, 300));
	wait_server(rig, 400, 300);
	expect_picture(fd, 400, 300);
	json_auto_t *now = rig_expect(fd, 200, "state", "viewer", NULL);

	expect_size(json_object_get(now, "display"), 400, 300);
}

/* Pictures that take long, or wait for their turn, while the screen gets another size: each is of one size, or is told that its region is gone. */
static void test_pictures_meanwhile(void **state)
{
	static const char *const queries[] = {"{\"format\":\"webp\"}", "{\"format\":\"png\",\"compression\":\"small\"}", "{}",
	                                      "{\"region\":\"500,300,140,100\",\"format\":\"webp\"}", "{\"region\":\"0,0,60,60\",\"space\":\"100x333\"}"};
	struct rig *rig = *state;
	auto_fd fd = open_with(rig, PLAIN);
	int fds[ARRAY_LEN(queries)], n_told = 0;

	for (size_t i = 0; i < ARRAY_LEN(queries); i++)
		fds[i] = rig_connect(rig);
	for (int round = 0; round < ROUNDS; round++) {
		auto_free char *body = util_printf("{\"actions\":[{\"action\":\"resize_display\",\"width\":%d,\"height\":%d}]}", round % 2 ? 640 : 100 + round,
		                                   round % 2 ? 400 : 150 + 7 * round);

		for (size_t i = 0; i < ARRAY_LEN(queries); i++)
			rig_send_call(fds[i], "screenshot", "agent", queries[i], NULL);
		rig_send_call(fd, "act", "agent", NULL, body);
		for (size_t i = 0; i < ARRAY_LEN(queries); i++) {
			struct rig_reply reply = rig_read_reply(fds[i]);

			assert_true(reply.status == 200 || ((reply.status == 400 || reply.status == 409) && i == 3));
			n_told += reply.status != 200;
			rig_free_reply(&reply);
		}
		struct rig_reply reply = rig_read_reply(fd);

		assert_int_equal(reply.status, 200);
		assert_true(json_is_true(json_object_get(reply.json, "ok")));
		rig_free_reply(&reply);
	}
	assert_true(n_told > 0);
	for (size_t i = 0; i < ARRAY_LEN(queries); i++)
		(void)close(fds[i]);
}

/* Each resize makes a mode, and the one before goes. */
static void test_modes_do_not_pile_up(void **state)
{
	struct rig *rig = *state;
	auto_fd fd = open_with(rig, PLAIN);

	for (int i = 0; i < 10; i++)
		json_decref(resize(fd, 300 + i, 200));
	xcb_randr_get_screen_resources_current_reply_t *resources =
		xcb_randr_get_screen_resources_current_reply(rig->x, xcb_randr_get_screen_resources_current(rig->x, rig->root), NULL);

	assert_int_equal(resources->num_modes, 2); /* the server's own, and the last */
	free(resources);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_sizes, rig_set_up, rig_tear_down),
		cmocka_unit_test_setup_teardown(test_wrong_sizes, rig_set_up, rig_tear_down),
		cmocka_unit_test_setup_teardown(test_in_a_list, rig_set_up, rig_tear_down),
		cmocka_unit_test_setup_teardown(test_space_that_stays, rig_set_up, rig_tear_down),
		cmocka_unit_test_setup_teardown(test_old_pictures, rig_set_up, rig_tear_down),
		cmocka_unit_test_setup_teardown(test_programs_that_take_the_size, rig_set_up, rig_tear_down),
		cmocka_unit_test_setup_teardown(test_pictures_meanwhile, rig_set_up, rig_tear_down),
		cmocka_unit_test_setup_teardown(test_modes_do_not_pile_up, rig_set_up, rig_tear_down),
	};

	return cmocka_run_group_tests_name("stage: another size of the display", tests, NULL, NULL);
}
