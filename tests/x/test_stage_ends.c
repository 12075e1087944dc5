/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: glovebox-stage */
/* What a stage bears: large answers, lazy readers, a long life, a display or an app jail that dies. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <xcb/res.h>

#include "session/base/json.h"
#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/warden/proto.h"
#include "tests/x/rig.h"

/* With something after it, so that it is not folded with the next one. */
#define SHOT ",{\"action\":\"screenshot\",\"space\":\"native\"},{\"action\":\"cursor_position\"}"

/* A window full of noise, of which no encoder can make a small picture. */
static void paint_noise(struct rig *rig)
{
	const uint32_t redirect = 1;
	xcb_window_t window = xcb_generate_id(rig->x);
	xcb_gcontext_t gc = xcb_generate_id(rig->x);
	static uint32_t noise[RIG_WIDTH * 16];

	xcb_create_window(rig->x, XCB_COPY_FROM_PARENT, window, rig->root, 0, 0, RIG_WIDTH, RIG_HEIGHT, 0, XCB_WINDOW_CLASS_INPUT_OUTPUT,
	                  XCB_COPY_FROM_PARENT, XCB_CW_OVERRIDE_REDIRECT, &redirect);
	xcb_map_window(rig->x, window);
	xcb_create_gc(rig->x, gc, window, 0, NULL);
	for (int row = 0; row < RIG_HEIGHT; row += 16) {
		for (size_t i = 0; i < ARRAY_LEN(noise); i++)
			noise[i] = (uint32_t)rand();
		xcb_put_image(rig->x, XCB_IMAGE_FORMAT_Z_PIXMAP, window, gc, RIG_WIDTH, 16, 0, (int16_t)row, 0, 24, sizeof(noise), (const uint8_t *)noise);
	}
	(void)rig_pointer(rig, NULL, NULL);
}

static void test_reply_is_bounded(void **state)
{
	struct rig *rig = *state;
	auto_fd fd = rig_open(rig);
	char body[64 * 128] = "{\"actions\":[{\"action\":\"mouse_down\"}";
	size_t n;

	paint_noise(rig);
	for (int i = 0; i < 40; i++)
		strcat(body, SHOT);
	strcat(body, "]}");
	struct rig_reply reply = rig_call(fd, "act", "agent", body);

	assert_int_equal(reply.status, 200);
	assert_true(json_is_false(json_object_get(reply.json, "ok")));
	assert_true(reply.len <= LIMIT_ACT_REPLY_BYTES + 4096);
	n = json_array_size(json_object_get(reply.json, "results"));
	assert_true(n > 20 && n < 80);
	assert_string_equal(form_string(json_object_get(rig_result(reply.json, n - 1), "error"), "code", ""), "too_large");
	rig_free_reply(&reply);
	rig_wait_mask(rig, false);
}

/* Readers that do not read: no more answers are made for them, and the memory is bounded. */
static void test_unread_answers(void **state)
{
	struct rig *rig = *state;
	auto_fd fd = rig_open(rig);
	int lazy[40];
	char body[64 * 64] = "{\"actions\":[{\"action\":\"wait\",\"duration_ms\":0}";

	paint_noise(rig);
	for (int i = 0; i < 14; i++)
		strcat(body, SHOT);
	strcat(body, "]}");
	for (size_t i = 0; i < ARRAY_LEN(lazy); i++) {
		lazy[i] = rig_connect(rig);
		rig_send_call(lazy[i], "act", "agent", NULL, body);
	}
	/* Its turn comes last. */
	struct rig_reply reply = rig_call(fd, "act", "agent", "{\"actions\":[]}");

	assert_int_equal(reply.status, 429);
	rig_free_reply(&reply);
	for (size_t i = 0; i < ARRAY_LEN(lazy); i++)
		(void)close(lazy[i]);
	json_decref(rig_expect(fd, 200, "state", "agent", NULL));
	json_decref(rig_expect(fd, 200, "act", "agent", "{\"actions\":[]}"));
}

static long resident_kb(pid_t pid)
{
	auto_free char *path = util_printf("/proc/%d/statm", pid);
	auto_fd fd = open(path, O_RDONLY | O_CLOEXEC);
	auto_free char *text = NULL;
	long pages = 0;

	assert_true(util_read_file(fd, 4096, &text) > 0);
	assert_int_equal(sscanf(text, "%*d %ld", &pages), 1);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

/* A session lives for hours: what a call takes is given back. */
static void test_memory_does_not_grow(void **state)
{
	struct rig *rig = *state;
	long before = 0;

	(void)close(rig_open(rig));
	for (int i = 0; i < 600; i++) {
		auto_free char *body = util_printf("{\"actions\":[{\"action\":\"move\",\"x\":%d,\"y\":1},{\"action\":\"screenshot\"},"
		                                   "{\"action\":\"scroll\",\"dx\":100,\"dy\":100}],"
		                                   "\"observe\":{\"quiet_ms\":0}}",
		                                   i % 300);
		auto_fd own = rig_connect(rig);

		json_decref(rig_expect(own, 200, "act", "agent", body));
		rig_expect_code(own, 400, "bad_field", "act", "agent", "{\"actions\":[{\"action\":\"move\",\"x\":1000,\"y\":1}]}");
		rig_send_call(own, "screenshot", "agent", NULL, NULL);
		if (i % 2 == 0) {
			struct rig_reply reply = rig_read_reply(own);

			rig_free_reply(&reply);
		}
		if (i == 200)
			before = resident_kb(rig->stage);
	}
#ifndef __SANITIZE_ADDRESS__
	assert_true(resident_kb(rig->stage) - before < 2048);
#else
	(void)before;
#endif
}

static void wait_state(int fd, const char *name)
{
	for (int64_t end_ms = util_now_ms() + 15000;;) {
		json_t *described = rig_expect(fd, 200, "state", "agent", NULL);
		bool there = strcmp(form_string(described, "state", ""), name) == 0;

		json_decref(described);
		if (there)
			return;
		if (util_now_ms() > end_ms)
			fail_msg("the state is not %s", name);
	}
}

static void test_display_dies(void **state)
{
	struct rig *rig = *state;
	auto_fd fd = rig_open(rig);
	auto_fd other = rig_connect(rig);

	rig_send_call(other, "act", "agent", NULL, "{\"actions\":[{\"action\":\"wait\",\"duration_ms\":60000}],\"observe\":true}");
	rig_wait_journal(rig, "\"event\":\"intent\"");
	(void)kill(rig->server.pid, SIGKILL);
	wait_state(fd, "failed");
	struct rig_reply reply = rig_read_reply(other);

	assert_int_equal(reply.status, 200);
	assert_true(json_is_false(json_object_get(reply.json, "ok")));
	assert_string_equal(form_string(json_object_get(rig_result(reply.json, 0), "error"), "code", ""), "session_gone");
	rig_free_reply(&reply);
	rig_expect_code(fd, 503, "session_gone", "act", "agent", "{\"actions\":[]}");
	rig_expect_code(fd, 503, "session_gone", "screenshot", "agent", NULL);
	json_decref(rig_expect(fd, 200, "end", "server", NULL));
	auto_free char *text = rig_journal(rig);

	assert_non_null(strstr(text, "\"event\":\"failed\",\"reason\":\"the display is gone\""));
}

static bool is_stages(struct rig *rig, xcb_window_t window)
{
	const xcb_res_client_id_spec_t spec = {.client = window, .mask = XCB_RES_CLIENT_ID_MASK_LOCAL_CLIENT_PID};
	xcb_res_query_client_ids_reply_t *reply = xcb_res_query_client_ids_reply(rig->x, xcb_res_query_client_ids(rig->x, 1, &spec), NULL);
	xcb_res_client_id_value_iterator_t ids = xcb_res_query_client_ids_ids_iterator(reply);
	bool same = ids.rem > 0 && *xcb_res_client_id_value_value(ids.data) == (uint32_t)rig->stage;

	free(reply);
	return same;
}

/* What any program of the session can do to another. */
static void kill_stages_client(struct rig *rig)
{
	xcb_query_tree_reply_t *tree = xcb_query_tree_reply(rig->x, xcb_query_tree(rig->x, rig->root), NULL);
	const xcb_window_t *children = xcb_query_tree_children(tree);
	int i = 0;

	while (i < tree->children_len && !is_stages(rig, children[i]))
		i++;
	assert_true(i < tree->children_len);
	xcb_kill_client(rig->x, children[i]);
	xcb_flush(rig->x);
	free(tree);
}

/* A program can have the display cut us off. The display lives, so nobody else sees that the session is of no use any more. */
static void test_display_cuts_off(void **state)
{
	struct rig *rig = *state;
	auto_fd fd = rig_open(rig);
	int status;

	kill_stages_client(rig);
	wait_state(fd, "failed");
	rig_expect_code(fd, 503, "session_gone", "act", "agent", "{\"actions\":[]}");
	assert_int_equal(waitpid(rig->stage, &status, 0), rig->stage);
	rig->stage = -1;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), STAGE_EXIT_DISPLAY);
}

static void test_init_dies(void **state)
{
	struct rig *rig = *state;
	auto_fd fd = rig_open(rig);

	(void)close(rig->init_fd);
	rig->init_fd = -1;
	wait_state(fd, "failed");
	rig_expect_code(fd, 503, "session_gone", "act", "agent", "{\"actions\":[]}");
}

/* State, refusals and the end work while X does not answer. */
static void test_display_silent(void **state)
{
	struct rig *rig = *state;
	auto_fd fd = rig_open(rig);
	auto_fd other = rig_connect(rig);
	int64_t start_ms;

	(void)kill(rig->server.pid, SIGSTOP);
	rig_send_call(other, "screenshot", "agent", NULL, NULL);
	start_ms = util_now_ms();
	json_decref(rig_expect(fd, 200, "state", "agent", NULL));
	rig_expect_code(fd, 400, "unknown_action", "act", "agent", "{\"actions\":[{\"action\":\"nothing\"}]}");
	assert_true(util_now_ms() - start_ms < LIMIT_X_WAIT_MS);
	struct rig_reply reply = rig_read_reply(other);

	assert_int_equal(reply.status, 503);
	assert_string_equal(form_string(reply.json, "code", ""), "display_silent");
	rig_free_reply(&reply);
	rig_expect_code(fd, 503, "display_silent", "act", "agent", "{\"actions\":[{\"action\":\"move\",\"x\":1,\"y\":1}]}");
	json_decref(rig_expect(fd, 200, "end", "server", NULL));
	(void)kill(rig->server.pid, SIGCONT);
}

/* A client that never stops telling the root's listeners something. */
static pid_t start_flood(const struct rig *rig)
{
	const uint32_t masks = XCB_EVENT_MASK_SUBSTRUCTURE_NOTIFY | XCB_EVENT_MASK_STRUCTURE_NOTIFY | XCB_EVENT_MASK_PROPERTY_CHANGE;
	const xcb_client_message_event_t message = {
		.response_type = XCB_CLIENT_MESSAGE, .format = 32, .window = rig->root, .type = XCB_ATOM_STRING};
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	xcb_connection_t *x = xcb_connect(rig->server.display, NULL);

	for (int i = 0; !xcb_connection_has_error(x); i++) {
		xcb_send_event(x, 0, rig->root, masks, (const char *)&message);
		if (i % 1000 == 0)
			free(xcb_get_input_focus_reply(x, xcb_get_input_focus(x), NULL));
	}
	_exit(0);
}

static void test_flood_of_events(void **state)
{
	struct rig *rig = *state;
	auto_fd fd = rig_open(rig);
	pid_t flood = start_flood(rig);

	for (int64_t end_ms = util_now_ms() + 4000; util_now_ms() < end_ms;) {
		json_t *act = rig_expect(fd, 200, "act", "agent", "{\"actions\":[{\"action\":\"move\",\"x\":1,\"y\":1}]}");

		auto_free char *text = json_dumps(act, 0);

		if (!json_is_true(json_object_get(act, "ok")))
			fail_msg("%s", text);
		json_decref(act);
	}
	(void)kill(flood, SIGKILL);
	(void)waitpid(flood, NULL, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_set_up, rig_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_reply_is_bounded),
		TEST(test_unread_answers),
		TEST(test_memory_does_not_grow),
		TEST(test_display_dies),
		TEST(test_display_cuts_off),
		TEST(test_init_dies),
		TEST(test_display_silent),
		TEST(test_flood_of_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
