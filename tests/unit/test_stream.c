/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: */
/* Framed streams, against a peer that may be hostile. */
#include <dirent.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "session/base/ipc.h"
#include "session/base/limits.h"
#include "session/base/util.h"

static size_t open_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	(void)closedir(dir);
	return n;
}

/* Every test: nothing that it opened stays open. */
struct links {
	int mine, peer;
	size_t before;
	struct loop *loop;
};

static int set_up(void **state)
{
	struct links *links = util_zalloc(sizeof(*links));
	int ends[2];

	links->before = open_descriptors();
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return -1;
	links->mine = ends[0];
	links->peer = ends[1];
	links->loop = loop_create(NULL);
	*state = links;
	return 0;
}

static int tear_down(void **state)
{
	struct links *links = *state;
	size_t before = links->before;

	util_close_fd(&links->mine);
	util_close_fd(&links->peer);
	loop_destroy(links->loop);
	free(links);
	assert_int_equal(open_descriptors(), before);
	return 0;
}

/* One stream under test and what its callbacks saw. */
struct end {
	struct links *links;
	struct ipc_stream *stream;
	size_t n_frames, bytes;
	uint16_t kind, flags;
	int n_closed, n_drained;
	char why[64];
	enum todo { DO_NOTHING, DO_REFUSE, DO_DESTROY, DO_RESUME_AND_DESTROY, DO_PAUSE, DO_ANSWER } then; /* what frame does */
	bool destroy_when_closed, destroy_when_drained;
	unsigned char expect; /* every byte of the next frame; grows */
};

static void destroy(struct end *end)
{
	ipc_stream_destroy(end->stream);
	end->stream = NULL;
}

static void put_frame(int fd, uint32_t length, uint16_t kind, const void *data, size_t len)
{
	struct ipc_frame_head head = {.length = length, .kind = kind, .flags = 3};

	assert_int_equal(util_write_all(fd, &head, sizeof(head)), 0);
	assert_int_equal(util_write_all(fd, data, len), 0);
}

static int on_frame(void *arg, uint16_t kind, uint16_t flags, const void *data, size_t len)
{
	struct end *end = arg;
	const unsigned char *bytes = data;

	end->n_frames++;
	end->bytes += len;
	end->kind = kind;
	end->flags = flags;
	for (size_t i = 0; i < len; i++)
		if (bytes[i] != end->expect)
			fail_msg("byte %zu of frame %zu is %d and not %d", i, end->n_frames, bytes[i], end->expect);
	end->expect++;
	if (end->then == DO_RESUME_AND_DESTROY) {
		ipc_stream_pause(end->stream, true);
		ipc_stream_pause(end->stream, false);
	}
	if (end->then == DO_DESTROY || end->then == DO_RESUME_AND_DESTROY)
		destroy(end);
	if (end->then == DO_PAUSE)
		ipc_stream_pause(end->stream, true);
	if (end->then == DO_ANSWER)
		put_frame(end->links->peer, 1, 1, &end->expect, 1);
	return end->then == DO_REFUSE ? -1 : 0;
}

static void on_closed(void *arg, const char *why)
{
	struct end *end = arg;

	end->n_closed++;
	(void)snprintf(end->why, sizeof(end->why), "%s", why ? why : "(gone)");
	if (end->destroy_when_closed)
		destroy(end);
}

static void on_drained(void *arg)
{
	struct end *end = arg;

	end->n_drained++;
	if (end->destroy_when_drained)
		destroy(end);
}

static const struct ipc_stream_ops ops = {.frame = on_frame, .closed = on_closed, .drained = on_drained};

static struct end begin(struct links *l, struct end *end)
{
	*end = (struct end){.links = l};
	end->stream = ipc_stream_create(l->loop, steal_fd(&l->mine), &ops, end);
	return *end;
}

static void turns(struct links *l, int n)
{
	while (n-- > 0)
		loop_turn(l->loop, 0);
}

static void finish(struct end *end)
{
	ipc_stream_destroy(end->stream);
	turns(end->links, 1);
}

static void test_frames(void **state)
{
	static const size_t sizes[] = {0, 1, 7, 8, 9, 4096, LIMIT_FRAME_BYTES - 1, LIMIT_FRAME_BYTES, 0, LIMIT_FRAME_BYTES};
	struct links *l = *state;
	struct end from, to = {.links = l};
	size_t total = 0;
	auto_free unsigned char *data = util_alloc(LIMIT_FRAME_BYTES);

	begin(l, &from);
	to.stream = ipc_stream_create(l->loop, steal_fd(&l->peer), &ops, &to);
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		memset(data, (int)i, sizes[i]);
		ipc_stream_send(from.stream, (uint16_t)(600 + i), (uint16_t)i, data, sizes[i]);
		total += sizes[i];
	}
	assert_int_equal(to.n_frames, 0);
	for (int i = 0; i < 1000 && to.n_frames < ARRAY_LEN(sizes); i++)
		turns(l, 1);
	assert_int_equal(to.n_frames, ARRAY_LEN(sizes));
	assert_int_equal(to.bytes, total);
	assert_int_equal(to.kind, 609);
	assert_int_equal(to.flags, 9);
	assert_int_equal(ipc_stream_queued(from.stream), 0);
	turns(l, 2);
	assert_int_equal(from.n_drained, 1);
	finish(&from);
	turns(l, 2);
	assert_int_equal(to.n_closed, 1);
	assert_string_equal(to.why, "(gone)");
	finish(&to);
}

/* What came of one message. */
struct message_end {
	size_t n_frames, bytes;
	bool ended; /* a frame without the flag came */
	unsigned char *expect;
	uint16_t kind;
};

static int on_message_frame(void *arg, uint16_t kind, uint16_t flags, const void *data, size_t len)
{
	struct message_end *end = arg;

	assert_false(end->ended);
	assert_int_equal(kind, end->n_frames == 0 ? 7 : 8);
	if (end->n_frames++ == 0) {
		assert_int_equal(len, 4);
		assert_memory_equal(data, "head", 4);
	} else {
		assert_memory_equal(data, end->expect + end->bytes, len);
		end->bytes += len;
	}
	assert_int_equal(flags & ~2, 0);
	end->ended = !(flags & 2);
	return 0;
}

/* A head and its body, of any length, arrive as they were sent, and only the last frame says that it is the last. */
static void test_message(void **state)
{
	static const struct {
		bool has_body;
		size_t len, n_frames;
	} cases[] = {
		{false, 0, 1}, {true, 0, 2}, {true, 1, 2}, {true, LIMIT_FRAME_BYTES, 2}, {true, LIMIT_FRAME_BYTES + 1, 3},
		{true, 7 * LIMIT_FRAME_BYTES, 8}, {true, 7 * LIMIT_FRAME_BYTES + 1, 9}, {true, 20 * LIMIT_FRAME_BYTES + 5, 22},
	};
	static const struct ipc_stream_ops message_ops = {.frame = on_message_frame, .closed = on_closed};
	struct links *l = *state;
	struct end from;
	struct message_end to = {.n_frames = 0};
	auto_free unsigned char *body = util_alloc(cases[ARRAY_LEN(cases) - 1].len);
	struct ipc_stream *stream = ipc_stream_create(l->loop, steal_fd(&l->peer), &message_ops, &to);

	begin(l, &from);
	for (size_t i = 0; i < cases[ARRAY_LEN(cases) - 1].len; i++)
		body[i] = (unsigned char)(i * 2654435761U >> 24);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct ipc_message message = {.kind = 7, .body_kind = 8, .more = 2, .head = "head", .head_len = 4,
		                                    .body = cases[i].has_body ? body : NULL, .body_len = cases[i].len};

		to = (struct message_end){.expect = body};
		ipc_stream_send_message(from.stream, &message);
		for (int turn = 0; turn < 10000 && !to.ended; turn++)
			turns(l, 1);
		assert_true(to.ended);
		assert_int_equal(to.bytes, cases[i].len);
		assert_int_equal(to.n_frames, cases[i].n_frames);
		assert_int_equal(ipc_stream_queued(from.stream), 0);
	}
	ipc_stream_destroy(stream);
	finish(&from);
}

/* However the bytes arrive. */
static void test_frame_in_pieces(void **state)
{
	struct links *l = *state;
	struct end end;
	char bytes[2 * (sizeof(struct ipc_frame_head) + 3)];
	struct ipc_frame_head head = {.length = 3, .kind = 5, .flags = 6};

	begin(l, &end);
	for (size_t i = 0; i < 2; i++) {
		memcpy(bytes + i * 11, &head, sizeof(head));
		memset(bytes + i * 11 + sizeof(head), (int)i, 3);
	}
	for (size_t i = 0; i < sizeof(bytes); i++) {
		assert_int_equal(end.n_frames, i / 11);
		assert_int_equal(write(l->peer, bytes + i, 1), 1);
		turns(l, 1);
	}
	assert_int_equal(end.n_frames, 2);
	assert_int_equal(end.bytes, 6);
	finish(&end);
}

/* A reader that pauses: what is sent waits in order, and all of it arrives when it reads on. */
static void test_back_pressure(void **state)
{
	enum { FRAMES = 40, SIZE = 50000 };
	struct links *l = *state;
	struct end from, to = {.links = l};
	auto_free unsigned char *data = util_alloc(SIZE);
	size_t queued;

	begin(l, &from);
	to.stream = ipc_stream_create(l->loop, steal_fd(&l->peer), &ops, &to);
	ipc_stream_pause(to.stream, true);
	ipc_stream_pause(to.stream, true);
	for (int i = 0; i < FRAMES; i++) {
		memset(data, i, SIZE);
		ipc_stream_send(from.stream, 1, 0, data, SIZE);
	}
	turns(l, 5);
	queued = ipc_stream_queued(from.stream);
	assert_true(queued > FRAMES / 2 * SIZE);
	assert_int_equal(to.n_frames, 0);
	ipc_stream_pause(to.stream, false);
	assert_int_equal(to.n_frames, 0); /* not inside the call */
	to.then = DO_PAUSE;
	turns(l, 5);
	assert_int_equal(to.n_frames, 1);
	ipc_stream_pause(to.stream, false); /* from here on one frame a time */
	ipc_stream_pause(to.stream, true);
	ipc_stream_pause(to.stream, false);
	turns(l, 5);
	assert_int_equal(to.n_frames, 2);
	to.then = DO_NOTHING;
	ipc_stream_pause(to.stream, false);
	for (int i = 0; i < 1000 && to.n_frames < FRAMES; i++)
		turns(l, 1);
	assert_int_equal(to.n_frames, FRAMES);
	assert_int_equal(to.bytes, FRAMES * SIZE);
	assert_int_equal(from.n_drained, 1);
	assert_int_equal(from.n_closed + to.n_closed, 0);
	finish(&from);
	finish(&to);
}

static size_t memory_in_use(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

/* A connection that is kept does not keep the memory that its largest answer took, at neither end. */
static void test_memory_is_given_back(void **state)
{
	enum { SIZE = 20 * 1024 * 1024 };
	struct links *l = *state;
	struct end from, to = {.links = l};
	auto_free unsigned char *data = util_zalloc(SIZE);
	const struct ipc_message message = {.kind = 1, .body_kind = 1, .head = "", .body = data, .body_len = SIZE};
	size_t before;

	for (size_t i = 0; i < SIZE; i++)
		data[i] = (unsigned char)(1 + i / LIMIT_FRAME_BYTES);
	begin(l, &from);
	to.stream = ipc_stream_create(l->loop, steal_fd(&l->peer), &ops, &to);
	before = memory_in_use();
	ipc_stream_send_message(from.stream, &message);
	assert_true(ipc_stream_queued(from.stream) > SIZE / 2);
	for (int i = 0; i < 10000 && to.bytes < SIZE; i++)
		turns(l, 1);
	assert_int_equal(to.bytes, SIZE);
	turns(l, 2);
	ipc_stream_trim(to.stream);
	assert_true(memory_in_use() < before + 64 * 1024);
	to.expect = 7;
	memset(data, 7, LIMIT_FRAME_BYTES);
	ipc_stream_send(from.stream, 1, 0, data, LIMIT_FRAME_BYTES);
	for (int i = 0; i < 100 && to.bytes < SIZE + LIMIT_FRAME_BYTES; i++)
		turns(l, 1);
	assert_int_equal(to.bytes, SIZE + LIMIT_FRAME_BYTES);
	finish(&from);
	finish(&to);
}

static void test_hostile_length(void **state)
{
	static const uint32_t lengths[] = {LIMIT_FRAME_BYTES + 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF};
	struct links *l = *state;

	for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
		struct end end;
		int ends[2];

		begin(l, &end);
		put_frame(l->peer, 1, 1, "\0", 1);
		put_frame(l->peer, lengths[i], 1, "abc", 3);
		turns(l, 2);
		assert_int_equal(end.n_frames, 1); /* the good one before it counts */
		assert_int_equal(end.n_closed, 1);
		assert_string_equal(end.why, "a frame is longer than allowed");
		ipc_stream_send(end.stream, 1, 0, "x", 1); /* into the void */
		ipc_stream_pause(end.stream, true);
		ipc_stream_pause(end.stream, false);
		assert_int_equal(ipc_stream_queued(end.stream), 0);
		finish(&end);
		util_close_fd(&l->peer);
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
		l->mine = ends[0];
		l->peer = ends[1];
	}
}

static void test_refused_frame(void **state)
{
	struct links *l = *state;
	struct end end;

	begin(l, &end);
	end.then = DO_REFUSE;
	put_frame(l->peer, 1, 1, "\0", 1);
	put_frame(l->peer, 1, 1, "\1", 1);
	turns(l, 3);
	assert_int_equal(end.n_frames, 1);
	assert_int_equal(end.n_closed, 1);
	assert_string_equal(end.why, "a frame was refused");
	finish(&end);
}

static void destroy_in_frame(struct links *l, enum todo how)
{
	struct end end;
	char byte;

	begin(l, &end);
	end.then = how;
	put_frame(l->peer, 1, 1, "\0", 1);
	put_frame(l->peer, 1, 1, "\1", 1);
	turns(l, 2);
	assert_int_equal(end.n_frames, 1);
	assert_int_equal(end.n_closed, 0);
	assert_int_equal(recv(l->peer, &byte, 1, MSG_DONTWAIT), 0);
}

static void test_destroy_in_frame(void **state)
{
	destroy_in_frame(*state, DO_DESTROY);
}

static void test_resume_and_destroy_in_frame(void **state)
{
	destroy_in_frame(*state, DO_RESUME_AND_DESTROY);
}

static void test_destroy_in_closed(void **state)
{
	struct links *l = *state;
	struct end end;

	begin(l, &end);
	end.destroy_when_closed = true;
	put_frame(l->peer, 0xFFFFFFFF, 1, "", 0);
	turns(l, 2);
	assert_int_equal(end.n_closed, 1);
	assert_null(end.stream);
}

/* Fills the peer's end until something waits in our queue. */
static void fill(struct end *end)
{
	static const char data[65536];

	while (ipc_stream_queued(end->stream) < 2 * sizeof(data))
		ipc_stream_send(end->stream, 1, 0, data, sizeof(data));
}

static void drain_peer(struct links *l)
{
	char data[65536];

	while (recv(l->peer, data, sizeof(data), MSG_DONTWAIT) > 0)
		turns(l, 1);
}

static void test_destroy_in_drained(void **state)
{
	struct links *l = *state;
	struct end end;

	begin(l, &end);
	end.destroy_when_drained = true;
	fill(&end);
	put_frame(l->peer, 1, 1, "\0", 1); /* readable and writable at once */
	drain_peer(l);
	turns(l, 1);
	assert_int_equal(end.n_drained, 1);
	assert_null(end.stream);
}

/* Destroyed between a resume and the turn that would hand over what is there. */
static void test_destroy_after_resume(void **state)
{
	struct links *l = *state;
	struct end end;

	begin(l, &end);
	ipc_stream_pause(end.stream, true);
	put_frame(l->peer, 1, 1, "\0", 1);
	turns(l, 1);
	ipc_stream_pause(end.stream, false);
	ipc_stream_destroy(end.stream);
	ipc_stream_destroy(NULL);
	turns(l, 2);
	assert_int_equal(end.n_frames + (size_t)end.n_closed, 0);
}

/* What a peer sent before it left is handed over, then it is gone. */
static void test_last_words(void **state)
{
	struct links *l = *state;
	struct end end;
	auto_free unsigned char *data = util_zalloc(LIMIT_FRAME_BYTES);

	begin(l, &end);
	for (unsigned char i = 0; i < 3; i++) {
		memset(data, i, 10000);
		put_frame(l->peer, 10000, 1, data, 10000);
	}
	assert_int_equal(write(l->peer, "half", 4), 4);
	util_close_fd(&l->peer);
	turns(l, 10);
	assert_int_equal(end.n_frames, 3);
	assert_int_equal(end.n_closed, 1);
	finish(&end);
}

static void test_peer_vanishes(void **state)
{
	struct links *l = *state;
	struct end end;
	char byte;

	begin(l, &end);
	fill(&end);
	assert_int_equal(recv(l->peer, &byte, 1, 0), 1);
	util_close_fd(&l->peer);
	ipc_stream_send(end.stream, 1, 0, "x", 1);
	assert_int_equal(end.n_closed, 0); /* not inside the call */
	turns(l, 3);
	assert_int_equal(end.n_closed, 1);
	assert_string_equal(end.why, "(gone)");
	finish(&end);
}

static void test_peer_vanishes_from_a_paused_stream(void **state)
{
	struct links *l = *state;
	struct end end;

	begin(l, &end);
	ipc_stream_pause(end.stream, true);
	util_close_fd(&l->peer);
	turns(l, 2);
	assert_int_equal(end.n_closed, 1);
	finish(&end);
}

/* We notice by a send that the peer left: its last words are handed over all the same. */
static void test_last_words_after_send(void **state)
{
	struct links *l = *state;
	struct end end;

	begin(l, &end);
	put_frame(l->peer, 1, 1, "\0", 1);
	put_frame(l->peer, 1, 1, "\1", 1);
	util_close_fd(&l->peer);
	ipc_stream_send(end.stream, 1, 0, "x", 1);
	turns(l, 3);
	assert_int_equal(end.n_frames, 2);
	assert_int_equal(end.n_closed, 1);
	finish(&end);
}

/* A peer that reads no more, but does not close: the loop is not told, only send() is. */
static void test_peer_stops_reading(void **state)
{
	struct links *l = *state;
	struct end end;

	begin(l, &end);
	assert_int_equal(shutdown(l->peer, SHUT_RD), 0);
	turns(l, 1);
	assert_int_equal(end.n_closed, 0);
	ipc_stream_send(end.stream, 1, 0, "x", 1);
	ipc_stream_send(end.stream, 1, 0, "x", 1);
	assert_int_equal(end.n_closed, 0); /* not inside the call */
	assert_int_equal(ipc_stream_queued(end.stream), 0);
	turns(l, 3);
	assert_int_equal(end.n_closed, 1);
	finish(&end);
}

/* A peer that always has more to say does not keep the loop for itself. */
static void test_talkative_peer(void **state)
{
	struct links *l = *state;
	struct end end;

	begin(l, &end);
	end.then = DO_ANSWER;
	put_frame(l->peer, 1, 1, "\0", 1);
	turns(l, 3);
	assert_true(end.n_frames >= 3 && end.n_frames < 10);
	finish(&end);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_frames),
		TEST(test_message),
		TEST(test_frame_in_pieces),
		TEST(test_back_pressure),
		TEST(test_memory_is_given_back),
		TEST(test_hostile_length),
		TEST(test_refused_frame),
		TEST(test_destroy_in_frame),
		TEST(test_resume_and_destroy_in_frame),
		TEST(test_destroy_in_closed),
		TEST(test_destroy_in_drained),
		TEST(test_destroy_after_resume),
		TEST(test_last_words),
		TEST(test_peer_vanishes),
		TEST(test_peer_vanishes_from_a_paused_stream),
		TEST(test_last_words_after_send),
		TEST(test_peer_stops_reading),
		TEST(test_talkative_peer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
