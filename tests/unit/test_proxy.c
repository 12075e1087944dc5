/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: glovebox-egress */
/* What a session's programs may send to their way out, without a network: heads, targets, bodies, SOCKS5, the first message of TLS, policies, rates. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sandbox/egress/bucket.h"
#include "sandbox/egress/hello.h"
#include "sandbox/egress/labels.h"
#include "sandbox/egress/policy.h"
#include "sandbox/egress/request.h"
#include "sandbox/egress/socks.h"
#include "session/base/util.h"

#define US 1000000

/* --- heads and requests --- */

/* What a text is refused for, or "" with the request in *out; both stay valid until the next call. */
static const char *read_text(const char *text, size_t len, const struct request_peer *peer, struct request *out)
{
	static char bytes[LIMIT_HEAD_BYTES];
	static struct head head;
	const char *fault;

	assert_true(len <= sizeof(bytes));
	memcpy(bytes, text, len);
	if (head_length(bytes, len) != (ssize_t)len)
		return head_length(bytes, len) < 0 ? "no head" : "not whole";
	fault = head_read_request(bytes, len, &head);
	if (!fault)
		fault = request_read(&head, peer, out);
	return fault ? fault : "";
}

static void refuses(const char *text, const char *says)
{
	static struct request request;
	const char *fault = read_text(text, strlen(text), NULL, &request);

	if (!strstr(fault, says) || !*fault)
		fail_msg("%s: said is \"%s\", wanted \"%s\"", text, fault, says);
}

/* Requests of programs, and what is said of them: E02 and E10, and their kinds. */
static const struct {
	const char *text, *says;
} REFUSED_REQUESTS[] = {
	{"GET / HTTP/1.1\r\nHost: ok.test\r\n\r\n", "a proxy needs the whole address"},
	{"OPTIONS * HTTP/1.1\r\nHost: ok.test\r\n\r\n", "a proxy needs the whole address"},
	{"GET http://ok.test/ HTTP/1.1\r\n\r\n", "no Host"},
	{"GET http://ok.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n", "another place"},
	{"GET http://ok.test/ HTTP/1.0\r\nHost: evil.test\r\n\r\n", "another place"},
	{"GET http://ok.test/ HTTP/1.1\r\nHost: ok.test:8080\r\n\r\n", "another place"},
	{"GET http://ok.test:8080/ HTTP/1.1\r\nHost: ok.test\r\n\r\n", "another place"},
	{"GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nHost: ok.test\r\n\r\n", "two Host"},
	{"GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nhost: evil.test\r\n\r\n", "two Host"},
	{"GET http://ok.test/ HTTP/1.1\r\nHost: ok.test, evil.test\r\n\r\n", "is no host"},
	{"GET http://ok.test/ HTTP/1.1\r\nHost:\r\n\r\n", "is no host"},
	{"GET http://ok.test/ HTTP/1.1\r\nHost : ok.test\r\n\r\n", "before its colon"},
	{"GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n X: folded\r\n\r\n", "second line"},
	{"GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\tX: folded\r\n\r\n", "second line"},
	{"GET http://ok.test/ HTTP/1.1\r\n Host: ok.test\r\n\r\n", "second line"},
	{"GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nX\r\n\r\n", "no colon"},
	{"GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n: x\r\n\r\n", "none has"},
	{"GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nX: a\001b\r\n\r\n", "control character"},
	{"GET http://ok.test/ HTTP/1.1\nHost: ok.test\n\n", "no head"},
	{"GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\nX: y\r\n\r\n", "no head"},
	{"GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\rX: y\r\n\r\n", "no head"},
	{"\r\nGET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n", "no head"},
	{"GET  http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n", "does not end in HTTP"},
	{"GET http://ok.test/\tHTTP/1.1\r\nHost: ok.test\r\n\r\n", "one space"},
	{"GET http://ok.test/ HTTP/1.1 \r\nHost: ok.test\r\n\r\n", "does not end in HTTP"},
	{"GET http://ok.test/ HTTP/2.0\r\nHost: ok.test\r\n\r\n", "does not end in HTTP"},
	{"GET http://ok.test/\r\n\r\n", "one space"},
	{"G T http://ok.test/ HTTP/1.1\r\n\r\n", "does not end in HTTP"},
	{"G(T http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n", "method"},
	{"TRACE http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n", "TRACE"},
	{"trace http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n", "TRACE"},
	{"POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nTransfer_Encoding: chunked\r\nContent-Length: 3\r\n\r\n", "\"_\""},
	{"POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\ncontent_length: 30\r\nContent-Length: 3\r\n\r\n", "\"_\""},
	{"GET https://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n", "CONNECT"},
	{"GET ftp://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n", "begins with http://"},
	{"GET ok.test:80 HTTP/1.1\r\nHost: ok.test\r\n\r\n", "begins with http://"},
	{"GET http://user@ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n", "user"},
	{"GET http://ok.test:80@evil.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n", "user"},
	{"GET http://ok.test/#x HTTP/1.1\r\nHost: ok.test\r\n\r\n", "fragment"},
	{"GET http:///x HTTP/1.1\r\nHost: ok.test\r\n\r\n", "no host"},
	{"GET http://ok.test:/ HTTP/1.1\r\nHost: ok.test\r\n\r\n", "no host"},
	{"GET http://ok.test:99999/ HTTP/1.1\r\nHost: ok.test\r\n\r\n", "no host"},
	{"GET http://evil.test%00.ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n", "no host"},
	{"GET http://ok..test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n", "no host"},
	{"GET http://ok.test\\@evil.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n", "user"},
	{"GET http://ok.test\\.evil.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n", "no host"},
	{"CONNECT ok.test HTTP/1.1\r\nHost: ok.test\r\n\r\n", "host and a port"},
	{"CONNECT http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n", "host and a port"},
	{"CONNECT evil.test%00.ok.test:443 HTTP/1.1\r\nHost: ok.test:443\r\n\r\n", "host and a port"},
	{"CONNECT \tok.test:443 HTTP/1.1\r\nHost: ok.test:443\r\n\r\n", "no address has"},
	{"CONNECT ok.test :443 HTTP/1.1\r\nHost: ok.test:443\r\n\r\n", "does not end in HTTP"},
	{"CONNECT ok..test:443 HTTP/1.1\r\nHost: ok..test:443\r\n\r\n", "host and a port"},
	{"CONNECT ok.test:443 HTTP/1.1\r\nHost: evil.test:443\r\n\r\n", "another place"},
	{"CONNECT user@ok.test:443 HTTP/1.1\r\nHost: ok.test:443\r\n\r\n", "host and a port"},
	{"CONNECT ok.test:443 HTTP/1.1\r\n\r\n", "no Host"},
	{"CONNECT ok.test:443 HTTP/1.1\r\nHost: ok.test:443\r\nContent-Length: 5\r\n\r\n", "no body"},
	{"POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", "both"},
	{"POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n", "one decimal number"},
	{"POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nContent-Length: +5\r\n\r\n", "one decimal number"},
	{"POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nContent-Length: 5, 5\r\n\r\n", "one decimal number"},
	{"POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nContent-Length: 99999999999999999999\r\n\r\n", "one decimal number"},
	{"POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nContent-Length:\r\n\r\n", "one decimal number"},
	{"POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", "\"chunked\""},
	{"POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", "\"chunked\""},
	{"POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nTransfer-Encoding: xchunked\r\n\r\n", "\"chunked\""},
	{"POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nTransfer-Encoding:\r\n\r\n", "\"chunked\""},
	{"POST http://ok.test/ HTTP/1.0\r\nHost: ok.test\r\nTransfer-Encoding: chunked\r\n\r\n", "HTTP/1.0"},
};

static void test_refused_requests(void **state)
{
	static struct request request;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(REFUSED_REQUESTS); i++)
		refuses(REFUSED_REQUESTS[i].text, REFUSED_REQUESTS[i].says);
	assert_string_equal(read_text("CONNECT evil.test\0.ok.test:443 HTTP/1.1\r\n\r\n", 44, NULL, &request), "no head");
}

static void test_taken_requests(void **state)
{
	static const struct {
		const char *text, *host;
		unsigned port;
		const char *target, *path;
	} rows[] = {
		{"GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n", "ok.test", 80, "/", "/"},
		{"GET HTTP://OK.Test./a?b=/c HTTP/1.1\r\nHost: ok.test:80\r\n\r\n", "ok.test", 80, "/a?b=/c", "/a"},
		{"GET http://ok.test HTTP/1.0\r\n\r\n", "ok.test", 80, "/", "/"},
		{"GET http://ok.test?x=1 HTTP/1.0\r\n\r\n", "ok.test", 80, "/?x=1", "/"},
		{"GET http://ok.test:8080/x HTTP/1.1\r\nHost:  ok.test:8080 \r\n\r\n", "ok.test", 8080, "/x", "/x"},
		{"GET http://[2001:DB8::1]:81/ HTTP/1.1\r\nHost: [2001:db8:0::1]:81\r\n\r\n", "2001:db8::1", 81, "/", "/"},
		{"GET http://127.1/ HTTP/1.1\r\nHost: 127.1\r\n\r\n", "127.1", 80, "/", "/"},
		{"CONNECT ok.test:443 HTTP/1.1\r\nHost: ok.test:443\r\n\r\n", "ok.test", 443, NULL, NULL},
		{"CONNECT ok.test:443 HTTP/1.1\r\nHost: ok.test\r\n\r\n", "ok.test", 443, NULL, NULL},
		{"CONNECT [::1]:443 HTTP/1.0\r\n\r\n", "::1", 443, NULL, NULL},
	};
	static struct request request;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *fault = read_text(rows[i].text, strlen(rows[i].text), NULL, &request);

		if (*fault)
			fail_msg("%s: %s", rows[i].text, fault);
		assert_string_equal(request.host.text, rows[i].host);
		assert_int_equal(request.port, rows[i].port);
		assert_int_equal(request.is_connect, rows[i].target == NULL);
		if (rows[i].target) {
			assert_string_equal(request.target, rows[i].target);
			assert_string_equal(request.path, rows[i].path);
		}
	}
}

static bool goes_on(const char *text)
{
	static struct request request;

	assert_string_equal(read_text(text, strlen(text), NULL, &request), "");
	return request.keeps;
}

static void test_what_goes_on(void **state)
{
	(void)state;
	assert_true(goes_on("GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n"));
	assert_false(goes_on("GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nConnection: x, Close\r\n\r\n"));
	assert_false(goes_on("GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nProxy-Connection: close\r\n\r\n"));
	assert_false(goes_on("GET http://ok.test/ HTTP/1.0\r\n\r\n"));
	assert_true(goes_on("GET http://ok.test/ HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
}

/* What TLS has in it, when it was ended here. */
static void test_intercepted(void **state)
{
	static const struct {
		const char *text, *says;
	} rows[] = {
		{"GET /a HTTP/1.1\r\nHost: api.test\r\n\r\n", ""},
		{"GET /a HTTP/1.1\r\nHost: api.test:443\r\n\r\n", ""},
		{"GET /a HTTP/1.1\r\nHost: other.test\r\n\r\n", "another place"},
		{"GET /a HTTP/1.1\r\nHost: api.test:80\r\n\r\n", "another place"},
		{"GET https://api.test/a HTTP/1.1\r\nHost: api.test\r\n\r\n", "no path"},
		{"GET http://other.test/a HTTP/1.1\r\nHost: api.test\r\n\r\n", "no path"},
		{"GET /a#b HTTP/1.1\r\nHost: api.test\r\n\r\n", "no path"},
		{"CONNECT other.test:443 HTTP/1.1\r\nHost: other.test:443\r\n\r\n", "one already"},
		{"TRACE / HTTP/1.1\r\nHost: api.test\r\n\r\n", "TRACE"},
	};
	static struct request request;
	struct egress_host host;
	const struct request_peer peer = {&host, 443};

	(void)state;
	egress_host_read("api.test", 8, &host);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *fault = read_text(rows[i].text, strlen(rows[i].text), &peer, &request);

		if (*rows[i].says ? !strstr(fault, rows[i].says) : *fault != '\0')
			fail_msg("%s: said is \"%s\", wanted \"%s\"", rows[i].text, fault, rows[i].says);
	}
}

static void test_length_of_a_head(void **state)
{
	char text[LIMIT_HEAD_BYTES];

	(void)state;
	assert_int_equal(head_length("GET", 3), 0);
	assert_int_equal(head_length("GET x\r", 6), 0);
	assert_int_equal(head_length("GET x\r\n\r\nrest", 13), 9);
	memset(text, 'a', sizeof(text));
	assert_int_equal(head_length(text, sizeof(text) - 1), 0);
	assert_int_equal(head_length(text, sizeof(text)), -1);
}

static void test_many_fields(void **state)
{
	static struct request request;
	char text[LIMIT_HEAD_BYTES] = "GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n";
	size_t len = strlen(text);

	(void)state;
	for (size_t i = 1; i < LIMIT_EGRESS_FIELDS; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "X-%zu: y\r\n", i);
	memcpy(text + len, "\r\n", 2);
	assert_string_equal(read_text(text, len + 2, NULL, &request), "");
	memcpy(text + len, "Y: z\r\n\r\n", 8);
	assert_string_equal(read_text(text, len + 8, NULL, &request), "it has too many header fields");
}

static void test_hop_by_hop(void **state)
{
	char text[] = "GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nConnection: X-One , keep-alive\r\nX-One: 1\r\nProxy-Connection: keep-alive\r\n"
	              "Proxy-Authorization: Basic eA==\r\nTE: trailers\r\nUpgrade: h2c\r\nKeep-Alive: 5\r\nX-Two: 2\r\nExpect: 100-continue\r\nContent-Length: 0\r\n\r\n";
	struct head_text out = {.len = 0};
	struct head head;
	size_t n;

	(void)state;
	assert_null(head_read_request(text, strlen(text), &head));
	head_drop_hop(&head);
	assert_int_equal(head_set(&head, "x-two", "two"), 0);
	assert_int_equal(head_set(&head, "X-Three", "3"), 0);
	head_text_add_fields(&out, &head);
	assert_string_equal(out.data, "x-two: two\r\nX-Three: 3\r\n");
	head_text_finish(&out);
	assert_string_equal(head_value(&head, "X-THREE", &n), "3");
	for (size_t i = head.n_fields; i < LIMIT_EGRESS_FIELDS; i++)
		head.fields[head.n_fields++] = (struct head_field){"a", "b"};
	assert_int_equal(head_set(&head, "X-Four", "4"), -1);
	assert_int_equal(head_set(&head, "X-Three", "4"), 0);
}

static const char *read_answer(const char *text, bool answers_head, struct body *body)
{
	static char bytes[1024];
	static struct head head;
	const char *fault;

	(void)snprintf(bytes, sizeof(bytes), "%s", text);
	fault = head_read_response(bytes, strlen(text), &head);
	return fault ? fault : body_of_response(&head, answers_head, body);
}

static void test_responses(void **state)
{
	struct body body;

	(void)state;
	assert_null(read_answer("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", false, &body));
	assert_int_equal(body.kind, BODY_LENGTH);
	assert_null(read_answer("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", true, &body));
	assert_int_equal(body.kind, BODY_NONE);
	assert_null(read_answer("HTTP/1.1 304\r\nContent-Length: 5\r\n\r\n", false, &body));
	assert_int_equal(body.kind, BODY_NONE);
	assert_null(read_answer("HTTP/1.0 200 \r\n\r\n", false, &body));
	assert_int_equal(body.kind, BODY_CLOSE);
	assert_null(read_answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n", false, &body));
	assert_int_equal(body.kind, BODY_CHUNKED);
	assert_non_null(read_answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n", false, &body));
	assert_non_null(read_answer("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", false, &body));
	assert_non_null(read_answer("HTTP/1.1 2000 OK\r\n\r\n", false, &body));
	assert_non_null(read_answer("HTTP/1.1 600 OK\r\n\r\n", false, &body));
	assert_non_null(read_answer("HTTP/1.1  200 OK\r\n\r\n", false, &body));
	assert_non_null(read_answer("ICY 200 OK\r\n\r\n", false, &body));
	assert_non_null(read_answer("HTTP/1.1 200 OK\r\nX: y\r\n folded\r\n\r\n", false, &body));
}

/* --- bodies --- */

/* The content of chunks that come in pieces of `step` bytes; NULL when they are none. *over: the end was there; *taken of all bytes. */
static const char *dechunk(const char *text, size_t step, bool *over, size_t *taken)
{
	static char content[256];
	struct body body = {.kind = BODY_CHUNKED};
	size_t len = strlen(text), out = 0;

	*taken = 0;
	while (*taken < len && !body.is_over) {
		const char *piece;
		size_t piece_len, n = len - *taken < step ? len - *taken : step;

		n = body_take(&body, text + *taken, n, &piece, &piece_len);
		if (n == SIZE_MAX)
			return NULL;
		assert_true(n > 0);
		memcpy(content + out, piece ? piece : "", piece_len);
		out += piece_len;
		*taken += n;
	}
	content[out] = '\0';
	*over = body.is_over;
	return content;
}

/* Fields behind the last chunk are left out, and have an end as a head has. */
static void test_long_trailers(void **state)
{
	static const char field[] = "A: b\r\n";
	struct body body = {.kind = BODY_CHUNKED};
	const char *piece;
	size_t len, n = 0;

	(void)state;
	assert_int_equal(body_take(&body, "0\r\n", 3, &piece, &len), 3);
	while (n <= LIMIT_HEAD_BYTES && body_take(&body, field, sizeof(field) - 1, &piece, &len) != SIZE_MAX)
		n += sizeof(field) - 1;
	assert_in_range(n, LIMIT_HEAD_BYTES - sizeof(field), LIMIT_HEAD_BYTES);
}

static void test_chunks(void **state)
{
	static const char *const bad[] = {"\r\n", "g\r\n", "-1\r\n", " 5\r\nhello\r\n0\r\n\r\n", "5\nhello\r\n", "5\r\nhelloX\n0\r\n\r\n", "5\r\nhello\n0\r\n\r\n", "5\r\nhello\r\n0\n\n",
	                                  "0\r\n\n", "0x5\r\nhello\r\n", "1234567890123\r\n", "5 \r \nhello", "0\r\nX: y\n\r\n", ";\r\n"};
	static const char good[] = "5;a=b\r\nhello\r\nA \r\n, world!!!\r\n00\r\nTrailer: x\r\nY: z\r\n\r\n";
	size_t taken;
	bool over;

	(void)state;
	for (size_t step = 1; step <= sizeof(good); step++) {
		assert_string_equal(dechunk(good, step, &over, &taken), "hello, world!!!");
		assert_true(over);
		assert_int_equal(taken, strlen(good));
	}
	assert_string_equal(dechunk("0\r\n\r\nGET http://evil.test/", 100, &over, &taken), "");
	assert_int_equal(taken, 5);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (dechunk(bad[i], 100, &over, &taken))
			fail_msg("%s: these are no chunks", bad[i]);
}

static void test_length(void **state)
{
	struct body body = {.kind = BODY_LENGTH, .left = 5};
	const char *piece;
	size_t len;

	(void)state;
	assert_int_equal(body_take(&body, "hel", 3, &piece, &len), 3);
	assert_false(body.is_over);
	assert_int_equal(body_take(&body, "loGET", 5, &piece, &len), 2);
	assert_true(body.is_over);
	assert_int_equal(len, 2);
	assert_int_equal(body_take(&body, "GET", 3, &piece, &len), 0);
}

/* --- SOCKS5 --- */

static ssize_t ask_socks(const char *bytes, size_t len, struct egress_host *host, uint16_t *port, enum socks_reply *fault)
{
	/* No shorter one is taken for a whole one. */
	for (size_t n = 0; n < len; n++)
		if (socks_request(bytes, n, host, port, fault) > 0)
			fail_msg("%zu of %zu bytes are a request", n, len);
	return socks_request(bytes, len, host, port, fault);
}

static void test_socks(void **state)
{
	uint8_t answer[SOCKS_GREETING_BYTES], reply[SOCKS_REPLY_BYTES];
	enum socks_reply fault;
	struct egress_host host;
	uint16_t port;

	(void)state;
	assert_int_equal(socks_greeting("\5\1", 2, answer), 0);
	assert_int_equal(socks_greeting("\5\1\0", 3, answer), 3);
	assert_int_equal(answer[1], 0);
	assert_int_equal(socks_greeting("\5\2\1\2", 4, answer), 4);
	assert_int_equal(answer[1], 0xFF);
	assert_int_equal(socks_greeting("\5\0", 2, answer), 2);
	assert_int_equal(answer[1], 0xFF);
	assert_int_equal(socks_greeting("\4\1", 2, answer), -1);
	assert_int_equal(ask_socks("\5\1\0\3\7OK.test\1\273", 14, &host, &port, &fault), 14);
	assert_string_equal(host.text, "ok.test");
	assert_int_equal(port, 443);
	assert_int_equal(ask_socks("\5\1\0\1\177\0\0\1\0\120", 10, &host, &port, &fault), 10);
	assert_string_equal(host.text, "127.0.0.1");
	assert_int_equal(host.kind, EGRESS_HOST_V4);
	assert_int_equal(ask_socks("\5\1\0\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\120", 22, &host, &port, &fault), 22);
	assert_string_equal(host.text, "::1");
	assert_int_equal(ask_socks("\5\1\0\3\0050x7.1\0\120", 12, &host, &port, &fault), 12);
	assert_int_equal(host.kind, EGRESS_HOST_ODD);
	socks_reply(SOCKS_NOT_ALLOWED, reply);
	assert_memory_equal(reply, "\5\2\0\1\0\0\0\0\0\0", 10);
}

static void test_bad_socks(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		enum socks_reply fault;
	} rows[] = {
		{"\4\1\0\1\177\0\0\1\0\120", 10, SOCKS_FAILED},
		{"\5\1\1\1\177\0\0\1\0\120", 10, SOCKS_FAILED},
		{"\5\2\0\1\177\0\0\1\0\120", 10, SOCKS_NO_COMMAND},          /* BIND */
		{"\5\3\0\3\7ok.test\0\120", 14, SOCKS_NO_COMMAND},           /* UDP */
		{"\5\1\0\2\177\0\0\1\0\120", 10, SOCKS_NO_ADDRESS_TYPE},
		{"\5\1\0\3\0\0\120", 7, SOCKS_FAILED},                       /* a name of no bytes */
		{"\5\1\0\3\7ok.test\0\0", 14, SOCKS_FAILED},                 /* port 0 */
		{"\5\1\0\3\022evil.test\0.ok.test\0\120", 25, SOCKS_FAILED},
		{"\5\1\0\3\024evil.test%00.ok.test\0\120", 27, SOCKS_FAILED},
		{"\5\1\0\3\017evil.test\r\nX: y\0\120", 22, SOCKS_FAILED},
		{"\5\1\0\3\010ok.test \0\120", 15, SOCKS_FAILED},
		{"\5\1\0\3\010\tok.test\0\120", 15, SOCKS_FAILED},
		{"\5\1\0\3\010ok..test\0\120", 15, SOCKS_FAILED},
		{"\5\1\0\3\3::1\0\120", 10, SOCKS_FAILED},
	};
	enum socks_reply fault;
	struct egress_host host;
	uint16_t port;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		ssize_t n = ask_socks(rows[i].bytes, rows[i].len, &host, &port, &fault);

		if (n != -1 || fault != rows[i].fault)
			fail_msg("row %zu: %zd, reply %d", i, n, fault);
	}
}

/* --- TLS --- */

struct built {
	uint8_t bytes[LIMIT_EGRESS_HELLO_BYTES + 64];
	size_t len;
};

static void put(struct built *to, const void *bytes, size_t len)
{
	assert_true(to->len + len <= sizeof(to->bytes));
	memcpy(to->bytes + to->len, bytes, len);
	to->len += len;
}

static void put_number(struct built *to, size_t value, size_t bytes)
{
	while (bytes-- > 0)
		put(to, &(uint8_t){(uint8_t)(value >> 8 * bytes)}, 1);
}

/* A ClientHello with these extensions, in records of at most `record` bytes. */
static void build(struct built *out, const struct built *extensions, size_t record)
{
	static const uint8_t zeroes[32];
	struct built message = {.len = 0};

	put_number(&message, 1, 1);
	put_number(&message, 2 + 32 + 1 + 4 + 2 + 2 + extensions->len, 3);
	put_number(&message, 0x0303, 2);
	put(&message, zeroes, 32);
	put_number(&message, 0, 1);
	put(&message, "\0\2\x13\1", 4);
	put(&message, "\1\0", 2);
	put_number(&message, extensions->len, 2);
	put(&message, extensions->bytes, extensions->len);
	out->len = 0;
	for (size_t at = 0; at < message.len; at += record) {
		size_t n = message.len - at < record ? message.len - at : record;

		put_number(out, 22, 1);
		put_number(out, 0x0301, 2);
		put_number(out, n, 2);
		put(out, message.bytes + at, n);
	}
}

static void put_name(struct built *extensions, const char *name, size_t len)
{
	put_number(extensions, 0, 2);
	put_number(extensions, len + 5, 2);
	put_number(extensions, len + 3, 2);
	put_number(extensions, 0, 1);
	put_number(extensions, len, 2);
	put(extensions, name, len);
}

static void test_hello(void **state)
{
	struct built extensions = {.len = 0}, bytes;
	struct hello hello;

	(void)state;
	put(&extensions, "\x2a\x2a\0\0", 4); /* GREASE */
	put_name(&extensions, "ok.test", 7);
	put(&extensions, "\xfe\x0d\0\1\0", 5);
	for (size_t record = 1; record < 120; record++) {
		build(&bytes, &extensions, record);
		for (size_t n = 0; n < bytes.len; n++)
			if (hello_read(bytes.bytes, n, &hello) != HELLO_MORE)
				fail_msg("%zu of %zu bytes in records of %zu", n, bytes.len, record);
		assert_int_equal(hello_read(bytes.bytes, bytes.len, &hello), HELLO_READ);
		assert_string_equal(hello.name, "ok.test");
	}
	put(&bytes, "whatever", 8);
	assert_int_equal(hello_read(bytes.bytes, bytes.len, &hello), HELLO_READ);
}

static enum hello_result read_with(const struct built *extensions, struct hello *hello)
{
	struct built bytes;

	build(&bytes, extensions, 16384);
	return hello_read(bytes.bytes, bytes.len, hello);
}

static void test_hello_names(void **state)
{
	struct built none = {.len = 0}, two = {.len = 0}, nul = {.len = 0}, of_two = {.len = 0}, large = {.len = 0};
	struct hello hello;

	(void)state;
	assert_int_equal(read_with(&none, &hello), HELLO_READ);
	assert_string_equal(hello.name, "");
	put_name(&two, "ok.test", 7);
	put_name(&two, "evil.test", 9);
	assert_int_equal(read_with(&two, &hello), HELLO_NONE);
	put_name(&nul, "evil.test\0.ok.test", 18);
	assert_int_equal(read_with(&nul, &hello), HELLO_NONE);
	put(&of_two, "\0\0\0\x0e\0\x0c\0\0\3a.b\0\0\3c.d", 18);
	assert_int_equal(read_with(&of_two, &hello), HELLO_NONE);
	put_number(&large, 21, 2);
	put_number(&large, LIMIT_EGRESS_HELLO_BYTES - 200, 2);
	large.len += LIMIT_EGRESS_HELLO_BYTES - 200;
	put_name(&large, "ok.test", 7);
	assert_int_equal(read_with(&large, &hello), HELLO_READ);
	assert_string_equal(hello.name, "ok.test");
}

static void test_no_hello(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		enum hello_result result;
	} rows[] = {
		{"", 0, HELLO_MORE},
		{"GET / HTTP/1.1\r\n", 16, HELLO_NONE},
		{"SSH-2.0-x", 9, HELLO_NONE},
		{"\x17\3\3\0\1x", 6, HELLO_NONE},           /* application data */
		{"\x16\2\0\0\1x", 6, HELLO_NONE},           /* SSL 2 */
		{"\x16\3\1\0\0", 5, HELLO_NONE},            /* an empty record */
		{"\x16\3\1\xff\xff", 5, HELLO_NONE},        /* one that is too long */
		{"\x16\3\1\0\4\2\0\0\0", 9, HELLO_NONE},    /* a ServerHello */
		{"\x16\3\1\0\4\1\xff\xff\xff", 9, HELLO_NONE}, /* longer than we look */
		{"\x16\3\1\0\4\1\0\0\0", 9, HELLO_NONE},    /* of no bytes */
		{"\x16\3\1\0\4\1\0\1\0", 9, HELLO_MORE},
		{"\x80\x2e\1\3\1", 5, HELLO_NONE},          /* a hello of SSL 2 */
	};
	struct hello hello;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (hello_read(rows[i].bytes, rows[i].len, &hello) != rows[i].result)
			fail_msg("row %zu: %d", i, hello_read(rows[i].bytes, rows[i].len, &hello));
}

/* --- policies --- */

static const char *judge(const char *json, uint32_t ceiling, const char *host)
{
	json_auto_t *read = json_loads(json, 0, NULL);
	struct egress_host place;
	const struct egress_want want = {.host = &place, .port = 443};
	struct policy policy;
	const char *why = "", *rule;
	struct err e = {0};

	assert_non_null(read);
	egress_host_read(host, strlen(host), &place);
	if (policy_read(read, ceiling, &policy, &e) < 0)
		return "fault";
	rule = policy_judge(&policy, &want, &why);
	policy_finish(&policy);
	return rule ? "yes" : why;
}

static void test_policies(void **state)
{
	(void)state;
	assert_string_equal(judge("{\"mode\":\"open\"}", EGRESS_OPEN, "ok.test"), "yes");
	assert_string_equal(judge("{\"mode\":\"open\",\"allow\":[\"ok.test\"]}", EGRESS_ALLOWLIST, "ok.test"), "this session has no way out");
	assert_string_equal(judge("{\"mode\":\"none\",\"allow\":[\"ok.test\"]}", EGRESS_OPEN, "ok.test"), "this session has no way out");
	assert_string_equal(judge("{\"mode\":\"allowlist\",\"allow\":[\"ok.test\"]}", EGRESS_ALLOWLIST, "ok.test"), "yes");
	assert_string_equal(judge("{\"mode\":\"allowlist\"}", EGRESS_OPEN, "ok.test"), "no entry of the allow list names this host");
	assert_string_equal(judge("{\"mode\":\"open\"}", EGRESS_OPEN, "a.localhost"), "the session's own loopback is not reached through the proxy");
	assert_string_equal(judge("{\"mode\":\"open\"}", EGRESS_OPEN, "127.1"), "an address must be in its usual spelling");
	assert_string_equal(judge("{\"mode\":\"open\"}", EGRESS_OPEN, "a b"), "it is no host");
	assert_string_equal(judge("{\"mode\":\"closed\"}", EGRESS_OPEN, "ok.test"), "fault");
	assert_string_equal(judge("{\"mode\":\"open\",\"caps\":{\"bytes\":-1}}", EGRESS_OPEN, "ok.test"), "fault");
	assert_string_equal(judge("{\"mode\":\"allowlist\",\"allow\":[\"*\"]}", EGRESS_OPEN, "ok.test"), "fault");
	assert_string_equal(judge("{}", EGRESS_OPEN, "ok.test"), "fault");
}

static void test_settings(void **state)
{
	struct address_list permitted = {.n = 0};
	struct err e;

	(void)state;
	assert_int_equal(labels_read_settings("permit = 127.0.0.1/32\npermit = fd00::/8\n", &permitted, &e), 0);
	assert_int_equal(permitted.n, 2);
	assert_int_equal(labels_read_settings("permit = 10.0.0.1/8\n", &permitted, &e), -1);
	assert_int_equal(labels_read_settings("allow = 10.0.0.0/8\n", &permitted, &e), -1);
	assert_int_equal(labels_read_settings("", &permitted, &e), 0);
	free(permitted.list);
}

static void test_rate(void **state)
{
	struct bucket bucket = {.bytes_s = 1000}, any = {.bytes_s = 0};

	(void)state;
	/* A quarter of a second's bytes go at once, the rest at the rate. */
	assert_int_equal(bucket_take(&bucket, 250, 10 * US), 10 * US);
	assert_int_equal(bucket_take(&bucket, 1000, 10 * US), 11 * US);
	assert_int_equal(bucket_take(&bucket, 500, 10 * US), 11 * US + US / 2);
	assert_int_equal(bucket_take(&bucket, 100, 20 * US), 20 * US);
	assert_int_equal(bucket_take(&any, UINT32_MAX, 10 * US), 10 * US);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused_requests), cmocka_unit_test(test_taken_requests), cmocka_unit_test(test_what_goes_on), cmocka_unit_test(test_intercepted),
		cmocka_unit_test(test_length_of_a_head), cmocka_unit_test(test_many_fields), cmocka_unit_test(test_hop_by_hop), cmocka_unit_test(test_responses), cmocka_unit_test(test_chunks),
		cmocka_unit_test(test_long_trailers),
		cmocka_unit_test(test_length), cmocka_unit_test(test_socks), cmocka_unit_test(test_bad_socks), cmocka_unit_test(test_hello),
		cmocka_unit_test(test_hello_names), cmocka_unit_test(test_no_hello), cmocka_unit_test(test_policies), cmocka_unit_test(test_settings),
		cmocka_unit_test(test_rate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
