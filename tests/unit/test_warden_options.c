/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: session/warden sandbox/jail sandbox/confine */
/* The command line of gloveboxd, its listening address, the code and the hash of tokens. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "session/base/util.h"
#include "session/warden/listen.h"
#include "session/warden/options.h"
#include "session/warden/token.h"

static int parse(struct options *options, struct err *e, const char *const *words)
{
	char text[8][64];
	char *argv[8];
	int argc = 0;

	for (; words[argc]; argc++) {
		(void)snprintf(text[argc], sizeof(text[argc]), "%s", words[argc]);
		argv[argc] = text[argc];
	}
	argv[argc] = NULL;
	return options_parse(options, argc, argv, e);
}

static void test_defaults(void **state)
{
	const char *const words[] = {"gloveboxd", NULL};
	struct options options;
	struct err e = {0};

	(void)state;
	assert_int_equal(parse(&options, &e, words), 0);
	assert_int_equal(options.listen.n, 1);
	assert_string_equal(options.listen.items[0], "127.0.0.1:7070");
	assert_int_equal(options.request_ms, LIMIT_REQUEST_MS);
	assert_string_equal(options.state, "/var/lib/glovebox");
	assert_null(options.images);
	assert_int_equal(options.wish, OPTIONS_RUN);
}

static void test_both_forms(void **state)
{
	char listen[] = "--listen", address[] = "127.0.0.1:0", first[] = "--images=/i", images[] = "--images=/i=1", name[] = "gloveboxd";
	char *argv[] = {name, first, listen, address, images, NULL};
	struct options options;
	struct err e = {0};

	(void)state;
	assert_int_equal(options_parse(&options, 5, argv, &e), 0);
	assert_string_equal(options.listen.items[0], "127.0.0.1:0");
	assert_string_equal(options.images, "/i=1");
}

static void test_refusals(void **state)
{
	static const char *const bad[][4] = {
		{"gloveboxd", "--liste", "x", NULL},      {"gloveboxd", "--listen", NULL},          {"gloveboxd", "--state=", NULL},
		{"gloveboxd", "--version=1", NULL},       {"gloveboxd", "word", NULL},              {"gloveboxd", "-l", NULL},
		{"gloveboxd", "--check-config", NULL},
		{"gloveboxd", "--tls-cert=x", NULL},      {"gloveboxd", "--tls-key", "x", NULL},
		{"gloveboxd", "--insecure-plain-http=1", NULL}, {"gloveboxd", "--request-timeout-ms", "99", NULL},
		{"gloveboxd", "--request-timeout-ms", "1s", NULL}, {"gloveboxd", "--request-timeout-ms", "-1", NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct options options;
		struct err e = {0};

		if (parse(&options, &e, bad[i]) == 0)
			fail_msg("%s passed", bad[i][1]);
		assert_non_null(strstr(e.msg, "option"));
	}
}

static void test_options_given_again(void **state)
{
	char name[] = "gloveboxd", listen[] = "--listen=unix:/x", host[] = "--host=a", timeout[] = "--request-timeout-ms=100";
	char insecure[] = "--insecure-plain-http";
	char *argv[] = {name, listen, listen, host, timeout, insecure, NULL}, *many[LIMIT_LISTENERS + 2] = {name};
	struct options options;
	struct err e = {0};

	(void)state;
	assert_int_equal(options_parse(&options, 6, argv, &e), 0);
	assert_int_equal(options.listen.n, 2);
	assert_string_equal(options.hosts.items[0], "a");
	assert_int_equal(options.request_ms, 100);
	assert_true(options.insecure);
	for (size_t i = 1; i < ARRAY_LEN(many); i++)
		many[i] = listen;
	assert_int_equal(options_parse(&options, (int)ARRAY_LEN(many), many, &e), -1);
	assert_non_null(strstr(e.msg, "--listen may be given 8 times"));
}

static void test_addresses(void **state)
{
	const struct listen_way plain = {.tls = false}, insecure = {.insecure = true}, tls = {.tls = true};
	static const struct {
		const char *where;
		enum err_code expect;
	} rows[] = {
		{"127.0.0.1:0", ERR_NONE},       {"localhost:0", ERR_NONE},         {"127.9.9.9:0", ERR_NONE},
		{"0.0.0.0:0", ERR_UNSUPPORTED},  {"10.0.0.1:0", ERR_UNSUPPORTED},   {"[::]:0", ERR_UNSUPPORTED},
		{"127.0.0.1", ERR_BAD_REQUEST},  {"127.0.0.1:", ERR_BAD_REQUEST},   {"127.0.0.1:70000", ERR_BAD_REQUEST},
		{"127.0.0.1:-1", ERR_BAD_REQUEST}, {"127.0.0.1:7x", ERR_BAD_REQUEST}, {"127.1:0", ERR_BAD_REQUEST},
		{"::1:0", ERR_BAD_REQUEST},      {"example.org:80", ERR_BAD_REQUEST}, {":80", ERR_BAD_REQUEST},
		{"unix:", ERR_BAD_REQUEST},      {"unix:x", ERR_BAD_REQUEST},       {"unix:/a b", ERR_BAD_REQUEST},
		{"unix:/dev/null", ERR_CONFLICT},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err e = {0};
		struct listener listener = {.fd = -1};

		(void)listen_open(rows[i].where, &plain, &listener, &e);
		if (e.code != rows[i].expect)
			fail_msg("%s: expected %d, got %d (%s)", rows[i].where, rows[i].expect, e.code, e.msg);
		assert_int_equal(listener.fd >= 0, rows[i].expect == ERR_NONE);
		if (listener.fd >= 0)
			assert_int_equal(strncmp(listener.url, "http://127.", 11), 0);
		listen_close(&listener);
		if (rows[i].expect != ERR_UNSUPPORTED)
			continue;
		/* An address of another machine's is no fault of form: here it is only not there. */
		assert_non_null(strstr(e.msg, "--tls-cert"));
		for (size_t j = 0; j < 2; j++) {
			struct err other = {0};

			(void)listen_open(rows[i].where, j ? &tls : &insecure, &listener, &other);
			assert_int_not_equal(other.code, ERR_UNSUPPORTED);
			if (listener.fd >= 0)
				assert_int_equal(strncmp(listener.url, "https://", 8) == 0, j);
			listen_close(&listener);
		}
	}
}

/* Who holds a taken port: this test. */
static void test_holder(void **state)
{
	const struct listen_way plain = {.tls = false};
	struct listener first = {.fd = -1}, second = {.fd = -1};
	struct err e = {0};
	char pid[32];

	(void)state;
	assert_int_equal(listen_open("127.0.0.1:0", &plain, &first, &e), 0);
	assert_int_equal(listen_open(first.url + strlen("http://"), &plain, &second, &e), -1);
	assert_int_equal(e.code, ERR_CONFLICT);
	(void)snprintf(pid, sizeof(pid), "pid %d (", getpid());
	assert_non_null(strstr(e.msg, pid));
	assert_non_null(strstr(e.msg, "test_warden_opt"));
	listen_close(&first);
}

static void test_unix_sockets(void **state)
{
	const struct listen_way plain = {.tls = false};
	struct listener first = {.fd = -1}, second = {.fd = -1};
	char folder[] = "/tmp/glovebox-test-XXXXXX", where[64];
	const char *path = where + strlen("unix:");
	struct err e = {0};
	struct stat st;

	(void)state;
	assert_non_null(mkdtemp(folder));
	(void)snprintf(where, sizeof(where), "unix:%s/sock", folder);
	assert_int_equal(listen_open(where, &plain, &first, &e), 0);
	assert_string_equal(first.url, where);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	/* Somebody listens. */
	assert_int_equal(listen_open(where, &plain, &second, &e), -1);
	assert_int_equal(e.code, ERR_CONFLICT);
	assert_int_equal(stat(path, &st), 0);
	/* Nobody does any more: as after a kill. */
	util_close_fd(&first.fd);
	assert_int_equal(listen_open(where, &plain, &second, &e), 0);
	/* The first one's end does not take the file of the second along. */
	listen_close(&first);
	assert_int_equal(stat(path, &st), 0);
	listen_close(&second);
	assert_int_equal(stat(path, &st), -1);
	assert_int_equal(rmdir(folder), 0);
}

static void test_code_and_hash(void **state)
{
	static const uint8_t of_abc[] = {0xBA, 0x78, 0x16, 0xBF, 0x8F, 0x01, 0xCF, 0xEA};
	char code[TOKEN_CODE_SIZE], other[TOKEN_CODE_SIZE];
	uint8_t hash[32];
	struct err e = {0};

	(void)state;
	token_make_code(code);
	token_make_code(other);
	assert_int_equal(strlen(code), 8);
	assert_int_equal(strspn(code, "ABCDEFGHJKMNPQRSTVWXYZ23456789"), 8);
	assert_string_not_equal(code, other);
	assert_int_equal(token_hash("abc", hash, &e), 0);
	assert_memory_equal(hash, of_abc, sizeof(of_abc));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults), cmocka_unit_test(test_both_forms), cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_addresses), cmocka_unit_test(test_holder),
		cmocka_unit_test(test_unix_sockets), cmocka_unit_test(test_options_given_again),    cmocka_unit_test(test_code_and_hash),
	};

	return cmocka_run_group_tests_name("warden_options", tests, NULL, NULL);
}
