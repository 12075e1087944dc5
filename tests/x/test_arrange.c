/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: apps */
/* What the window manager is asked for, and what is told of it: focus, close, move, resize, show. */
#include <signal.h>
#include <string.h>

#include "session/base/limits.h"
#include "session/base/util.h"
#include "tests/x/desk.h"

static const struct desk_look PLAIN = {.x = 100, .y = 100, .width = 200, .height = 100, .at_place = true, .title = "plain"};

static const json_t *frame_of(const struct desk *desk)
{
	return json_object_get(desk->result, "frame");
}

static bool has_state(const json_t *window, const char *name)
{
	const json_t *state;
	size_t i;

	json_array_foreach(json_object_get(window, "state"), i, state)
		if (strcmp(json_string_value(state), name) == 0)
			return true;
	return false;
}

static void expect_refused(const struct desk *desk, enum err_code code, const char *path)
{
	assert_int_equal(desk->rc, -1);
	assert_int_equal(desk->e.code, code);
	assert_string_equal(desk->e.path, path);
}

/* A move is of the frame: at 0, 0 all of the title bar is on the screen. It may go beyond the edges, where that is needed to see the rest. */
static void moves(void **state)
{
	static const int to[][2] = {{0, 0}, {10, 20}, {-50, 0}, {30, -40}, {700, 500}};
	struct desk *desk = *state;
	xcb_window_t window = desk_show(desk, desk->client, &PLAIN);

	for (size_t i = 0; i < ARRAY_LEN(to); i++) {
		auto_free char *action = util_printf("\"action\":\"move_window\",\"x\":%d,\"y\":%d", to[i][0], to[i][1]);

		desk_act_on(desk, action, window);
		assert_int_equal(desk_int(frame_of(desk), "x"), to[i][0]);
		assert_int_equal(desk_int(frame_of(desk), "y"), to[i][1]);
		assert_true(desk_int(desk->result, "y") > to[i][1]);
		assert_null(json_object_get(desk->result, "note"));
	}
	desk_act_on(desk, "\"action\":\"move_window\",\"x\":4000,\"y\":-4000", window);
	assert_true(desk_int(frame_of(desk), "x") < DESK_WIDTH && desk_int(frame_of(desk), "y") > -200);
	assert_non_null(strstr(desk_text(desk->result, "note"), "stays on the screen"));
	/* In a space of half the size. */
	desk->space = (struct space){DESK_WIDTH / 2, DESK_HEIGHT / 2};
	desk_act_on(desk, "\"action\":\"move_window\",\"x\":50,\"y\":-10", window);
	assert_int_equal(desk_int(frame_of(desk), "x"), 50);
	assert_int_equal(desk_int(frame_of(desk), "y"), -10);
}

/* A size that the window does not take is told, with the hint that is why. */
static void sizes(void **state)
{
	struct desk *desk = *state;
	const struct desk_look least = {.width = 200, .height = 150, .min_width = 160, .min_height = 120};
	const struct desk_look steps = {.width = 200, .height = 200, .step = 20};
	xcb_window_t window = desk_show(desk, desk->client, &PLAIN);

	desk_act_on(desk, "\"action\":\"resize_window\",\"width\":321,\"height\":123", window);
	assert_int_equal(desk_int(desk->result, "width"), 321);
	assert_int_equal(desk_int(desk->result, "height"), 123);
	assert_null(json_object_get(desk->result, "note"));
	window = desk_show(desk, desk->client, &least);
	desk_act_on(desk, "\"action\":\"resize_window\",\"width\":50,\"height\":130", window);
	assert_int_equal(desk_int(desk->result, "width"), 160);
	assert_non_null(strstr(desk_text(desk->result, "note"), "at least 160x120"));
	window = desk_show(desk, desk->client, &steps);
	desk_act_on(desk, "\"action\":\"resize_window\",\"width\":215,\"height\":239", window);
	assert_true(desk_int(desk->result, "width") != 215);
	assert_non_null(strstr(desk_text(desk->result, "note"), "steps of 20x20"));
	/* Hints that make no sense are not told. */
	window = desk_show(desk, desk->client, &PLAIN);
	desk_set(desk->client, window, "WM_NORMAL_HINTS", "WM_SIZE_HINTS", 32, (const uint32_t[18]){1U << 4, 0, 0, 0, 0, UINT32_MAX, 1U << 30}, 18);
	desk_sync(desk->client);
	desk_try_on(desk, "\"action\":\"resize_window\",\"width\":50,\"height\":130", window);
	assert_null(strstr(desk_text(desk->result, "note"), "at least"));
}

static void shows(void **state)
{
	static const char *const ways[] = {"maximized", "maximized_width", "maximized_height", "fullscreen", "minimized"};
	struct desk *desk = *state;
	xcb_window_t window = desk_show(desk, desk->client, &PLAIN);
	const int x = desk_int(desk_window(desk, window), "x"), width = desk_int(desk_window(desk, window), "width");

	/* From each way to each other, and back to what it was. */
	for (size_t i = 0; i < ARRAY_LEN(ways) * ARRAY_LEN(ways); i++) {
		const char *const both[] = {ways[i / ARRAY_LEN(ways)], ways[i % ARRAY_LEN(ways)], "normal"};

		for (size_t at = 0; at < ARRAY_LEN(both); at++) {
			auto_free char *action = util_printf("\"action\":\"show_window\",\"state\":\"%s\"", both[at]);

			desk_act_on(desk, action, window);
			assert_true(strcmp(both[at], "normal") == 0 ? json_array_size(json_object_get(desk->result, "state")) == 0
			                                            : has_state(desk->result, both[at]));
			if (strcmp(both[at], "minimized") == 0)
				assert_string_equal(desk_text(desk->result, "visible"), "none");
		}
		if (desk_int(desk->result, "x") != x || desk_int(desk->result, "width") != width)
			fail_msg("%s, %s, normal: %d and %d wide", both[0], both[1], desk_int(desk->result, "x"), desk_int(desk->result, "width"));
	}
	desk_act_on(desk, "\"action\":\"show_window\",\"state\":\"fullscreen\"", window);
	assert_int_equal(desk_int(desk->result, "width"), DESK_WIDTH);
	assert_int_equal(desk_int(desk->result, "height"), DESK_HEIGHT);
	assert_string_equal(desk_text(desk->result, "layer"), "fullscreen");
	desk_try_on(desk, "\"action\":\"move_window\",\"x\":1,\"y\":1", window);
	expect_refused(desk, ERR_CONFLICT, "/window");
}

/* What the window manager does not do for a window is an error, and bounded. */
static void refusals(void **state)
{
	struct desk *desk = *state;
	const struct desk_look look = {.width = 100, .height = 80, .min_width = 100, .min_height = 80};
	xcb_window_t window = desk_create(desk->client, desk->root, &look);
	const uint32_t fixed[18] = {3U << 4, 0, 0, 0, 0, 100, 80, 100, 80};

	desk_set(desk->client, window, "WM_NORMAL_HINTS", "WM_SIZE_HINTS", 32, fixed, ARRAY_LEN(fixed));
	xcb_map_window(desk->client, window);
	desk_sync(desk->client);
	(void)desk_window(desk, window);
	desk_try_on(desk, "\"action\":\"show_window\",\"state\":\"maximized\"", window);
	expect_refused(desk, ERR_CONFLICT, "/state");
	assert_true(desk->took_ms < 3000);
	desk_act_on(desk, "\"action\":\"resize_window\",\"width\":300,\"height\":300", window);
	assert_non_null(strstr(desk_text(desk->result, "note"), "at most 100x80"));
	desk_try_on(desk, "\"action\":\"show_window\",\"state\":\"maximized\"", 12345);
	expect_refused(desk, ERR_NO_WINDOW, "/window");
	/* One without manager is none. */
	const struct desk_look alone = {.width = 100, .height = 80, .alone = true};

	desk_try_on(desk, "\"action\":\"move_window\",\"x\":1,\"y\":1", desk_show(desk, desk->client, &alone));
	expect_refused(desk, ERR_NO_WINDOW, "/window");
}

/* Dialogs that open where nobody can see them: told so, and focus_window makes them usable. */
static void off_screen(void **state)
{
	static const struct desk_look looks[] = {
		{.x = 3000, .y = 200, .width = 300, .height = 200, .at_place = true, .type = "DIALOG"},
		{.x = -2000, .y = -1000, .width = 300, .height = 200, .at_place = true, .type = "DIALOG"},
		{.x = 100, .y = 5000, .width = 300, .height = 200, .at_place = true},
	};
	static const struct desk_look huge = {.x = 20, .y = 30, .width = 1500, .height = 1200, .at_place = true, .type = "DIALOG"};
	struct desk *desk = *state;
	const json_t *told;
	xcb_window_t window;

	for (size_t i = 0; i < ARRAY_LEN(looks); i++) {
		window = desk_show(desk, desk->client, &looks[i]);
		/* Out of the window manager's sight, as after a resize of the display. */
		desk_act_on(desk, "\"action\":\"move_window\",\"x\":4000,\"y\":4000", window);
		told = desk_window(desk, window);
		assert_string_not_equal(desk_text(told, "visible"), "all");
		assert_string_equal(json_string_value(json_array_get(json_object_get(told, "hidden_by"), 0)), "off_screen");
		desk_act_on(desk, "\"action\":\"focus_window\"", window);
		assert_string_equal(desk_text(desk->result, "visible"), "all");
		assert_non_null(strstr(desk_text(desk->result, "note"), "off the screen"));
		assert_true(json_is_true(json_object_get(desk->result, "focused")));
	}
	window = desk_show(desk, desk->client, &huge);
	assert_string_equal(desk_text(desk_window(desk, window), "visible"), "part");
	/* Its lower right corner comes into view with a move beyond the upper left one. */
	desk_act_on(desk, "\"action\":\"move_window\",\"x\":-720,\"y\":-640", window);
	assert_int_equal(desk_int(frame_of(desk), "x"), -720);
	assert_int_equal(desk_int(frame_of(desk), "y"), -640);
	desk_act_on(desk, "\"action\":\"focus_window\"", window);
	assert_null(json_object_get(desk->result, "note"));
	assert_int_equal(desk_int(frame_of(desk), "y"), -640);
}

/* A window of another program that speaks WM_DELETE_WINDOW and does nothing about it, or shows a dialog then. */
static pid_t stubborn(const struct desk *desk, bool asks, xcb_window_t *window)
{
	int ends[2];
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		xcb_connection_t *client = xcb_connect(desk->server.display, NULL);
		xcb_window_t made = desk_create(client, desk->root, &PLAIN);
		const xcb_atom_t protocol = desk_atom(client, "WM_DELETE_WINDOW");
		const struct desk_look dialog = {.width = 90, .height = 50, .of = made, .type = "DIALOG", .title = "Save?"};
		xcb_generic_event_t *event;

		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		desk_set(client, made, "WM_PROTOCOLS", "ATOM", 32, &protocol, 1);
		xcb_map_window(client, made);
		desk_sync(client);
		(void)!write(ends[1], &made, sizeof(made));
		while ((event = xcb_wait_for_event(client))) {
			if ((event->response_type & 0x7F) == XCB_CLIENT_MESSAGE && asks) {
				xcb_map_window(client, desk_create(client, desk->root, &dialog));
				xcb_flush(client);
			}
			free(event);
		}
		/* Cut off, but not ended. */
		for (;;)
			(void)pause();
	}
	assert_int_equal(read(ends[0], window, sizeof(*window)), sizeof(*window));
	(void)close(ends[0]);
	(void)close(ends[1]);
	return pid;
}

static void closes(void **state)
{
	struct desk *desk = *state;
	xcb_window_t window, bystander = desk_show(desk, desk->client, &PLAIN);
	pid_t pid = stubborn(desk, false, &window);

	(void)desk_window(desk, window);
	desk_act_on(desk, "\"action\":\"close_window\",\"timeout_ms\":200", window);
	assert_true(json_is_false(json_object_get(desk->result, "closed")));
	assert_non_null(strstr(desk_text(desk->result, "note"), "did nothing"));
	assert_true(desk->took_ms >= 200 && desk->took_ms < 3000);
	desk_act_on(desk, "\"action\":\"close_window\",\"timeout_ms\":200,\"force\":true", window);
	assert_true(json_is_true(json_object_get(desk->result, "closed")) && json_is_true(json_object_get(desk->result, "forced")));
	assert_null(desk_find(desk, "windows", window));
	assert_non_null(desk_window(desk, bystander));
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);

	pid = stubborn(desk, true, &window);
	(void)desk_window(desk, window);
	desk_act_on(desk, "\"action\":\"close_window\"", window);
	assert_true(json_is_false(json_object_get(desk->result, "closed")));
	assert_string_equal(desk_text(json_object_get(desk->result, "dialog"), "title"), "Save?");
	assert_int_equal(desk_int(json_object_get(desk->result, "dialog"), "dialog_of"), window);
	desk_act_on(desk, "\"action\":\"close_window\",\"force\":true", window);
	assert_true(json_is_true(json_object_get(desk->result, "forced")));
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	/* One that does not speak the protocol is cut off by the window manager. */
	desk_act_on(desk, "\"action\":\"close_window\",\"force\":true", desk_show(desk, desk_connect(desk), &PLAIN));
	assert_true(json_is_true(json_object_get(desk->result, "closed")) && !json_object_get(desk->result, "forced"));
}

/* The list of windows is a property of the root: who writes ours, or the window manager's, into it does not have us cut that off. */
static void forged_list(void **state)
{
	struct desk *desk = *state;
	auto_free xcb_get_property_reply_t *check = xcb_get_property_reply(
		desk->client, xcb_get_property(desk->client, 0, desk->root, desk_atom(desk->client, "_NET_SUPPORTING_WM_CHECK"), XCB_ATOM_WINDOW, 0, 1),
		NULL);
	const xcb_window_t forged[] = {desk->apps->wm.window, *(const xcb_window_t *)xcb_get_property_value(check)};

	for (size_t i = 0; i < ARRAY_LEN(forged); i++) {
		desk_set(desk->client, desk->root, "_NET_CLIENT_LIST_STACKING", "WINDOW", 32, forged, ARRAY_LEN(forged));
		desk_sync(desk->client);
		desk_try_on(desk, "\"action\":\"close_window\",\"timeout_ms\":100,\"force\":true", forged[i]);
		expect_refused(desk, ERR_CONFLICT, "/window");
	}
	assert_false(desk->x.lost);
	desk_act(desk, "{\"action\":\"windows\"}");
}

/* Without an answer of the window manager an action ends all the same, and says that it was not done. */
static void stopped_manager(void **state)
{
	struct desk *desk = *state;
	xcb_window_t window = desk_show(desk, desk->client, &PLAIN);

	assert_int_equal(kill(desk->server.manager, SIGSTOP), 0);
	desk_try_on(desk, "\"action\":\"show_window\",\"state\":\"maximized\"", window);
	expect_refused(desk, ERR_CONFLICT, "/state");
	assert_true(desk->took_ms < 5000);
	desk_act_on(desk, "\"action\":\"move_window\",\"x\":5,\"y\":5", window);
	assert_non_null(json_object_get(desk->result, "note"));
	assert_int_equal(kill(desk->server.manager, SIGCONT), 0);
}

#define ON_DESK(test) cmocka_unit_test_setup_teardown(test, desk_set_up, desk_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_DESK(moves),  ON_DESK(sizes),       ON_DESK(shows),           ON_DESK(refusals), ON_DESK(off_screen),
		ON_DESK(closes), ON_DESK(forged_list), ON_DESK(stopped_manager),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
