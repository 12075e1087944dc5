/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: glovebox-front */
/* longest: 1024 */
/*
 * What a stage says to the front: a hello, and answers to calls (session/stage/link.h), as lines (frames.h) or, behind a first byte "r", as they are. The other bits
 * of the first byte say which kind of call it answers. What the front passes on is what may be passed on, and no call waits for ever.
 */
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/un.h>

#include "session/base/co.h"
#include "session/base/log.h"
#include "session/front/safe.h"
#include "session/front/stage.h"
#include "session/stage/link.h"
#include "tests/fuzz/frames.h"

#define MOST_BYTES 4096
#define WHILE_MS 2000
#define LONG_MS 60000

enum kind { AS_VALUE, AS_STREAM, AS_WHOLE, AS_LONG, WITH_BODY, WITH_PROGRESS, GREETED, N_KINDS };

struct peer {
	struct loop *loop;
	struct sockaddr_un address;
	int listen_fd;
	struct stage *stage;
	enum kind kind;
	size_t n_read; /* of a body that is sent piece by piece */
	bool done;
};

static void insist(bool holds, const char *what)
{
	if (!holds)
		DIE("%s", what);
}

static char folder[] = "/tmp/fuzz-front-XXXXXX", path[sizeof(folder) + 8];

static void clean_up(void)
{
	(void)unlink(path);
	(void)rmdir(folder);
}

static void begin(struct peer *peer)
{
	struct err e;

	(void)setenv("GLOVEBOX_LOG", "error", 1);
	log_init("fuzz", NULL);
	(void)signal(SIGPIPE, SIG_IGN);
	if (!mkdtemp(folder))
		DIE("no folder: %s", strerror(errno));
	(void)snprintf(path, sizeof(path), "%s/sock", folder);
	(void)atexit(clean_up);
	peer->address.sun_family = AF_UNIX;
	(void)snprintf(peer->address.sun_path, sizeof(peer->address.sun_path), "%s", path);
	peer->loop = loop_create(&e);
	peer->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (!peer->loop || bind(peer->listen_fd, (struct sockaddr *)&peer->address, sizeof(peer->address)) < 0 || listen(peer->listen_fd, 4) < 0)
		DIE("no socket: %s", strerror(errno));
}

/* --- what is asked --- */

static void on_progress(void *arg, long done, long total)
{
	(void)arg, (void)done, (void)total;
}

static int give(void *arg, const bool *over, char *out, size_t max, size_t *n, struct err *e)
{
	struct peer *peer = arg;

	(void)over;
	(void)e;
	*n = peer->n_read++ < 3 ? MIN((size_t)700, max) : 0;
	memset(out, 'x', *n);
	return 0;
}

static void check_reply(struct stage_reply *reply)
{
	const char *name;
	json_t *value;
	char piece[512];
	size_t n;

	insist(stage_reply_status(reply) >= 200 && stage_reply_status(reply) <= 599, "a status that is none");
	insist(stage_reply_type(reply) && strcmp(safe_type(stage_reply_type(reply)), stage_reply_type(reply)) == 0, "a type that may not be passed on");
	insist(stage_reply_length(reply) >= -1, "a length below nothing");
	json_object_foreach((json_t *)(uintptr_t)stage_reply_headers(reply), name, value)
		insist(safe_is_header(name, json_string_value(value)), "a header that may not be passed on");
	while (stage_reply_read(reply, piece, sizeof(piece), &n) == STAGE_READ_SOME)
		insist(n > 0 && n <= sizeof(piece), "a piece without a length");
}

static void ask_value(struct peer *peer, const struct stage_call *call)
{
	json_t *answer = NULL;
	struct err e = {0};

	if (stage_ask(peer->stage, call, util_now_ms() + LONG_MS, &answer, &e) == 0)
		insist(json_is_object(answer), "an answer is no object");
	else
		insist(e.code != ERR_NONE && e.msg[0] && util_utf8_valid(e.msg, strlen(e.msg)), "a refusal without a text");
	json_decref(answer);
}

static void run(void *arg)
{
	struct peer *peer = arg;
	const struct stage_call call = {.name = "act", .role = "owner", .body = "{}", .body_len = peer->kind == WITH_BODY ? 0 : 2, .is_stream = peer->kind == AS_STREAM,
	                                .is_whole = peer->kind == AS_WHOLE, .is_long = peer->kind == AS_LONG || peer->kind == WITH_BODY,
	                                .read = peer->kind == WITH_BODY ? give : NULL, .last_ms = LONG_MS,
	                                .progress = peer->kind == WITH_PROGRESS ? on_progress : NULL, .arg = peer};
	struct stage_hello hello;
	struct stage_reply *reply;
	struct err e = {0};

	if (peer->kind == GREETED && stage_greet(peer->stage, util_now_ms() + LONG_MS, &hello, &e) == 0)
		insist(memchr(hello.state, '\0', sizeof(hello.state)) && memchr(hello.holder, '\0', sizeof(hello.holder)), "a hello whose words have no end");
	if (peer->kind == AS_VALUE || peer->kind == GREETED) {
		ask_value(peer, &call);
	} else if (stage_call(peer->stage, &call, util_now_ms() + LONG_MS, &reply, &e) == 0) {
		check_reply(reply);
		stage_reply_finish(reply);
	} else {
		insist(e.code != ERR_NONE && e.msg[0], "a call fails without a reason");
	}
	peer->done = true;
}

/* --- what the stage says --- */

static void settle(const struct peer *peer)
{
	while (loop_turn(peer->loop, 0))
		;
}

static void say(const struct peer *peer, const uint8_t *data, size_t size, bool raw)
{
	int fd = accept4(peer->listen_fd, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		DIE("the front does not come: %s", strerror(errno));
	/* The first line before the call, as a stage has it. */
	if (!raw) {
		const uint8_t *end = memchr(data, '\n', size);
		size_t n = end ? (size_t)(end - data) + 1 : size;

		frames_stream(fd, data, n);
		settle(peer);
		frames_stream(fd, data + n, size - n);
	} else {
		(void)util_write_all(fd, data, size);
	}
	settle(peer);
	(void)close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct peer peer;
	struct stage_links all = {.n_idle = 0};
	const bool raw = size > 0 && data[0] >= 'a';

	if (!peer.loop)
		begin(&peer);
	if (size < 1 || size > MOST_BYTES)
		return 0;
	peer.stage = stage_create(peer.loop, path, &all);
	peer.kind = (enum kind)(data[0] % N_KINDS);
	peer.n_read = 0;
	peer.done = false;
	(void)co_start(peer.loop, run, &peer);
	settle(&peer);
	say(&peer, data + 1, size - 1, raw);
	for (int64_t until_ms = util_now_ms() + WHILE_MS; !peer.done; (void)loop_turn(peer.loop, 1)) {
		int again = accept4(peer.listen_fd, NULL, NULL, SOCK_CLOEXEC); /* of one that calls anew */

		util_close_fd(&again);
		insist(util_now_ms() < until_ms, "a call waits for one that has gone");
	}
	settle(&peer);
	stage_destroy(peer.stage);
	settle(&peer);
	insist(all.n_idle == 0, "connections are counted that are none");
	return 0;
}
