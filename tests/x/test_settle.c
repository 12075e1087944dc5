/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: glovebox-stage */
/* An act and the picture after it, with an app that answers a click soon, late, for ever or never; and a stage that has nothing to do. */
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "session/base/json.h"
#include "session/base/util.h"
#include "tests/x/rig.h"

#define CLICK "{\"action\":\"click\",\"x\":50,\"y\":50}"

/* What the app does when it is clicked. */
struct answer {
	int after_ms;  /* then it repaints its window; 0: it does not */
	int times;     /* so often, with after_ms between; -1: for ever */
	bool same;     /* in the colour that it has */
};

/* 200x200 native pixels at 0,0; it has been drawn when this returns. */
static xcb_window_t open_window(xcb_connection_t *x)
{
	xcb_screen_t *screen = xcb_setup_roots_iterator(xcb_get_setup(x)).data;
	const uint32_t values[] = {0x0000FF, 1, XCB_EVENT_MASK_BUTTON_PRESS};
	xcb_window_t window = xcb_generate_id(x);

	xcb_create_window(x, XCB_COPY_FROM_PARENT, window, screen->root, 0, 0, 200, 200, 0, XCB_WINDOW_CLASS_INPUT_OUTPUT, screen->root_visual,
	                  XCB_CW_BACK_PIXEL | XCB_CW_OVERRIDE_REDIRECT | XCB_CW_EVENT_MASK, values);
	xcb_map_window(x, window);
	free(xcb_get_input_focus_reply(x, xcb_get_input_focus(x), NULL));
	return window;
}

static void repaint(xcb_connection_t *x, xcb_window_t window, uint32_t colour)
{
	xcb_change_window_attributes(x, window, XCB_CW_BACK_PIXEL, &colour);
	xcb_clear_area(x, 0, window, 0, 0, 0, 0);
	xcb_flush(x);
}

static bool is_clicked(xcb_connection_t *x)
{
	xcb_generic_event_t *event;
	bool clicked = false;

	while ((event = xcb_poll_for_event(x))) {
		clicked |= (event->response_type & 0x7F) == XCB_BUTTON_PRESS;
		free(event);
	}
	return clicked;
}

static void serve(const char *display, const struct answer *answer, int begun)
{
	xcb_connection_t *x = xcb_connect(display, NULL);
	xcb_window_t window = open_window(x);
	struct pollfd p = {.fd = xcb_get_file_descriptor(x), .events = POLLIN};
	int64_t next_ms = 0;
	int left = 0;

	if (write(begun, "", 1) < 0)
		_exit(1);
	for (uint32_t colour = 1;;) {
		(void)poll(&p, 1, left == 0 ? -1 : (int)(next_ms > util_now_ms() ? next_ms - util_now_ms() : 0));
		if (is_clicked(x) && answer->after_ms > 0) {
			left = answer->times;
			next_ms = util_now_ms() + answer->after_ms;
		}
		if (xcb_connection_has_error(x))
			_exit(0);
		if (left == 0 || util_now_ms() < next_ms)
			continue;
		repaint(x, window, answer->same ? 0x0000FF : 0xFF0000 + colour++);
		left -= left > 0;
		next_ms += answer->after_ms;
	}
}

static pid_t start_app(struct rig *rig, struct answer answer)
{
	int begun[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(begun), 0);
	pid = fork();
	(void)close(begun[pid == 0 ? 0 : 1]);
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		serve(rig->server.display, &answer, begun[1]);
	}
	assert_int_equal(read(begun[0], &byte, 1), 1);
	(void)close(begun[0]);
	return pid;
}

static void end_app(pid_t pid)
{
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
}

/* Clicks on the app and looks; the observation, the caller's reference. */
static json_t *click(struct rig *rig, int fd, struct answer answer, const char *observe)
{
	pid_t pid = start_app(rig, answer);
	auto_free char *body = util_printf("{\"actions\":[" CLICK "],\"observe\":%s}", observe);

	json_decref(rig_expect(fd, 200, "act", "agent", "{\"actions\":[],\"observe\":{\"picture\":\"none\"}}"));
	json_t *reply = rig_expect(fd, 200, "act", "agent", body);
	json_t *observation = json_incref(json_object_get(reply, "observation"));

	json_decref(reply);
	end_app(pid);
	return observation;
}

static long elapsed(const json_t *observation)
{
	return form_int(observation, "elapsed_ms", -1);
}

static bool settled(const json_t *observation)
{
	return json_is_true(json_object_get(observation, "settled"));
}

static size_t n_changed(const json_t *observation)
{
	return json_array_size(json_object_get(observation, "changed"));
}

/* The picture comes so long after the last change, and after the click when there is none. */
static void test_answers(void **state)
{
	struct rig *rig = *state;
	auto_fd fd = rig_open(rig);
	static const struct {
		struct answer answer;
		const char *observe;
		bool changed;
		long least_ms;
	} rows[] = {
		{{50, 1, false}, "{\"quiet_ms\":600}", true, 640},
		{{300, 1, false}, "{\"quiet_ms\":900}", true, 1190},
		{{1200, 1, false}, "{\"quiet_ms\":2000,\"timeout_ms\":10000}", true, 3190},
		/* The answer comes after the quiet that was asked for: the reply says that nothing has changed. */
		{{1200, 1, false}, "{\"quiet_ms\":100}", false, 99},
		{{60, 4, false}, "{\"quiet_ms\":600}", true, 830},
		{{0, 0, false}, "{\"quiet_ms\":150}", false, 149},
		/* What is drawn as it was is nothing to wait for. */
		{{20, -1, true}, "{\"quiet_ms\":150}", false, 149},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		json_auto_t *observation = click(rig, fd, rows[i].answer, rows[i].observe);

		if (getenv("TEST_NOISE"))
			print_message("%s: answer after %d ms, %d times: %ld ms\n", rows[i].observe, rows[i].answer.after_ms, rows[i].answer.times,
			              elapsed(observation));
		if (!settled(observation) || (n_changed(observation) > 0) != rows[i].changed || elapsed(observation) < rows[i].least_ms)
			fail_msg("row %zu: settled %d, %zu changes, %ld ms", i, settled(observation), n_changed(observation), elapsed(observation));
	}
}

static void test_never_quiet(void **state)
{
	struct rig *rig = *state;
	auto_fd fd = rig_open(rig);
	json_auto_t *observation = click(rig, fd, (struct answer){20, -1, false}, "{\"quiet_ms\":200,\"timeout_ms\":500}");

	assert_false(settled(observation));
	assert_true(elapsed(observation) >= 500);
	assert_true(n_changed(observation) > 0);
	assert_non_null(json_object_get(observation, "picture"));
	/* But for the place where it never rests. */
	observation = (json_decref(observation), click(rig, fd, (struct answer){20, -1, false},
	                                               "{\"quiet_ms\":200,\"mask\":[{\"x\":0,\"y\":0,\"width\":100,\"height\":100}]}"));
	assert_true(settled(observation));
}

/* Without quiet nothing is waited for: the timer would be seen in the time that it took. */
static void test_no_quiet(void **state)
{
	struct rig *rig = *state;
	auto_fd fd = rig_open(rig);
	json_auto_t *observation = click(rig, fd, (struct answer){20, -1, false}, "{\"quiet_ms\":0}");

	assert_true(settled(observation));
}

/* A screen on which nothing has moved since the last action is quiet already. */
static void test_quiet_before(void **state)
{
	struct rig *rig = *state;
	auto_fd fd = rig_open(rig);
	static const char look[] = "{\"actions\":[],\"observe\":{\"quiet_ms\":1000,\"picture\":\"none\"}}";
	static const char after[] = "{\"actions\":[" CLICK ",{\"action\":\"wait_settled\",\"quiet_ms\":1100}],"
				    "\"observe\":{\"quiet_ms\":1000,\"picture\":\"none\"}}";

	json_decref(rig_expect(fd, 200, "act", "agent", look));
	json_auto_t *again = rig_expect(fd, 200, "act", "agent", look);

	assert_true(settled(json_object_get(again, "observation")));
	assert_true(elapsed(json_object_get(again, "observation")) < 1000);
	json_auto_t *waited = rig_expect(fd, 200, "act", "agent", after);

	assert_true(elapsed(json_object_get(waited, "observation")) < 1000);
	json_auto_t *clicked = rig_expect(fd, 200, "act", "agent", "{\"actions\":[" CLICK "],\"observe\":{\"quiet_ms\":1000}}");

	assert_true(elapsed(json_object_get(clicked, "observation")) >= 999);
}

/* How often the process has slept. */
static long sleeps(pid_t pid)
{
	auto_free char *path = util_printf("/proc/%d/status", (int)pid);
	FILE *file = fopen(path, "re");
	char line[128];
	long n = -1;

	assert_non_null(file);
	while (n < 0 && fgets(line, sizeof(line), file))
		(void)sscanf(line, "voluntary_ctxt_switches: %ld", &n);
	(void)fclose(file);
	assert_true(n >= 0);
	return n;
}

/* While the screen stands still nothing runs: it wakes up for the call and for its end, and not in between. */
static void test_nothing_runs(void **state)
{
	struct rig *rig = *state;
	auto_fd fd = rig_open(rig);
	static const char wait[] = "{\"actions\":[{\"action\":\"wait\",\"duration_ms\":1500}]}";
	json_auto_t *reply = rig_expect(fd, 200, "act", "agent", "{\"actions\":[" CLICK "],\"observe\":{\"quiet_ms\":300}}");
	auto_free char *seen = json_dumps(json_object_get(reply, "at"), JSON_COMPACT);
	auto_free char *guarded = util_printf("{\"actions\":[" CLICK "],\"seen\":%s,\"observe\":{\"quiet_ms\":300}}", seen);

	json_decref(rig_expect(fd, 200, "act", "agent", guarded)); /* what blinks is learned from here on */
	long before = sleeps(rig->stage);

	json_decref(rig_expect(fd, 200, "act", "agent", wait));
	if (sleeps(rig->stage) - before > 12)
		fail_msg("%ld wake-ups", sleeps(rig->stage) - before);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_set_up, rig_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_answers), TEST(test_never_quiet), TEST(test_no_quiet), TEST(test_quiet_before), TEST(test_nothing_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
