/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: glovebox-egress */
/* Secrets in requests: which rules may be stored, what becomes of a request's fields, the files of a session, and an answer with the value in it, cut anywhere. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "sandbox/egress/inject.h"
#include "session/base/base64.h"
#include "session/base/egress/injection.h"
#include "session/base/util.h"

#define VALUE "s3cr%t \"v\\a/lue+1"
#define RULE(name, host, port, plain, header, prefix) \
	"{\"secret\":\"" name "\",\"host\":\"" host "\",\"port\":" port ",\"plain\":" plain ",\"header\":\"" header "\",\"prefix\":\"" prefix "\"}"
#define KEY_RULE RULE("key", "api.test", "443", "false", "Authorization", "Bearer ")

static const struct inject_origin api = {"api.test", 443, false};

/* --- rules --- */

static void test_origins(void **state)
{
	static const struct {
		const char *origin, *host;
		int port;
		bool is_plain;
	} good[] = {
		{"https://api.test", "api.test", 443, false},
		{"https://api.test:8443", "api.test", 8443, false},
		{"http://api.test", "api.test", 80, true},
		{"http://a_b-c.d1.x2:443", "a_b-c.d1.x2", 443, true},
		{"https://localhost.test", "localhost.test", 443, false},
	};
	static const char *const bad[] = {
		"", "api.test", "https://", "https://api.test/", "https://API.test", "https://api.test:443", "https://user@api.test", "https://*.test", "ftp://api.test",
		"https://127.0.0.1", "https://[::1]", "https://0x7f.1", "https://api.test.", "https://.test", "https://a..test", "https://api.test:0", "https://1",
		"https://-a.test", "https://a.0x7f",
	};
	static const char *const local[] = {"http://localhost", "https://localhost:8443", "http://app.localhost"};
	struct injection injection;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		assert_null(injection_read_origin(good[i].origin, &injection));
		assert_string_equal(injection.host, good[i].host);
		assert_int_equal(injection.port, good[i].port);
		assert_int_equal(injection.is_plain, good[i].is_plain);
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (!injection_read_origin(bad[i], &injection))
			fail_msg("%s is taken", bad[i]);
	for (size_t i = 0; i < ARRAY_LEN(local); i++) {
		const char *fault = injection_read_origin(local[i], &injection);

		if (!fault || !strstr(fault, "is the session itself"))
			fail_msg("%s: %s", local[i], fault ? fault : "taken");
	}
}

static void test_headers_and_values(void **state)
{
	static const char *const good[] = {"Authorization", "X-Api-Key", "Cookie", "PRIVATE-TOKEN"};
	static const char *const bad[] = {"", "A B", "A:", "A\r\nB", "Host", "content-length", "Transfer-Encoding", "Connection", "TE", "Proxy-Authorization", "Sec-Fetch-Site",
	                                  "Accept-Encoding", "Range", "X\xc3\xa4"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++)
		assert_null(injection_header_fault(good[i]));
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (!injection_header_fault(bad[i]))
			fail_msg("%s is taken", bad[i]);
	assert_null(injection_prefix_fault(""));
	assert_null(injection_prefix_fault("Bearer "));
	assert_non_null(injection_prefix_fault(" a"));
	assert_non_null(injection_prefix_fault("a\r\nb"));
	assert_non_null(injection_prefix_fault("0123456789012345678901234567890123456789012345678901234567890123"));
	assert_null(injection_value_fault("12345 78", 8));
	assert_non_null(injection_value_fault("1234567", 7));
	assert_non_null(injection_value_fault("1234567 ", 8));
	assert_non_null(injection_value_fault("1234\r\n78", 8));
	assert_non_null(injection_value_fault("1234\00078", 8));
}

/* What a stage makes of the front's rules is what egress reads. */
static void test_handed_on(void **state)
{
	json_auto_t *rules = json_pack("[{s:s,s:s,s:s,s:s},{s:s,s:s,s:s,s:s}]", "name", "typed", "inject", "", "header", "", "prefix", "", "name", "key", "inject",
	                               "http://api.test:8080", "header", "X-Key", "prefix", "k=");
	json_auto_t *list = injection_list(rules);
	struct injection injection;
	const char *secret;
	struct err e = {0};

	(void)state;
	assert_int_equal(json_array_size(list), 1);
	assert_int_equal(injection_read(json_array_get(list, 0), &secret, &injection, &e), 0);
	assert_string_equal(secret, "key");
	assert_string_equal(injection.host, "api.test");
	assert_int_equal(injection.port, 8080);
	assert_true(injection.is_plain);
	assert_string_equal(injection.header, "X-Key");
	assert_string_equal(injection.prefix, "k=");
}

/* --- of a session --- */

struct fixture {
	char folder[32];
	int keep;
	struct inject *inject;
};

static char *read_named(const struct fixture *fixture, const char *name)
{
	auto_free char *path = util_printf("%s/%s", fixture->folder, name);
	auto_fd fd = open(path, O_RDONLY | O_CLOEXEC);
	char *text = NULL;

	if (fd >= 0)
		assert_true(util_read_file(fd, 1 << 20, &text) >= 0);
	return text;
}

static void take(struct inject *inject, const char *name, const char *value, int expected)
{
	struct err e = {0};
	int fd = memfd_create("secret", MFD_CLOEXEC);

	assert_int_equal(util_write_all(fd, value, strlen(value)), 0);
	assert_int_equal(inject_take(inject, name, fd, &e), expected);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
}

static void begin(struct fixture *fixture)
{
	auto_free char *trusted = util_printf("%s/trusted", fixture->folder);
	struct err e = {0};

	fixture->inject = inject_create(fixture->folder, trusted, fixture->keep, &e);
	assert_non_null(fixture->inject);
	take(fixture->inject, "key", VALUE, 0);
	take(fixture->inject, "other", "abcdefgh", 0);
}

/* Any authority will do as what the machine trusts. */
static int set_up(void **state)
{
	struct fixture *fixture = util_zalloc(sizeof(*fixture));
	const char *host = "machine.test";
	struct err e = {0};
	struct ca *ca = ca_create(&host, 1, &e);
	auto_free char *pem = ca_pem(ca), *path = NULL;
	auto_fd fd = -1;

	(void)snprintf(fixture->folder, sizeof(fixture->folder), "/tmp/test_inject.XXXXXX");
	assert_non_null(mkdtemp(fixture->folder));
	path = util_printf("%s/trusted", fixture->folder);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(util_write_all(fd, pem, strlen(pem)), 0);
	ca_destroy(ca);
	fixture->keep = memfd_create("keep", MFD_CLOEXEC);
	assert_int_equal(ftruncate(fixture->keep, 65536), 0);
	begin(fixture);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	static const char *const names[] = {"trusted", "bundle.pem", "ca.pem", "chromium.json"};
	struct fixture *fixture = *state;

	inject_destroy(fixture->inject);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		auto_free char *path = util_printf("%s/%s", fixture->folder, names[i]);

		(void)unlink(path);
	}
	assert_int_equal(rmdir(fixture->folder), 0); /* nothing else is in it */
	util_close_fd(&fixture->keep);
	free(fixture);
	return 0;
}

static int set(const struct fixture *fixture, const char *rules, struct err *e)
{
	json_auto_t *list = json_loads(rules, 0, NULL);

	assert_non_null(list);
	return inject_set(fixture->inject, list, e);
}

static void test_files(void **state)
{
	struct fixture *fixture = *state;
	struct err e = {0};
	auto_free char *trusted = read_named(fixture, "trusted"), *bundle = read_named(fixture, "bundle.pem"), *ca = read_named(fixture, "ca.pem");
	auto_free char *both = NULL, *policy = NULL, *made = NULL, *again = NULL, *path = NULL;
	struct stat st;

	assert_string_equal(bundle, trusted);
	assert_null(ca);
	/* Without TLS there is no authority. */
	assert_int_equal(set(fixture, "[" RULE("key", "api.test", "80", "true", "A", "") "]", &e), 0);
	assert_false(inject_has_ca(fixture->inject));
	assert_int_equal(set(fixture, "[" KEY_RULE "]", &e), 0);
	assert_true(inject_has_ca(fixture->inject));
	made = read_named(fixture, "ca.pem");
	both = read_named(fixture, "bundle.pem");
	policy = read_named(fixture, "chromium.json");
	assert_non_null(made);
	assert_true(strncmp(both, trusted, strlen(trusted)) == 0);
	assert_string_equal(both + strlen(trusted), made);
	assert_non_null(strstr(policy, "\"CACertificates\""));
	path = util_printf("%s/ca.pem", fixture->folder);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0644);
	/* A process in its place goes on with the same. */
	inject_destroy(fixture->inject);
	(void)unlink(path);
	begin(fixture);
	assert_true(inject_has_ca(fixture->inject));
	again = read_named(fixture, "ca.pem");
	assert_string_equal(made, again);
	assert_int_equal(set(fixture, "[" KEY_RULE "]", &e), 0);
}

static void test_rules_that_are_refused(void **state)
{
	static const char *const bad[] = {
		"[{}]", "[1]", "[" RULE("nobody", "api.test", "443", "false", "A", "") "]", "[" RULE("key", "api.test", "0", "false", "A", "") "]",
		"[" RULE("key", "10.0.0.1", "443", "false", "A", "") "]", "[" RULE("key", "api.test", "443", "false", "Host", "") "]",
		"[" RULE("key", "api.test", "443", "false", "A", "\\r\\n") "]", "[" KEY_RULE "," RULE("key", "late.test", "443", "false", "A", "") "]",
	};
	struct fixture *fixture = *state;
	struct err e = {0};

	assert_int_equal(set(fixture, "[" KEY_RULE "]", &e), 0);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		assert_int_equal(set(fixture, bad[i], &e), -1);
		assert_int_equal(e.code, ERR_BAD_FIELD);
		assert_false(inject_is_for(fixture->inject, &api));
	}
	take(fixture->inject, "short", "1234567", -1);
	take(fixture->inject, "lines", "1234567\r\nA: b", -1);
}

static void test_origins_apart(void **state)
{
	const struct inject_origin others[] = {{"api.test", 8443, false}, {"api.test", 443, true}, {"api.test", 80, true}, {"b.api.test", 443, false}};
	struct fixture *fixture = *state;
	struct err e = {0};
	auto_free char *names = NULL;

	assert_int_equal(set(fixture, "[" KEY_RULE "," RULE("other", "api.test", "443", "false", "X-Other", "") "]", &e), 0);
	assert_true(inject_is_for(fixture->inject, &api));
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		assert_false(inject_is_for(fixture->inject, &others[i]));
	names = inject_names(fixture->inject, &api);
	assert_string_equal(names, "key, other");
}

static void test_fields(void **state)
{
	struct head head = {.method = "GET", .target = "/", .fields = {
		{"Accept", "*/*"}, {"authorization", "Bearer STOLEN"}, {"AUTHORIZATION", "x"}, {"Accept-Encoding", "gzip"}, {"Range", "bytes=0-3"}, {"If_Range", "x"},
		{"Upgrade", "websocket"}, {"Request-Range", "bytes=0-3"}, {"Accept-Charset", "utf-16"}, {"Cookie", "a=b"}}, .n_fields = 10};
	struct fixture *fixture = *state;
	struct err e = {0};
	size_t n;

	assert_int_equal(set(fixture, "[" KEY_RULE "]", &e), 0);
	assert_int_equal(inject_fields(fixture->inject, &api, &head), 0);
	assert_int_equal(head.n_fields, 4);
	assert_string_equal(head_value(&head, "Accept", &n), "*/*");
	assert_string_equal(head_value(&head, "Cookie", &n), "a=b");
	assert_string_equal(head_value(&head, "Accept-Encoding", &n), "identity");
	assert_string_equal(head_value(&head, "Authorization", &n), "Bearer " VALUE);
	assert_int_equal(n, 1);
	assert_non_null(inject_method_fault("TRACE"));
	assert_non_null(inject_method_fault("track"));
	assert_null(inject_method_fault("GET"));
	assert_non_null(inject_answer_fault("content-Encoding", "gzip"));
	assert_null(inject_answer_fault("Content-Encoding", "Identity"));
	assert_null(inject_answer_fault("Content-Type", "gzip"));
	assert_non_null(inject_status_fault(206));
	assert_null(inject_status_fault(200));
}

static void test_fields_that_look_like_it(void **state)
{
	struct head head = {.method = "GET", .target = "/", .fields = {{"x_api-key", "STOLEN"}, {"X-Api_Key", "STOLEN"}, {"X-Api-Key2", "a"}}, .n_fields = 3};
	struct fixture *fixture = *state;
	struct err e = {0};
	size_t n;

	assert_int_equal(set(fixture, "[" RULE("key", "api.test", "443", "false", "X-Api-Key", "") "]", &e), 0);
	assert_int_equal(inject_fields(fixture->inject, &api, &head), 0);
	assert_int_equal(head.n_fields, 3);
	assert_string_equal(head_value(&head, "X-Api-Key", &n), VALUE);
	assert_string_equal(head_value(&head, "X-Api-Key2", &n), "a");
}

/* --- answers --- */

/* Passes the text in two pieces, and then its end, into out; false when it was cut. */
static bool pass(const struct fixture *fixture, const char *text, size_t at, char *out)
{
	struct gate *gate = gate_create(fixture->inject);
	const size_t lens[] = {at, strlen(text) - at};
	const char *passed;
	bool whole = true;
	size_t n;

	*out = '\0';
	for (size_t i = 0; i < ARRAY_LEN(lens) && whole; i++) {
		whole = gate_pass(gate, text + (i ? at : 0), lens[i], &passed, &n) == 0;
		if (whole)
			(void)strncat(out, passed ? passed : "", n);
	}
	if (whole) {
		gate_end(gate, &passed, &n);
		(void)strncat(out, passed ? passed : "", n);
		assert_null(gate_found(gate));
	} else {
		assert_string_equal(gate_found(gate), "key");
		assert_int_equal(gate_pass(gate, "x", 1, &passed, &n), -1);
	}
	gate_destroy(gate);
	return whole;
}

static void test_answers_that_are_cut(void **state)
{
	struct fixture *fixture = *state;
	auto_free char *zero = base64_encode(VALUE, strlen(VALUE), NULL), *one = base64_encode("x" VALUE "yz", strlen(VALUE) + 3, NULL),
	               *two = base64_encode("xy" VALUE, strlen(VALUE) + 2, NULL);
	const char *const forms[] = {VALUE, "s3cr%25t%20%22v%5ca%2Flue%2b1", "s3cr%t \\\"v\\\\a\\/lue\\u002b1", zero, one, two};

	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		auto_free char *text = util_printf("{\"Authorization\": \"Bearer %s\"}", forms[i]);
		size_t begins = (size_t)(strstr(text, "Bearer ") - text) + 7;

		for (size_t at = 0; at <= strlen(text); at++) {
			char out[256];

			if (pass(fixture, text, at, out))
				fail_msg("%s cut at %zu gets through", text, at);
			/* Base64 that begins within a group tells the bytes before it, and a few bits. */
			assert_true(strlen(out) <= begins + 4);
			assert_true(strncmp(out, text, strlen(out)) == 0);
		}
	}
}

static void test_answers_that_pass(void **state)
{
	static const char *const texts[] = {"", "s", "s3cr%t \"v\\a/lue+", "s3cr%t \"v\\a/lue-1", "ss3cr%t", "%", "\\", "\\u00", "%2", "s3cr%2", "data: a\n\n", "czNjciV0\n\n\n\n\n\n"};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		for (size_t at = 0; at <= strlen(texts[i]); at++) {
			char out[256];

			assert_true(pass(fixture, texts[i], at, out));
			assert_string_equal(out, texts[i]);
		}
}

/* In which pieces it is passed on says nothing of the values: it is the same for their beginnings as for anything else. */
static void test_pieces_tell_nothing(void **state)
{
	static const char *const begun[] = {"s", "s3cr%t \"v\\a/lue+", "czNj", "%73"}, *const other[] = {"t", "s3cr%t \"v\\a/lue-", "czNk", "%74"};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < ARRAY_LEN(begun); i++)
		for (size_t before = 0; before < 10000; before += 1999) {
			struct gate *gates[] = {gate_create(fixture->inject), gate_create(fixture->inject)};
			auto_free char *fill = util_zalloc(before + 1);
			const char *out;
			size_t passed[2];

			memset(fill, 'x', before);
			for (size_t k = 0; k < 2; k++) {
				auto_free char *text = util_printf("%s%s", fill, k ? other[i] : begun[i]);

				assert_int_equal(gate_pass(gates[k], text, strlen(text), &out, &passed[k]), 0);
				gate_destroy(gates[k]);
			}
			assert_int_equal(passed[0], passed[1]);
		}
}

/* What is a line is passed on at once: answers that come as events are seen as they come. */
static void test_nothing_waits_in_vain(void **state)
{
	struct fixture *fixture = *state;
	struct gate *gate = gate_create(fixture->inject);
	const char *out;
	size_t n;

	assert_int_equal(gate_pass(gate, "data: a\n\ndata: b", 16, &out, &n), 0);
	assert_int_equal(n, 9);
	assert_int_equal(gate_pass(gate, "\n\n", 2, &out, &n), 0);
	assert_int_equal(n, 9);
	assert_memory_equal(out, "data: b\n\n", 9);
	gate_destroy(gate);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_origins),
		cmocka_unit_test(test_headers_and_values),
		cmocka_unit_test(test_handed_on),
		cmocka_unit_test_setup_teardown(test_files, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_rules_that_are_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_origins_apart, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_fields, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_fields_that_look_like_it, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_answers_that_are_cut, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_answers_that_pass, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_pieces_tell_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_nothing_waits_in_vain, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
