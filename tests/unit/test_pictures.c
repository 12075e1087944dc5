/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: session/journal */
/* The file of pictures as a reader sees it: headers, parts, digests, keyframes, its end. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "session/base/hash.h"
#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/journal/pictures.h"
#include "session/journal/scan.h"

struct fixture {
	struct pictures *pictures;
	int fd; /* of the same file */
};

static int set_up(void **state)
{
	struct fixture *f = util_zalloc(sizeof(*f));

	f->fd = memfd_create("pictures", MFD_CLOEXEC);
	f->pictures = pictures_create(dup(f->fd));
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	pictures_destroy(f->pictures);
	(void)close(f->fd);
	free(f);
	return 0;
}

/* A picture of one part with `len` bytes, which need be no PNG here. */
static int add(struct fixture *f, bool is_key, size_t len, int64_t *number, char digest[CHAIN_HEX_SIZE], struct err *e)
{
	auto_free char *bytes = util_zalloc(len);
	const struct picture_part part = {{0, 0, 8, 4}, bytes, len};
	const struct picture picture = {.frame = 7, .size = {8, 4}, .is_key = is_key, .parts = &part, .n_parts = 1};

	return pictures_add(f->pictures, &picture, number, digest, e);
}

static off_t size_of(const struct fixture *f)
{
	return lseek(f->fd, 0, SEEK_END);
}

static void test_a_record(void **state)
{
	struct fixture *f = *state;
	const struct picture_part parts[] = {{{0, 0, 8, 4}, "whole", 5}}, two[] = {{{1, 2, 3, 1}, "ab", 2}, {{4, 0, 1, 1}, "c", 1}};
	const struct picture first = {.frame = 3, .size = {8, 4}, .is_key = true, .parts = parts, .n_parts = 1};
	const struct picture second = {.frame = 9, .size = {8, 4}, .is_key = false, .parts = two, .n_parts = 2};
	char digest[CHAIN_HEX_SIZE], want[CHAIN_HEX_SIZE], text[1024] = "", input[1024];
	uint8_t hash[HASH_BYTES];
	int64_t number;
	off_t next = 0;

	assert_true(pictures_want_key(f->pictures));
	assert_int_equal(pictures_add(f->pictures, &first, &number, digest, NULL), 0);
	assert_int_equal(number, 1);
	assert_true(scan_record(f->fd, 0, size_of(f), &next));
	assert_int_equal(next, size_of(f));
	assert_int_equal(pictures_add(f->pictures, &second, &number, digest, NULL), 0);
	assert_int_equal(number, 2);
	assert_true(pread(f->fd, text, sizeof(text) - 1, next) > 0);
	char *salt = strstr(text, "\"salt\":\"") + strlen("\"salt\":\"");
	auto_free char *header = util_printf("{\"picture\":2,\"frame\":9,\"base\":1,\"width\":8,\"height\":4,\"salt\":\"%.32s\",\"parts\":"
	                                     "[{\"x\":1,\"y\":2,\"width\":3,\"height\":1,\"bytes\":2},{\"x\":4,\"y\":0,\"width\":1,\"height\":1,\"bytes\":1}]}",
	                                     salt);
	auto_free char *whole = util_printf("%s\nabc", header);

	assert_string_equal(text, whole);
	for (int i = 0; i < 16; i++) {
		char byte[3] = {salt[2 * i], salt[2 * i + 1], '\0'};

		input[i] = (char)strtol(byte, NULL, 16);
	}
	int len = snprintf(input + 16, sizeof(input) - 16, "%sabc", header);

	hash_sha256(input, (size_t)len + 16, hash);
	util_hex(want, hash, sizeof(hash));
	assert_string_equal(digest, want);
}

/* The same pixels are not known again by their digest. */
static void test_salts_differ(void **state)
{
	struct fixture *f = *state;
	char one[CHAIN_HEX_SIZE], other[CHAIN_HEX_SIZE], text[256] = "", again[256] = "";
	int64_t number;
	off_t next = 0;

	assert_int_equal(add(f, true, 4, &number, one, NULL), 0);
	assert_true(scan_record(f->fd, 0, size_of(f), &next));
	assert_int_equal(add(f, true, 4, &number, other, NULL), 0);
	assert_string_not_equal(one, other);
	assert_true(pread(f->fd, text, sizeof(text) - 1, 0) > 0 && pread(f->fd, again, sizeof(again) - 1, next) > 0);
	assert_int_not_equal(strncmp(strstr(text, "\"salt\":\""), strstr(again, "\"salt\":\""), 40), 0);
	assert_non_null(strstr(again, "\"base\":null"));
}

static void test_keyframes(void **state)
{
	struct fixture *f = *state;
	char digest[CHAIN_HEX_SIZE];
	int64_t number;

	assert_int_equal(add(f, true, 1000, &number, digest, NULL), 0);
	for (int i = 1; i < LIMIT_PICTURES_APART; i++) {
		assert_false(pictures_want_key(f->pictures));
		assert_int_equal(add(f, false, 1, &number, digest, NULL), 0);
	}
	assert_true(pictures_want_key(f->pictures));
	assert_int_equal(add(f, true, 100, &number, digest, NULL), 0);
	assert_int_equal(number, LIMIT_PICTURES_APART + 1);
	assert_int_equal(add(f, false, 400, &number, digest, NULL), 0);
	assert_false(pictures_want_key(f->pictures));
	assert_int_equal(add(f, false, 1, &number, digest, NULL), 0);
	assert_true(pictures_want_key(f->pictures));
}

/* A reader takes the records before the one that is torn; and nothing follows it. */
static void test_a_disk_that_is_full(void **state)
{
	struct fixture *f = *state;
	struct rlimit small = {0, RLIM_INFINITY}, large = {RLIM_INFINITY, RLIM_INFINITY};
	char digest[CHAIN_HEX_SIZE];
	int64_t number = 0;
	off_t whole, next = 0;
	struct err e;

	(void)signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(add(f, true, 100, &number, digest, &e), 0);
	whole = size_of(f);
	small.rlim_cur = (rlim_t)whole + 150;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(add(f, false, 100, &number, digest, &e), -1);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &large), 0);
	assert_int_equal(e.code, ERR_INTERNAL);
	assert_int_equal(number, 1);
	assert_int_equal(size_of(f), whole + 150);
	assert_int_equal(add(f, true, 100, &number, digest, &e), -1);
	assert_int_equal(size_of(f), whole + 150);
	assert_true(scan_record(f->fd, 0, size_of(f), &next));
	assert_int_equal(next, whole);
	assert_false(scan_record(f->fd, next, size_of(f), &next));
}

static void test_the_limit(void **state)
{
	struct fixture *f = *state;
	char digest[CHAIN_HEX_SIZE];
	int64_t number;
	struct err e;

	assert_int_equal(ftruncate(f->fd, LIMIT_PICTURES_BYTES - 1000), 0);
	struct pictures *large = pictures_create(dup(f->fd));
	struct fixture other = {.pictures = large, .fd = f->fd};

	(void)lseek(f->fd, 0, SEEK_END);
	assert_int_equal(add(&other, true, 500, &number, digest, &e), 0);
	assert_int_equal(add(&other, false, 1000, &number, digest, &e), -1);
	assert_int_equal(e.code, ERR_LIMIT);
	assert_int_equal(add(&other, false, 1, &number, digest, &e), -1);
	assert_true(size_of(&other) < LIMIT_PICTURES_BYTES);
	pictures_destroy(large);
}

/* What is no record is not taken for one, and never read beyond the end. */
static void test_hostile_files(void **state)
{
	static const char *const texts[] = {
		"", "\n", "{}\n", "[]\n", "{\"parts\":[]}\n", "{\"parts\":[{\"bytes\":0}]}\nx", "{\"parts\":[{\"bytes\":-5}]}\nx",
		"{\"parts\":[{\"bytes\":9223372036854775807}]}\nx", "{\"parts\":[{\"bytes\":5}]}\n1234", "{\"parts\":[{\"bytes\":\"1\"}]}\nx",
		"{\"parts\":[{\"bytes\":1}]}", "{\"parts\":[{\"bytes\":1}], \"parts\":[{\"bytes\":1}]}\nx", "{\"parts\":{\"bytes\":1}}\nx",
	};
	struct fixture *f = *state;
	off_t next = 4711;

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		assert_int_equal(ftruncate(f->fd, 0), 0);
		assert_int_equal(pwrite(f->fd, texts[i], strlen(texts[i]), 0), strlen(texts[i]));
		assert_false(scan_record(f->fd, 0, (off_t)strlen(texts[i]), &next));
		assert_int_equal(next, 4711);
	}
	assert_int_equal(ftruncate(f->fd, 0), 0);
	assert_int_equal(pwrite(f->fd, "{\"parts\":[{\"bytes\":4}]}\n1234", 28, 0), 28);
	assert_true(scan_record(f->fd, 0, 28, &next));
	assert_int_equal(next, 28);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_record), TEST(test_salts_differ), TEST(test_keyframes), TEST(test_a_disk_that_is_full), TEST(test_the_limit),
		TEST(test_hostile_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
