/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: glovebox-stage */
/* Acts on pictures that are not true any more, what an observation says has changed, waiting for quiet, needless actions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "session/base/json.h"
#include "session/base/util.h"
#include "tests/x/rig.h"

/* Places in the caller's space, which is half the display. */
#define CLICK "{\"action\":\"click\",\"x\":50,\"y\":50}"
#define QUICK "\"observe\":{\"quiet_ms\":20}"
#define GUARDED "{\"spec\":{\"guard\":\"last\"},\"image\":{\"name\":\"test\",\"hash\":\"00ff\",\"apps\":[]}}"

/* Another client draws a square, in native pixels; it is there when this returns. */
static xcb_window_t paint_in(struct rig *rig, int x, int y, int side, uint32_t colour)
{
	xcb_screen_t *screen = xcb_setup_roots_iterator(xcb_get_setup(rig->x)).data;
	const uint32_t values[] = {colour, 1};
	xcb_window_t window = xcb_generate_id(rig->x);

	xcb_create_window(rig->x, XCB_COPY_FROM_PARENT, window, rig->root, (int16_t)x, (int16_t)y, (uint16_t)side, (uint16_t)side, 0,
	                  XCB_WINDOW_CLASS_INPUT_OUTPUT, screen->root_visual, XCB_CW_BACK_PIXEL | XCB_CW_OVERRIDE_REDIRECT, values);
	xcb_map_window(rig->x, window);
	free(xcb_get_input_focus_reply(rig->x, xcb_get_input_focus(rig->x), NULL));
	return window;
}

static void paint(struct rig *rig, int x, int y, int side)
{
	(void)paint_in(rig, x, y, side, 0xFFCC00);
}

/* The "at" of a fresh look, as text; malloced. */
static char *look(int fd)
{
	json_auto_t *reply = rig_expect(fd, 200, "act", "agent", "{\"actions\":[]," QUICK "}");

	return json_dumps(json_object_get(reply, "at"), JSON_COMPACT);
}

static char *act_body(const char *actions, const char *seen)
{
	return util_printf("{\"actions\":[%s],\"seen\":%s," QUICK "}", actions, seen);
}

static void expect_ok(int fd, const char *actions, const char *seen)
{
	auto_free char *body = act_body(actions, seen);
	json_auto_t *reply = rig_expect(fd, 200, "act", "agent", body);

	assert_true(json_is_true(json_object_get(reply, "ok")));
}

/* The refusal's object; the caller's reference. */
static json_t *expect_stale(int fd, const char *actions, const char *seen, const char *pointer)
{
	auto_free char *body = act_body(actions, seen);
	json_t *problem = rig_expect(fd, 409, "act", "agent", body);

	assert_string_equal(form_string(problem, "code", ""), "stale_target");
	assert_string_equal(form_string(problem, "pointer", ""), pointer);
	return problem;
}

static void test_target_that_changed(void **state)
{
	struct rig *rig = *state;
	auto_fd fd = rig_open(rig);
	int x, y, x_after, y_after;

	json_decref(rig_expect(fd, 200, "act", "agent", "{\"actions\":[{\"action\":\"move\",\"x\":200,\"y\":150}]}"));
	auto_free char *seen = look(fd);

	expect_ok(fd, CLICK, seen);
	paint(rig, 300, 300, 50); /* elsewhere */
	expect_ok(fd, CLICK, seen);
	json_decref(rig_expect(fd, 200, "act", "agent", "{\"actions\":[{\"action\":\"move\",\"x\":200,\"y\":150}]}"));
	auto_free char *before = rig_journal(rig);

	(void)rig_pointer(rig, &x, &y);
	paint(rig, 90, 90, 20);
	json_auto_t *problem = expect_stale(fd, CLICK, seen, "/actions/0/x");
	const json_t *observation = json_object_get(problem, "observation");
	const json_t *changes = json_object_get(observation, "changed");

	assert_non_null(json_object_get(json_object_get(observation, "picture"), "data"));
	assert_true(json_is_true(json_object_get(observation, "settled")));
	assert_true(json_array_size(changes) > 0);
	/* Nothing happened, and nothing says that it did. */
	(void)rig_pointer(rig, &x_after, &y_after);
	assert_int_equal(x, x_after);
	assert_int_equal(y, y_after);
	auto_free char *after = rig_journal(rig);

	assert_string_equal(before, after);
	/* The picture in the refusal is one to go on from. */
	auto_free char *again = json_dumps(json_object_get(observation, "at"), JSON_COMPACT);

	expect_ok(fd, CLICK, again);
}

/* Later targets depend on what the list itself does. */
static void test_only_the_first_target(void **state)
{
	struct rig *rig = *state;
	auto_fd fd = rig_open(rig);
	auto_free char *seen = look(fd);

	paint(rig, 90, 90, 20);
	expect_ok(fd, "{\"action\":\"key\",\"keys\":\"a\"},{\"action\":\"wait\",\"duration_ms\":1}", seen);
	expect_ok(fd, "{\"action\":\"move\",\"x\":150,\"y\":150}," CLICK, seen);
	json_decref(expect_stale(fd, "{\"action\":\"key\",\"keys\":\"a\"}," CLICK, seen, "/actions/1/x"));
	json_decref(expect_stale(fd, "{\"action\":\"drag\",\"path\":[[50,50],[150,150]],\"duration_ms\":0}", seen, "/actions/0/path/0"));
	/* What is dropped lands on what was seen there; what lies between does not matter. */
	json_decref(expect_stale(fd, "{\"action\":\"drag\",\"path\":[[150,150],[160,150],[50,50]],\"duration_ms\":0}", seen, "/actions/0/path/2"));
	expect_ok(fd, "{\"action\":\"drag\",\"path\":[[150,150],[50,50],[160,150]],\"duration_ms\":0}", seen);
	json_decref(rig_expect(fd, 200, "act", "agent", "{\"actions\":[{\"action\":\"move\",\"x\":50,\"y\":50}]}"));
	/* Where the pointer is. */
	json_decref(expect_stale(fd, "{\"action\":\"scroll\",\"dy\":1}", seen, "/actions/0"));
	json_decref(rig_expect(fd, 200, "act", "agent", "{\"actions\":[{\"action\":\"move\",\"x\":150,\"y\":150}]}"));
	expect_ok(fd, "{\"action\":\"scroll\",\"dy\":1}", seen);
}

static void test_near_is_too_near(void **state)
{
	struct rig *rig = *state;
	auto_fd fd = rig_open(rig);
	auto_free char *seen = look(fd);

	paint(rig, 123, 100, 1);
	json_decref(expect_stale(fd, CLICK, seen, "/actions/0/x"));
	auto_free char *later = look(fd);

	paint(rig, 124 + 16, 100, 1);
	expect_ok(fd, CLICK, later);
}

static void test_wrong_pictures(void **state)
{
	struct rig *rig = *state;
	auto_fd fd = rig_open(rig);

	json_auto_t *frame =
		rig_expect(fd, 400, "act", "agent", "{\"actions\":[],\"seen\":{\"frame\":1000000,\"epoch\":1,\"episode\":1}}");
	assert_string_equal(form_string(frame, "code", ""), "bad_field");
	assert_string_equal(form_string(frame, "pointer", ""), "/seen/frame");
	json_auto_t *epoch = rig_expect(fd, 400, "act", "agent", "{\"actions\":[],\"seen\":{\"frame\":0,\"epoch\":2,\"episode\":1}}");

	assert_string_equal(form_string(epoch, "pointer", ""), "/seen/epoch");
	json_auto_t *episode = rig_expect(fd, 400, "act", "agent", "{\"actions\":[],\"seen\":{\"frame\":0,\"epoch\":1,\"episode\":2}}");

	assert_string_equal(form_string(episode, "pointer", ""), "/seen/episode");
}

/* The verdict without the deed. */
static void test_check_only(void **state)
{
	struct rig *rig = *state;
	auto_fd fd = rig_open(rig);
	auto_free char *seen = look(fd);
	auto_free char *body = util_printf("{\"actions\":[" CLICK "],\"seen\":%s,\"check_only\":true}", seen);
	auto_free char *before = rig_journal(rig);

	json_decref(rig_expect(fd, 200, "act", "agent", body));
	paint(rig, 90, 90, 20);
	json_auto_t *problem = rig_expect(fd, 409, "act", "agent", body);

	assert_string_equal(form_string(problem, "code", ""), "stale_target");
	assert_non_null(json_object_get(json_object_get(problem, "observation"), "picture"));
	auto_free char *after = rig_journal(rig);

	assert_string_equal(before, after);
}

static int open_guarded(struct rig *rig)
{
	int fd = rig_connect(rig);

	json_decref(rig_expect(fd, 200, "open", "server", GUARDED));
	json_decref(rig_expect(fd, 200, "start", "server", NULL));
	return fd;
}

/* The last picture that the caller got stands for `seen`, which wins when it is there. */
static void test_guard_last(void **state)
{
	struct rig *rig = *state;
	auto_fd fd = open_guarded(rig);
	static const char click[] = "{\"actions\":[" CLICK "]}";

	/* There was none yet. */
	paint(rig, 40, 40, 20);
	json_decref(rig_expect(fd, 200, "act", "agent", click));
	auto_free char *old = look(fd);

	json_decref(rig_expect(fd, 200, "act", "agent", click));
	paint(rig, 45, 45, 20);
	rig_expect_code(fd, 409, "stale_target", "act", "agent", click);
	/* With that refusal came a picture. */
	json_decref(rig_expect(fd, 200, "act", "agent", click));
	auto_free char *body = util_printf("{\"actions\":[" CLICK "],\"seen\":%s}", old);

	rig_expect_code(fd, 409, "stale_target", "act", "agent", body);
	/* A picture by the call screenshot, and one by the action. */
	paint(rig, 50, 50, 20);
	rig_send_call(fd, "screenshot", "agent", NULL, NULL);
	struct rig_reply picture = rig_read_reply(fd);

	assert_int_equal(picture.status, 200);
	rig_free_reply(&picture);
	json_decref(rig_expect(fd, 200, "act", "agent", click));
	paint(rig, 55, 55, 20);
	json_decref(rig_expect(fd, 200, "act", "agent", "{\"actions\":[{\"action\":\"screenshot\"}]}"));
	json_decref(rig_expect(fd, 200, "act", "agent", click));
	/* An act without a picture shows nothing. */
	paint(rig, 60, 60, 20);
	json_decref(rig_expect(fd, 200, "act", "agent", "{\"actions\":[],\"observe\":{\"picture\":\"none\",\"quiet_ms\":0}}"));
	rig_expect_code(fd, 409, "stale_target", "act", "agent", click);
}

/* A picture of another place does not make the old one of this place true, and a refusal brings one that shows it. */
static void test_guard_by_parts(void **state)
{
	struct rig *rig = *state;
	auto_fd fd = open_guarded(rig);
	static const char click[] = "{\"actions\":[" CLICK "]}";
	static const char far[] = "\"region\":{\"x\":200,\"y\":120,\"width\":20,\"height\":20}";
	auto_free char *shot = util_printf("{\"actions\":[{\"action\":\"screenshot\",%s}]}", far);
	auto_free char *there = util_printf("{\"actions\":[{\"action\":\"click\",\"x\":210,\"y\":130}]}");
	auto_free char *looking = util_printf("{\"actions\":[" CLICK "],\"observe\":{%s,\"quiet_ms\":20}}", far);

	json_decref(rig_expect(fd, 200, "act", "agent", "{\"actions\":[],\"observe\":{\"quiet_ms\":20}}"));
	paint(rig, 40, 40, 20);
	paint(rig, 205, 125, 10);
	json_decref(rig_expect(fd, 200, "act", "agent", shot));
	json_decref(rig_expect(fd, 200, "act", "agent", there));
	json_auto_t *problem = rig_expect(fd, 409, "act", "agent", looking);

	assert_string_equal(form_string(problem, "code", ""), "stale_target");
	assert_int_equal(form_int(json_object_get(json_object_get(problem, "observation"), "picture"), "width", 0), RIG_WIDTH);
	json_decref(rig_expect(fd, 200, "act", "agent", click));
}

/* The picture in a refusal is of the kind that was asked for, of all of the screen. */
static void test_refusal_as_asked(void **state)
{
	struct rig *rig = *state;
	auto_fd fd = rig_open(rig);
	auto_free char *seen = look(fd);
	auto_free char *body = util_printf("{\"actions\":[" CLICK "],\"seen\":%s,\"observe\":{\"quiet_ms\":20,\"picture\":\"none\",\"format\":\"jpeg\","
	                                   "\"space\":{\"width\":160,\"height\":120},\"region\":{\"x\":9,\"y\":9,\"width\":20,\"height\":20}}}",
	                                   seen);

	paint(rig, 90, 90, 20);
	json_auto_t *problem = rig_expect(fd, 409, "act", "agent", body);
	const json_t *picture = json_object_get(json_object_get(problem, "observation"), "picture");

	assert_string_equal(form_string(problem, "code", ""), "stale_target");
	assert_string_equal(form_string(picture, "format", ""), "jpeg");
	assert_int_equal(form_int(picture, "width", 0), 160);
	assert_int_equal(form_int(picture, "height", 0), 120);
}

/* What a list shows on its way is what its caller has seen, not what came after it. */
static void test_at_is_of_the_last_picture(void **state)
{
	struct rig *rig = *state;
	auto_fd fd = rig_open(rig);

	auto_fd other = rig_connect(rig);

	rig_send_call(other, "act", "agent", NULL,
	              "{\"actions\":[{\"action\":\"screenshot\"},{\"action\":\"mouse_down\"},{\"action\":\"wait\",\"duration_ms\":60000}]}");
	rig_wait_mask(rig, true);
	paint(rig, 90, 90, 20);
	rig_send_call(fd, "screenshot", "agent", NULL, NULL); /* the change is known before the list ends */
	struct rig_reply picture = rig_read_reply(fd);

	rig_free_reply(&picture);
	json_decref(rig_expect(fd, 200, "cancel", "agent", NULL));
	struct rig_reply taken = rig_read_reply(other);
	json_auto_t *reply = json_incref(taken.json);

	rig_free_reply(&taken);
	assert_int_equal(form_int(json_object_get(reply, "at"), "frame", -1), form_int(rig_result(reply, 0), "frame", -2));
	auto_free char *seen = json_dumps(json_object_get(reply, "at"), JSON_COMPACT);

	json_decref(expect_stale(fd, CLICK, seen, "/actions/0/x"));
}

static bool is_rect(const json_t *rect, int x, int y, int width, int height)
{
	return form_int(rect, "x", -1) == x && form_int(rect, "y", -1) == y && form_int(rect, "width", -1) == width &&
	       form_int(rect, "height", -1) == height;
}

static void test_changed(void **state)
{
	struct rig *rig = *state;
	auto_fd fd = rig_open(rig);
	static const char none[] = "{\"actions\":[],\"observe\":{\"picture\":\"none\",\"quiet_ms\":20}}";
	auto_free char *seen = look(fd);
	auto_free char *since = util_printf("{\"actions\":[],\"seen\":%s,\"observe\":{\"picture\":\"none\",\"quiet_ms\":20}}", seen);

	paint(rig, 320, 160, 32);
	json_auto_t *quiet = rig_expect(fd, 200, "act", "agent", none); /* it was before this act */

	assert_int_equal(json_array_size(json_object_get(json_object_get(quiet, "observation"), "changed")), 0);
	json_auto_t *reply = rig_expect(fd, 200, "act", "agent", since);
	const json_t *observation = json_object_get(reply, "observation");
	const json_t *changes = json_object_get(observation, "changed");

	assert_null(json_object_get(observation, "picture"));
	assert_int_equal(json_array_size(changes), 1);
	/* In the caller's space, which is half the display. */
	assert_true(is_rect(json_array_get(changes, 0), 160, 80, 16, 16));
	assert_non_null(json_object_get(observation, "settled"));
	assert_non_null(json_object_get(observation, "elapsed_ms"));
}

/* A client with a caret of 14 native pixels in height at 104,100 that blinks until it is killed; it writes a byte for each change. */
static pid_t start_caret(struct rig *rig, int width, int *changes)
{
	int ticks[2];

	assert_int_equal(pipe(ticks), 0);
	pid_t pid = fork();

	(void)close(ticks[pid == 0 ? 0 : 1]);
	if (pid != 0) {
		*changes = ticks[0];
		return pid;
	}
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)signal(SIGPIPE, SIG_IGN);
	struct rig own = *rig;

	own.x = xcb_connect(rig->server.display, NULL);
	own.root = xcb_setup_roots_iterator(xcb_get_setup(own.x)).data->root;
	xcb_window_t window = paint_in(&own, 104, 100, 14, 0);

	xcb_configure_window(own.x, window, XCB_CONFIG_WINDOW_WIDTH, &(uint32_t){(uint32_t)width});
	for (uint32_t i = 0;; i++) {
		xcb_change_window_attributes(own.x, window, XCB_CW_BACK_PIXEL, &(uint32_t){i % 2 == 0 ? 0xFFFFFF : 0});
		xcb_clear_area(own.x, 0, window, 0, 0, 0, 0);
		free(xcb_get_input_focus_reply(own.x, xcb_get_input_focus(own.x), NULL));
		(void)!write(ticks[1], "", 1);
		(void)usleep(120000);
	}
}

static void wait_changes(int changes, int n)
{
	char byte;

	for (int i = 0; i < n; i++)
		assert_int_equal(read(changes, &byte, 1), 1);
}

static void end_client(pid_t pid)
{
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
}

#define CLICK_THERE "{\"action\":\"click\",\"x\":100,\"y\":100}" /* the space is the display */

/* A click beside a caret goes through each time, and is refused once anything else is drawn there. What blinks is learned with nobody looking. */
static void test_beside_a_caret(void **state)
{
	struct rig *rig = *state;
	auto_fd fd = open_guarded(rig);
	auto_fd changes = -1;
	pid_t pid = start_caret(rig, 2, &changes);

	free(look(fd));
	wait_changes(changes, 10);
	for (int i = 0; i < 10; i++) {
		auto_free char *seen = look(fd);

		wait_changes(changes, 1 + i % 2);
		expect_ok(fd, CLICK_THERE, seen);
	}
	auto_free char *seen = look(fd);

	paint(rig, 90, 102, 2);
	json_decref(expect_stale(fd, CLICK_THERE, seen, "/actions/0/x"));
	end_client(pid);
}

/* What flips and is as wide as a label is no caret: a click that meets the other one is refused. */
static void test_beside_a_flipping_label(void **state)
{
	struct rig *rig = *state;
	auto_fd fd = open_guarded(rig);
	auto_fd changes = -1;
	pid_t pid = start_caret(rig, 40, &changes);

	free(look(fd));
	wait_changes(changes, 10);
	auto_free char *seen = look(fd);

	wait_changes(changes, 2); /* it is not known which of them was before the look */
	json_decref(expect_stale(fd, CLICK_THERE, seen, "/actions/0/x"));
	end_client(pid);
}

/* A client that draws something else in one place until it is killed; it has begun when this returns. */
static pid_t start_blinking(struct rig *rig, int x, int y, int side)
{
	int begun[2];
	char byte;

	assert_int_equal(pipe(begun), 0);
	pid_t pid = fork();

	(void)close(begun[pid == 0 ? 0 : 1]);
	if (pid != 0) {
		assert_int_equal(read(begun[0], &byte, 1), 1);
		(void)close(begun[0]);
		return pid;
	}
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	struct rig own = *rig;

	own.x = xcb_connect(rig->server.display, NULL);
	own.root = xcb_setup_roots_iterator(xcb_get_setup(own.x)).data->root;
	paint(&own, x, y, side);
	if (write(begun[1], "", 1) < 0)
		_exit(1);
	for (uint32_t colour = 0;; colour++) {
		(void)paint_in(&own, x, y, side, colour);
		(void)usleep(20000);
	}
}

static void expect_settled(int fd, bool settled, const char *body)
{
	json_auto_t *reply = rig_expect(fd, 200, "act", "agent", body);
	const json_t *first = rig_result(reply, 0);

	assert_true(json_is_true(json_object_get(reply, "ok")));
	assert_int_equal(json_is_true(json_object_get(first ? first : json_object_get(reply, "observation"), "settled")), settled);
}

/* On a busy machine the other client pauses now and then: by far not for as long as is called quiet here. */
static void test_settling(void **state)
{
	struct rig *rig = *state;
	auto_fd fd = rig_open(rig);
	pid_t pid = start_blinking(rig, 100, 100, 20); /* 50,50 to 60,60 in the caller's space */

	expect_settled(fd, false, "{\"actions\":[{\"action\":\"wait_settled\",\"quiet_ms\":1000,\"timeout_ms\":1200}]}");
	expect_settled(fd, false,
	               "{\"actions\":[{\"action\":\"wait_settled\",\"quiet_ms\":1000,\"timeout_ms\":1200,"
	               "\"region\":{\"x\":55,\"y\":55,\"width\":100,\"height\":100}}]}");
	expect_settled(fd, true,
	               "{\"actions\":[{\"action\":\"wait_settled\",\"quiet_ms\":100,\"timeout_ms\":5000,"
	               "\"region\":{\"x\":60,\"y\":60,\"width\":100,\"height\":100}}]}");
	expect_settled(fd, false,
	               "{\"actions\":[],\"observe\":{\"quiet_ms\":1000,\"timeout_ms\":1200,"
	               "\"mask\":[{\"x\":50,\"y\":50,\"width\":10,\"height\":9}]}}");
	expect_settled(fd, true,
	               "{\"actions\":[],\"observe\":{\"quiet_ms\":100,\"timeout_ms\":5000,"
	               "\"mask\":[{\"x\":0,\"y\":0,\"width\":1,\"height\":1},{\"x\":50,\"y\":50,\"width\":10,\"height\":10}]}}");
	end_client(pid);
	expect_settled(fd, true, "{\"actions\":[{\"action\":\"wait_settled\"}]}");
}

/* Which results say that they were folded, as a text of 0 and 1. */
static void expect_folded(int fd, const char *actions, const char *want)
{
	auto_free char *body = util_printf("{\"actions\":[%s]}", actions);
	json_auto_t *reply = rig_expect(fd, 200, "act", "agent", body);
	const json_t *results = json_object_get(reply, "results"), *result;
	auto_free char *got = util_zalloc(json_array_size(results) + 1);
	size_t i;

	assert_true(json_is_true(json_object_get(reply, "ok")));
	json_array_foreach(results, i, result) {
		assert_true(json_is_true(json_object_get(result, "ok")));
		got[i] = json_is_true(json_object_get(result, "folded")) ? '1' : '0';
	}
	assert_string_equal(got, want);
	assert_int_equal(form_int(reply, "done", -1), (long)i);
}

#define GLIDE(x) "{\"action\":\"move\",\"x\":" #x ",\"y\":1,\"duration_ms\":20}"
#define MOVE(x) "{\"action\":\"move\",\"x\":" #x ",\"y\":9}"
#define SHOT "{\"action\":\"screenshot\"}"
#define PART "{\"action\":\"screenshot\",\"region\":{\"x\":0,\"y\":0,\"width\":9,\"height\":9}}"
#define DOWN "{\"action\":\"mouse_down\"}"
#define UP "{\"action\":\"mouse_up\"}"

static void test_folding(void **state)
{
	struct rig *rig = *state;
	auto_fd fd = rig_open(rig);
	int x, y;

	expect_folded(fd, MOVE(1) "," MOVE(2) "," MOVE(3), "110");
	(void)rig_pointer(rig, &x, &y);
	assert_int_equal(x, 7); /* the pixel under the centre of 3 in half the space */
	/* A smooth one goes from where the one before it led. */
	expect_folded(fd, MOVE(1) "," GLIDE(2) "," MOVE(3) "," MOVE(4), "0010");
	expect_folded(fd, SHOT "," SHOT "," PART "," SHOT, "1000");
	expect_folded(fd, MOVE(1) "," SHOT "," MOVE(2) "," MOVE(3) ",{\"action\":\"cursor_position\"}," MOVE(4), "001000");
	expect_folded(fd, MOVE(1) "," MOVE(2) "," DOWN "," MOVE(3) "," MOVE(4) "," UP "," MOVE(5) "," MOVE(6), "10000010");
	/* A button that an earlier call holds. */
	expect_folded(fd, DOWN, "0");
	expect_folded(fd, MOVE(1) "," MOVE(2), "00");
	expect_folded(fd, UP, "0");
	/* What would make it needless is not done any more: so it is not folded. */
	json_auto_t *late = rig_expect(fd, 200, "act", "agent",
	                               "{\"actions\":[{\"action\":\"wait_settled\",\"quiet_ms\":10000}," MOVE(1) "," MOVE(2) "],\"timeout_ms\":50}");

	assert_int_equal(form_int(late, "done", -1), 1);
	assert_string_equal(form_string(json_object_get(rig_result(late, 1), "error"), "code", ""), "timeout");
	auto_free char *text = rig_journal(rig);

	assert_non_null(strstr(text, "\"ok\":true,\"elapsed_ms\":0,\"folded\":true"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_set_up, rig_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_target_that_changed), TEST(test_only_the_first_target), TEST(test_near_is_too_near),
		TEST(test_wrong_pictures),      TEST(test_check_only),            TEST(test_guard_last),
		TEST(test_at_is_of_the_last_picture), TEST(test_changed),         TEST(test_settling),
		TEST(test_folding), TEST(test_guard_by_parts), TEST(test_refusal_as_asked),
		TEST(test_beside_a_caret),      TEST(test_beside_a_flipping_label),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
