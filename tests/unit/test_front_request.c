/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: glovebox-front */
/* Request targets, header fields, Host and Origin: what has two readings is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "session/base/util.h"
#include "session/front/head.h"
#include "session/front/hosts.h"
#include "session/front/target.h"

/* --- targets --- */

static void test_target_splits_and_decodes(void **state)
{
	struct target target;
	struct err e;

	(void)state;
	assert_int_equal(target_parse("/v1/sessions/s%41b/act?a=1&b=%C3%A9+x&c", &target, &e), 0);
	assert_int_equal(target.n_segments, 4);
	assert_string_equal(target.segment[0], "v1");
	assert_string_equal(target.segment[2], "sAb");
	assert_string_equal(target.segment[3], "act");
	assert_int_equal(json_object_size(target.query), 3);
	assert_string_equal(json_string_value(json_object_get(target.query, "b")), "\xc3\xa9 x");
	assert_string_equal(json_string_value(json_object_get(target.query, "c")), "");
	target_finish(&target);

	assert_int_equal(target_parse("/", &target, &e), 0);
	assert_int_equal(target.n_segments, 0);
	target_finish(&target);

	/* More segments than any route has: counted, not stored. */
	assert_int_equal(target_parse("/1/2/3/4/5/6/7/8/9/10", &target, &e), 0);
	assert_int_equal(target.n_segments, 10);
	target_finish(&target);
}

static void test_target_refuses(void **state)
{
	static const char *const bad[] = {
		"", "v1", "http://evil/x", "*", "//", "/v1/", "/v1//sessions", "/./v1", "/v1/..", "/%2e%2e/x", "/%2E/x", "/a%2fb", "/a%2Fb",
		"/a%00b", "/a%", "/a%4", "/a%zz", "/a b", "/\x01", "/\x7f", "/\xc3\xa9", "/%ff", "/%c0%80", "/%ed%a0%80", "/a#b", "/a\\b",
		"/x?a=1&a=2", "/x?a=%00", "/x?a=%zz", "/x?a=\xff", "/x?a=%ff", "/x?&", "/x?a=1&&b=2", "/x?a=#",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct target target = {.n_segments = 77};
		struct err e;

		if (target_parse(bad[i], &target, &e) != -1)
			fail_msg("target \"%s\" is accepted", bad[i]);
		assert_int_equal(e.code, ERR_BAD_REQUEST);
		assert_int_equal(target.n_segments, 77);
		assert_true(util_utf8_valid(e.msg, strlen(e.msg)));
	}
}

static void test_target_bounds_parameters(void **state)
{
	struct target target;
	struct err e;

	(void)state;
	assert_int_equal(target_parse("/?a&b&c&d&e&f&g&h&i&j&k&l&m&n&o&p", &target, &e), 0);
	target_finish(&target);
	assert_int_equal(target_parse("/?a&b&c&d&e&f&g&h&i&j&k&l&m&n&o&p&q", &target, &e), -1);
}

/* --- header fields --- */

struct pair {
	const char *name, *value;
};

static int read_fields(struct head *head, const struct pair *pairs, size_t n, struct err *e)
{
	*head = (struct head){.host = NULL};
	for (size_t i = 0; i < n; i++)
		if (head_add(head, pairs[i].name, strlen(pairs[i].name), pairs[i].value, strlen(pairs[i].value), e) < 0)
			return -1;
	return head_finish(head, e);
}

static void test_head_reads(void **state)
{
	static const struct pair fields[] = {
		{"host", "a"}, {"Content-Length", "12"}, {"X-Any", "1"}, {"X-Any", "2"}, {"AUTHORIZATION", "bearer  gba_x-Y_1"}};
	struct head head;
	struct err e;

	(void)state;
	assert_int_equal(read_fields(&head, fields, ARRAY_LEN(fields), &e), 0);
	assert_string_equal(head.host, "a");
	assert_int_equal(head.length, 12);
	assert_true(head.has_body);
	assert_false(head.chunked);
	assert_string_equal(head_bearer(&head), "gba_x-Y_1");
}

static void test_head_framing(void **state)
{
	static const struct pair chunked[] = {{"Transfer-Encoding", "Chunked"}};
	static const struct pair empty[] = {{"Content-Length", "0"}};
	struct head head;
	struct err e;

	(void)state;
	assert_int_equal(read_fields(&head, chunked, 1, &e), 0);
	assert_true(head.chunked && head.has_body);
	assert_int_equal(read_fields(&head, empty, 1, &e), 0);
	assert_false(head.has_body);
}

static void test_head_refuses(void **state)
{
	static const struct {
		struct pair fields[2];
	} bad[] = {
		{{{"Host", "a"}, {"host", "a"}}},
		{{{"Content-Length", "1"}, {"Content-Length", "1"}}},
		{{{"Transfer-Encoding", "chunked"}, {"Transfer-Encoding", "chunked"}}},
		{{{"Authorization", "Bearer a"}, {"authorization", "Bearer b"}}},
		{{{"Origin", "a"}, {"Origin", "b"}}},
		{{{"Idempotency-Key", "a"}, {"Idempotency-Key", "b"}}},
		{{{"Content-Type", "a"}, {"Content-Type", "b"}}},
		{{{"Content-Length", "1"}, {"Transfer-Encoding", "chunked"}}},
		{{{"Transfer-Encoding", "gzip, chunked"}, {"A", "b"}}},
		{{{"Transfer-Encoding", "chunked, chunked"}, {"A", "b"}}},
		{{{"Transfer-Encoding", ""}, {"A", "b"}}},
		{{{"Content-Length", ""}, {"A", "b"}}},
		{{{"Content-Length", "-1"}, {"A", "b"}}},
		{{{"Content-Length", "+1"}, {"A", "b"}}},
		{{{"Content-Length", "1,1"}, {"A", "b"}}},
		{{{"Content-Length", "0x10"}, {"A", "b"}}},
		{{{"Content-Length", "18446744073709551616"}, {"A", "b"}}},
		{{{"Content-Length", "99999999999999999999999"}, {"A", "b"}}},
		{{{"X-A ", "1"}, {"A", "b"}}},
		{{{"X(A)", "1"}, {"A", "b"}}},
		{{{"", "1"}, {"A", "b"}}},
		{{{"X\x80", "1"}, {"A", "b"}}},
		{{{"X-A", "a\x01"}, {"A", "b"}}},
		{{{"X-A", "a\rb"}, {"A", "b"}}},
		{{{"X-A", "a\x7f"}, {"A", "b"}}},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct head head;
		struct err e;

		if (read_fields(&head, bad[i].fields, 2, &e) != -1)
			fail_msg("row %zu is accepted: %s: %s", i, bad[i].fields[0].name, bad[i].fields[0].value);
		assert_int_equal(e.code, ERR_BAD_REQUEST);
	}
}

static void test_head_takes_the_longest_length(void **state)
{
	static const struct pair fields[] = {{"Content-Length", "18446744073709551615"}};
	struct head head;
	struct err e;

	(void)state;
	assert_int_equal(read_fields(&head, fields, 1, &e), 0);
	assert_true(head.length == UINT64_MAX);
}

static void test_bearer(void **state)
{
	static const char *const bad[] = {"", "Bearer", "Bearer ", "Basic abc", "Bearer a b", "Bearer a,b", "BearerX", "Bearer \"a\""};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct head head = {.authorization = bad[i]};

		assert_null(head_bearer(&head));
	}
	assert_null(head_bearer(&(struct head){.host = "a"}));
}

static void test_media_type(void **state)
{
	static const char *const good[] = {"application/json", "Application/JSON", "application/json; charset=utf-8",
	                                   "application/json;charset=UTF-8", "application/json; charset=\"utf-8\"", " application/json "};
	static const char *const bad[] = {"",
	                                  "text/plain",
	                                  "application/jsonx",
	                                  "application/json-patch+json",
	                                  "application/json; charset=latin1",
	                                  "application/json; charset=utf-16",
	                                  "application/json; charset=utf-8; x=y",
	                                  "application/json;",
	                                  "application/x-www-form-urlencoded",
	                                  "multipart/form-data"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++)
		if (!head_is_json(&(struct head){.content_type = good[i]}))
			fail_msg("\"%s\" is refused", good[i]);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (head_is_json(&(struct head){.content_type = bad[i]}))
			fail_msg("\"%s\" is accepted", bad[i]);
	assert_false(head_is_json(&(struct head){.content_type = NULL}));
}

/* --- Host and Origin --- */

static void test_hosts(void **state)
{
	static const char *const good[] = {"127.0.0.1:7070", "localhost:7070", "LOCALHOST:7070", "[::1]:7070"};
	static const char *const bad[] = {"",
	                                  "localhost",
	                                  "127.0.0.1",
	                                  "127.0.0.1:7071",
	                                  "127.0.0.1:70700",
	                                  "127.0.0.1:07070",
	                                  "evil.test:7070",
	                                  "localhost.evil.test:7070",
	                                  "127.0.0.1.evil.test:7070",
	                                  "192.168.1.2:7070",
	                                  "[::1]",
	                                  "[::1]:7071",
	                                  "[::1:7070",
	                                  "::1:7070",
	                                  "localhost:7070 ",
	                                  "localhost:7070,evil.test",
	                                  "user@localhost:7070"};
	struct hosts hosts = {.n_places = 0};
	struct err e;

	(void)state;
	assert_int_equal(hosts_listen(&hosts, "http://127.0.0.1:7070", &e), 0);
	for (size_t i = 0; i < ARRAY_LEN(good); i++)
		if (!hosts_has(&hosts, good[i], false))
			fail_msg("host %s is refused", good[i]);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (hosts_has(&hosts, bad[i], false))
			fail_msg("host %s is accepted", bad[i]);
}

static void test_origins(void **state)
{
	static const char *const bad[] = {"null", "", "http://", "http://evil.test", "http://localhost.evil.test:7070",
	                                  "https://localhost:7070", "http://localhost", "http://localhost:7070/", "localhost:7070"};
	struct hosts hosts = {.n_places = 0};
	struct err e;

	(void)state;
	assert_int_equal(hosts_listen(&hosts, "http://127.0.0.1:7070", &e), 0);
	assert_true(hosts_has_origin(&hosts, "http://localhost:7070", "localhost:7070", false));
	assert_true(hosts_has_origin(&hosts, "http://[::1]:7070", "localhost:7070", false));
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (hosts_has_origin(&hosts, bad[i], "localhost:7070", false))
			fail_msg("origin %s is accepted", bad[i]);
}

static struct hosts hosts_at(const char *url)
{
	struct hosts hosts = {.n_places = 0};
	struct err e;

	if (hosts_listen(&hosts, url, &e) < 0)
		fail_msg("%s: %s", url, e.msg);
	return hosts;
}

static void test_hosts_of_other_addresses(void **state)
{
	static const char *const bad[] = {"ftp://x:1", "http://:1", "http://x", "x:1", "https://"};
	struct hosts hosts = hosts_at("http://0.0.0.0:80");
	struct err e;

	(void)state;
	assert_true(hosts_has(&hosts, "192.168.1.2", false));
	assert_true(hosts_has(&hosts, "192.168.1.2:80", false));
	assert_true(hosts_has(&hosts, "[fe80::1]:80", false));
	assert_false(hosts_has(&hosts, "evil.test", false));
	assert_false(hosts_has(&hosts, "[fe80::zz]:80", false));
	hosts = hosts_at("http://192.168.1.2:80");
	assert_true(hosts_has(&hosts, "192.168.1.2", false));
	assert_false(hosts_has(&hosts, "192.168.1.3", false));
	hosts = hosts_at("http://[::1]:7070");
	assert_true(hosts_has(&hosts, "[::1]:7070", false));
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_int_equal(hosts_listen(&hosts, bad[i], &e), -1);
	/* Several at once. */
	assert_int_equal(hosts_listen(&hosts, "http://10.0.0.1:8080", &e), 0);
	assert_int_equal(hosts_listen(&hosts, "unix:/run/x.sock", &e), 0);
	assert_true(hosts_has(&hosts, "[::1]:7070", false));
	assert_true(hosts_has(&hosts, "10.0.0.1:8080", false));
	assert_false(hosts_has(&hosts, "10.0.0.1:7070", false));
}

static void test_hosts_by_tls(void **state)
{
	struct hosts hosts = hosts_at("https://10.0.0.1:443");

	(void)state;
	assert_true(hosts_has(&hosts, "10.0.0.1", false));
	assert_true(hosts_has(&hosts, "localhost:443", false));
	assert_false(hosts_has(&hosts, "10.0.0.1:80", false));
	assert_true(hosts_has_origin(&hosts, "https://10.0.0.1", "10.0.0.1", false));
	assert_false(hosts_has_origin(&hosts, "http://10.0.0.1:443", "10.0.0.1", false));
	assert_false(hosts_has_origin(&hosts, "https://evil.test", "10.0.0.1", false));
}

static void test_hosts_by_name(void **state)
{
	static const char *const bad[] = {"", ":80", "a b", "a:", "a:0", "a:70000", "a:x", "http://a", "a/b", "[::1", "..", "a..b", "*.a", "a,b"};
	struct hosts hosts = hosts_at("http://127.0.0.1:7070");
	struct err e;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (hosts_add(&hosts, bad[i], &e) == 0 || e.code != ERR_BAD_FIELD)
			fail_msg("the name %s is taken", bad[i]);
	assert_int_equal(hosts.n_names, 0);
	assert_int_equal(hosts_add(&hosts, "box.example.org", &e), 0);
	assert_int_equal(hosts_add(&hosts, "gate.example.org:443", &e), 0);
	assert_int_equal(hosts_add(&hosts, "odd.example.org:8443", &e), 0);
	assert_true(hosts_has(&hosts, "BOX.example.org:7070", false));
	assert_true(hosts_has(&hosts, "box.example.org", false));
	assert_false(hosts_has(&hosts, "evil.box.example.org:7070", false));
	assert_true(hosts_has(&hosts, "gate.example.org", false));
	assert_true(hosts_has(&hosts, "gate.example.org:443", false));
	assert_false(hosts_has(&hosts, "gate.example.org:7070", false));
	assert_true(hosts_has(&hosts, "odd.example.org:8443", false));
	assert_false(hosts_has(&hosts, "odd.example.org", false));
	/* TLS may end in a proxy. */
	assert_true(hosts_has_origin(&hosts, "https://gate.example.org", "gate.example.org", false));
	assert_true(hosts_has_origin(&hosts, "http://box.example.org:7070", "box.example.org:7070", false));
	assert_false(hosts_has_origin(&hosts, "https://odd.example.org", "gate.example.org", false));
	while (hosts.n_names < ARRAY_LEN(hosts.names))
		assert_int_equal(hosts_add(&hosts, "n", &e), 0);
	assert_int_equal(hosts_add(&hosts, "n", &e), -1);
	assert_int_equal(e.code, ERR_LIMIT);
}

static void test_hosts_of_a_unix_socket(void **state)
{
	static const char *const bad[] = {"evil.test", "127.0.0.2", "10.0.0.1:7070", "", "localhost.evil.test"};
	struct hosts hosts = {.n_places = 0};
	struct err e;

	(void)state;
	assert_int_equal(hosts_listen(&hosts, "unix:/run/glovebox.sock", &e), 0);
	assert_true(hosts_has(&hosts, "localhost", true));
	assert_true(hosts_has(&hosts, "LOCALHOST:9", true));
	assert_true(hosts_has(&hosts, "[::1]", true));
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (hosts_has(&hosts, bad[i], true))
			fail_msg("host %s is accepted", bad[i]);
	assert_int_equal(hosts_add(&hosts, "box.example.org", &e), 0);
	assert_true(hosts_has(&hosts, "box.example.org", true));
	/* A page of this very server, through a tunnel; not one of another port of this machine. */
	assert_true(hosts_has_origin(&hosts, "http://localhost:8080", "localhost:8080", true));
	assert_true(hosts_has_origin(&hosts, "https://box.example.org", "box.example.org", true));
	assert_false(hosts_has_origin(&hosts, "http://localhost:9090", "localhost:8080", true));
	assert_false(hosts_has_origin(&hosts, "null", "localhost:8080", true));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_target_splits_and_decodes), cmocka_unit_test(test_target_refuses),
		cmocka_unit_test(test_target_bounds_parameters),  cmocka_unit_test(test_head_reads),
		cmocka_unit_test(test_head_framing),              cmocka_unit_test(test_head_refuses),
		cmocka_unit_test(test_head_takes_the_longest_length), cmocka_unit_test(test_bearer),
		cmocka_unit_test(test_media_type),                cmocka_unit_test(test_hosts),
		cmocka_unit_test(test_origins),                   cmocka_unit_test(test_hosts_of_other_addresses),
		cmocka_unit_test(test_hosts_by_tls),              cmocka_unit_test(test_hosts_by_name),
		cmocka_unit_test(test_hosts_of_a_unix_socket),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
