/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A stage in a process of its own, and the ends that it talks to. */
#include "tests/x/rig.h"

#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "apps/init/proto.h"
#include "session/base/limits.h"
#include "session/base/log.h"
#include "session/base/util.h"
#include "session/stage/calls.h"
#include "session/stage/link.h"

static json_t *hello(void *arg)
{
	return stage_hello(arg);
}

struct process {
	struct stage *stage;
	int warden_fd;
};

static void on_warden(void *arg, uint32_t events)
{
	struct process *process = arg;

	(void)events;
	(void)viewers_receive(process->stage, process->warden_fd);
}

/* The stage's process: as main_stage.c, without the confinement. */
static void stage_process(int listen_fd, int warden_fd, struct ends *ends)
{
	struct loop *loop = loop_create(NULL);
	struct stage *stage = stage_create(loop, ends);
	struct process process = {stage, warden_fd};
	const struct connections_ops ops = {.hello = hello, .call = calls_take, .check_answer = calls_check_answer, .arg = stage};

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	log_init("stage", NULL);
	stage->connections = connections_create(loop, listen_fd, &ops);
	(void)loop_add(loop, warden_fd, EPOLLIN, on_warden, &process);
	loop_run(loop);
	_exit(stage->exit_status);
}

static void start_stage(struct rig *rig, int init_fd, off_t journal_bytes, off_t pictures_bytes)
{
	struct ends ends = {.session = "sabcdefghijklmno", .maximum = {RIG_WIDTH, RIG_HEIGHT}, .apps_pid = getpid(), .init_fd = init_fd,
	                    .egress_fd = -1, .freeze_fd = -1, .frozen_fd = -1, .agent_freeze_fd = -1, .agent_kill_fd = -1, .agent_events_fd = -1, .apps_kill_fd = -1};
	int listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), warden[2];

	(void)snprintf(rig->folder, sizeof(rig->folder), "/tmp/stage-test-XXXXXX");
	assert_non_null(mkdtemp(rig->folder));
	rig->address.sun_family = AF_UNIX;
	(void)snprintf(rig->address.sun_path, sizeof(rig->address.sun_path), "%s/sock", rig->folder);
	assert_int_equal(bind(listen_fd, (struct sockaddr *)&rig->address, sizeof(rig->address)), 0);
	assert_int_equal(listen(listen_fd, 64), 0);
	memset(ends.meter_fds, 0xFF, sizeof(ends.meter_fds)); /* -1 each */
	(void)snprintf(ends.display, sizeof(ends.display), "%s", rig->server.display);
	rig->journal_fd = memfd_create("journal", 0);
	assert_int_equal(ftruncate(rig->journal_fd, journal_bytes), 0);
	assert_int_equal(lseek(rig->journal_fd, 0, SEEK_END), journal_bytes);
	rig->session_fd = memfd_create("session", 0);
	ends.journal_fd = dup(rig->journal_fd);
	ends.session_json_fd = dup(rig->session_fd);
	rig->pictures_fd = memfd_create("pictures", 0);
	assert_int_equal(ftruncate(rig->pictures_fd, pictures_bytes), 0);
	assert_int_equal(lseek(rig->pictures_fd, 0, SEEK_END), pictures_bytes);
	ends.pictures_fd = dup(rig->pictures_fd);
	ends.proc_fd = open("/proc", O_RDONLY | O_DIRECTORY);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, warden), 0);
	rig->warden_fd = warden[0];
	rig->stage = fork();
	if (rig->stage == 0) {
		(void)close(rig->init_fd);
		(void)close(rig->warden_fd);
		stage_process(listen_fd, warden[1], &ends);
	}
	(void)close(warden[1]);
	(void)close(listen_fd);
	ends_close(&ends);
}

static int set_up(void **state, off_t journal_bytes, off_t pictures_bytes)
{
	struct init_report ready = {.op = INIT_READY, .pid = 1};
	struct rig *rig = util_zalloc(sizeof(*rig));
	int link[2];

	xserver_start(&rig->server, RIG_WIDTH, RIG_HEIGHT);
	xserver_start_manager(&rig->server);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, link), 0);
	assert_int_equal(ipc_send(link[0], &ready, sizeof(ready), NULL, 0, NULL), 0);
	rig->init_fd = link[0];
	start_stage(rig, link[1], journal_bytes, pictures_bytes);
	rig->x = xcb_connect(rig->server.display, NULL);
	rig->root = xcb_setup_roots_iterator(xcb_get_setup(rig->x)).data->root;
	*state = rig;
	return 0;
}

int rig_set_up(void **state)
{
	return set_up(state, 0, 0);
}

int rig_set_up_full_journal(void **state)
{
	return set_up(state, LIMIT_JOURNAL_BYTES, 0);
}

int rig_set_up_full_pictures(void **state)
{
	return set_up(state, 0, LIMIT_PICTURES_BYTES);
}

int rig_tear_down(void **state)
{
	struct rig *rig = *state;

	if (rig->stage > 0) {
		(void)kill(rig->stage, SIGKILL);
		(void)waitpid(rig->stage, NULL, 0);
	}
	xcb_disconnect(rig->x);
	xserver_stop(&rig->server);
	(void)close(rig->warden_fd);
	(void)close(rig->journal_fd);
	(void)close(rig->session_fd);
	(void)close(rig->pictures_fd);
	if (rig->init_fd >= 0)
		(void)close(rig->init_fd);
	(void)unlink(rig->address.sun_path);
	(void)rmdir(rig->folder);
	free(rig);
	return 0;
}

/* The front's side. */

static void read_all(int fd, void *out, size_t len)
{
	char *at = out;

	for (size_t n = 0; n < len;) {
		struct pollfd p = {.fd = fd, .events = POLLIN};

		if (poll(&p, 1, RIG_CALL_MS) != 1)
			fail_msg("the stage does not answer");
		ssize_t got = read(fd, at + n, len - n);

		if (got <= 0)
			fail_msg("the stage closed the connection");
		n += (size_t)got;
	}
}

/* One frame; malloced, NUL-terminated. */
char *rig_read_frame(int fd, struct ipc_frame_head *head)
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
	auto_free char *text = rig_read_frame(fd, &head);

	assert_int_equal(head.kind, kind);
	*more = head.flags & LINK_MORE;
	json_t *value = json_loads(text, 0, NULL);

	assert_non_null(value);
	return value;
}

int rig_connect(struct rig *rig)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool more;

	assert_int_equal(connect(fd, (struct sockaddr *)&rig->address, sizeof(rig->address)), 0);
	json_t *greeting = read_json(fd, LINK_HELLO, &more);

	assert_string_equal(json_string_value(json_object_get(greeting, "session")), "sabcdefghijklmno");
	json_decref(greeting);
	return fd;
}

void rig_send_frame(int fd, uint16_t kind, uint16_t flags, const void *data, size_t len)
{
	struct ipc_frame_head head = {.length = (uint32_t)len, .kind = kind, .flags = flags};

	assert_int_equal(util_write_all(fd, &head, sizeof(head)), 0);
	assert_int_equal(util_write_all(fd, data, len), 0);
}

void rig_send_call(int fd, const char *name, const char *role, const char *query, const char *body)
{
	auto_free char *envelope = util_printf("{\"call\":\"%s\",\"role\":\"%s\",\"token\":\"t1\",\"request_id\":\"r1\",\"query\":%s}", name, role,
	                                       query ? query : "{}");

	rig_send_frame(fd, LINK_CALL, body ? LINK_MORE : 0, envelope, strlen(envelope));
	if (body)
		rig_send_frame(fd, LINK_DATA, 0, body, strlen(body));
}

struct rig_reply rig_read_reply(int fd)
{
	struct rig_reply reply = {0};
	bool more;

	reply.envelope = read_json(fd, LINK_REPLY, &more);
	reply.status = (int)form_int(reply.envelope, "status", 0);
	while (more) {
		struct ipc_frame_head head;
		auto_free char *data = rig_read_frame(fd, &head);

		assert_int_equal(head.kind, LINK_DATA);
		reply.body = util_realloc(reply.body, reply.len + head.length + 1);
		memcpy(reply.body + reply.len, data, head.length + 1);
		reply.len += head.length;
		more = head.flags & LINK_MORE;
	}
	reply.json = reply.body ? json_loadb(reply.body, reply.len, 0, NULL) : NULL;
	return reply;
}

void rig_free_reply(struct rig_reply *reply)
{
	json_decref(reply->envelope);
	json_decref(reply->json);
	free(reply->body);
	*reply = (struct rig_reply){0};
}

struct rig_reply rig_call(int fd, const char *name, const char *role, const char *body)
{
	rig_send_call(fd, name, role, NULL, body);
	return rig_read_reply(fd);
}

json_t *rig_expect(int fd, int status, const char *name, const char *role, const char *body)
{
	struct rig_reply reply = rig_call(fd, name, role, body);

	if (reply.status != status)
		fail_msg("%s %s: %d %s", name, body ? body : "", reply.status, reply.body ? reply.body : "");
	json_t *value = json_incref(reply.json);

	rig_free_reply(&reply);
	return value;
}

void rig_expect_code(int fd, int status, const char *code, const char *name, const char *role, const char *body)
{
	json_t *problem = rig_expect(fd, status, name, role, body);

	assert_string_equal(form_string(problem, "code", ""), code);
	assert_string_equal(form_string(problem, "request_id", ""), "r1");
	json_decref(problem);
}

int rig_open(struct rig *rig)
{
	int fd = rig_connect(rig);

	json_decref(rig_expect(fd, 200, "open", "server", RIG_SPEC));
	json_decref(rig_expect(fd, 200, "start", "server", NULL));
	return fd;
}

char *rig_text(int memory_fd)
{
	auto_free char *path = util_printf("/proc/self/fd/%d", memory_fd);
	auto_fd fd = open(path, O_RDONLY | O_CLOEXEC);
	char *text;

	assert_true(util_read_file(fd, 1 << 22, &text) >= 0);
	return text;
}

char *rig_journal(const struct rig *rig)
{
	return rig_text(rig->journal_fd);
}

void rig_wait_journal(const struct rig *rig, const char *part)
{
	int64_t end_ms = util_now_ms() + RIG_CALL_MS;

	for (bool there = false; !there;) {
		auto_free char *text = rig_journal(rig);

		there = strstr(text, part);
		if (util_now_ms() > end_ms)
			fail_msg("the journal does not say %s", part);
	}
}

uint16_t rig_pointer(struct rig *rig, int *x, int *y)
{
	xcb_query_pointer_reply_t *reply = xcb_query_pointer_reply(rig->x, xcb_query_pointer(rig->x, rig->root), NULL);
	uint16_t mask = reply->mask;

	if (x)
		*x = reply->root_x;
	if (y)
		*y = reply->root_y;
	free(reply);
	return mask;
}

const json_t *rig_result(const json_t *reply, size_t i)
{
	return json_array_get(json_object_get(reply, "results"), i);
}

void rig_wait_mask(struct rig *rig, bool any)
{
	for (int64_t end_ms = util_now_ms() + 3000; (rig_pointer(rig, NULL, NULL) != 0) != any;)
		if (util_now_ms() > end_ms)
			fail_msg("buttons and keys are still %s", any ? "up" : "down");
}

