/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: glovebox-stage */
/* The first click into a window that is on the screen before it takes any. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "session/base/json.h"
#include "session/base/util.h"
#include "tests/x/evwin.h"
#include "tests/x/rig.h"

#define CLICK "{\"action\":\"click\",\"x\":160,\"y\":120}"
#define LOOK "{\"action\":\"cursor_position\"}"
#define MAX_EVENTS 1000
#define COME_MS 10000

/* Waits for that many presses and this text: on a busy machine the window manager keeps a press for longer than anybody waits for it. */
static void expect(struct evwin *evwin, size_t want_presses, const char *want_text)
{
	int64_t deadline_ms = util_now_ms() + COME_MS;
	struct evwin_event events[MAX_EVENTS];
	size_t n = 0, presses;

	for (;;) {
		auto_free char *text = NULL;

		n += evwin_look(evwin, events + n, MAX_EVENTS - n);
		text = evwin_text(events, n);
		presses = 0;
		for (size_t i = 0; i < n; i++)
			presses += events[i].kind == 'B';
		if (presses == want_presses && strcmp(text, want_text) == 0)
			return;
		if (util_now_ms() > deadline_ms)
			fail_msg("%zu presses and \"%s\" came, not %zu and \"%s\"", presses, text, want_presses, want_text);
	}
}

/* Each way to press, as the first action of its list and as a later one; windows one after the other, which as a rule get the same id. */
static void test_late_windows(void **state)
{
	static const struct {
		const char *actions;
		size_t presses;
		const char *text;
	} rows[] = {
		{CLICK, 1, ""},
		{LOOK "," CLICK ",{\"action\":\"type\",\"text\":\"keys\"}", 1, "keys"},
		{"{\"action\":\"mouse_down\",\"x\":160,\"y\":120},{\"action\":\"mouse_up\"}", 1, ""},
		{"{\"action\":\"drag\",\"path\":[[160,120],[170,125]]}", 1, ""},
		{"{\"action\":\"scroll\",\"x\":160,\"y\":120,\"dy\":3}", 3, ""},
		{"{\"action\":\"move\",\"x\":160,\"y\":120}," CLICK, 1, ""},
		{"{\"action\":\"move\",\"x\":160,\"y\":120},{\"action\":\"click\"}", 1, ""},
	};
	struct rig *rig = *state;
	auto_fd fd = rig_open(rig);

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		auto_free char *act = util_printf("{\"actions\":[%s," LOOK "]}", rows[i].actions);
		struct evwin evwin;

		evwin_start(&evwin, rig->server.display, EVWIN_COMES);
		/* Who clicks has seen it: then the stage has heard of it. */
		json_decref(rig_expect(fd, 200, "act", "agent", "{\"actions\":[" LOOK "]}"));
		json_decref(rig_expect(fd, 200, "act", "agent", act));
		expect(&evwin, rows[i].presses, rows[i].text);
		json_decref(rig_expect(fd, 200, "act", "agent", "{\"actions\":[" CLICK "," LOOK "]}"));
		expect(&evwin, 1, "");
		evwin_stop(&evwin);
	}
}

/* Nobody waits for what would never come, nor for what the window manager does not have, as a menu: the press is dropped by that. */
static void test_no_window_of_an_app(void **state)
{
	struct rig *rig = *state;
	auto_fd fd = rig_open(rig);

	for (enum evwin_way way = EVWIN_MUTE; way <= EVWIN_NO_PING; way++) {
		struct evwin evwin;

		evwin_start(&evwin, rig->server.display, way);
		json_decref(rig_expect(fd, 200, "act", "agent", "{\"actions\":[" CLICK "," LOOK "]}"));
		expect(&evwin, 1, "");
		evwin_stop(&evwin);
	}
}

/* The program that has another one's first click lost. */
static void tell_unmapped(const struct evwin *evwin)
{
	xcb_window_t root = xcb_setup_roots_iterator(xcb_get_setup(evwin->xcb)).data->root;
	auto_free xcb_translate_coordinates_reply_t *at = xcb_translate_coordinates_reply(evwin->xcb, xcb_translate_coordinates(evwin->xcb, root, root, 160, 120), NULL);
	union {
		xcb_unmap_notify_event_t event;
		char bytes[32];
	} told = {.event = {.response_type = XCB_UNMAP_NOTIFY, .event = root}};

	assert_non_null(at);
	told.event.window = at->child;
	xcb_send_event(evwin->xcb, 0, root, XCB_EVENT_MASK_SUBSTRUCTURE_NOTIFY, told.bytes);
	free(xcb_get_input_focus_reply(evwin->xcb, xcb_get_input_focus(evwin->xcb), NULL));
}

static void test_what_a_program_says(void **state)
{
	struct rig *rig = *state;
	auto_fd fd = rig_open(rig);
	struct evwin evwin;

	evwin_start(&evwin, rig->server.display, EVWIN_COMES);
	tell_unmapped(&evwin);
	json_decref(rig_expect(fd, 200, "act", "agent", "{\"actions\":[" LOOK "]}"));
	json_decref(rig_expect(fd, 200, "act", "agent", "{\"actions\":[" CLICK "," LOOK "]}"));
	expect(&evwin, 1, "");
	evwin_stop(&evwin);
}

/* Has it been waited for? */
static bool is_met(struct rig *rig, xcb_window_t window)
{
	auto_free xcb_intern_atom_reply_t *met = xcb_intern_atom_reply(rig->x, xcb_intern_atom(rig->x, 0, strlen("_GLOVEBOX_MET"), "_GLOVEBOX_MET"), NULL);
	auto_free xcb_get_property_reply_t *mark = xcb_get_property_reply(rig->x, xcb_get_property(rig->x, 0, window, met->atom, XCB_ATOM_CARDINAL, 0, 1), NULL);

	return mark->value_len > 0;
}

/* A person who takes the controls meanwhile is why it was not done. */
static void test_a_person_comes_meanwhile(void **state)
{
	struct rig *rig = *state;
	auto_fd fd = rig_open(rig);
	auto_fd other = rig_connect(rig);
	struct evwin evwin;

	evwin_start(&evwin, rig->server.display, EVWIN_COMES);
	json_decref(rig_expect(fd, 200, "act", "agent", "{\"actions\":[" LOOK "]}"));
	rig_send_call(fd, "act", "agent", NULL, "{\"actions\":[{\"action\":\"wait_settled\",\"quiet_ms\":0,\"timeout_ms\":0}," CLICK "]}");
	rig_wait_journal(rig, "\"settled\":");
	json_decref(rig_expect(other, 200, "lease", "controller", "{\"action\":\"take\"}"));
	struct rig_reply reply = rig_read_reply(fd);
	const json_t *error = json_object_get(rig_result(reply.json, 1), "error");

	assert_string_equal(form_string(error, "code", ""), "lease_lost");
	assert_string_equal(form_string(error, "pointer", ""), "/actions/1");
	rig_free_reply(&reply);
	evwin_drop(&evwin);
}

/* A button that is down goes up at once: it would be held for as long as a window is waited for. */
static void test_a_button_that_is_down(void **state)
{
	static const char DOWN[] = "{\"actions\":[{\"action\":\"mouse_down\",\"x\":160,\"y\":120}]}", UP[] = "{\"actions\":[{\"action\":\"mouse_up\",\"x\":160,\"y\":120}]}";
	struct rig *rig = *state;
	auto_fd fd = rig_open(rig);
	struct evwin evwin;

	json_decref(rig_expect(fd, 200, "act", "agent", DOWN));
	evwin_start(&evwin, rig->server.display, EVWIN_COMES);
	json_decref(rig_expect(fd, 200, "act", "agent", "{\"actions\":[" LOOK "]}"));
	json_decref(rig_expect(fd, 200, "act", "agent", UP));
	assert_false(is_met(rig, evwin.window));
	json_decref(rig_expect(fd, 200, "act", "agent", "{\"actions\":[" CLICK "," LOOK "]}"));
	expect(&evwin, 1, "");
	assert_true(is_met(rig, evwin.window));
	evwin_stop(&evwin);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_set_up, rig_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {TEST(test_late_windows), TEST(test_no_window_of_an_app), TEST(test_what_a_program_says), TEST(test_a_person_comes_meanwhile), TEST(test_a_button_that_is_down)};

	return cmocka_run_group_tests_name("first click", tests, NULL, NULL);
}
