/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: session/stage session/journal display input apps */
/*
 * A stage in a process of its own, with a real X server and window manager; the test is warden, front and pid 1 of the app jail.
 */
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "apps/init/proto.h"
#include "session/base/ipc.h"
#include "session/base/log.h"
#include "session/base/util.h"
#include "session/stage/calls.h"
#include "session/stage/link.h"
#include "tests/x/xserver.h"

#define WIDTH 640
#define HEIGHT 400
#define CALL_MS 15000

struct fixture {
	struct xserver server;
	pid_t stage;
	int journal_fd, session_fd, init_fd;
	struct sockaddr_un address;
	char folder[32];
	xcb_connection_t *x; /* another client of the display */
	xcb_window_t root;
};

static json_t *hello(void *arg)
{
	return stage_hello(arg);
}

/* The stage's process: as main_stage.c, without the confinement. */
static void stage_process(int listen_fd, struct ends *ends)
{
	struct loop *loop = loop_create(NULL);
	struct stage *stage = stage_create(loop, ends);
	const struct connections_ops ops = {.hello = hello, .call = calls_take, .arg = stage};

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	log_init("stage", NULL);
	stage->connections = connections_create(loop, listen_fd, &ops);
	loop_run(loop);
	_exit(0);
}

static void start_stage(struct fixture *f, int init_fd)
{
	struct ends ends = {.session = "sabcdefghijklmno", .native = {WIDTH, HEIGHT}, .apps_pid = getpid(), .init_fd = init_fd};
	int listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	(void)snprintf(f->folder, sizeof(f->folder), "/tmp/stage-test-XXXXXX");
	assert_non_null(mkdtemp(f->folder));
	f->address.sun_family = AF_UNIX;
	(void)snprintf(f->address.sun_path, sizeof(f->address.sun_path), "%s/sock", f->folder);
	assert_int_equal(bind(listen_fd, (struct sockaddr *)&f->address, sizeof(f->address)), 0);
	assert_int_equal(listen(listen_fd, 64), 0);
	(void)snprintf(ends.display, sizeof(ends.display), "%s", f->server.display);
	f->journal_fd = memfd_create("journal", 0);
	f->session_fd = memfd_create("session", 0);
	ends.journal_fd = dup(f->journal_fd);
	ends.session_json_fd = dup(f->session_fd);
	ends.proc_fd = open("/proc", O_RDONLY | O_DIRECTORY);
	f->stage = fork();
	if (f->stage == 0) {
		(void)close(f->init_fd);
		stage_process(listen_fd, &ends);
	}
	(void)close(listen_fd);
	ends_close(&ends);
}

static int set_up(void **state)
{
	struct init_report ready = {.op = INIT_READY, .pid = 1};
	struct fixture *f = util_zalloc(sizeof(*f));
	int link[2];

	xserver_start(&f->server, WIDTH, HEIGHT);
	xserver_start_manager(&f->server);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, link), 0);
	assert_int_equal(ipc_send(link[0], &ready, sizeof(ready), NULL, 0, NULL), 0);
	f->init_fd = link[0];
	start_stage(f, link[1]);
	f->x = xcb_connect(f->server.display, NULL);
	f->root = xcb_setup_roots_iterator(xcb_get_setup(f->x)).data->root;
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	if (f->stage > 0) {
		(void)kill(f->stage, SIGKILL);
		(void)waitpid(f->stage, NULL, 0);
	}
	xcb_disconnect(f->x);
	xserver_stop(&f->server);
	(void)close(f->journal_fd);
	(void)close(f->session_fd);
	if (f->init_fd >= 0)
		(void)close(f->init_fd);
	(void)unlink(f->address.sun_path);
	(void)rmdir(f->folder);
	free(f);
	return 0;
}

/* The front's side. */

static void read_all(int fd, void *out, size_t len)
{
	char *at = out;

	for (size_t n = 0; n < len;) {
		struct pollfd p = {.fd = fd, .events = POLLIN};

		if (poll(&p, 1, CALL_MS) != 1)
			fail_msg("the stage does not answer");
		ssize_t got = read(fd, at + n, len - n);

		if (got <= 0)
			fail_msg("the stage closed the connection");
		n += (size_t)got;
	}
}

/* One frame; malloced, NUL-terminated. */
static char *read_frame(int fd, struct ipc_frame_head *head)
{
	read_all(fd, head, sizeof(*head));
	assert_true(head->length <= LIMIT_FRAME_BYTES);
	char *data = util_zalloc(head->length + 1);

	read_all(fd, data, head->length);
	return data;
}

static json_t *read_json(int fd, uint16_t kind, bool *more)
{
	struct ipc_frame_head head;
	auto_free char *text = read_frame(fd, &head);

	assert_int_equal(head.kind, kind);
	*more = head.flags & LINK_MORE;
	json_t *value = json_loads(text, 0, NULL);

	assert_non_null(value);
	return value;
}

static int connect_front(struct fixture *f)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool more;

	assert_int_equal(connect(fd, (struct sockaddr *)&f->address, sizeof(f->address)), 0);
	json_t *greeting = read_json(fd, LINK_HELLO, &more);

	assert_string_equal(json_string_value(json_object_get(greeting, "session")), "sabcdefghijklmno");
	json_decref(greeting);
	return fd;
}

static void send_frame(int fd, uint16_t kind, uint16_t flags, const void *data, size_t len)
{
	struct ipc_frame_head head = {.length = (uint32_t)len, .kind = kind, .flags = flags};

	assert_int_equal(util_write_all(fd, &head, sizeof(head)), 0);
	assert_int_equal(util_write_all(fd, data, len), 0);
}

static void send_call(int fd, const char *name, const char *role, const char *query, const char *body)
{
	auto_free char *envelope = util_printf("{\"call\":\"%s\",\"role\":\"%s\",\"token\":\"t1\",\"request_id\":\"r1\",\"query\":%s}", name, role,
	                                       query ? query : "{}");

	send_frame(fd, LINK_CALL, body ? LINK_MORE : 0, envelope, strlen(envelope));
	if (body)
		send_frame(fd, LINK_DATA, 0, body, strlen(body));
}

struct reply {
	int status;
	json_t *envelope, *json;
	char *body;
	size_t len;
};

static struct reply read_reply(int fd)
{
	struct reply reply = {0};
	bool more;

	reply.envelope = read_json(fd, LINK_REPLY, &more);
	reply.status = (int)form_int(reply.envelope, "status", 0);
	while (more) {
		struct ipc_frame_head head;
		auto_free char *data = read_frame(fd, &head);

		assert_int_equal(head.kind, LINK_DATA);
		reply.body = util_realloc(reply.body, reply.len + head.length + 1);
		memcpy(reply.body + reply.len, data, head.length + 1);
		reply.len += head.length;
		more = head.flags & LINK_MORE;
	}
	reply.json = reply.body ? json_loadb(reply.body, reply.len, 0, NULL) : NULL;
	return reply;
}

static void reply_free(struct reply *reply)
{
	json_decref(reply->envelope);
	json_decref(reply->json);
	free(reply->body);
	*reply = (struct reply){0};
}

static struct reply call(int fd, const char *name, const char *role, const char *body)
{
	send_call(fd, name, role, NULL, body);
	return read_reply(fd);
}

/* A call that must have this status; its JSON, the caller's reference. */
static json_t *expect(int fd, int status, const char *name, const char *role, const char *body)
{
	struct reply reply = call(fd, name, role, body);

	if (reply.status != status)
		fail_msg("%s %s: %d %s", name, body ? body : "", reply.status, reply.body ? reply.body : "");
	json_t *value = json_incref(reply.json);

	reply_free(&reply);
	return value;
}

static void expect_code(int fd, int status, const char *code, const char *name, const char *role, const char *body)
{
	json_t *problem = expect(fd, status, name, role, body);

	assert_string_equal(form_string(problem, "code", ""), code);
	assert_string_equal(form_string(problem, "request_id", ""), "r1");
	json_decref(problem);
}

static const char SPEC[] = "{\"spec\":{\"space\":{\"width\":320,\"height\":200},\"apps\":[],\"env\":{\"SECRET\":\"hush\"}},"
                           "\"image\":{\"name\":\"test\",\"hash\":\"00ff\",\"apps\":[]}}";

static int open_stage(struct fixture *f)
{
	int fd = connect_front(f);

	json_decref(expect(fd, 200, "open", "server", SPEC));
	json_decref(expect(fd, 200, "start", "server", NULL));
	return fd;
}

static char *journal_text(const struct fixture *f)
{
	char *text;
	auto_free char *path = util_printf("/proc/self/fd/%d", f->journal_fd);
	auto_fd fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(util_read_file(fd, 1 << 22, &text) >= 0);
	return text;
}

static void wait_journal(const struct fixture *f, const char *part)
{
	int64_t end_ms = util_now_ms() + CALL_MS;

	for (bool there = false; !there;) {
		auto_free char *text = journal_text(f);

		there = strstr(text, part);
		if (util_now_ms() > end_ms)
			fail_msg("the journal does not say %s", part);
	}
}

static uint16_t pointer_mask(struct fixture *f, int *x, int *y)
{
	xcb_query_pointer_reply_t *reply = xcb_query_pointer_reply(f->x, xcb_query_pointer(f->x, f->root), NULL);
	uint16_t mask = reply->mask;

	if (x)
		*x = reply->root_x;
	if (y)
		*y = reply->root_y;
	free(reply);
	return mask;
}

/* The tests. */

static void test_life(void **state)
{
	struct fixture *f = *state;
	auto_fd fd = connect_front(f);

	expect_code(fd, 409, "not_ready", "act", "agent", "{\"actions\":[]}");
	expect_code(fd, 409, "not_ready", "screenshot", "agent", NULL);
	expect_code(fd, 409, "conflict", "start", "server", NULL);
	json_decref(expect(fd, 200, "actions", "agent", NULL));
	json_decref(expect(fd, 200, "open", "server", SPEC));
	expect_code(fd, 409, "conflict", "open", "server", SPEC);
	expect_code(fd, 409, "not_ready", "act", "agent", "{\"actions\":[]}");
	json_t *described = expect(fd, 200, "start", "server", NULL);

	assert_string_equal(form_string(described, "state", ""), "ready");
	assert_int_equal(form_int(json_object_get(described, "space"), "width", 0), 320);
	assert_int_equal(form_int(json_object_get(described, "display"), "width", 0), WIDTH);
	assert_true(form_int(json_object_get(described, "at"), "frame", 0) > 0);
	json_decref(described);
	json_decref(expect(fd, 200, "act", "agent", "{\"actions\":[]}"));
	json_decref(expect(fd, 200, "end", "server", NULL));
	expect_code(fd, 503, "session_gone", "act", "agent", "{\"actions\":[]}");
	auto_free char *text = journal_text(f);

	assert_non_null(strstr(text, "\"event\":\"start\""));
	assert_non_null(strstr(text, "\"event\":\"ready\""));
	assert_non_null(strstr(text, "\"event\":\"end\",\"reason\":\"asked\""));
}

/* The display comes up after the stage has been asked to open it. */
static void test_late_display(void **state)
{
	struct fixture *f = *state;
	auto_fd fd = connect_front(f);

	xserver_stop(&f->server);
	send_call(fd, "open", "server", NULL, SPEC);
	expect_code(connect_front(f), 409, "not_ready", "act", "agent", "{\"actions\":[]}");
	xserver_start_again(&f->server, WIDTH, HEIGHT);
	while (xcb_connection_has_error(f->x)) {
		xcb_disconnect(f->x);
		f->x = xcb_connect(f->server.display, NULL);
	}
	xserver_start_manager(&f->server);
	struct reply reply = read_reply(fd);

	assert_int_equal(reply.status, 200);
	reply_free(&reply);
}

static void test_session_document(void **state)
{
	struct fixture *f = *state;
	int fd = open_stage(f);
	auto_free char *path = util_printf("/proc/self/fd/%d", f->session_fd);
	auto_fd file = open(path, O_RDONLY | O_CLOEXEC);
	auto_free char *text = NULL;

	(void)close(fd);
	assert_true(util_read_file(file, 1 << 20, &text) > 0);
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
		{"act", "10010"}, {"screenshot", "10010"}, {"cancel", "10010"}, {"state", "11111"}, {"actions", "11111"},
		{"open", "00001"}, {"start", "00001"},     {"end", "00001"},
	};
	auto_fd fd = connect_front(*state);

	for (size_t c = 0; c < ARRAY_LEN(table); c++)
		for (size_t r = 0; r < ARRAY_LEN(roles); r++) {
			struct reply reply = call(fd, table[c].call, roles[r], "{}");

			if ((reply.status != 403) != (table[c].may[r] == '1'))
				fail_msg("%s as %s: %d", table[c].call, roles[r], reply.status);
			reply_free(&reply);
		}
	expect_code(fd, 404, "not_found", "lease", "operator", NULL);
}

static bool is_closed(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	char byte;

	return poll(&p, 1, CALL_MS) == 1 && read(fd, &byte, 1) <= 0;
}

/* Broken frames close their connection; the others are served on. */
static void test_broken_frames(void **state)
{
	static const char *const envelopes[] = {
		"", "{", "[]", "{}", "{\"call\":\"state\"}", "{\"call\":7,\"role\":\"agent\"}", "{\"call\":\"state\",\"role\":\"root\"}",
		"{\"call\":\"state\",\"role\":\"agent\",\"query\":[]}",
		"{\"call\":\"open\\u0000\",\"role\":\"server\"}", "{\"call\":\"state\",\"role\":\"agent\",\"query\":{\"region\":1}}",
	};
	struct fixture *f = *state;
	auto_fd good = connect_front(f);

	for (size_t i = 0; i < ARRAY_LEN(envelopes); i++) {
		auto_fd fd = connect_front(f);

		send_frame(fd, LINK_CALL, 0, envelopes[i], strlen(envelopes[i]));
		assert_true(is_closed(fd));
	}
	auto_fd data_first = connect_front(f);

	send_frame(data_first, LINK_DATA, 0, "x", 1);
	assert_true(is_closed(data_first));
	auto_fd long_frame = connect_front(f);
	struct ipc_frame_head head = {.length = UINT32_MAX, .kind = LINK_CALL};

	assert_int_equal(util_write_all(long_frame, &head, sizeof(head)), 0);
	assert_true(is_closed(long_frame));
	json_decref(expect(good, 200, "state", "agent", NULL));
}

static void test_large_body(void **state)
{
	auto_free char *piece = util_zalloc(LIMIT_FRAME_BYTES);
	auto_fd fd = connect_front(*state);
	const char envelope[] = "{\"call\":\"act\",\"role\":\"agent\"}";

	(void)signal(SIGPIPE, SIG_IGN);
	send_frame(fd, LINK_CALL, LINK_MORE, envelope, strlen(envelope));
	for (int i = 0; i < 4; i++)
		send_frame(fd, LINK_DATA, LINK_MORE, piece, LIMIT_FRAME_BYTES);
	send_frame(fd, LINK_DATA, LINK_MORE, piece, 1);
	assert_true(is_closed(fd));
}

static void test_picture(void **state)
{
	struct fixture *f = *state;
	auto_fd fd = open_stage(f);

	send_call(fd, "screenshot", "agent", "{\"region\":\"0,0,320,100\",\"cursor\":\"false\"}", NULL);
	struct reply reply = read_reply(fd);
	const json_t *headers = json_object_get(reply.envelope, "headers");

	assert_int_equal(reply.status, 200);
	assert_string_equal(form_string(reply.envelope, "type", ""), "image/png");
	assert_memory_equal(reply.body, "\x89PNG\r\n\x1a\n", 8);
	assert_memory_equal(reply.body + 16, "\0\0\1\x40\0\0\0\x64", 8); /* 320x100 */
	assert_string_equal(form_string(headers, "Glovebox-Space", ""), "320x200");
	assert_string_equal(form_string(headers, "Glovebox-Native", ""), "640x400");
	assert_string_equal(form_string(headers, "Glovebox-Region", ""), "0,0,320,100");
	assert_non_null(strstr(form_string(headers, "Glovebox-At", ""), "epoch=1, episode=1"));
	reply_free(&reply);
	send_call(fd, "screenshot", "agent", "{\"region\":\"0,0,321,100\"}", NULL);
	reply = read_reply(fd);
	assert_int_equal(reply.status, 400);
	reply_free(&reply);
}

static const json_t *result_of(const json_t *reply, size_t i)
{
	return json_array_get(json_object_get(reply, "results"), i);
}

static void test_act_and_look(void **state)
{
	struct fixture *f = *state;
	auto_fd fd = open_stage(f);
	json_t *reply = expect(fd, 200, "act", "agent",
	                       "{\"actions\":[{\"action\":\"move\",\"x\":319,\"y\":199},{\"action\":\"wait\",\"duration_ms\":20},"
	                       "{\"action\":\"cursor_position\"}],\"observe\":{\"quiet_ms\":50}}");
	const json_t *observation = json_object_get(reply, "observation");
	int x, y;

	assert_true(json_is_true(json_object_get(reply, "ok")));
	assert_int_equal(form_int(reply, "done", 0), 3);
	assert_true(form_int(result_of(reply, 1), "elapsed_ms", 0) >= 20);
	assert_int_equal(form_int(result_of(reply, 2), "x", -1), 319);
	assert_int_equal(form_int(result_of(reply, 2), "y", -1), 199);
	assert_true(json_is_true(json_object_get(observation, "settled")));
	assert_int_equal(form_int(json_object_get(observation, "picture"), "width", 0), 320);
	assert_true(json_equal(json_object_get(observation, "at"), json_object_get(reply, "at")));
	assert_int_equal(form_int(json_object_get(observation, "native"), "width", 0), WIDTH);
	assert_int_equal(form_int(json_object_get(observation, "space"), "height", 0), 200);
	json_decref(reply);
	/* The last row and column of the space are those of the display. */
	(void)pointer_mask(f, &x, &y);
	assert_int_equal(x, WIDTH - 1);
	assert_int_equal(y, HEIGHT - 1);
}

static void test_nothing_happens_when_refused(void **state)
{
	struct fixture *f = *state;
	auto_fd fd = open_stage(f);
	int x, y, x_after, y_after;

	json_decref(expect(fd, 200, "act", "agent", "{\"actions\":[{\"action\":\"move\",\"x\":10,\"y\":10}]}"));
	(void)pointer_mask(f, &x, &y);
	expect_code(fd, 400, "bad_field", "act", "agent",
	            "{\"actions\":[{\"action\":\"move\",\"x\":50,\"y\":50},{\"action\":\"move\",\"x\":320,\"y\":50}]}");
	json_t *checked = expect(fd, 200, "act", "agent", "{\"actions\":[{\"action\":\"move\",\"x\":50,\"y\":50}],\"check_only\":true}");

	assert_int_equal(form_int(checked, "done", -1), 0);
	json_decref(checked);
	(void)pointer_mask(f, &x_after, &y_after);
	assert_int_equal(x, x_after);
	assert_int_equal(y, y_after);
	auto_free char *text = journal_text(f);

	assert_null(strstr(text, "\"x\":50"));
}

static void wait_pointer_mask(struct fixture *f, bool any)
{
	for (int64_t end_ms = util_now_ms() + 3000; (pointer_mask(f, NULL, NULL) != 0) != any;)
		if (util_now_ms() > end_ms)
			fail_msg("buttons and keys are still %s", any ? "up" : "down");
}

static const char DOWN[] = "{\"actions\":[{\"action\":\"mouse_down\",\"x\":5,\"y\":5},{\"action\":\"key_down\",\"keys\":\"shift\"}]}";

static void test_held_until_a_call_fails(void **state)
{
	struct fixture *f = *state;
	auto_fd fd = open_stage(f);

	json_decref(expect(fd, 200, "act", "agent", DOWN));
	assert_int_not_equal(pointer_mask(f, NULL, NULL), 0);
	json_t *described = expect(fd, 200, "state", "agent", NULL);

	assert_int_equal(json_array_size(json_object_get(json_object_get(described, "held"), "keys")), 1);
	assert_int_equal(json_array_size(json_object_get(json_object_get(described, "held"), "buttons")), 1);
	json_decref(described);
	/* A refusal does nothing, also not this. */
	expect_code(fd, 400, "unknown_action", "act", "agent", "{\"actions\":[{\"action\":\"nothing\"}]}");
	assert_int_not_equal(pointer_mask(f, NULL, NULL), 0);
	/* A good call keeps what is held, a failing one lets go. */
	json_decref(expect(fd, 200, "act", "agent", "{\"actions\":[{\"action\":\"move\",\"x\":9,\"y\":9}]}"));
	assert_int_not_equal(pointer_mask(f, NULL, NULL), 0);
	json_t *reply = expect(fd, 200, "act", "agent", "{\"actions\":[{\"action\":\"wait\",\"duration_ms\":5000}],\"timeout_ms\":50}");

	assert_true(json_is_false(json_object_get(reply, "ok")));
	assert_int_equal(form_int(reply, "done", -1), 0);
	assert_string_equal(form_string(json_object_get(result_of(reply, 0), "error"), "code", ""), "timeout");
	assert_string_equal(form_string(json_object_get(result_of(reply, 0), "error"), "pointer", ""), "/actions/0");
	json_decref(reply);
	wait_pointer_mask(f, false);
}

static void test_lost_caller_lets_go(void **state)
{
	struct fixture *f = *state;
	auto_fd fd = open_stage(f);
	int other = connect_front(f);

	send_call(other, "act", "agent", NULL,
	          "{\"actions\":[{\"action\":\"mouse_down\",\"x\":5,\"y\":5},{\"action\":\"wait\",\"duration_ms\":60000}]}");
	wait_pointer_mask(f, true);
	(void)close(other);
	wait_pointer_mask(f, false);
	/* The turn is free again. */
	json_decref(expect(fd, 200, "act", "agent", "{\"actions\":[]}"));
}

static void test_cancel(void **state)
{
	struct fixture *f = *state;
	auto_fd fd = open_stage(f);
	auto_fd other = connect_front(f);
	json_t *answer = expect(fd, 200, "cancel", "agent", NULL);

	assert_true(json_is_false(json_object_get(answer, "cancelled")));
	json_decref(answer);
	send_call(other, "act", "agent", NULL,
	          "{\"actions\":[{\"action\":\"mouse_down\",\"x\":5,\"y\":5},{\"action\":\"wait\",\"duration_ms\":60000},"
	          "{\"action\":\"move\",\"x\":1,\"y\":1}],\"observe\":true}");
	wait_pointer_mask(f, true);
	answer = expect(fd, 200, "cancel", "agent", NULL);
	assert_true(json_is_true(json_object_get(answer, "cancelled")));
	json_decref(answer);
	struct reply reply = read_reply(other);

	assert_int_equal(reply.status, 200);
	assert_int_equal(form_int(reply.json, "done", -1), 1);
	assert_int_equal(json_array_size(json_object_get(reply.json, "results")), 2);
	assert_string_equal(form_string(json_object_get(result_of(reply.json, 1), "error"), "code", ""), "cancelled");
	reply_free(&reply);
	wait_pointer_mask(f, false);
}

/* Waiting calls have their turn in order; looks and state do not wait; one too many is refused. */
static void test_queue(void **state)
{
	struct fixture *f = *state;
	auto_fd fd = open_stage(f);
	int waiting[LIMIT_WAITING_CALLS];
	auto_fd running = connect_front(f);

	send_call(running, "act", "agent", NULL, "{\"actions\":[{\"action\":\"wait\",\"duration_ms\":60000}]}");
	wait_journal(f, "\"event\":\"intent\"");
	for (int i = 0; i < LIMIT_WAITING_CALLS; i++) {
		auto_free char *body = util_printf("{\"actions\":[{\"action\":\"move\",\"x\":%d,\"y\":0}],\"timeout_ms\":60000}", i);

		waiting[i] = connect_front(f);
		send_call(waiting[i], "act", "agent", NULL, body);
		json_decref(expect(fd, 200, "state", "agent", NULL)); /* it is in the queue when this is answered */
	}
	expect_code(fd, 429, "busy", "act", "agent", "{\"actions\":[]}");
	send_call(fd, "screenshot", "agent", NULL, NULL);
	struct reply picture = read_reply(fd);

	assert_int_equal(picture.status, 200);
	reply_free(&picture);
	/* One that waits and leaves is not run. */
	(void)close(waiting[7]);
	json_decref(expect(fd, 200, "cancel", "agent", NULL));
	for (int i = 0; i < LIMIT_WAITING_CALLS; i++) {
		if (i == 7)
			continue;
		struct reply reply = read_reply(waiting[i]);

		assert_int_equal(reply.status, 200);
		reply_free(&reply);
		(void)close(waiting[i]);
	}
	auto_free char *text = journal_text(f);
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
	struct fixture *f = *state;
	auto_fd fd = open_stage(f);
	auto_fd running = connect_front(f);

	send_call(running, "act", "agent", NULL, "{\"actions\":[{\"action\":\"wait\",\"duration_ms\":60000}]}");
	wait_journal(f, "\"event\":\"intent\"");
	expect_code(fd, 504, "timeout", "act", "agent", "{\"actions\":[],\"timeout_ms\":100}");
}

/* Intent before the events, result before the reply, actor and request in both, typed text as it is. */
static void test_journal(void **state)
{
	struct fixture *f = *state;
	auto_fd fd = open_stage(f);

	json_decref(expect(fd, 200, "act", "agent", "{\"actions\":[{\"action\":\"type\",\"text\":\"hello\"},{\"action\":\"wait\",\"duration_ms\":1}]}"));
	auto_free char *text = journal_text(f);
	const char *intent = strstr(text, "\"event\":\"intent\",\"actor\":{\"role\":\"agent\",\"token\":\"t1\"},\"request\":\"r1\"");

	assert_non_null(intent);
	assert_non_null(strstr(intent, "\"action\":{\"action\":\"type\",\"text\":\"hello\"}"));
	const char *result = strstr(intent, "\"event\":\"result\"");

	assert_non_null(result);
	assert_non_null(strstr(result, "\"ok\":true"));
	assert_non_null(strstr(strstr(result, "\"event\":\"intent\""), "\"index\":1"));
}

/* A window full of noise, of which no encoder can make a small picture. */
static void paint_noise(struct fixture *f)
{
	const uint32_t redirect = 1;
	xcb_window_t window = xcb_generate_id(f->x);
	xcb_gcontext_t gc = xcb_generate_id(f->x);
	static uint32_t noise[WIDTH * 16];

	xcb_create_window(f->x, XCB_COPY_FROM_PARENT, window, f->root, 0, 0, WIDTH, HEIGHT, 0, XCB_WINDOW_CLASS_INPUT_OUTPUT,
	                  XCB_COPY_FROM_PARENT, XCB_CW_OVERRIDE_REDIRECT, &redirect);
	xcb_map_window(f->x, window);
	xcb_create_gc(f->x, gc, window, 0, NULL);
	for (int row = 0; row < HEIGHT; row += 16) {
		for (size_t i = 0; i < ARRAY_LEN(noise); i++)
			noise[i] = (uint32_t)rand();
		xcb_put_image(f->x, XCB_IMAGE_FORMAT_Z_PIXMAP, window, gc, WIDTH, 16, 0, (int16_t)row, 0, 24, sizeof(noise), (const uint8_t *)noise);
	}
	(void)pointer_mask(f, NULL, NULL);
}

static void test_reply_is_bounded(void **state)
{
	struct fixture *f = *state;
	auto_fd fd = open_stage(f);
	char body[64 * 128] = "{\"actions\":[{\"action\":\"mouse_down\"}";
	size_t n;

	paint_noise(f);
	for (int i = 0; i < 40; i++)
		strcat(body, ",{\"action\":\"screenshot\",\"space\":\"native\"}");
	strcat(body, "]}");
	struct reply reply = call(fd, "act", "agent", body);

	assert_int_equal(reply.status, 200);
	assert_true(json_is_false(json_object_get(reply.json, "ok")));
	assert_true(reply.len <= LIMIT_ACT_REPLY_BYTES + 4096);
	n = json_array_size(json_object_get(reply.json, "results"));
	assert_true(n > 10 && n < 40);
	assert_string_equal(form_string(json_object_get(result_of(reply.json, n - 1), "error"), "code", ""), "too_large");
	reply_free(&reply);
	wait_pointer_mask(f, false);
}

/* Readers that do not read: no more answers are made for them, and the memory is bounded. */
static void test_unread_answers(void **state)
{
	struct fixture *f = *state;
	auto_fd fd = open_stage(f);
	int lazy[40];
	char body[64 * 64] = "{\"actions\":[{\"action\":\"wait\",\"duration_ms\":0}";

	paint_noise(f);
	for (int i = 0; i < 14; i++)
		strcat(body, ",{\"action\":\"screenshot\",\"space\":\"native\"}");
	strcat(body, "]}");
	for (size_t i = 0; i < ARRAY_LEN(lazy); i++) {
		lazy[i] = connect_front(f);
		send_call(lazy[i], "act", "agent", NULL, body);
	}
	/* Its turn comes last. */
	struct reply reply = call(fd, "act", "agent", "{\"actions\":[]}");

	assert_int_equal(reply.status, 429);
	reply_free(&reply);
	for (size_t i = 0; i < ARRAY_LEN(lazy); i++)
		(void)close(lazy[i]);
	json_decref(expect(fd, 200, "state", "agent", NULL));
	json_decref(expect(fd, 200, "act", "agent", "{\"actions\":[]}"));
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
	struct fixture *f = *state;
	long before = 0;

	(void)close(open_stage(f));
	for (int i = 0; i < 600; i++) {
		auto_free char *body = util_printf("{\"actions\":[{\"action\":\"move\",\"x\":%d,\"y\":1},{\"action\":\"screenshot\"}],"
		                                   "\"observe\":{\"quiet_ms\":0}}",
		                                   i % 300);
		auto_fd own = connect_front(f);

		json_decref(expect(own, 200, "act", "agent", body));
		expect_code(own, 400, "bad_field", "act", "agent", "{\"actions\":[{\"action\":\"move\",\"x\":1000,\"y\":1}]}");
		send_call(own, "screenshot", "agent", NULL, NULL);
		if (i % 2 == 0) {
			struct reply reply = read_reply(own);

			reply_free(&reply);
		}
		if (i == 200)
			before = resident_kb(f->stage);
	}
#ifndef __SANITIZE_ADDRESS__
	assert_true(resident_kb(f->stage) - before < 2048);
#else
	(void)before;
#endif
}

static void wait_state(int fd, const char *name)
{
	for (int64_t end_ms = util_now_ms() + 15000;;) {
		json_t *described = expect(fd, 200, "state", "agent", NULL);
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
	struct fixture *f = *state;
	auto_fd fd = open_stage(f);
	auto_fd other = connect_front(f);

	send_call(other, "act", "agent", NULL, "{\"actions\":[{\"action\":\"wait\",\"duration_ms\":60000}],\"observe\":true}");
	wait_journal(f, "\"event\":\"intent\"");
	(void)kill(f->server.pid, SIGKILL);
	wait_state(fd, "failed");
	struct reply reply = read_reply(other);

	assert_int_equal(reply.status, 200);
	assert_true(json_is_false(json_object_get(reply.json, "ok")));
	reply_free(&reply);
	expect_code(fd, 503, "session_gone", "act", "agent", "{\"actions\":[]}");
	expect_code(fd, 503, "session_gone", "screenshot", "agent", NULL);
	json_decref(expect(fd, 200, "end", "server", NULL));
	auto_free char *text = journal_text(f);

	assert_non_null(strstr(text, "\"event\":\"failed\",\"reason\":\"the display is gone\""));
}

static void test_init_dies(void **state)
{
	struct fixture *f = *state;
	auto_fd fd = open_stage(f);

	(void)close(f->init_fd);
	f->init_fd = -1;
	wait_state(fd, "failed");
	expect_code(fd, 503, "session_gone", "act", "agent", "{\"actions\":[]}");
}

/* State, refusals and the end work while X does not answer. */
static void test_display_silent(void **state)
{
	struct fixture *f = *state;
	auto_fd fd = open_stage(f);
	auto_fd other = connect_front(f);
	int64_t start_ms;

	(void)kill(f->server.pid, SIGSTOP);
	send_call(other, "screenshot", "agent", NULL, NULL);
	start_ms = util_now_ms();
	json_decref(expect(fd, 200, "state", "agent", NULL));
	expect_code(fd, 400, "unknown_action", "act", "agent", "{\"actions\":[{\"action\":\"nothing\"}]}");
	assert_true(util_now_ms() - start_ms < LIMIT_X_WAIT_MS);
	struct reply reply = read_reply(other);

	assert_int_equal(reply.status, 503);
	assert_string_equal(form_string(reply.json, "code", ""), "display_silent");
	reply_free(&reply);
	json_t *act = expect(fd, 200, "act", "agent", "{\"actions\":[{\"action\":\"move\",\"x\":1,\"y\":1}]}");

	assert_string_equal(form_string(json_object_get(result_of(act, 0), "error"), "code", ""), "display_silent");
	json_decref(act);
	json_decref(expect(fd, 200, "end", "server", NULL));
	(void)kill(f->server.pid, SIGCONT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_life),
		TEST(test_late_display),
		TEST(test_session_document),
		TEST(test_roles),
		TEST(test_broken_frames),
		TEST(test_large_body),
		TEST(test_picture),
		TEST(test_act_and_look),
		TEST(test_nothing_happens_when_refused),
		TEST(test_held_until_a_call_fails),
		TEST(test_lost_caller_lets_go),
		TEST(test_cancel),
		TEST(test_queue),
		TEST(test_waiting_has_a_limit),
		TEST(test_journal),
		TEST(test_reply_is_bounded),
		TEST(test_unread_answers),
		TEST(test_memory_does_not_grow),
		TEST(test_display_dies),
		TEST(test_init_dies),
		TEST(test_display_silent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
