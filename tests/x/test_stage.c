/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: glovebox-stage */
/* A stage's life, its calls and roles, broken frames, pictures and acts. */
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "session/base/json.h"
#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/stage/link.h"
#include "tests/x/rig.h"

static void test_life(void **state)
{
	struct rig *rig = *state;
	auto_fd fd = rig_connect(rig);

	rig_expect_code(fd, 409, "not_ready", "act", "agent", "{\"actions\":[]}");
	rig_expect_code(fd, 409, "not_ready", "screenshot", "agent", NULL);
	rig_expect_code(fd, 409, "conflict", "start", "server", NULL);
	rig_expect_code(fd, 409, "not_ready", "pause", "operator", NULL);
	json_decref(rig_expect(fd, 200, "open", "server", RIG_SPEC));
	rig_expect_code(fd, 409, "conflict", "open", "server", RIG_SPEC);
	rig_expect_code(fd, 409, "not_ready", "act", "agent", "{\"actions\":[]}");
	json_t *described = rig_expect(fd, 200, "start", "server", NULL);

	assert_string_equal(form_string(described, "state", ""), "ready");
	assert_int_equal(form_int(json_object_get(described, "space"), "width", 0), 320);
	assert_int_equal(form_int(json_object_get(described, "display"), "width", 0), RIG_WIDTH);
	assert_true(form_int(json_object_get(described, "at"), "frame", 0) > 0);
	json_decref(described);
	/* It was given no switches. */
	rig_expect_code(fd, 422, "unsupported", "pause", "operator", NULL);
	rig_expect_code(fd, 403, "forbidden", "pause", "agent", NULL);
	json_decref(rig_expect(fd, 200, "resume", "operator", NULL));
	json_decref(rig_expect(fd, 200, "act", "agent", "{\"actions\":[]}"));
	json_decref(rig_expect(fd, 200, "end", "server", NULL));
	rig_expect_code(fd, 503, "session_gone", "act", "agent", "{\"actions\":[]}");
	rig_expect_code(fd, 503, "session_gone", "pause", "operator", NULL);
	rig_expect_code(fd, 503, "session_gone", "resume", "operator", NULL);
	auto_free char *text = rig_journal(rig);

	assert_non_null(strstr(text, "\"event\":\"start\""));
	assert_non_null(strstr(text, "\"event\":\"ready\""));
	assert_non_null(strstr(text, "\"event\":\"end\",\"reason\":\"asked\""));
}

/* The display comes up after the stage has been asked to open it. */
static void test_late_display(void **state)
{
	struct rig *rig = *state;
	auto_fd fd = rig_connect(rig);

	xserver_stop(&rig->server);
	rig_send_call(fd, "open", "server", NULL, RIG_SPEC);
	rig_expect_code(rig_connect(rig), 409, "not_ready", "act", "agent", "{\"actions\":[]}");
	xserver_start_again(&rig->server, RIG_WIDTH, RIG_HEIGHT);
	xcb_disconnect(rig->x);
	rig->x = xcb_connect(rig->server.display, NULL);
	xserver_start_manager(&rig->server);
	struct rig_reply reply = rig_read_reply(fd);

	assert_int_equal(reply.status, 200);
	rig_free_reply(&reply);
}

static void test_session_document(void **state)
{
	struct rig *rig = *state;

	(void)close(rig_open(rig));
	auto_free char *text = rig_text(rig->session_fd);
	json_t *document = json_loads(text, 0, NULL);

	assert_string_equal(form_string(document, "image", ""), "test");
	assert_string_equal(form_string(document, "image_hash", ""), "00ff");
	assert_null(strstr(text, "hush"));
	assert_non_null(strstr(text, "SECRET"));
	json_decref(document);
}

/* Every call with every role, against the table of the contract. */
static void test_roles(void **state)
{
	static const char *const roles[] = {"agent", "viewer", "controller", "operator", "server"};
	static const struct {
		const char *call;
		const char *may; /* a digit for each role */
	} table[] = {
		{"act", "10010"}, {"screenshot", "10010"}, {"cancel", "10010"}, {"state", "11111"},
		{"open", "00001"}, {"start", "00001"},     {"end", "00001"},
	};
	auto_fd fd = rig_connect(*state);

	for (size_t c = 0; c < ARRAY_LEN(table); c++)
		for (size_t r = 0; r < ARRAY_LEN(roles); r++) {
			struct rig_reply reply = rig_call(fd, table[c].call, roles[r], "{}");

			if ((reply.status != 403) != (table[c].may[r] == '1'))
				fail_msg("%s as %s: %d", table[c].call, roles[r], reply.status);
			rig_free_reply(&reply);
		}
	rig_expect_code(fd, 404, "not_found", "leases", "operator", NULL);
}

static bool is_closed(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	char byte;

	return poll(&p, 1, RIG_CALL_MS) == 1 && read(fd, &byte, 1) <= 0;
}

/* Broken frames close their connection; the others are served on. */
static void test_broken_frames(void **state)
{
	static const char *const envelopes[] = {
		"", "{", "[]", "{}", "{\"call\":\"state\"}", "{\"call\":7,\"role\":\"agent\"}", "{\"call\":\"state\",\"role\":\"root\"}",
		"{\"call\":\"state\",\"role\":\"agent\",\"query\":[]}",
		"{\"call\":\"open\\u0000\",\"role\":\"server\"}", "{\"call\":\"state\",\"role\":\"agent\",\"query\":{\"region\":1}}",
	};
	struct rig *rig = *state;
	auto_fd good = rig_connect(rig);

	for (size_t i = 0; i < ARRAY_LEN(envelopes); i++) {
		auto_fd fd = rig_connect(rig);

		rig_send_frame(fd, LINK_CALL, 0, envelopes[i], strlen(envelopes[i]));
		assert_true(is_closed(fd));
	}
	auto_fd data_first = rig_connect(rig);

	rig_send_frame(data_first, LINK_DATA, 0, "x", 1);
	assert_true(is_closed(data_first));
	auto_fd long_frame = rig_connect(rig);
	struct ipc_frame_head head = {.length = UINT32_MAX, .kind = LINK_CALL};

	assert_int_equal(util_write_all(long_frame, &head, sizeof(head)), 0);
	assert_true(is_closed(long_frame));
	json_decref(rig_expect(good, 200, "state", "agent", NULL));
}

static void test_large_body(void **state)
{
	auto_free char *piece = util_zalloc(LIMIT_FRAME_BYTES);
	auto_fd fd = rig_connect(*state);
	const char envelope[] = "{\"call\":\"act\",\"role\":\"agent\"}";

	(void)signal(SIGPIPE, SIG_IGN);
	rig_send_frame(fd, LINK_CALL, LINK_MORE, envelope, strlen(envelope));
	for (size_t i = 0; i < LIMIT_ACT_BODY_BYTES / LIMIT_FRAME_BYTES; i++)
		rig_send_frame(fd, LINK_DATA, LINK_MORE, piece, LIMIT_FRAME_BYTES);
	rig_send_frame(fd, LINK_DATA, LINK_MORE, piece, 1);
	assert_true(is_closed(fd));
}

/* Of all calls together there is so much and no more: the next one is told to come later, and can when another has gone. */
static void test_large_bodies(void **state)
{
	auto_free char *piece = util_zalloc(LIMIT_FRAME_BYTES);
	auto_fd last = rig_open(*state);
	const char envelope[] = "{\"call\":\"act\",\"role\":\"agent\",\"request_id\":\"r1\"}";
	int full[LIMIT_ACT_BODIES_BYTES / LIMIT_ACT_BODY_BYTES];

	for (size_t i = 0; i < ARRAY_LEN(full); i++) {
		full[i] = rig_connect(*state);
		rig_send_frame(full[i], LINK_CALL, LINK_MORE, envelope, strlen(envelope));
		for (size_t sent = 0; sent < LIMIT_ACT_BODY_BYTES; sent += LIMIT_FRAME_BYTES)
			rig_send_frame(full[i], LINK_DATA, LINK_MORE, piece, LIMIT_FRAME_BYTES);
	}
	/* The last pieces may still be on their way. */
	for (int status = 200; status != 429;) {
		struct rig_reply reply = rig_call(last, "act", "agent", "{\"actions\":[]}");

		status = reply.status;
		rig_free_reply(&reply);
	}
	rig_expect_code(last, 429, "busy", "act", "agent", "{\"actions\":[]}");
	(void)close(full[0]);
	for (int status = 429; status != 200;) {
		struct rig_reply reply = rig_call(last, "act", "agent", "{\"actions\":[]}");

		status = reply.status;
		rig_free_reply(&reply);
	}
	for (size_t i = 1; i < ARRAY_LEN(full); i++)
		(void)close(full[i]);
}

static void test_picture(void **state)
{
	struct rig *rig = *state;
	auto_fd fd = rig_open(rig);

	rig_send_call(fd, "screenshot", "agent", "{\"region\":\"0,0,320,100\",\"cursor\":\"false\"}", NULL);
	struct rig_reply reply = rig_read_reply(fd);
	const json_t *headers = json_object_get(reply.envelope, "headers");

	assert_int_equal(reply.status, 200);
	assert_string_equal(form_string(reply.envelope, "type", ""), "image/png");
	assert_memory_equal(reply.body, "\x89PNG\r\n\x1a\n", 8);
	assert_memory_equal(reply.body + 16, "\0\0\1\x40\0\0\0\x64", 8); /* 320x100 */
	assert_string_equal(form_string(headers, "Glovebox-Space", ""), "320x200");
	assert_string_equal(form_string(headers, "Glovebox-Native", ""), "640x400");
	assert_string_equal(form_string(headers, "Glovebox-Size", ""), "320x100");
	assert_string_equal(form_string(headers, "Glovebox-Region", ""), "0,0,320,100");
	assert_non_null(strstr(form_string(headers, "Glovebox-At", ""), "epoch=1, episode=1"));
	rig_free_reply(&reply);
	rig_send_call(fd, "screenshot", "agent", "{\"region\":\"0,0,321,100\"}", NULL);
	reply = rig_read_reply(fd);
	assert_int_equal(reply.status, 400);
	rig_free_reply(&reply);
}

static void test_act_and_look(void **state)
{
	struct rig *rig = *state;
	auto_fd fd = rig_open(rig);
	json_t *reply = rig_expect(fd, 200, "act", "agent",
	                       "{\"actions\":[{\"action\":\"move\",\"x\":319,\"y\":199},{\"action\":\"wait\",\"duration_ms\":20},"
	                       "{\"action\":\"cursor_position\"}],\"observe\":{\"quiet_ms\":50}}");
	const json_t *observation = json_object_get(reply, "observation");
	int x, y;

	assert_true(json_is_true(json_object_get(reply, "ok")));
	assert_int_equal(form_int(reply, "done", 0), 3);
	assert_true(form_int(rig_result(reply, 1), "elapsed_ms", 0) >= 20);
	assert_int_equal(form_int(rig_result(reply, 2), "x", -1), 319);
	assert_int_equal(form_int(rig_result(reply, 2), "y", -1), 199);
	assert_true(json_is_true(json_object_get(observation, "settled")));
	assert_int_equal(form_int(json_object_get(observation, "picture"), "width", 0), 320);
	assert_true(json_equal(json_object_get(observation, "at"), json_object_get(reply, "at")));
	assert_int_equal(form_int(json_object_get(observation, "native"), "width", 0), RIG_WIDTH);
	assert_int_equal(form_int(json_object_get(observation, "space"), "height", 0), 200);
	json_decref(reply);
	/* The last row and column of the space are those of the display. */
	(void)rig_pointer(rig, &x, &y);
	assert_int_equal(x, RIG_WIDTH - 1);
	assert_int_equal(y, RIG_HEIGHT - 1);
}

static void test_nothing_happens_when_refused(void **state)
{
	struct rig *rig = *state;
	auto_fd fd = rig_open(rig);
	int x, y, x_after, y_after;

	json_decref(rig_expect(fd, 200, "act", "agent", "{\"actions\":[{\"action\":\"move\",\"x\":10,\"y\":10}]}"));
	(void)rig_pointer(rig, &x, &y);
	rig_expect_code(fd, 400, "bad_field", "act", "agent",
	            "{\"actions\":[{\"action\":\"move\",\"x\":50,\"y\":50},{\"action\":\"move\",\"x\":320,\"y\":50}]}");
	json_t *checked = rig_expect(fd, 200, "act", "agent", "{\"actions\":[{\"action\":\"move\",\"x\":50,\"y\":50}],\"check_only\":true}");

	assert_int_equal(form_int(checked, "done", -1), 0);
	json_decref(checked);
	(void)rig_pointer(rig, &x_after, &y_after);
	assert_int_equal(x, x_after);
	assert_int_equal(y, y_after);
	auto_free char *text = rig_journal(rig);

	assert_null(strstr(text, "\"x\":50"));
}

/* More keys than hands have fingers, and each of them is down. */
static void test_many_keys_are_held(void **state)
{
	static const char *const keys[] = {"F1", "F2", "F3", "F4", "F5", "F6", "F7", "F8", "F9", "F10", "F11", "F12", "Left", "Right", "Up", "Down",
	                                   "Home", "End", "Insert", "Delete", "Page_Up", "Page_Down", "Tab", "Return", "Escape", "space"};
	static const char characters[] = "abcdefghijklmnopqrstuvwxyz0123456789-=[];',./`";
	struct rig *rig = *state;
	auto_fd fd = rig_open(rig);
	json_t *actions = json_array(), *described;

	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		json_array_append_new(actions, json_pack("{s:s,s:s}", "action", "key_down", "keys", keys[i]));
	for (const char *c = characters; *c; c++)
		json_array_append_new(actions, json_pack("{s:s,s:s%}", "action", "key_down", "keys", c, (size_t)1));
	json_auto_t *body = json_pack("{s:o}", "actions", actions);
	auto_free char *text = json_dumps(body, JSON_COMPACT);
	json_t *act = rig_expect(fd, 200, "act", "agent", text);

	assert_true(json_is_true(json_object_get(act, "ok")));
	json_decref(act);
	described = rig_expect(fd, 200, "state", "agent", NULL);
	assert_int_equal(json_array_size(json_object_get(json_object_get(described, "held"), "keys")), json_array_size(actions));
	json_decref(described);
}

/* The session can still be looked at and ended, and the end is written. */
static void test_full_journal(void **state)
{
	struct rig *rig = *state;
	auto_fd fd = rig_open(rig);
	struct stat before, after;
	int x, y;

	rig_expect_code(fd, 409, "journal_full", "act", "agent", "{\"actions\":[{\"action\":\"move\",\"x\":10,\"y\":10}]}");
	(void)rig_pointer(rig, &x, &y);
	assert_false(x == 20 && y == 20);
	json_decref(rig_expect(fd, 200, "act", "agent", "{\"actions\":[],\"observe\":true}"));
	assert_int_equal(fstat(rig->journal_fd, &before), 0);
	json_decref(rig_expect(fd, 200, "end", "server", NULL));
	assert_int_equal(fstat(rig->journal_fd, &after), 0);
	assert_true(after.st_size > before.st_size);
}

/* The session goes on without, and says so once. */
static void test_full_pictures(void **state)
{
	static const char act[] = "{\"actions\":[{\"action\":\"move\",\"x\":10,\"y\":10}],\"observe\":true}";
	struct rig *rig = *state;
	auto_fd fd = rig_open(rig);
	struct stat file;

	for (int i = 0; i < 2; i++)
		json_decref(rig_expect(fd, 200, "act", "agent", act));
	auto_free char *text = rig_journal(rig);
	const char *stopped = strstr(text, "\"event\":\"pictures_stopped\",\"reason\":\"full\"");

	assert_non_null(stopped);
	assert_null(strstr(stopped + strlen("\"event\":\"pictures\""), "pictures_stopped"));
	assert_null(strstr(text, "\"before\":"));
	assert_null(strstr(text, "\"after\":"));
	assert_non_null(strstr(text, "\"event\":\"observation\""));
	assert_int_equal(fstat(rig->pictures_fd, &file), 0);
	assert_int_equal(file.st_size, LIMIT_PICTURES_BYTES);
}

/* How long a click took, which waits for the window manager; each is at another place, so that none waits not to be a double one. */
static long click_ms(int fd, int x)
{
	auto_free char *body = util_printf("{\"actions\":[{\"action\":\"click\",\"x\":%d,\"y\":10}]}", x);
	json_auto_t *reply = rig_expect(fd, 200, "act", "agent", body);

	return form_int(rig_result(reply, 0), "elapsed_ms", -1);
}

/* Any client can do to our windows what the window manager does to answer. */
static void test_forged_answers(void **state)
{
	struct rig *rig = *state;
	auto_fd fd = rig_open(rig);
	static const char name[] = "_NET_FRAME_EXTENTS";
	auto_free xcb_intern_atom_reply_t *atom = xcb_intern_atom_reply(rig->x, xcb_intern_atom(rig->x, 0, sizeof(name) - 1, name), NULL);
	auto_free xcb_query_tree_reply_t *tree = xcb_query_tree_reply(rig->x, xcb_query_tree(rig->x, rig->root), NULL);
	const xcb_window_t *windows = xcb_query_tree_children(tree);
	static const uint32_t sides[4] = {1, 1, 1, 1};
	long ms;

	for (int i = 0; i < xcb_query_tree_children_length(tree); i++)
		for (int k = 0; k < 3; k++)
			xcb_change_property(rig->x, XCB_PROP_MODE_REPLACE, windows[i], atom->atom, XCB_ATOM_CARDINAL, 32, 4, sides);
	free(xcb_get_input_focus_reply(rig->x, xcb_get_input_focus(rig->x), NULL));
	/* The first ones may be on a busy machine. */
	for (int x = 10; (ms = click_ms(fd, x)) >= LIMIT_WM_MS; x += 10)
		if (x >= 200)
			fail_msg("a click still takes %ld ms", ms);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_set_up, rig_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_life),
		TEST(test_late_display),
		TEST(test_session_document),
		TEST(test_roles),
		TEST(test_broken_frames),
		TEST(test_large_body),
		TEST(test_large_bodies),
		TEST(test_picture),
		TEST(test_act_and_look),
		TEST(test_nothing_happens_when_refused),
		TEST(test_many_keys_are_held),
		TEST(test_forged_answers),
		cmocka_unit_test_setup_teardown(test_full_journal, rig_set_up_full_journal, rig_tear_down),
		cmocka_unit_test_setup_teardown(test_full_pictures, rig_set_up_full_pictures, rig_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
