/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: glovebox-front */
/* The link to a stage, from the front's side: good stages, dying ones, and those that break the form. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "session/base/co.h"
#include "session/base/ipc.h"
#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/front/stage.h"
#include "session/stage/link.h"

#define WAIT_MS 5000
#define HELLO_TEXT "{\"session\":\"s\",\"episode\":2,\"epoch\":3,\"state\":\"ready\"}"
#define REPLY_TEXT "{\"status\":200,\"type\":\"application/json\",\"headers\":{}}"

/* A stage of the test's own: a thread that answers each connection with `serve`. */
struct peer {
	struct stage_links links;
	char folder[64], path[80];
	int listener;
	pthread_t thread;
	void (*serve)(int fd);
	int n_accepted;
	struct loop *loop;
	struct stage *stage;
};

static bool put(int fd, uint16_t kind, uint16_t flags, const void *data, size_t len)
{
	struct ipc_frame_head head = {.length = (uint32_t)len, .kind = kind, .flags = flags};

	return util_write_all(fd, &head, sizeof(head)) == 0 && util_write_all(fd, data, len) == 0;
}

static bool put_text(int fd, uint16_t kind, uint16_t flags, const char *text)
{
	return put(fd, kind, flags, text, strlen(text));
}

/* The next frame; false at end of file. */
static bool get(int fd, struct ipc_frame_head *head, char *data)
{
	if (recv(fd, head, sizeof(*head), MSG_WAITALL) != (ssize_t)sizeof(*head) || head->length > LIMIT_FRAME_BYTES)
		return false;
	return head->length == 0 || recv(fd, data, head->length, MSG_WAITALL) == (ssize_t)head->length;
}

/* A whole call; its body's length, or -1. */
static long get_call(int fd, char *envelope)
{
	static char data[LIMIT_FRAME_BYTES];
	struct ipc_frame_head head;
	long len = 0;

	if (!get(fd, &head, data) || head.kind != LINK_CALL)
		return -1;
	memcpy(envelope, data, head.length);
	envelope[head.length] = '\0';
	while (head.flags & LINK_MORE) {
		if (!get(fd, &head, data) || head.kind != LINK_DATA)
			return -1;
		len += head.length;
	}
	return len;
}

static void *run_peer(void *arg)
{
	struct peer *peer = arg;
	int fd;

	while ((fd = accept(peer->listener, NULL, NULL)) >= 0) {
		peer->n_accepted++;
		peer->serve(fd);
		(void)close(fd);
	}
	return NULL;
}

static struct peer *peer_start(void (*serve)(int fd))
{
	struct peer *peer = util_zalloc(sizeof(*peer));
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct err e;

	(void)snprintf(peer->folder, sizeof(peer->folder), "/tmp/front_stage.XXXXXX");
	assert_non_null(mkdtemp(peer->folder));
	(void)snprintf(peer->path, sizeof(peer->path), "%s/stage.sock", peer->folder);
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", peer->path);
	peer->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(peer->listener, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(peer->listener, 8), 0);
	peer->serve = serve;
	assert_int_equal(pthread_create(&peer->thread, NULL, run_peer, peer), 0);
	peer->loop = loop_create(&e);
	peer->stage = stage_create(peer->loop, peer->path, &peer->links);
	return peer;
}

static void peer_stop(struct peer *peer)
{
	stage_destroy(peer->stage);
	loop_turn(peer->loop, 0);
	loop_destroy(peer->loop);
	(void)shutdown(peer->listener, SHUT_RDWR);
	(void)pthread_join(peer->thread, NULL);
	(void)close(peer->listener);
	(void)unlink(peer->path);
	(void)rmdir(peer->folder);
	free(peer);
}

/* Runs `fn` in a coroutine until it returns. */
struct job {
	void (*fn)(struct peer *peer);
	struct peer *peer;
	bool done;
};

static void run_job(void *arg)
{
	struct job *job = arg;

	job->fn(job->peer);
	job->done = true;
}

static void in_coroutine(struct peer *peer, void (*fn)(struct peer *peer))
{
	struct job job = {.fn = fn, .peer = peer};

	(void)co_start(peer->loop, run_job, &job);
	while (!job.done)
		loop_turn(peer->loop, 1000);
}

static int call(struct peer *peer, const char *body, struct stage_reply **reply, struct err *e)
{
	struct stage_call query = {
		.name = "act", .role = "agent", .token = "t", .request_id = "r", .body = body, .body_len = body ? strlen(body) : 0};

	return stage_call(peer->stage, &query, util_now_ms() + WAIT_MS, reply, e);
}

static int ask(struct peer *peer, json_t **answer, struct err *e)
{
	struct stage_call query = {.name = "state", .role = "server", .request_id = "r"};

	return stage_ask(peer->stage, &query, util_now_ms() + WAIT_MS, answer, e);
}

/* --- a good stage: echoes the length of each body --- */

static void serve_well(int fd)
{
	char envelope[LIMIT_FRAME_BYTES + 1], text[64];
	long len;

	(void)put_text(fd, LINK_HELLO, 0, HELLO_TEXT);
	while ((len = get_call(fd, envelope)) >= 0) {
		(void)snprintf(text, sizeof(text), "{\"length\":%ld,\"agent\":%s}", len, strstr(envelope, "\"agent\"") ? "true" : "false");
		(void)put_text(fd, LINK_REPLY, LINK_MORE, REPLY_TEXT);
		(void)put_text(fd, LINK_DATA, 0, text);
	}
}

static void do_good_calls(struct peer *peer)
{
	struct stage_hello hello;
	struct stage_reply *reply;
	auto_free char *long_body = util_zalloc(LIMIT_BODY_BYTES + 1);
	struct err e;
	char text[64];
	size_t n;

	assert_int_equal(stage_greet(peer->stage, util_now_ms() + WAIT_MS, &hello, &e), 0);
	assert_int_equal(hello.episode, 2);
	assert_int_equal(hello.epoch, 3);
	assert_string_equal(hello.state, "ready");
	memset(long_body, 'x', LIMIT_BODY_BYTES);
	for (int i = 0; i < 3; i++) {
		json_t *answer = NULL;

		assert_int_equal(call(peer, i == 0 ? "" : i == 1 ? "abc" : long_body, &reply, &e), 0);
		assert_int_equal(stage_reply_status(reply), 200);
		assert_string_equal(stage_reply_type(reply), "application/json");
		assert_true(stage_reply_left(reply) > 0);
		assert_int_equal(stage_reply_read(reply, text, sizeof(text), &n), STAGE_READ_SOME);
		text[n] = '\0';
		assert_string_equal(text, i == 0 ? "{\"length\":0,\"agent\":true}" : i == 1 ? "{\"length\":3,\"agent\":true}"
		                                                                          : "{\"length\":1048576,\"agent\":true}");
		assert_int_equal(stage_reply_read(reply, text, sizeof(text), &n), STAGE_READ_END);
		stage_reply_finish(reply);
		assert_int_equal(ask(peer, &answer, &e), 0);
		assert_int_equal(json_integer_value(json_object_get(answer, "length")), 0);
		json_decref(answer);
	}
	assert_int_equal(peer->n_accepted, 1); /* kept and reused */
}

static void test_good_calls(void **state)
{
	struct peer *peer = peer_start(serve_well);

	(void)state;
	in_coroutine(peer, do_good_calls);
	peer_stop(peer);
}

/* --- many calls at once --- */

static void *run_apart(void *arg)
{
	int fd = *(int *)arg;

	free(arg);
	serve_well(fd);
	(void)close(fd);
	return NULL;
}

/* Each connection in a thread of its own. */
static void serve_apart(int fd)
{
	int *copy = util_alloc(sizeof(*copy));
	pthread_t thread;

	*copy = dup(fd);
	assert_int_equal(pthread_create(&thread, NULL, run_apart, copy), 0);
	(void)pthread_detach(thread);
}

#define AT_ONCE 8

static void call_at_once(struct peer *peer)
{
	struct stage_reply *replies[AT_ONCE];
	struct err e;

	for (size_t i = 0; i < AT_ONCE; i++)
		assert_int_equal(call(peer, "abc", &replies[i], &e), 0);
	for (size_t i = 0; i < AT_ONCE; i++) {
		free(stage_reply_take(replies[i]));
		stage_reply_finish(replies[i]);
	}
}

static void do_many(struct peer *peer)
{
	call_at_once(peer);
	assert_int_equal(peer->links.n_idle, AT_ONCE);
	call_at_once(peer);
	assert_int_equal(peer->n_accepted, AT_ONCE); /* all are kept */
	peer->links.n_idle += LIMIT_IDLE_IN_ALL;
	call_at_once(peer);
	assert_int_equal(peer->links.n_idle, LIMIT_IDLE_IN_ALL + LIMIT_STAGE_IDLE); /* other stages have most */
	peer->links.n_idle -= LIMIT_IDLE_IN_ALL;
	assert_int_equal(peer->n_accepted, AT_ONCE);
}

static void test_connections_are_kept(void **state)
{
	struct peer *peer = peer_start(serve_apart);
	struct stage_links *links = &peer->links;

	(void)state;
	in_coroutine(peer, do_many);
	stage_destroy(peer->stage);
	peer->stage = NULL;
	assert_int_equal(links->n_idle, 0);
	peer_stop(peer);
}

static void do_unread(struct peer *peer)
{
	struct stage_reply *reply;
	struct err e;

	assert_int_equal(call(peer, NULL, &reply, &e), 0);
	stage_reply_finish(reply); /* the body was not read: the connection goes with it */
	assert_int_equal(call(peer, NULL, &reply, &e), 0);
	assert_int_equal(peer->n_accepted, 2);
	stage_reply_finish(reply);
}

static void test_a_reply_that_is_not_read_takes_its_connection_along(void **state)
{
	struct peer *peer = peer_start(serve_well);

	(void)state;
	in_coroutine(peer, do_unread);
	peer_stop(peer);
}

/* --- a refusal --- */

static void serve_refusal(int fd)
{
	char envelope[LIMIT_FRAME_BYTES + 1];

	(void)put_text(fd, LINK_HELLO, 0, HELLO_TEXT);
	while (get_call(fd, envelope) >= 0) {
		(void)put_text(fd, LINK_REPLY, LINK_MORE, "{\"status\":409,\"type\":\"application/problem+json\"}");
		(void)put_text(fd, LINK_DATA, 0, "{\"code\":\"not_ready\",\"detail\":\"later\",\"pointer\":\"/a\"}");
	}
}

static void do_refused(struct peer *peer)
{
	json_t *answer = NULL;
	struct err e;

	assert_int_equal(ask(peer, &answer, &e), -1);
	assert_int_equal(e.code, ERR_NOT_READY);
	assert_string_equal(e.msg, "later");
	assert_string_equal(e.path, "/a");
	assert_null(answer);
}

static void test_a_refusal_is_an_error(void **state)
{
	struct peer *peer = peer_start(serve_refusal);

	(void)state;
	in_coroutine(peer, do_refused);
	peer_stop(peer);
}

/* --- stages that break the form --- */

static const char *bad_reply;
static const char *bad_hello;

static void serve_badly(int fd)
{
	char envelope[LIMIT_FRAME_BYTES + 1];

	(void)put_text(fd, LINK_HELLO, 0, bad_hello);
	if (get_call(fd, envelope) >= 0)
		(void)put_text(fd, LINK_REPLY, 0, bad_reply);
	(void)get_call(fd, envelope); /* until the front closes */
}

static void do_bad_call(struct peer *peer)
{
	struct stage_reply *reply;
	struct err e;

	assert_int_equal(call(peer, NULL, &reply, &e), -1);
	assert_int_equal(e.code, ERR_GONE);
}

static void test_bad_envelopes(void **state)
{
	static const char *const replies[] = {"", "{", "[]", "{}", "{\"status\":\"200\"}", "{\"status\":99}", "{\"status\":600}",
	                                      "{\"status\":100}", "{\"status\":200}x", "\xff"};

	(void)state;
	for (size_t i = 0; i <= ARRAY_LEN(replies); i++) {
		struct peer *peer;

		bad_hello = i < ARRAY_LEN(replies) ? HELLO_TEXT : "no";
		bad_reply = i < ARRAY_LEN(replies) ? replies[i] : REPLY_TEXT;
		peer = peer_start(serve_badly);
		in_coroutine(peer, do_bad_call);
		peer_stop(peer);
	}
}

static void serve_noise(int fd)
{
	char envelope[LIMIT_FRAME_BYTES + 1];

	(void)put_text(fd, LINK_HELLO, 0, HELLO_TEXT);
	(void)put_text(fd, LINK_DATA, 0, "nobody asked");
	(void)get_call(fd, envelope);
}

static void do_noise(struct peer *peer)
{
	struct stage_hello hello;
	struct err e;

	/* The hello may be read before the noise comes; the connection is not usable after it. */
	if (stage_greet(peer->stage, util_now_ms() + WAIT_MS, &hello, &e) < 0)
		assert_int_equal(e.code, ERR_GONE);
	do_bad_call(peer);
}

static void test_frames_that_nobody_asked_for(void **state)
{
	struct peer *peer = peer_start(serve_noise);

	(void)state;
	in_coroutine(peer, do_noise);
	peer_stop(peer);
}

/* --- headers and types that must not reach a browser --- */

static void serve_headers(int fd)
{
	char envelope[LIMIT_FRAME_BYTES + 1];

	(void)put_text(fd, LINK_HELLO, 0, HELLO_TEXT);
	if (get_call(fd, envelope) >= 0)
		(void)put_text(fd, LINK_REPLY, 0,
		               "{\"status\":200,\"type\":\"text/html\",\"headers\":{\"Glovebox-At\":\"frame=1\",\"Set-Cookie\":\"a=b\","
		               "\"Location\":\"http://evil.test\",\"Glovebox-X\":\"a\\r\\nSet-Cookie: a=b\",\"Glovebox-\\r\\n\":\"a\","
		               "\"Retry-After\":\"1\",\"Glovebox-N\":5,\"Content-Security-Policy\":\"\"}}");
	(void)get_call(fd, envelope);
}

static void do_headers(struct peer *peer)
{
	struct stage_reply *reply;
	const json_t *headers;
	struct err e;
	size_t n;

	assert_int_equal(call(peer, NULL, &reply, &e), 0);
	assert_string_equal(stage_reply_type(reply), "application/octet-stream");
	headers = stage_reply_headers(reply);
	assert_int_equal(json_object_size(headers), 2);
	assert_string_equal(json_string_value(json_object_get(headers, "Glovebox-At")), "frame=1");
	assert_string_equal(json_string_value(json_object_get(headers, "Retry-After")), "1");
	assert_int_equal(stage_reply_read(reply, NULL, 0, &n), STAGE_READ_END);
	stage_reply_finish(reply);
}

static void test_only_safe_headers_and_types_pass(void **state)
{
	struct peer *peer = peer_start(serve_headers);

	(void)state;
	in_coroutine(peer, do_headers);
	peer_stop(peer);
}

/* --- large bodies --- */

static size_t big_bytes;
static volatile size_t n_sent;

static void serve_much(int fd)
{
	static char block[LIMIT_FRAME_BYTES];
	char envelope[LIMIT_FRAME_BYTES + 1];

	n_sent = 0;
	(void)put_text(fd, LINK_HELLO, 0, HELLO_TEXT);
	if (get_call(fd, envelope) < 0 || !put_text(fd, LINK_REPLY, LINK_MORE, REPLY_TEXT))
		return;
	for (; n_sent < big_bytes; n_sent += sizeof(block)) {
		memset(block, (int)(n_sent / sizeof(block) % 251), sizeof(block));
		if (!put(fd, LINK_DATA, n_sent + sizeof(block) < big_bytes ? LINK_MORE : 0, block, sizeof(block)))
			return;
	}
	(void)get_call(fd, envelope);
}

/* Reads to the end; the number of bytes, with STAGE_READ_END or STAGE_READ_BROKEN in *last. */
static size_t drain(struct stage_reply *reply, enum stage_read *last)
{
	static char out[100000];
	size_t total = 0, n;
	struct err e;

	while ((*last = stage_reply_read(reply, out, sizeof(out), &n)) <= STAGE_READ_WAIT) {
		if (*last == STAGE_READ_WAIT) {
			(void)co_wait_until(util_now_ms() + 1, &e);
			continue;
		}
		for (size_t i = 0; i < n; i++)
			if ((unsigned char)out[i] != (total + i) / LIMIT_FRAME_BYTES % 251)
				fail_msg("byte %zu is wrong", total + i);
		total += n;
	}
	return total;
}

static void do_much(struct peer *peer)
{
	struct stage_reply *reply;
	enum stage_read last;
	struct err e;

	assert_int_equal(call(peer, NULL, &reply, &e), 0);
	assert_int_equal(stage_reply_left(reply), -1);
	/* Nobody reads: the stage is held up after what fits here and in the kernel. */
	(void)co_wait_until(util_now_ms() + 200, &e);
	assert_true(n_sent < (size_t)4 * LIMIT_LINK_BYTES);
	assert_int_equal(drain(reply, &last), big_bytes);
	assert_int_equal(last, STAGE_READ_END);
	stage_reply_finish(reply);
}

static void test_a_reader_that_waits_holds_the_stage_up(void **state)
{
	struct peer *peer;

	(void)state;
	big_bytes = (size_t)16 * 1024 * 1024;
	peer = peer_start(serve_much);
	in_coroutine(peer, do_much);
	peer_stop(peer);
}

/* Of a stream little waits here: the stage is told what was read, and goes on with what is new then. */
static void do_stream(struct peer *peer)
{
	const struct stage_call query = {.name = "stream", .role = "agent", .request_id = "r", .is_stream = true};
	static char out[LIMIT_FRAME_BYTES];
	struct stage_reply *reply;
	size_t waiting = 0, n;
	struct err e;

	assert_int_equal(stage_call(peer->stage, &query, util_now_ms() + WAIT_MS, &reply, &e), 0);
	(void)co_wait_until(util_now_ms() + 200, &e);
	for (; stage_reply_read(reply, out, sizeof(out), &n) == STAGE_READ_SOME; waiting += n)
		;
	assert_in_range(waiting, LIMIT_STREAM_QUEUED_BYTES, LIMIT_STREAM_QUEUED_BYTES + LIMIT_FRAME_BYTES);
	(void)co_wait_until(util_now_ms() + 200, &e);
	assert_int_equal(stage_reply_read(reply, out, sizeof(out), &n), STAGE_READ_SOME); /* and goes on */
	stage_reply_finish(reply);
}

static void test_little_of_a_stream_waits(void **state)
{
	struct peer *peer;

	(void)state;
	big_bytes = (size_t)16 * 1024 * 1024;
	peer = peer_start(serve_much);
	in_coroutine(peer, do_stream);
	peer_stop(peer);
}

/* What has room here has come when the call returns, and is handed on as it is. */
static void do_whole(struct peer *peer)
{
	struct stage_reply *reply;
	auto_free char *body = NULL;
	struct err e;

	assert_int_equal(call(peer, NULL, &reply, &e), 0);
	assert_int_equal(stage_reply_left(reply), big_bytes);
	body = stage_reply_take(reply);
	assert_int_equal(stage_reply_left(reply), 0);
	for (size_t at = 0; at < big_bytes; at++)
		if ((unsigned char)body[at] != at / LIMIT_FRAME_BYTES)
			fail_msg("byte %zu is wrong", at);
	stage_reply_finish(reply);
}

static void test_a_reply_comes_whole(void **state)
{
	struct peer *peer;

	(void)state;
	big_bytes = (size_t)2 * LIMIT_FRAME_BYTES;
	peer = peer_start(serve_much);
	in_coroutine(peer, do_whole);
	peer_stop(peer);
}

static void do_too_much(struct peer *peer)
{
	struct stage_reply *reply;
	enum stage_read last;
	struct err e;

	assert_int_equal(call(peer, NULL, &reply, &e), 0);
	assert_true(drain(reply, &last) <= LIMIT_REPLY_BYTES);
	assert_int_equal(last, STAGE_READ_BROKEN);
	stage_reply_finish(reply);
}

static void test_a_reply_has_an_end(void **state)
{
	struct peer *peer;

	(void)state;
	big_bytes = LIMIT_REPLY_BYTES + LIMIT_FRAME_BYTES;
	peer = peer_start(serve_much);
	in_coroutine(peer, do_too_much);
	peer_stop(peer);
}

/* --- ends --- */

static void serve_death(int fd)
{
	char envelope[LIMIT_FRAME_BYTES + 1];

	(void)put_text(fd, LINK_HELLO, 0, HELLO_TEXT);
	(void)get_call(fd, envelope);
}

static void test_a_stage_that_dies_ends_its_calls(void **state)
{
	struct peer *peer = peer_start(serve_death);

	(void)state;
	in_coroutine(peer, do_bad_call);
	peer_stop(peer);
}

static void do_nobody(struct peer *peer)
{
	struct stage_hello hello;
	struct err e;

	assert_int_equal(unlink(peer->path), 0);
	assert_int_equal(stage_greet(peer->stage, util_now_ms() + WAIT_MS, &hello, &e), -1);
	assert_int_equal(e.code, ERR_GONE);
}

static void test_nobody_listens(void **state)
{
	struct peer *peer = peer_start(serve_well);

	(void)state;
	in_coroutine(peer, do_nobody);
	peer_stop(peer);
}

static void serve_silence(int fd)
{
	char envelope[LIMIT_FRAME_BYTES + 1];

	(void)put_text(fd, LINK_HELLO, 0, HELLO_TEXT);
	(void)get_call(fd, envelope);
	(void)get_call(fd, envelope); /* returns when the front has closed */
	n_sent++;
}

static void do_give_up(struct peer *peer)
{
	struct stage_call query = {.name = "act", .role = "agent", .request_id = "r"};
	struct stage_reply *reply;
	struct err e;

	n_sent = 0;
	assert_int_equal(stage_call(peer->stage, &query, util_now_ms() + 30, &reply, &e), -1);
	assert_int_equal(e.code, ERR_TIMEOUT);
	for (int64_t until = util_now_ms() + WAIT_MS; n_sent == 0 && util_now_ms() < until;)
		(void)co_wait_until(util_now_ms() + 5, &e);
	assert_int_equal(n_sent, 1); /* the stage was told, by the connection that closed */
}

static void test_giving_up_closes_the_connection(void **state)
{
	struct peer *peer = peer_start(serve_silence);

	(void)state;
	in_coroutine(peer, do_give_up);
	peer_stop(peer);
}

static void destroy_stage(void *arg)
{
	struct peer *peer = arg;

	stage_destroy(peer->stage);
	peer->stage = NULL;
}

static void do_destroyed(struct peer *peer)
{
	struct stage_reply *reply;
	struct err e;

	(void)loop_at(peer->loop, util_now_ms() + 30, destroy_stage, peer);
	assert_int_equal(call(peer, NULL, &reply, &e), -1);
	assert_int_equal(e.code, ERR_GONE);
}

static void test_a_session_that_ends_ends_its_calls(void **state)
{
	struct peer *peer = peer_start(serve_silence);

	(void)state;
	in_coroutine(peer, do_destroyed);
	peer_stop(peer);
}

/* The warden's word that a session runs and its word that it has ended can come in one turn of the loop. */
static void test_a_session_that_has_ended_has_no_stage(void **state)
{
	struct stage_hello hello;
	struct stage_call call = {.name = "state", .role = "server", .request_id = "r1"};
	struct err e = {0};

	(void)state;
	assert_int_equal(stage_greet(NULL, util_now_ms() + WAIT_MS, &hello, &e), -1);
	assert_int_equal(e.code, ERR_GONE);
	e.code = ERR_NONE;
	assert_int_equal(stage_ask(NULL, &call, util_now_ms() + WAIT_MS, NULL, &e), -1);
	assert_int_equal(e.code, ERR_GONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good_calls),
		cmocka_unit_test(test_connections_are_kept),
		cmocka_unit_test(test_a_reply_that_is_not_read_takes_its_connection_along),
		cmocka_unit_test(test_a_refusal_is_an_error),
		cmocka_unit_test(test_bad_envelopes),
		cmocka_unit_test(test_frames_that_nobody_asked_for),
		cmocka_unit_test(test_only_safe_headers_and_types_pass),
		cmocka_unit_test(test_a_reader_that_waits_holds_the_stage_up),
		cmocka_unit_test(test_little_of_a_stream_waits),
		cmocka_unit_test(test_a_reply_comes_whole),
		cmocka_unit_test(test_a_reply_has_an_end),
		cmocka_unit_test(test_a_stage_that_dies_ends_its_calls),
		cmocka_unit_test(test_nobody_listens),
		cmocka_unit_test(test_giving_up_closes_the_connection),
		cmocka_unit_test(test_a_session_that_ends_ends_its_calls),
		cmocka_unit_test(test_a_session_that_has_ended_has_no_stage),
	};

	(void)signal(SIGPIPE, SIG_IGN); /* as the server: a stage of ours may still be sending */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
