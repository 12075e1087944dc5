/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: glovebox-front */
/* WebSockets: what is handed on and sent, what ends one with which code, what one costs, and who is given up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "session/base/handshake.h"
#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/front/upgrade.h"
#include "session/front/websocket.h"

#define FIN 0x80
#define BINARY 2
#define CLOSE 8
#define PING 9
#define PONG 10
#define WAIT_MS 10000

/* A WebSocket whose peer is the test. */
struct pair {
	struct loop *loop;
	struct websocket *websocket;
	int own, peer;
	size_t room;
	uint8_t got[LIMIT_WEBSOCKET_TURN_BYTES];
	size_t n_got;
	uint64_t n_all;
	int n_silent, n_writable;
	bool closed;
};

static size_t on_room(void *arg)
{
	return ((struct pair *)arg)->room;
}

static void on_data(void *arg, const uint8_t *data, size_t len)
{
	struct pair *pair = arg;

	assert_true(len <= WEBSOCKET_PIECE);
	for (size_t i = 0; i < len && pair->n_got < sizeof(pair->got); i++)
		pair->got[pair->n_got++] = data[i];
	pair->n_all += len;
}

static void on_writable(void *arg)
{
	((struct pair *)arg)->n_writable++;
}

static void on_silent(void *arg)
{
	((struct pair *)arg)->n_silent++;
}

static void on_closed(void *arg)
{
	struct pair *pair = arg;

	assert_false(pair->closed);
	pair->closed = true;
	websocket_destroy(pair->websocket);
	pair->websocket = NULL;
	util_close_fd(&pair->own);
}

static struct pair *open_pair(const struct websocket_pace *pace, const void *early, size_t early_len)
{
	static const struct websocket_ops ops = {.room = on_room, .data = on_data, .writable = on_writable, .silent = on_silent, .closed = on_closed};
	static const struct websocket_pace patient = {.ping_ms = 60000, .dead_ms = 120000};
	struct pair *pair = util_zalloc(sizeof(*pair));
	struct err e;
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
	pair->loop = loop_create(&e);
	assert_non_null(pair->loop);
	pair->own = ends[0];
	pair->peer = ends[1];
	pair->room = 16384;
	pair->websocket = websocket_create(pair->loop, pair->own, early, early_len, pace ? pace : &patient, &ops, pair);
	return pair;
}

static void close_pair(struct pair *pair)
{
	websocket_destroy(pair->websocket);
	util_close_fd(&pair->own);
	util_close_fd(&pair->peer);
	loop_destroy(pair->loop);
	free(pair);
}

/* Turns the loop until it has nothing to do. */
static void turn(struct pair *pair)
{
	while (loop_turn(pair->loop, 10))
		;
}

/* A masked frame; the mask is of zeros, so that what is sent can be read here. */
static size_t frame(uint8_t *out, uint8_t first, const void *data, size_t len)
{
	size_t n = 0;

	out[n++] = first;
	if (len < 126) {
		out[n++] = (uint8_t)(0x80 | len);
	} else {
		out[n++] = 0x80 | 126;
		out[n++] = (uint8_t)(len >> 8);
		out[n++] = (uint8_t)len;
	}
	memset(out + n, 0, 4);
	n += 4;
	if (len > 0)
		memcpy(out + n, data, len);
	return n + len;
}

static void say(struct pair *pair, uint8_t first, const void *data, size_t len)
{
	uint8_t bytes[65536];
	size_t n = frame(bytes, first, data, len);

	assert_int_equal(send(pair->peer, bytes, n, MSG_NOSIGNAL), n);
	turn(pair);
}

static size_t hear(struct pair *pair, uint8_t *out, size_t size)
{
	ssize_t n = recv(pair->peer, out, size, MSG_DONTWAIT);

	return n > 0 ? (size_t)n : 0;
}

/* The code of the close that comes. */
static unsigned int hear_close(struct pair *pair)
{
	uint8_t bytes[256];
	size_t n = hear(pair, bytes, sizeof(bytes));

	for (size_t i = 0; i + 1 < n; i += 2 + (size_t)bytes[i + 1])
		if (bytes[i] == (FIN | CLOSE))
			return bytes[i + 1] < 2 ? 1005 : (unsigned int)(bytes[i + 2] << 8 | bytes[i + 3]);
	return 0;
}

static void test_messages_are_a_stream(void **state)
{
	struct pair *pair = open_pair(NULL, NULL, 0);

	(void)state;
	say(pair, FIN | BINARY, "hello ", 6);
	say(pair, BINARY, "wo", 2); /* in pieces, with a ping between them */
	say(pair, FIN | PING, "are you there", 13);
	say(pair, 0, "", 0);
	say(pair, FIN, "rld", 3);
	assert_int_equal(pair->n_got, 11);
	assert_memory_equal(pair->got, "hello world", 11);
	{
		uint8_t bytes[64];

		assert_int_equal(hear(pair, bytes, sizeof(bytes)), 15);
		assert_int_equal(bytes[0], FIN | PONG);
		assert_memory_equal(bytes + 2, "are you there", 13);
	}
	close_pair(pair);
}

/* All of it in one reading, and a message behind it. */
static void test_a_ping_within_a_message(void **state)
{
	struct pair *pair = open_pair(NULL, NULL, 0);
	uint8_t bytes[256];
	size_t n = frame(bytes, BINARY, "a", 1);

	(void)state;
	n += frame(bytes + n, FIN | PING, "?", 1);
	n += frame(bytes + n, FIN, "bcdefgh", 7);
	assert_int_equal(send(pair->peer, bytes, n, MSG_NOSIGNAL), n);
	turn(pair);
	say(pair, FIN | BINARY, "next", 4);
	assert_int_equal(pair->n_got, 12);
	assert_memory_equal(pair->got, "abcdefghnext", 12);
	/* While the answer waited there was no room, and who saw that is told. */
	assert_int_equal(pair->n_writable, 1);
	close_pair(pair);
}

static void test_what_came_with_the_handshake(void **state)
{
	uint8_t early[64];
	size_t n = frame(early, FIN | BINARY, "RFB 003.008\n", 12);
	struct pair *pair = open_pair(NULL, early, n);

	(void)state;
	for (int i = 0; i < 3; i++)
		(void)loop_turn(pair->loop, 10);
	assert_int_equal(pair->n_got, 12);
	assert_memory_equal(pair->got, "RFB 003.008\n", 12);
	close_pair(pair);
}

static void test_sent_in_one_piece(void **state)
{
	struct pair *pair = open_pair(NULL, NULL, 0);
	uint8_t bytes[64];

	(void)state;
	assert_int_equal(websocket_room(pair->websocket), LIMIT_WEBSOCKET_TURN_BYTES);
	websocket_send(pair->websocket, "abc", 3);
	assert_int_equal(hear(pair, bytes, sizeof(bytes)), 5);
	assert_memory_equal(bytes, "\x82\x03" "abc", 5);
	close_pair(pair);
}

/* Nothing is taken beyond what one message takes, and the peer is told of no more. */
static void test_a_peer_that_does_not_read(void **state)
{
	struct pair *pair = open_pair(NULL, NULL, 0);
	uint8_t piece[LIMIT_WEBSOCKET_TURN_BYTES] = {0}, bytes[65536];
	size_t sent = 0, n;

	(void)state;
	while (websocket_room(pair->websocket) > 0) {
		websocket_send(pair->websocket, piece, sizeof(piece));
		assert_true(++sent < 1000);
	}
	turn(pair);
	assert_int_equal(pair->n_writable, 0);
	while ((n = hear(pair, bytes, sizeof(bytes))) > 0)
		turn(pair);
	assert_true(websocket_room(pair->websocket) > 0);
	assert_int_equal(pair->n_writable, 1);
	close_pair(pair);
}

static void test_without_room_nothing_is_read(void **state)
{
	struct pair *pair = open_pair(NULL, NULL, 0);

	(void)state;
	pair->room = 0;
	websocket_go_on(pair->websocket);
	say(pair, FIN | BINARY, "abc", 3);
	assert_int_equal(pair->n_all, 0);
	pair->room = WEBSOCKET_PIECE;
	websocket_go_on(pair->websocket);
	turn(pair);
	assert_int_equal(pair->n_all, 3);
	close_pair(pair);
}

/* The answers to pings wait for a peer that does not read them: so it is not read from either. */
static void test_a_flood_of_pings(void **state)
{
	struct pair *pair = open_pair(NULL, NULL, 0);
	uint8_t bytes[256];
	size_t len = frame(bytes, FIN | PING, "0123456789abcdef", 16), n_taken = 0;

	(void)state;
	for (int quiet = 0; quiet < 3; quiet++) {
		while (send(pair->peer, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)len) {
			assert_true(++n_taken < 1000000);
			quiet = 0;
		}
		turn(pair);
	}
	assert_true(n_taken > 1000);
	assert_false(pair->closed);
	close_pair(pair);
}

static void test_a_flood_of_fragments(void **state)
{
	struct pair *pair = open_pair(NULL, NULL, 0);

	(void)state;
	say(pair, BINARY, "", 0);
	for (int i = 0; i < 20000; i++) {
		uint8_t bytes[16];
		size_t n = frame(bytes, 0, "x", i % 2 ? 1 : 0);

		while (send(pair->peer, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
			(void)loop_turn(pair->loop, 0);
	}
	turn(pair);
	assert_int_equal(pair->n_all, 10000);
	close_pair(pair);
}

static const struct hostile {
	const char *what;
	const char *bytes;
	size_t len;
	unsigned int code;
} hostile[] = { /* 1005: what wslay finds wrong before it has the whole of a frame's head it closes without a code */
	{"text", "\x81\x81\0\0\0\0x", 7, 1003},
	{"text in pieces", "\x01\x81\0\0\0\0x", 7, 1003},
	{"no mask", "\x82\x01x", 3, 1002},
	{"a reserved bit", "\xc2\x81\0\0\0\0x", 7, 1002},
	{"a reserved kind", "\x83\x81\0\0\0\0x", 7, 1002},
	{"a reserved kind of control", "\x8b\x81\0\0\0\0x", 7, 1002},
	{"a terabyte", "\x82\xff\0\0\x01\0\0\0\0\0\0\0\0\0x", 15, 1009},
	{"more than a frame may have", "\x82\xff\0\0\0\0\0\x10\0\x01\0\0\0\0x", 15, 1009},
	{"a negative length", "\x82\xff\xff\xff\xff\xff\xff\xff\xff\xff\0\0\0\0", 14, 1005},
	{"a length in too many bytes", "\x82\xfe\0\x01\0\0\0\0x", 9, 1005},
	{"a ping in pieces", "\x09\x80\0\0\0\0", 6, 1005},
	{"a long ping", "\x89\xfe\0\x7e\0\0\0\0", 8, 1005},
	{"a piece of nothing", "\x80\x81\0\0\0\0x", 7, 1002},
	{"a message within a message", "\x02\x80\0\0\0\0\x82\x80\0\0\0\0", 12, 1002},
	{"a close with no code that there is", "\x88\x82\0\0\0\0\x03\xed", 8, 1002},
	{"a close of one byte", "\x88\x81\0\0\0\0\x03", 7, 1005},
};

static void test_hostile_frames(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(hostile); i++)
		for (size_t slow = 0; slow < 2; slow++) {
			struct pair *pair = open_pair(NULL, NULL, 0);
			unsigned int code;

			for (size_t k = 0; slow && k < hostile[i].len; k++) {
				(void)send(pair->peer, hostile[i].bytes + k, 1, MSG_NOSIGNAL);
				turn(pair);
			}
			if (!slow)
				(void)send(pair->peer, hostile[i].bytes, hostile[i].len, MSG_NOSIGNAL);
			turn(pair);
			code = hear_close(pair);
			if (code != hostile[i].code || pair->n_all > 0)
				fail_msg("%s: closed with %u, not %u; %ju bytes handed on", hostile[i].what, code, hostile[i].code, (uintmax_t)pair->n_all);
			assert_false(pair->closed); /* it has not read that yet */
			(void)shutdown(pair->peer, SHUT_WR);
			turn(pair);
			assert_true(pair->closed);
			close_pair(pair);
		}
}

static void test_the_peer_closes(void **state)
{
	struct pair *pair = open_pair(NULL, NULL, 0);

	(void)state;
	say(pair, FIN | CLOSE, "\x03\xe8" "bye", 5);
	assert_int_equal(hear_close(pair), 1000);
	assert_int_equal(websocket_code_of_peer(pair->websocket), 1000);
	util_close_fd(&pair->peer);
	turn(pair);
	assert_true(pair->closed);
	close_pair(pair);
}

static void test_we_close(void **state)
{
	struct pair *pair = open_pair(NULL, NULL, 0);

	(void)state;
	websocket_send(pair->websocket, "x", 1);
	websocket_close(pair->websocket, WEBSOCKET_AWAY, "the session has ended");
	websocket_close(pair->websocket, WEBSOCKET_FAILED, "again");
	assert_int_equal(websocket_room(pair->websocket), 0);
	assert_int_equal(hear_close(pair), 1001);
	say(pair, FIN | BINARY, "late", 4);
	assert_int_equal(pair->n_all, 0);
	say(pair, FIN | CLOSE, "\x03\xe9", 2);
	util_close_fd(&pair->peer);
	turn(pair);
	assert_true(pair->closed);
	close_pair(pair);
}

/* Runs the loop until `*what`. */
static void wait_for(struct pair *pair, const bool *what)
{
	int64_t deadline_ms = util_now_ms() + WAIT_MS;

	while (!*what && util_now_ms() < deadline_ms)
		(void)loop_turn(pair->loop, 1000);
	assert_true(*what);
}

static void test_a_peer_that_does_not_take_a_close(void **state)
{
	struct pair *pair = open_pair(NULL, NULL, 0);
	int64_t began_ms = util_now_ms();

	(void)state;
	websocket_close(pair->websocket, WEBSOCKET_AWAY, "");
	wait_for(pair, &pair->closed);
	assert_true(util_now_ms() - began_ms >= LIMIT_WEBSOCKET_CLOSE_MS);
	close_pair(pair);
}

static void test_a_peer_that_vanishes(void **state)
{
	struct pair *pair = open_pair(NULL, NULL, 0);

	(void)state;
	util_close_fd(&pair->peer);
	turn(pair);
	assert_true(pair->closed);
	close_pair(pair);
}

/* It is told of once, given up in time, and one that answers is kept. */
static void test_signs_of_life(void **state)
{
	static const struct websocket_pace fast = {.ping_ms = 20, .silent_ms = 60, .dead_ms = 200};
	struct pair *pair = open_pair(&fast, NULL, 0), *answers;
	int64_t began_ms = util_now_ms();
	uint8_t bytes[64];

	(void)state;
	wait_for(pair, &pair->closed);
	assert_true(util_now_ms() - began_ms >= 200);
	assert_int_equal(pair->n_silent, 1);
	assert_true(hear(pair, bytes, sizeof(bytes)) >= 2);
	assert_memory_equal(bytes, "\x89\0", 2);
	answers = open_pair(&fast, NULL, 0);
	for (began_ms = util_now_ms(); util_now_ms() - began_ms < 400;) {
		(void)loop_turn(answers->loop, 10);
		if (hear(answers, bytes, sizeof(bytes)) > 0)
			say(answers, FIN | PONG, "", 0);
	}
	assert_false(answers->closed);
	assert_int_equal(answers->n_silent, 0);
	close_pair(pair);
	close_pair(answers);
}

static void check_head(const char *name, const char *value, enum err_code code)
{
	static const char *const fields[][2] = {{"Upgrade", "websocket"}, {"Connection", "keep-alive, Upgrade"}, {"Sec-WebSocket-Version", "13"},
	                                        {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="}, {"Sec-WebSocket-Protocol", "binary, ticket.AB-CD"}};
	struct head head = {0};
	struct err e = {0};

	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		const char *text = strcmp(fields[i][0], name) == 0 ? value : fields[i][1];

		if (text)
			assert_int_equal(head_add(&head, fields[i][0], strlen(fields[i][0]), text, strlen(text), &e), 0);
	}
	assert_int_equal(upgrade_check(&head, true, true, &e), code == ERR_NONE ? 0 : -1);
	if (code != ERR_NONE)
		assert_int_equal(e.code, code);
}

static void test_the_handshake(void **state)
{
	char accept[HANDSHAKE_ACCEPT_SIZE];

	(void)state;
	handshake_accept("dGhlIHNhbXBsZSBub25jZQ==", accept);
	assert_string_equal(accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="); /* RFC 6455 part 1.3 */
	check_head("", NULL, ERR_NONE);
	check_head("Upgrade", "WebSocket", ERR_NONE);
	check_head("Upgrade", "h2c", ERR_UPGRADE);
	check_head("Upgrade", NULL, ERR_UPGRADE);
	check_head("Connection", "close", ERR_UPGRADE);
	check_head("Connection", "not-upgrade", ERR_UPGRADE);
	check_head("Sec-WebSocket-Version", "8", ERR_UPGRADE);
	check_head("Sec-WebSocket-Version", NULL, ERR_UPGRADE);
	check_head("Sec-WebSocket-Key", "c2hvcnQ=", ERR_BAD_REQUEST);
	check_head("Sec-WebSocket-Key", NULL, ERR_BAD_REQUEST);
	check_head("Sec-WebSocket-Protocol", "ticket.AB-CD", ERR_BAD_REQUEST);
	check_head("Sec-WebSocket-Protocol", NULL, ERR_NONE); /* there is no ticket then */
}

static void test_the_ticket_of_a_handshake(void **state)
{
	struct head head = {.websocket_protocol = "binary ,\tticket.AB-CD, other"};
	auto_free char *ticket = upgrade_ticket(&head);

	(void)state;
	assert_string_equal(ticket, "AB-CD");
	head.websocket_protocol = "binary, ticket., xticket.AB";
	assert_null(upgrade_ticket(&head));
	head.websocket_protocol = NULL;
	assert_null(upgrade_ticket(&head));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_messages_are_a_stream),
		cmocka_unit_test(test_a_ping_within_a_message),
		cmocka_unit_test(test_what_came_with_the_handshake),
		cmocka_unit_test(test_sent_in_one_piece),
		cmocka_unit_test(test_a_peer_that_does_not_read),
		cmocka_unit_test(test_without_room_nothing_is_read),
		cmocka_unit_test(test_a_flood_of_pings),
		cmocka_unit_test(test_a_flood_of_fragments),
		cmocka_unit_test(test_hostile_frames),
		cmocka_unit_test(test_the_peer_closes),
		cmocka_unit_test(test_we_close),
		cmocka_unit_test(test_a_peer_that_does_not_take_a_close),
		cmocka_unit_test(test_a_peer_that_vanishes),
		cmocka_unit_test(test_signs_of_life),
		cmocka_unit_test(test_the_handshake),
		cmocka_unit_test(test_the_ticket_of_a_handshake),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
