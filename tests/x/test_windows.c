/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: apps */
/* The list of windows: what is told of each, and what hostile clients make of it. */
#include <string.h>

#include "session/base/limits.h"
#include "session/base/util.h"
#include "tests/x/desk.h"

static void expect_sight(const json_t *window, const char *visible, const char *hidden_by)
{
	auto_free char *list = json_dumps(json_object_get(window, "hidden_by"), JSON_COMPACT);

	assert_string_equal(desk_text(window, "visible"), visible);
	assert_string_equal(list, hidden_by);
}

static const json_t *frame_of(const json_t *window)
{
	return json_object_get(window, "frame");
}

/* The frame is around the content, and what a window is and of which one comes from its properties. */
static void facts(void **state)
{
	struct desk *desk = *state;
	const struct desk_look plain = {.x = 50, .y = 60, .width = 300, .height = 200, .at_place = true, .title = "plain"};
	xcb_window_t window = desk_show(desk, desk->client, &plain), dialog;
	const json_t *told = desk_window(desk, window), *state_of;

	assert_int_equal(desk_int(told, "width"), 300);
	assert_int_equal(desk_int(told, "height"), 200);
	assert_string_equal(desk_text(told, "type"), "normal");
	assert_true(json_is_null(json_object_get(told, "dialog_of")));
	assert_true(desk_int(frame_of(told), "x") <= desk_int(told, "x") && desk_int(frame_of(told), "y") < desk_int(told, "y"));
	assert_true(desk_int(frame_of(told), "width") >= 300 && desk_int(frame_of(told), "height") > 200);
	expect_sight(told, "all", "[]");

	const struct desk_look asking = {.x = 400, .y = 300, .width = 80, .height = 60, .of = window, .state = "MODAL", .at_place = true};

	dialog = desk_show(desk, desk->client, &asking);
	desk_set(desk->client, dialog, "WM_CLASS", "STRING", 8, "one\0Two", 8);
	desk_sync(desk->client);
	told = desk_window(desk, dialog);
	state_of = json_object_get(told, "state");
	assert_string_equal(desk_text(told, "type"), "dialog");
	assert_int_equal(desk_int(told, "dialog_of"), window);
	assert_int_equal(json_array_size(state_of), 1);
	assert_string_equal(json_string_value(json_array_get(state_of, 0)), "modal");
	assert_string_equal(desk_text(told, "instance"), "one");
	assert_string_equal(desk_text(told, "class"), "Two");
	assert_ptr_equal(json_array_get(json_object_get(desk->result, "windows"), 0), told);
	assert_true(json_is_false(json_object_get(desk->result, "more")));
}

static void types(void **state)
{
	static const struct {
		const char *atom, *name;
	} wanted[] = {{"UTILITY", "utility"}, {"TOOLBAR", "toolbar"}, {"SPLASH", "splash"}, {"DOCK", "dock"},
	              {"DESKTOP", "desktop"}, {"MENU", "menu"},       {"NORMAL", "normal"}, {"NO_SUCH", "normal"}};
	struct desk *desk = *state;

	for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
		const struct desk_look look = {.width = 50, .height = 40, .type = wanted[i].atom};

		assert_string_equal(desk_text(desk_window(desk, desk_show(desk, desk->client, &look)), "type"), wanted[i].name);
	}
}

/* What lies over it, what of it is beyond the edges, and whether it is there at all. */
static void sight(void **state)
{
	struct desk *desk = *state;
	const struct desk_look under = {.x = 100, .y = 100, .width = 200, .height = 100, .at_place = true};
	const struct desk_look half = {.x = 200, .y = 100, .width = 100, .height = 200, .alone = true};
	const struct desk_look rest = {.x = 0, .y = 50, .width = 220, .height = 300, .alone = true};
	xcb_window_t window = desk_show(desk, desk->client, &under), left, right;

	expect_sight(desk_window(desk, window), "all", "[]");
	right = desk_show(desk, desk->client, &half);
	expect_sight(desk_window(desk, window), "part", "[\"covered\"]");
	left = desk_show(desk, desk->client, &rest);
	desk_act_on(desk, "\"action\":\"focus_window\"", window);
	xcb_configure_window(desk->client, left, XCB_CONFIG_WINDOW_STACK_MODE, &(uint32_t){XCB_STACK_MODE_ABOVE});
	xcb_configure_window(desk->client, right, XCB_CONFIG_WINDOW_STACK_MODE, &(uint32_t){XCB_STACK_MODE_ABOVE});
	xcb_configure_window(desk->client, right, XCB_CONFIG_WINDOW_WIDTH, &(uint32_t){200});
	desk_sync(desk->client);
	expect_sight(desk_window(desk, window), "none", "[\"covered\"]");
	/* One that only takes clicks covers nothing. */
	xcb_unmap_window(desk->client, left);
	xcb_unmap_window(desk->client, right);
	left = xcb_generate_id(desk->client);
	xcb_create_window(desk->client, 0, left, desk->root, 0, 0, 800, 600, 0, XCB_WINDOW_CLASS_INPUT_ONLY, XCB_COPY_FROM_PARENT,
	                  XCB_CW_OVERRIDE_REDIRECT, &(uint32_t){1});
	xcb_map_window(desk->client, left);
	desk_sync(desk->client);
	expect_sight(desk_window(desk, window), "all", "[]");
	assert_null(desk_find(desk, "popups", left));
}

static void popups(void **state)
{
	struct desk *desk = *state;
	const struct desk_look plain = {.x = 100, .y = 100, .width = 200, .height = 100, .at_place = true};
	xcb_window_t one = desk_show(desk, desk->client, &plain), two = desk_show(desk, desk->client, &plain);
	const struct desk_look menu = {.x = 150, .y = 150, .width = 90, .height = 120, .alone = true, .of = one, .type = "POPUP_MENU"};
	xcb_window_t first = desk_show(desk, desk->client, &menu);
	const struct desk_look deeper = {.x = 240, .y = 160, .width = 90, .height = 120, .alone = true, .of = first, .type = "DROPDOWN_MENU"};
	const struct desk_look orphan = {.x = 10, .y = 10, .width = 50, .height = 20, .alone = true, .type = "TOOLTIP"};
	const struct desk_look liar = {.x = 20, .y = 40, .width = 50, .height = 20, .alone = true, .of = one};
	const struct desk_look outside = {.x = 800, .y = 10, .width = 50, .height = 20, .alone = true};
	const struct desk_look circle = {.x = 20, .y = 80, .width = 50, .height = 20, .alone = true, .of = first};
	xcb_window_t second = desk_show(desk, desk->client, &deeper), third = desk_show(desk, desk->client, &orphan);
	xcb_window_t lies, away = desk_show(desk, desk->client, &outside);
	pid_t other = desk_other_program(desk, &liar, &lies);
	const json_t *told = desk_find(desk, "popups", first);

	assert_string_equal(desk_text(told, "type"), "popup_menu");
	assert_int_equal(desk_int(told, "window"), one);
	assert_int_equal(desk_int(told, "x"), 150);
	assert_int_equal(desk_int(told, "height"), 120);
	expect_sight(told, "all", "[]");
	assert_int_equal(desk_int(desk_find(desk, "popups", second), "window"), one);
	/* Without a word of its own: the program's window that has the keys. */
	desk_act_on(desk, "\"action\":\"focus_window\"", two);
	assert_int_equal(desk_int(desk_find(desk, "popups", third), "window"), two);
	desk_act_on(desk, "\"action\":\"focus_window\"", one);
	assert_int_equal(desk_int(desk_find(desk, "popups", third), "window"), one);
	/* Another program's word for a window that is not its own counts for nothing. */
	assert_true(json_is_null(json_object_get(desk_find(desk, "popups", lies), "window")));
	assert_null(desk_find(desk, "popups", away));
	/* Menus of each other. */
	xcb_window_t round = desk_show(desk, desk->client, &circle);

	desk_set(desk->client, first, "WM_TRANSIENT_FOR", "WINDOW", 32, &round, 1);
	desk_sync(desk->client);
	assert_int_equal(desk_int(desk_find(desk, "popups", round), "window"), one);
	desk_end_program(desk, other);
}

static void expect_title(struct desk *desk, xcb_window_t window, const char *property, const char *type, int format, const void *data, size_t n)
{
	const char *title;

	desk_set(desk->client, window, property, type, format, data, n);
	desk_sync(desk->client);
	title = desk_text(desk_window(desk, window), "title");
	assert_true(strlen(title) <= LIMIT_TITLE_BYTES);
	for (size_t at = 0, len = strlen(title); at < len;) {
		uint32_t code_point;
		const size_t step = util_utf8_decode(title + at, len - at, &code_point);

		assert_true(step > 0);
		at += step;
	}
}

/* Whatever a window calls itself: valid UTF-8 of at most so many bytes, soon. */
static void hostile_titles(void **state)
{
	static char large[1024 * 1024];
	static const char bad[] = "a\xff\xc0\x80\xed\xa0\x80\0\x1b[31m\xe2\x80\xae\xc2\x9b\xf4\x90\x80\x80z";
	static const char *const names[] = {"_NET_WM_NAME", "WM_NAME", "WM_CLASS"}, *const types[] = {"UTF8_STRING", "STRING", "COMPOUND_TEXT", "ATOM"};
	struct desk *desk = *state;
	const struct desk_look plain = {.width = 100, .height = 60};
	xcb_window_t window = desk_show(desk, desk->client, &plain);

	memset(large, 0xE4, sizeof(large)); /* characters that are never whole */
	for (size_t name = 0; name < ARRAY_LEN(names); name++)
		for (size_t type = 0; type < ARRAY_LEN(types); type++) {
			expect_title(desk, window, names[name], types[type], 8, bad, sizeof(bad) - 1);
			expect_title(desk, window, names[name], types[type], 8, large, 250000); /* more takes BIG-REQUESTS */
			expect_title(desk, window, names[name], types[type], 32, bad, 4);
			expect_title(desk, window, names[name], types[type], 8, "", 0);
		}
	/* One that never stays: of the list each is whole. */
	for (int i = 0; i < 1000; i++)
		desk_set(desk->client, window, "_NET_WM_NAME", "UTF8_STRING", 8, i % 2 ? "one" : "another", i % 2 ? 3 : 7);
	assert_non_null(desk_window(desk, window));
}

/* Thousands on the screen without manager: the list is bounded, says so, and comes. */
static void many(void **state)
{
	struct desk *desk = *state;
	const struct desk_look plain = {.width = 100, .height = 60};
	xcb_window_t window = desk_show(desk, desk->client, &plain);
	const uint32_t alone = 1;

	for (int i = 0; i < 5000; i++) {
		const xcb_window_t one = xcb_generate_id(desk->client);

		xcb_create_window(desk->client, XCB_COPY_FROM_PARENT, one, desk->root, (int16_t)(i % 700), (int16_t)(i / 10), 9, 7, 0,
		                  XCB_WINDOW_CLASS_INPUT_OUTPUT, XCB_COPY_FROM_PARENT, XCB_CW_OVERRIDE_REDIRECT, &alone);
		xcb_map_window(desk->client, one);
	}
	desk_sync(desk->client);
	assert_non_null(desk_window(desk, window));
	assert_true(json_is_true(json_object_get(desk->result, "more")));
	assert_int_equal(json_array_size(json_object_get(desk->result, "popups")), LIMIT_POPUPS);
	print_message("%lld ms beside 5000 windows\n", (long long)desk->took_ms);
}

/* A client that holds the server: the action ends with that, and goes on once it lets go. */
static void grabbed(void **state)
{
	struct desk *desk = *state;
	const struct desk_look plain = {.width = 100, .height = 60};
	xcb_window_t window = desk_show(desk, desk->client, &plain);

	xcb_grab_server(desk->client);
	desk_sync(desk->client);
	desk_try(desk, "{\"action\":\"windows\"}");
	assert_int_equal(desk->rc, -1);
	assert_int_equal(desk->e.code, ERR_X_SILENT);
	xcb_ungrab_server(desk->client);
	desk_sync(desk->client);
	assert_non_null(desk_window(desk, window));
}

#define ON_DESK(test) cmocka_unit_test_setup_teardown(test, desk_set_up, desk_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {ON_DESK(facts), ON_DESK(types), ON_DESK(sight), ON_DESK(popups), ON_DESK(hostile_titles),
	                                   ON_DESK(many),  ON_DESK(grabbed)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
