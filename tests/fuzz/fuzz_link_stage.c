/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: glovebox-stage */
/* longest: 1024 */
/*
 * What a stage is told: its links with the front, with egress, with init, with a view, with the helper of files, and with the warden, each with the rule table behind
 * it. Whatever is said, what is answered is well-formed, and the link goes on or ends.
 *
 * The first byte says which link (a row of `links`), and the rest what comes over it (frames.h); of an "f" or an "e" without borders. Nothing of it can start a
 * program, or open a display.
 */
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/un.h>

#include "apps/files.h"
#include "apps/init/proto.h"
#include "apps/state.h"
#include "display/view/proto.h"
#include "session/base/json.h"
#include "session/base/log.h"
#include "session/stage/calls.h"
#include "session/stage/link.h"
#include "session/stage/stage.h"
#include "session/stage/viewer.h"
#include "tests/fuzz/frames.h"

#define MOST_BYTES 4096
#define WHILE_MS 2000 /* for what should be over at once */
#define SESSION "sabcdefghijklmno"
#define APPROVAL "{\"mode\":\"never\",\"rules\":[{\"verdict\":\"deny\",\"host\":[\"*.no\"]},{\"verdict\":\"ask\",\"does\":[\"reaches\"]}]}"

/* How much of a stage a link needs. */
enum need {
	A_LOOP,
	A_BARE_STAGE,  /* with a journal, and rules */
	A_WHOLE_STAGE, /* as far as one can be without a display */
};

struct place {
	struct loop *loop; /* one for all inputs */
	struct stage *stage;
	struct sockaddr_un address; /* of a whole one */
	socklen_t address_len;
	bool done; /* the coroutine of this input */
	const uint8_t *data;
	size_t size;
};

static void insist(bool holds, const char *what)
{
	if (!holds)
		DIE("%s", what);
}

static void pair(int type, int ends[2])
{
	if (socketpair(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0)
		DIE("no socketpair: %s", strerror(errno));
}

static void settle(const struct place *place)
{
	while (loop_turn(place->loop, 0))
		;
}

/* Until what the input has started is over. */
static void wait_done(const struct place *place)
{
	const int64_t until_ms = util_now_ms() + WHILE_MS;

	settle(place);
	while (!place->done) {
		insist(util_now_ms() < until_ms, "it does not end");
		(void)loop_turn(place->loop, 1);
	}
	settle(place);
}

static json_t *hello(void *arg)
{
	return stage_hello(arg);
}

/* All but those that would open a display, or start something in the jail. */
static void take_call(void *arg, struct call *call)
{
	struct err e;

	if (strcmp(call->name, "open") != 0 && strcmp(call->name, "start") != 0) {
		calls_take(arg, call);
		return;
	}
	(void)err_set(&e, ERR_FORBIDDEN, NULL, "not here");
	call_refuse(call, &e);
	call_finish(call);
}

static int journal_of_nothing(void)
{
	return open("/dev/null", O_WRONLY | O_CLOEXEC);
}

static void begin_bare(struct place *place)
{
	static struct stage stage;
	json_auto_t *approval = json_loads(APPROVAL, 0, NULL);
	struct err e;

	memset(&stage, 0, sizeof(stage));
	stage.loop = place->loop;
	stage.state = STAGE_IS_READY;
	stage.native = stage.space = (struct space){640, 480};
	stage.epoch = stage.episode = 1;
	memcpy(stage.ends.session, SESSION, sizeof(SESSION));
	stage.journal = journal_create(place->loop, journal_of_nothing());
	if (approvals_begin(&stage, approval, NULL, &e) < 0)
		DIE("%s: %s", e.path, e.msg);
	place->stage = &stage;
}

static void begin_whole(struct place *place)
{
	struct connections_ops ops = {.hello = hello, .call = take_call, .check_answer = calls_check_answer, .pass = gate_reply, .comes = calls_body_comes};
	struct ends ends = {.session = SESSION, .maximum = {640, 480}};
	int listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	memset(ends.meter_fds, 0xFF, sizeof(ends.meter_fds)); /* -1 each */
	ends.init_fd = ends.proc_fd = ends.session_json_fd = ends.pictures_fd = ends.egress_fd = ends.freeze_fd = ends.frozen_fd = ends.agent_freeze_fd =
		ends.agent_kill_fd = ends.agent_events_fd = ends.apps_kill_fd = -1;
	ends.journal_fd = journal_of_nothing();
	place->stage = stage_create(place->loop, &ends);
	place->address.sun_family = AF_UNIX;
	place->address_len = sizeof(place->address);
	/* Without a name it is given one. */
	if (bind(listen_fd, (struct sockaddr *)&place->address, sizeof(sa_family_t)) < 0 ||
	    getsockname(listen_fd, (struct sockaddr *)&place->address, &place->address_len) < 0 || listen(listen_fd, 4) < 0)
		DIE("no place for a stage: %s", strerror(errno));
	ops.arg = place->stage;
	place->stage->connections = connections_create(place->loop, listen_fd, &ops);
}

static void end_bare(struct place *place)
{
	egress_finish(place->stage);
	settle(place);
	approvals_finish(place->stage);
	journal_destroy(place->stage->journal);
}

static void end_whole(struct place *place)
{
	viewers_end(place->stage);
	settle(place);
	connections_destroy(place->stage->connections);
	settle(place);
	stage_destroy(place->stage);
}

/* --- the front --- */

static int connect_front(const struct place *place)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (const struct sockaddr *)&place->address, place->address_len) < 0)
		DIE("no connection: %s", strerror(errno));
	return fd;
}

/* Frames that the front takes: envelopes are JSON, and their order is that of the link. */
static void check_answers(int fd)
{
	static char text[1024 * 1024];
	ssize_t n = recv(fd, text, sizeof(text), MSG_DONTWAIT);
	size_t at = 0;

	while (n > 0 && at + sizeof(struct ipc_frame_head) <= (size_t)n) {
		struct ipc_frame_head head;
		json_auto_t *envelope = NULL;
		struct err e;

		memcpy(&head, text + at, sizeof(head));
		at += sizeof(head);
		if (head.length > (size_t)n - at)
			break;
		insist(head.kind == LINK_HELLO || head.kind == LINK_REPLY || head.kind == LINK_DATA || head.kind == LINK_PROGRESS, "a frame of a kind that is none of the stage's");
		insist(head.kind == LINK_DATA || (json_parse(text + at, head.length, &envelope, &e) == 0 && json_is_object(envelope)), "an envelope is no object");
		insist(head.kind != LINK_REPLY || (form_int(envelope, "status", 0) >= 200 && form_int(envelope, "status", 0) < 600), "a reply without a status");
		at += head.length;
	}
}

static void hear_front(struct place *place, bool raw)
{
	auto_fd fd = connect_front(place);

	if (raw)
		(void)util_write_all(fd, place->data, place->size);
	else
		frames_stream(fd, place->data, place->size);
	settle(place);
	check_answers(fd);
}

static void run_front(struct place *place)
{
	hear_front(place, false);
}

static void run_front_raw(struct place *place)
{
	hear_front(place, true);
}

/* --- egress --- */

static void hear_egress(struct place *place, bool raw)
{
	int ends[2];

	pair(SOCK_STREAM, ends);
	egress_take(place->stage, ends[0]);
	if (raw)
		(void)util_write_all(ends[1], place->data, place->size);
	else
		frames_stream(ends[1], place->data, place->size);
	settle(place);
	json_decref(egress_describe(place->stage));
	(void)close(ends[1]);
	settle(place);
	insist(!place->stage->egress.link, "a link without an end");
}

static void run_egress(struct place *place)
{
	hear_egress(place, false);
}

static void run_egress_raw(struct place *place)
{
	hear_egress(place, true);
}

/* --- init: two programs are being started when it speaks --- */

static void start_program(struct spawner *spawner, struct co_event *changed)
{
	static char name[] = "program";
	char *argv[] = {name, NULL}, *env[] = {NULL};
	const struct spawn spawn = {.group = INIT_GROUP_AGENT, .folder = "/", .argv = argv, .env = env, .pipes = INIT_PIPE_STDOUT, .changed = changed};
	struct process *process;
	struct err e;

	if (spawner_start(spawner, &spawn, util_now_ms() + WHILE_MS, &process, &e) < 0) {
		insist(e.code != ERR_NONE && e.msg[0], "a program that does not start has no reason");
		return;
	}
	insist(process->pid > 0, "a program runs without a number");
	if (spawner_wait_end(process, util_now_ms() + WHILE_MS, &e) == 0)
		insist(process->exit_code >= -1 && process->exit_code <= 255 && process->signo >= 0, "an end that is none");
	spawner_release(process);
}

static struct {
	struct place *place;
	struct spawner *spawner;
	struct co_event changed[2];
	unsigned int n_begun, n_over;
} programs;

static void run_program(void *arg)
{
	(void)arg;
	start_program(programs.spawner, &programs.changed[programs.n_begun++]);
	programs.place->done = ++programs.n_over == 2;
}

static void on_launch(void *arg, const struct init_launch *launch)
{
	(void)arg;
	insist(launch->name[0] && memchr(launch->name, '\0', sizeof(launch->name)), "a name without an end");
}

static void run_init(struct place *place)
{
	const struct spawner_ops ops = {.launch = on_launch};
	int ends[2];

	pair(SOCK_SEQPACKET, ends);
	memset(&programs, 0, sizeof(programs));
	programs.place = place;
	programs.spawner = spawner_create(place->loop, ends[0], &ops);
	for (int i = 0; i < 2; i++)
		(void)co_start(place->loop, run_program, NULL);
	settle(place);
	frames_records(ends[1], place->data, place->size);
	settle(place);
	(void)close(ends[1]);
	wait_done(place);
	spawner_destroy(programs.spawner);
}

/* --- a view --- */

static void wait_for_end(void *arg)
{
	struct viewer *viewer = arg;

	while (co_wait_event(&viewer->news, CO_FOREVER, NULL) == 0)
		;
	viewer_done(viewer);
}

static void run_view(struct place *place)
{
	struct viewer *viewer = util_zalloc(sizeof(*viewer));
	int ends[2];

	pair(SOCK_SEQPACKET, ends);
	frames_records(ends[1], place->data, place->size);
	(void)close(ends[1]);
	*viewer = (struct viewer){.stage = place->stage, .number = 1, .may_control = true, .controls = true, .is_here = true, .is_ready = true,
	                          .ends = {ends[0], -1, -1}, .n_running = 2};
	place->stage->viewers.list = viewer;
	viewer->shower = co_start(place->loop, wait_for_end, viewer);
	viewer->taker = co_start(place->loop, viewer_take, viewer);
	settle(place);
	for (int64_t until_ms = util_now_ms() + WHILE_MS; place->stage->viewers.list; (void)loop_turn(place->loop, 1))
		insist(util_now_ms() < until_ms, "a view that has closed is still there");
}

/* --- the helper of files: its first byte says for which call --- */

/* Init and the helper: it is started, has said all of the input, and has ended. */
static void play_init(const struct place *place, int fd)
{
	static char record[sizeof(struct init_spawn) + LIMIT_SPAWN_BYTES];
	struct init_spawn head;
	struct init_report report = {.op = INIT_SPAWNED, .pid = 7};
	size_t n_fds = 0;
	int fds[3] = {-1, -1, -1};

	if (ipc_recv(fd, record, sizeof(record), fds, ARRAY_LEN(fds), &n_fds, NULL) < (ssize_t)sizeof(head))
		return;
	memcpy(&head, record, sizeof(head));
	insist(head.op == INIT_SPAWN && n_fds == 2, "the helper is not started");
	(void)util_write_all(fds[1], place->data, place->size);
	for (size_t i = 0; i < n_fds; i++)
		util_close_fd(&fds[i]);
	report.tag = head.tag;
	(void)ipc_send(fd, &report, sizeof(report), NULL, 0, NULL);
	report.op = INIT_EXITED;
	(void)ipc_send(fd, &report, sizeof(report), NULL, 0, NULL);
}

static void run_helper(struct place *place)
{
	static const char *const calls[] = {
		"B{\"call\":\"file_get\",\"role\":\"owner\",\"query\":{\"path\":\"/~/a\"}}",
		"B{\"call\":\"file_get\",\"role\":\"owner\",\"query\":{\"path\":\"/~/a\",\"format\":\"tar\"}}",
		"B{\"call\":\"file_get\",\"role\":\"owner\",\"query\":{\"path\":\"/~/a\",\"range\":\"bytes=2-5\",\"head\":\"true\"}}",
		"B{\"call\":\"file_get\",\"role\":\"owner\",\"query\":{\"path\":\"/~/a\",\"range\":\"bytes=1-\"}}",
		"B{\"call\":\"file_drop\",\"role\":\"owner\",\"query\":{\"path\":\"/~/a\",\"recursive\":\"true\"}}",
	};
	struct apps apps = {.spawner = NULL};
	const struct spawner_ops ops = {.launch = NULL};
	const char *call;
	auto_fd fd = -1;
	int ends[2];

	if (place->size == 0)
		return;
	call = calls[place->data[0] % ARRAY_LEN(calls)];
	place->data++;
	place->size--;
	pair(SOCK_SEQPACKET, ends);
	apps.spawner = spawner_create(place->loop, ends[0], &ops);
	place->stage->apps = &apps;
	place->stage->state = STAGE_IS_READY;
	fd = connect_front(place);
	frames_stream(fd, (const uint8_t *)call, strlen(call));
	settle(place);
	play_init(place, ends[1]);
	settle(place);
	for (int64_t until_ms = util_now_ms() + WHILE_MS; place->stage->n_files > 0; (void)loop_turn(place->loop, 1))
		insist(util_now_ms() < until_ms, "a call for files does not end");
	check_answers(fd);
	(void)close(ends[1]);
	settle(place);
	spawner_destroy(apps.spawner);
	place->stage->apps = NULL;
}

/* --- the warden --- */

static void run_warden(struct place *place)
{
	static int fd = -1;
	struct ends ends;
	struct err e = {0};
	int pair_ends[2];

	if (fd < 0)
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	pair(SOCK_SEQPACKET, pair_ends);
	frames_labels(pair_ends[1], place->data, place->size, fd, STAGE_START);
	(void)close(pair_ends[1]);
	if (ends_receive(&ends, pair_ends[0], &e) < 0) {
		insist(e.code != ERR_NONE && e.msg[0], "labels are refused without a reason");
	} else {
		insist(ends.init_fd >= 0 && ends.journal_fd >= 0 && ends.n_secrets <= LIMIT_SECRETS && memchr(ends.session, '\0', sizeof(ends.session)),
		       "it starts without its parts");
		ends_close(&ends);
	}
	(void)close(pair_ends[0]);
}

/* --- */

static const struct {
	char name;
	enum need need;
	void (*run)(struct place *place);
} links[] = {
	{'F', A_WHOLE_STAGE, run_front}, {'f', A_WHOLE_STAGE, run_front_raw}, {'E', A_BARE_STAGE, run_egress}, {'e', A_BARE_STAGE, run_egress_raw},
	{'I', A_LOOP, run_init},         {'V', A_BARE_STAGE, run_view},       {'H', A_WHOLE_STAGE, run_helper}, {'W', A_LOOP, run_warden},
};

static struct loop *loop_of_all(void)
{
	struct err e;

	(void)setenv("GLOVEBOX_LOG", "error", 1);
	log_init("fuzz", NULL);
	(void)signal(SIGPIPE, SIG_IGN);
	return loop_create(&e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const begin[])(struct place *place) = {[A_BARE_STAGE] = begin_bare, [A_WHOLE_STAGE] = begin_whole};
	static void (*const end[])(struct place *place) = {[A_BARE_STAGE] = end_bare, [A_WHOLE_STAGE] = end_whole};
	static struct loop *loop;
	struct place place = {.data = data + 1, .size = size - 1};
	size_t i = 0;

	if (!loop)
		loop = loop_of_all();
	if (size < 1 || size > MOST_BYTES)
		return 0;
	while (i < ARRAY_LEN(links) && links[i].name != (char)data[0])
		i++;
	if (i == ARRAY_LEN(links))
		return 0;
	place.loop = loop;
	if (links[i].need != A_LOOP)
		begin[links[i].need](&place);
	links[i].run(&place);
	settle(&place);
	if (links[i].need != A_LOOP)
		end[links[i].need](&place);
	settle(&place);
	return 0;
}
