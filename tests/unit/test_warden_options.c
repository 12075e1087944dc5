/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: session/warden sandbox/jail sandbox/confine */
/* The command line of gloveboxd, its listening address, the code and the hash of tokens. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
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
	assert_string_equal(options.listen, "127.0.0.1:7070");
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
	assert_string_equal(options.listen, "127.0.0.1:0");
	assert_string_equal(options.images, "/i=1");
}

static void test_refusals(void **state)
{
	static const char *const bad[][4] = {
		{"gloveboxd", "--liste", "x", NULL},      {"gloveboxd", "--listen", NULL},          {"gloveboxd", "--state=", NULL},
		{"gloveboxd", "--version=1", NULL},       {"gloveboxd", "word", NULL},              {"gloveboxd", "-l", NULL},
		{"gloveboxd", "--check-config", NULL},
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

static void test_addresses(void **state)
{
	static const struct {
		const char *where;
		enum err_code expect;
	} rows[] = {
		{"127.0.0.1:0", ERR_NONE},       {"localhost:0", ERR_NONE},         {"127.9.9.9:0", ERR_NONE},
		{"0.0.0.0:0", ERR_UNSUPPORTED},  {"10.0.0.1:0", ERR_UNSUPPORTED},   {"[::]:0", ERR_UNSUPPORTED},
		{"127.0.0.1", ERR_BAD_REQUEST},  {"127.0.0.1:", ERR_BAD_REQUEST},   {"127.0.0.1:70000", ERR_BAD_REQUEST},
		{"127.0.0.1:-1", ERR_BAD_REQUEST}, {"127.0.0.1:7x", ERR_BAD_REQUEST}, {"127.1:0", ERR_BAD_REQUEST},
		{"::1:0", ERR_BAD_REQUEST},      {"example.org:80", ERR_BAD_REQUEST}, {":80", ERR_BAD_REQUEST},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err e = {0};
		char url[96] = "";
		auto_fd fd = -1;

		(void)listen_open(rows[i].where, &fd, url, sizeof(url), &e);
		if (e.code != rows[i].expect)
			fail_msg("%s: expected %d, got %d (%s)", rows[i].where, rows[i].expect, e.code, e.msg);
		assert_int_equal(fd >= 0, rows[i].expect == ERR_NONE);
		if (fd >= 0)
			assert_int_equal(strncmp(url, "http://127.", 11), 0);
	}
}

/* Who holds a taken port: this test. */
static void test_holder(void **state)
{
	struct err e = {0};
	char url[96], again[96], pid[32];
	auto_fd first = -1;
	auto_fd second = -1;

	(void)state;
	assert_int_equal(listen_open("127.0.0.1:0", &first, url, sizeof(url), &e), 0);
	assert_int_equal(listen_open(url + strlen("http://"), &second, again, sizeof(again), &e), -1);
	assert_int_equal(e.code, ERR_CONFLICT);
	(void)snprintf(pid, sizeof(pid), "pid %d (", getpid());
	assert_non_null(strstr(e.msg, pid));
	assert_non_null(strstr(e.msg, "test_warden_opt"));
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
		cmocka_unit_test(test_addresses), cmocka_unit_test(test_holder),    cmocka_unit_test(test_code_and_hash),
	};

	return cmocka_run_group_tests_name("warden_options", tests, NULL, NULL);
}
