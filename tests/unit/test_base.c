/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: */
/* Errors, quotes, UTF-8 and small helpers. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "session/base/err.h"
#include "session/base/hash.h"
#include "session/base/near.h"
#include "session/base/util.h"

/* Says which case of a table failed. */
#define CASE(what, ...)                                                                                                        \
	do {                                                                                                                   \
		if (!(what))                                                                                                   \
			fail_msg(__VA_ARGS__);                                                                                 \
	} while (0)

static void test_err_set(void **state)
{
	struct err e = {.code = ERR_BUSY, .sys_errno = 5, .offset = 9, .line = 3, .path = "/old", .msg = "old"};

	(void)state;
	errno = EPERM;
	assert_int_equal(err_set(&e, ERR_BAD_FIELD, "/x", "x is %d", 7), -1);
	assert_int_equal(errno, EPERM);
	assert_int_equal(e.code, ERR_BAD_FIELD);
	assert_int_equal(e.sys_errno, 0);
	assert_int_equal(e.offset, -1);
	assert_int_equal(e.line, 0);
	assert_string_equal(e.path, "/x");
	assert_string_equal(e.msg, "x is 7");
	assert_int_equal(err_set(NULL, ERR_BUSY, NULL, "x"), -1);
	assert_int_equal(err_sys(NULL, "x"), -1);
	errno = ENOENT;
	assert_int_equal(err_sys(&e, "open %s", "f"), -1);
	assert_int_equal(e.code, ERR_INTERNAL);
	assert_int_equal(e.sys_errno, ENOENT);
	assert_string_equal(e.path, "");
}

/* An error may be told again with its own texts as arguments. */
static void test_err_of_itself(void **state)
{
	struct err e = {0};

	(void)state;
	err_set(&e, ERR_TIMEOUT, "/a", "the display is late");
	err_set(&e, ERR_SESSION_FAILED, e.path, "start: %s", e.msg);
	assert_string_equal(e.msg, "start: the display is late");
	assert_string_equal(e.path, "/a");
}

static void test_err_rows(void **state)
{
	(void)state;
	for (int code = ERR_NONE + 1; code < ERR_N_CODES; code++) {
		const struct err_info *info = err_info((enum err_code)code);

		CASE(info->wire && info->title && info->fix, "row %d is empty", code);
		CASE(err_from_wire(info->wire) == (enum err_code)code, "%s stands twice", info->wire);
		CASE(info->status >= 400 && info->status < 600, "%s has the status %d", info->wire, info->status);
		CASE(info->wire[strspn(info->wire, "abcdefghijklmnopqrstuvwxyz_")] == '\0', "%s", info->wire);
		CASE(strstr(" caller later human operator nobody ", info->fix), "%s: %s", info->wire, info->fix);
	}
	assert_int_equal(err_from_wire("no_such"), ERR_NONE);
	assert_int_equal(err_from_wire(""), ERR_NONE);
}

/* Messages and pointers that are cut stay UTF-8, wherever the cut falls. */
static void test_cut(void **state)
{
	static const char *const units[] = {"a", "é", "€", "😀", "\xff", "é\x80"};

	(void)state;
	for (size_t u = 0; u < ARRAY_LEN(units); u++)
		for (size_t shift = 0; shift < 8; shift++) {
			char text[600] = "";
			struct err e = {0};
			bool good = util_utf8_valid(units[u], strlen(units[u]));

			memset(text, 's', shift);
			while (strlen(text) + 5 < sizeof(text))
				memcpy(text + strlen(text), units[u], strlen(units[u]) + 1);
			err_set(&e, ERR_BUSY, text, "%s", text);
			for (int prefixed = 0; prefixed < 3; prefixed++) {
				CASE(util_utf8_valid(e.msg, strlen(e.msg)) && util_utf8_valid(e.path, strlen(e.path)), "%zu, shift %zu: %s", u,
				     shift, e.path);
				CASE(!good || strncmp(e.msg, text, strlen(e.msg)) == 0, "%zu, shift %zu: %s", u, shift, e.msg);
				CASE(!good || (strlen(e.msg) > ERR_MSG_MAX - 5 && strlen(e.path) > ERR_PATH_MAX - 5),
				     "%zu, shift %zu: too much is cut: %s", u, shift, e.path);
				err_prefix(&e, "/é/");
			}
		}
}

/* Such as names of files may have: the text behind them is not lost. */
static void test_bytes_that_are_no_utf8(void **state)
{
	struct err e = {0};

	(void)state;
	err_set(&e, ERR_BAD_REQUEST, NULL, "%s cannot be read: %s", "a\xff\xc3 \xe2\x82", "it is not there");
	assert_string_equal(e.msg, "a?? ?? cannot be read: it is not there");
}

static void test_prefix(void **state)
{
	struct err e = {0};
	char prefix[400];

	(void)state;
	err_set(&e, ERR_BAD_FIELD, "/x", "m");
	err_prefix(&e, "/actions/3");
	assert_string_equal(e.path, "/actions/3/x");
	err_prefix(&e, "");
	assert_string_equal(e.path, "/actions/3/x");
	err_prefix(NULL, "/a");
	memset(prefix, 'p', sizeof(prefix) - 1);
	prefix[sizeof(prefix) - 1] = '\0';
	err_prefix(&e, prefix);
	assert_int_equal(strlen(e.path), ERR_PATH_MAX - 1);
	/* A pointer that is cut inside an escape would be none. */
	for (size_t len = ERR_PATH_MAX - 6; len < ERR_PATH_MAX + 3; len++) {
		prefix[len] = '\0';
		err_set(&e, ERR_BAD_FIELD, "~1~0~1", "m");
		err_prefix(&e, prefix);
		CASE(e.path[strlen(e.path) - 1] != '~', "%zu: %s", len, e.path);
		prefix[len] = 'p';
	}
}

static void test_quote(void **state)
{
	static const struct {
		const char *text, *quoted;
	} cases[] = {
		{"", "\"\""},
		{"plain é€😀", "\"plain é€😀\""},
		{"\"\\", "\"\\\"\\\\\""},
		{"a\nb\t\r\x1b[0m\x7f", "\"a\\nb\\t\\r\\x1b[0m\\x7f\""},
		{"\xff\xc3", "\"\\xff\\xc3\""},
		{"\xc0\x80\xed\xa0\x80", "\"\\xc0\\x80\\xed\\xa0\\x80\""},
		{"\xc2\x85\xc2\x9b", "\"\\xc2\\x85\\xc2\\x9b\""},                           /* C1 controls */
		{"\xe2\x80\xae" "x\xe2\x81\xa6", "\"\\xe2\\x80\\xaex\\xe2\\x81\\xa6\""},     /* RLO, LRI */
		{"\xe2\x80\x8b\xe2\x80\x8f\xd8\x9c", "\"\\xe2\\x80\\x8b\\xe2\\x80\\x8f\\xd8\\x9c\""}, /* zero width, RLM, ALM */
		{"\xe2\x80\xa8\xe2\x80\xa9", "\"\\xe2\\x80\\xa8\\xe2\\x80\\xa9\""},         /* line and paragraph separators */
		{"\xef\xbb\xbf", "\"\\xef\\xbb\\xbf\""},
		{"\xe2\x80\x90\xe2\x80\xaf", "\"\xe2\x80\x90\xe2\x80\xaf\""}, /* a hyphen and a narrow space are plain */
	};
	char out[200];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_string_equal(err_quote(out, sizeof(out), cases[i].text, strlen(cases[i].text)), cases[i].quoted);
	assert_string_equal(err_quote(out, sizeof(out), "a\0b", 3), "\"a\\x00b\"");
	assert_string_equal(err_quote(out, sizeof(out), "abc", 2), "\"ab\"");
}

/* In a room of any size: ended, quoted, UTF-8, never longer; whole when it fits, else with "…". */
static void test_quote_bounds(void **state)
{
	static const char *const texts[] = {"abcdefghijklmnopqrstuvwxyz", "ééééééééééééé", "😀😀😀😀😀😀😀", "\n\n\n\n\n\n\n\n", "\"\"\"\"\"\"\"\"\"\"\""};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		char whole[100];
		size_t whole_len = strlen(err_quote(whole, sizeof(whole), texts[i], strlen(texts[i])));

		for (size_t size = 6; size < 60; size++) {
			auto_free char *out = util_alloc(size);
			size_t len = strlen(err_quote(out, size, texts[i], strlen(texts[i])));

			CASE(len < size && out[0] == '"' && out[len - 1] == '"', "%zu bytes: %s", size, out);
			CASE(util_utf8_valid(out, len), "%zu bytes: %s", size, out);
			if (whole_len < size)
				assert_string_equal(out, whole);
			else
				CASE(len >= 5 && memcmp(out + len - 4, "…", 3) == 0 && memcmp(out, whole, len - 4) == 0, "%zu bytes: %s", size, out);
		}
	}
}

/* How many bytes the first character takes, 0 where it is none. */
static const struct {
	const char *text;
	size_t taken;
	uint32_t code_point;
} ENCODED[] = {
	{"", 0, 0},
	{"a", 1, 'a'},
	{"\x7f", 1, 0x7F},
	{"\xc2\x80", 2, 0x80},
	{"\xdf\xbf", 2, 0x7FF},
	{"\xe0\xa0\x80", 3, 0x800},
	{"\xed\x9f\xbf", 3, 0xD7FF},
	{"\xee\x80\x80", 3, 0xE000},
	{"\xef\xbf\xbf", 3, 0xFFFF},
	{"\xf0\x90\x80\x80", 4, 0x10000},
	{"\xf4\x8f\xbf\xbf", 4, 0x10FFFF},
	{"\xf4\x90\x80\x80", 0, 0}, /* beyond U+10FFFF */
	{"\xf5\x80\x80\x80", 0, 0},
	{"\xf8\x88\x80\x80\x80", 0, 0},
	{"\xfe", 0, 0},
	{"\xff", 0, 0},
	{"\x80", 0, 0}, /* a continuation first */
	{"\xbf", 0, 0},
	{"\xc0\xaf", 0, 0}, /* overlong */
	{"\xc1\xbf", 0, 0},
	{"\xe0\x9f\xbf", 0, 0},
	{"\xf0\x8f\xbf\xbf", 0, 0},
	{"\xed\xa0\x80", 0, 0}, /* surrogates */
	{"\xed\xbf\xbf", 0, 0},
	{"\xc3", 0, 0}, /* cut */
	{"\xe2\x82", 0, 0},
	{"\xf0\x9f\x98", 0, 0},
	{"\xc3(", 0, 0}, /* a continuation that is none */
	{"\xe2(\xa1", 0, 0},
	{"\xe2\x82(", 0, 0},
	{"\xf0(\x98\x80", 0, 0},
	{"\xf0\x9f(\x80", 0, 0},
	{"\xf0\x9f\x98(", 0, 0},
	{"\xe2\xc3\xa9", 0, 0},
};

static void test_utf8(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(ENCODED); i++) {
		size_t len = strlen(ENCODED[i].text);
		auto_free char *copy = util_alloc(len); /* a read past the end is seen by a sanitizer */
		uint32_t code_point = 0;

		memcpy(copy, ENCODED[i].text, len);
		CASE(util_utf8_decode(copy, len, &code_point) == ENCODED[i].taken, "case %zu", i);
		CASE(code_point == ENCODED[i].code_point, "case %zu is U+%04X", i, code_point);
		CASE(util_utf8_valid(copy, len) == (ENCODED[i].taken == len), "case %zu", i);
	}
	for (size_t len = 0; len < 4; len++) { /* the rest of a character beyond the end does not count */
		uint32_t code_point = 7;

		assert_int_equal(util_utf8_decode("😀", len, &code_point), 0);
		assert_int_equal(code_point, 7);
	}
	assert_true(util_utf8_valid("a\0é", 4));
	assert_false(util_utf8_valid("aé", 2));
	assert_false(util_utf8_valid("é\x80", 3));
}

static void test_files(void **state)
{
	int ends[2];
	char *text = NULL;
	char *large = util_alloc(10000);

	(void)state;
	memset(large, 'x', 10000);
	for (size_t len = 0; len <= 10000; len += 2500) {
		auto_fd fd = memfd_create("text", MFD_CLOEXEC);

		assert_int_equal(util_write_all(fd, large, len), 0);
		assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
		assert_int_equal(util_read_file(fd, len, &text), len);
		assert_int_equal(strlen(text), len);
		free(text);
		if (len > 0) {
			text = NULL;
			assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
			assert_int_equal(util_read_file(fd, len - 1, &text), -1);
			assert_int_equal(errno, EFBIG);
			assert_null(text);
		}
	}
	free(large);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	util_close_fd(&ends[1]);
	assert_int_equal(ends[1], -1);
	assert_int_equal(util_write_all(ends[0], "x", 1), -1);
	assert_int_equal(errno, EBADF);
	util_close_fd(&ends[0]);
}

static void test_helpers(void **state)
{
	unsigned char random[2][16] = {{0}};
	char hex[9];
	char now[25];
	char *text = util_printf("%s-%d", "a", 5);
	char *kept = text;
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int64_t ms = util_now_ms();
	int64_t us = util_now_us();

	(void)state;
	assert_string_equal(text, "a-5");
	assert_ptr_equal(steal_ptr(&text), kept);
	assert_null(text);
	free(kept);
	{
		auto_fd scoped = fd;

		assert_int_equal(fcntl(scoped, F_GETFD), FD_CLOEXEC);
	}
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	util_random(random, sizeof(random));
	assert_memory_not_equal(random[0], random[1], 16);
	util_hex(hex, "\x00\x9f\xff\x0a", 4);
	assert_string_equal(hex, "009fff0a");
	assert_true(us / 1000 >= ms && us / 1000 - ms < 60000);
	util_wall_time(now, sizeof(now));
	assert_int_equal(strlen(now), 24);
	assert_int_equal(now[10], 'T');
	assert_int_equal(now[19], '.');
	assert_int_equal(now[23], 'Z');
}

static void test_die(void **state)
{
	int status = 0;
	pid_t pid = fork();

	(void)state;
	assert_true(pid >= 0);
	if (pid == 0) {
		(void)close(STDERR_FILENO);
		DIE("on purpose");
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
}

static void test_distances(void **state)
{
	char long_name[100];

	(void)state;
	assert_int_equal(near_distance("firefox", "firefox"), 0);
	assert_int_equal(near_distance("firefox", "fierfox"), 2);
	assert_int_equal(near_distance("", "abc"), 3);
	assert_int_equal(near_distance("abc", ""), 3);
	assert_int_equal(near_distance("terminal", "terminals"), 1);
	memset(long_name, 'a', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	assert_true(near_distance(long_name, "a") == SIZE_MAX);
}

static void test_hashes(void **state)
{
	/* FIPS 180-2, B.1 */
	static const char abc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
	char text[2 * HASH_BYTES + 1], longer[sizeof(text) + 1];
	uint8_t hash[HASH_BYTES], read[HASH_BYTES];

	(void)state;
	struct hash_stream *stream = hash_begin();

	hash_add(stream, "a", 1);
	hash_add(stream, "", 0);
	hash_add(stream, "bc", 2);
	hash_end(stream, read);
	hash_sha256("abc", 3, hash);
	assert_memory_equal(read, hash, sizeof(hash));
	util_hex(text, hash, sizeof(hash));
	assert_string_equal(text, abc);
	assert_true(hash_from_hex(abc, read));
	assert_memory_equal(read, hash, sizeof(hash));
	for (char *c = text; *c; c++)
		*c = (char)toupper(*c);
	memset(read, 0, sizeof(read));
	assert_true(hash_from_hex(text, read));
	assert_memory_equal(read, hash, sizeof(hash));
	(void)snprintf(longer, sizeof(longer), "%s0", abc);
	text[7] = 'g';
	assert_false(hash_from_hex(text, read));
	assert_false(hash_from_hex(longer, read));
	assert_false(hash_from_hex(abc + 1, read));
	assert_false(hash_from_hex("", read));
	assert_false(hash_from_hex(NULL, read));
	assert_memory_equal(read, hash, sizeof(hash));
	assert_true(hash_same(read, hash));
	for (size_t i = 0; i < 8 * sizeof(read); i++) {
		read[i / 8] ^= (uint8_t)(1U << i % 8);
		assert_false(hash_same(read, hash));
		read[i / 8] ^= (uint8_t)(1U << i % 8);
	}
}

static void test_lists(void **state)
{
	char out[12] = "", separated[8] = "";

	(void)state;
	err_list(out, sizeof(out), ", ", "ab");
	assert_string_equal(out, "ab");
	err_list(out, sizeof(out), ", ", "c");
	assert_string_equal(out, "ab, c");
	err_list(out, sizeof(out), ", ", "long");
	assert_string_equal(out, "ab, c, …");
	err_list(out, sizeof(out), ", ", "d");
	assert_string_equal(out, "ab, c, …");
	err_list(separated, sizeof(separated), " ", "far too long");
	assert_string_equal(separated, "…");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_hashes),
		cmocka_unit_test(test_err_set), cmocka_unit_test(test_err_of_itself), cmocka_unit_test(test_err_rows),
		cmocka_unit_test(test_cut), cmocka_unit_test(test_bytes_that_are_no_utf8),     cmocka_unit_test(test_prefix),        cmocka_unit_test(test_quote),
		cmocka_unit_test(test_quote_bounds), cmocka_unit_test(test_utf8),     cmocka_unit_test(test_files),
		cmocka_unit_test(test_helpers),
		cmocka_unit_test(test_die), cmocka_unit_test(test_distances),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
