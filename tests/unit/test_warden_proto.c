/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: session/warden sandbox/jail sandbox/confine */
/* What a hostile front could send: each field of a request, one byte wrong at a time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/warden/requests.h"

static struct ceilings ceilings;

static struct warden_request good(uint32_t op)
{
	struct warden_request request;

	memset(&request, 0, sizeof(request));
	request.op = op;
	strcpy(request.session, "sabcdefghijk2345");
	strcpy(request.create.image, "desktop");
	memset(request.create.image_hash, 'a', IMAGE_HASH_SIZE - 1);
	request.create.width_px = 1280;
	request.create.height_px = 800;
	request.create.memory_mb = 3072;
	request.create.pids = 2048;
	request.create.disk_mb = 1024;
	request.create.inodes = 65536;
	request.create.open_files = 8192;
	request.create.x_mb = 800;
	request.create.cpu_milli = 2000;
	request.create.ttl_s = 3600;
	return request;
}

static enum err_code check(const struct warden_request *request)
{
	struct err e = {0};

	if (requests_check(request, sizeof(*request), &ceilings, &e) == 0)
		return ERR_NONE;
	assert_int_not_equal(e.code, ERR_NONE);
	assert_true(e.msg[0] != '\0');
	return e.code;
}

static int set_up(void **state)
{
	(void)state;
	ceilings_default(&ceilings);
	return 0;
}

static void test_good_ones_pass(void **state)
{
	struct warden_request request;
	const uint32_t ops[] = {WARDEN_CREATE, WARDEN_SEAL, WARDEN_END};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(ops); i++) {
		request = good(ops[i]);
		assert_int_equal(check(&request), ERR_NONE);
	}
	memset(&request, 0, sizeof(request));
	request.op = WARDEN_HELLO;
	assert_int_equal(check(&request), ERR_NONE);
	request.op = WARDEN_USAGE;
	assert_int_equal(check(&request), ERR_NONE);
	request.session[SESSION_ID_SIZE - 1] = 'a';
	assert_int_equal(check(&request), ERR_BAD_REQUEST);
}

static void test_viewers(void **state)
{
	static const struct {
		struct warden_viewer viewer;
		enum err_code expect;
	} rows[] = {
		{{1, 0, ""}, ERR_NONE},
		{{UINT32_MAX, 1, "pass 12~"}, ERR_NONE},
		{{0, 0, ""}, ERR_BAD_REQUEST},
		{{1, 2, ""}, ERR_BAD_REQUEST},
		{{1, 1, "short"}, ERR_BAD_FIELD},
		{{1, 1, "pass\t123"}, ERR_BAD_FIELD},
		{{1, 1, {'n', 'o', ' ', 'e', 'n', 'd', ' ', 'h', 'e'}}, ERR_BAD_FIELD},
		{{1, 1, {0, 'x'}}, ERR_BAD_FIELD},
	};
	struct warden_request request;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		request = good(WARDEN_ADD_VIEWER);
		request.viewer = rows[i].viewer;
		if (check(&request) != rows[i].expect)
			fail_msg("row %zu: %d", i, check(&request));
	}
	/* No other request has one. */
	request = good(WARDEN_END);
	request.viewer.number = 1;
	assert_int_equal(check(&request), ERR_BAD_REQUEST);
}

static void test_length_and_op(void **state)
{
	struct warden_request request = good(WARDEN_CREATE);
	const uint32_t ops[] = {0, WARDEN_CREATED, WARDEN_FAILED, WARDEN_USAGE, WARDEN_USED, WARDEN_ENDED, WARDEN_DONE, WARDEN_REFUSED, WARDEN_VIEWER_ADDED, WARDEN_VIEWER_ADDED + 1, UINT32_MAX};
	struct err e = {0};

	(void)state;
	assert_int_equal(requests_check(&request, sizeof(request) - 1, &ceilings, &e), -1);
	assert_int_equal(requests_check(&request, sizeof(request) + 1, &ceilings, &e), -1);
	assert_int_equal(requests_check(&request, 0, &ceilings, &e), -1);
	for (size_t i = 0; i < ARRAY_LEN(ops); i++) {
		request = good(ops[i]);
		assert_int_equal(check(&request), ERR_BAD_REQUEST);
	}
}

static void test_ids(void **state)
{
	static const char *const bad[] = {
		"", "s", "sabcdefghijk234", "tabcdefghijk2345", "sabcdefghijk234A", "sabcdefghijk2341", "sabcdefghijk234/", "../abcdefghijk23",
		"sabcdefghijk234 ", "s..............a", "sabcdefghijk234\n", "SABCDEFGHIJK2345",
	};
	struct warden_request request;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		request = good(WARDEN_END);
		memset(request.session, 0, sizeof(request.session));
		memcpy(request.session, bad[i], strlen(bad[i]));
		if (check(&request) != ERR_BAD_REQUEST)
			fail_msg("the id \"%s\" passed", bad[i]);
	}
	/* Without its NUL, and with bytes behind it. */
	request = good(WARDEN_END);
	request.session[SESSION_ID_LEN] = 'a';
	assert_int_equal(check(&request), ERR_BAD_REQUEST);
	request = good(WARDEN_END);
	request.session[3] = '\0';
	assert_int_equal(check(&request), ERR_BAD_REQUEST);
}

static void test_image_names(void **state)
{
	static const char *const bad[] = {"", "-desktop", "9desktop", "Desktop", "desk/top", "..", "desk top", "desk.top", "desktop\n"};
	struct warden_request request;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		request = good(WARDEN_CREATE);
		memset(request.create.image, 0, sizeof(request.create.image));
		memcpy(request.create.image, bad[i], strlen(bad[i]));
		if (check(&request) != ERR_BAD_FIELD)
			fail_msg("the image \"%s\" passed", bad[i]);
	}
	request = good(WARDEN_CREATE);
	memset(request.create.image, 'a', sizeof(request.create.image));
	assert_int_equal(check(&request), ERR_BAD_FIELD);
	request = good(WARDEN_CREATE);
	request.create.image[IMAGE_NAME_SIZE - 1] = 'x';
	assert_int_equal(check(&request), ERR_BAD_FIELD);
	request = good(WARDEN_CREATE);
	strcpy(request.create.image, "display");
	assert_int_equal(check(&request), ERR_NO_IMAGE);
}

static void test_hashes(void **state)
{
	struct warden_request request = good(WARDEN_CREATE);

	(void)state;
	request.create.image_hash[63] = '\0';
	assert_int_equal(check(&request), ERR_BAD_FIELD);
	request = good(WARDEN_CREATE);
	request.create.image_hash[10] = 'g';
	assert_int_equal(check(&request), ERR_BAD_FIELD);
	request = good(WARDEN_CREATE);
	request.create.image_hash[10] = '/';
	assert_int_equal(check(&request), ERR_BAD_FIELD);
	request = good(WARDEN_CREATE);
	request.create.image_hash[64] = 'a';
	assert_int_equal(check(&request), ERR_BAD_FIELD);
	request = good(WARDEN_CREATE);
	request.create.image_hash[0] = 'A';
	assert_int_equal(check(&request), ERR_BAD_FIELD);
}

/* Each number at both ends of its range and one beyond. */
static void test_numbers(void **state)
{
	struct warden_request request = good(WARDEN_CREATE);
	struct warden_create *c = &request.create;
	const struct {
		uint32_t *field, min, max;
	} numbers[] = {
		{&c->memory_mb, 2048, 65536}, /* half of it is the disk's */
		{&c->pids, LIMIT_PIDS_MIN, 32768},
		{&c->cpu_milli, LIMIT_CPU_MIN_MILLI, 64000},
		{&c->disk_mb, LIMIT_DISK_MIN_MB, 1536},
		{&c->inodes, LIMIT_INODES_MIN, 4194304},
		{&c->open_files, LIMIT_OPEN_FILES_MIN, 65536},
		{&c->x_mb, LIMIT_X_MIN_MB, 4096},
		{&c->ttl_s, 1, LIMIT_TTL_S},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
		const uint32_t values[] = {numbers[i].min, numbers[i].max, numbers[i].min - 1, numbers[i].max + 1, 0, UINT32_MAX};
		uint32_t kept = *numbers[i].field;

		for (size_t k = 0; k < ARRAY_LEN(values); k++) {
			*numbers[i].field = values[k];
			assert_int_equal(check(&request), k < 2 ? ERR_NONE : ERR_BAD_FIELD);
		}
		*numbers[i].field = kept;
	}
}

/* A new life is held against the ceiling as the first, and comes alone. */
static void test_a_new_life(void **state)
{
	static const struct {
		uint32_t ttl_s;
		enum err_code expect;
	} lives[] = {{1, ERR_NONE}, {60, ERR_NONE}, {0, ERR_BAD_FIELD}, {61, ERR_BAD_FIELD}, {UINT32_MAX, ERR_BAD_FIELD}};
	struct warden_request request = good(WARDEN_SET_TTL);
	struct err e = {0};

	(void)state;
	assert_int_equal(ceilings_parse(&ceilings, "ttl_s = 60", &e), 0);
	assert_int_equal(check(&request), ERR_BAD_REQUEST); /* with an image and limits */
	for (size_t i = 0; i < ARRAY_LEN(lives); i++) {
		memset(&request.create, 0, sizeof(request.create));
		request.create.ttl_s = lives[i].ttl_s;
		assert_int_equal(check(&request), lives[i].expect);
	}
	request.create.ttl_s = 60;
	request.create.image[IMAGE_NAME_SIZE - 1] = 'x';
	assert_int_equal(check(&request), ERR_BAD_REQUEST);
	request.create.image[IMAGE_NAME_SIZE - 1] = '\0';
	request.session[0] = 't';
	assert_int_equal(check(&request), ERR_BAD_REQUEST);
}

static void test_a_journal_goes(void **state)
{
	struct warden_request request = good(WARDEN_DROP_JOURNAL);

	(void)state;
	assert_int_equal(check(&request), ERR_NONE);
	(void)snprintf(request.session, sizeof(request.session), "../../etc");
	assert_int_equal(check(&request), ERR_BAD_REQUEST);
	memset(request.session, 0, sizeof(request.session));
	assert_int_equal(check(&request), ERR_BAD_REQUEST);
}

static void test_sides(void **state)
{
	struct warden_request request = good(WARDEN_CREATE);
	const struct {
		uint16_t side;
		enum err_code expect;
	} sides[] = {{LIMIT_SIDE_MIN_PX, ERR_NONE}, {LIMIT_SIDE_MAX_PX, ERR_NONE}, {LIMIT_SIDE_MIN_PX - 1, ERR_BAD_FIELD},
	             {LIMIT_SIDE_MAX_PX + 1, ERR_BAD_FIELD}, {0, ERR_BAD_FIELD}, {UINT16_MAX, ERR_BAD_FIELD}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(sides); i++) {
		request.create.width_px = sides[i].side;
		request.create.height_px = 800;
		assert_int_equal(check(&request), sides[i].expect);
		request.create.width_px = 800;
		request.create.height_px = sides[i].side;
		assert_int_equal(check(&request), sides[i].expect);
	}
}

static void test_ceilings_bind(void **state)
{
	struct warden_request request = good(WARDEN_CREATE);
	struct err e = {0};

	(void)state;
	assert_int_equal(ceilings_parse(&ceilings, "memory_mb = 2048 # a small host\n\nttl_s=60\n", &e), 0);
	assert_int_equal(ceilings.memory_mb, 2048);
	assert_int_equal(ceilings.ttl_s, 60);
	assert_int_equal(check(&request), ERR_BAD_FIELD);
	request.create.memory_mb = 2048;
	assert_int_equal(check(&request), ERR_BAD_FIELD);
	request.create.ttl_s = 60;
	assert_int_equal(check(&request), ERR_NONE);
}

static void test_ceilings_refuse(void **state)
{
	static const char *const bad[] = {"memory = 5",   "memory_mb 5",       "memory_mb = x",    "memory_mb = -1",         "memory_mb = 1",
	                                  "pids = 99 99", "pids = 99\npids=99", "sessions = 100000", "uid_base = 1000", "ttl_s = 99999999999999999999",
	                                  "ttl_s = -18446744073709551556", "ttl_s = +60", "ttl_s =", "egress = all",
	                                  "egress = 1", "egress = open none", "egress_permit = 10.0.0.0/33", "egress_permit = 10.0.0.1/8", "egress_permit = fd00::1/8", "egress_permit = ok.test", "egress_permit = 10.0.0.1,,fd00::/129",
	                                  "egress_permit = 10.0.0.1\negress_permit = 10.0.0.2", "egress_permit ="};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct err e = {0};

		if (ceilings_parse(&ceilings, bad[i], &e) == 0)
			fail_msg("\"%s\" passed", bad[i]);
		assert_non_null(strstr(e.msg, "line "));
	}
}

static void test_ceilings_of_the_way_out(void **state)
{
	struct err e = {0};

	(void)state;
	ceilings_default(&ceilings);
	assert_int_equal(ceilings.egress, EGRESS_OPEN);
	assert_string_equal(ceilings.permit, "");
	assert_int_equal(ceilings_parse(&ceilings, "egress = allowlist # not open\negress_permit = 10.1.0.0/16, fd00::/8\r\n", &e), 0);
	assert_int_equal(ceilings.egress, EGRESS_ALLOWLIST);
	assert_string_equal(ceilings.permit, "10.1.0.0/16, fd00::/8");
	ceilings_default(&ceilings);
}

static void test_ceilings_name_what_there_is(void **state)
{
	struct err e = {0};

	(void)state;
	assert_int_equal(ceilings_parse(&ceilings, "pids = 99\nmemory = 5", &e), -1);
	assert_string_equal(e.msg, "line 2: no ceiling is called memory; there are: sessions memory_mb pids disk_mb cpu_milli inodes open_files x_mb ttl_s egress unlimited uid_base egress_permit");
}

static void test_uids_of_others(void **state)
{
	static const char free_passwd[] = "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n";
	struct err e = {0};

	(void)state;
	assert_int_equal(ceilings_check_uids(&ceilings, free_passwd, "user:100000:65536\n", &e), 0);
	assert_int_equal(ceilings_check_uids(&ceilings, free_passwd, NULL, &e), 0);
	assert_int_equal(ceilings_check_uids(&ceilings, "big:x:1900000005:1::/:/bin/sh\n", NULL, &e), -1);
	assert_non_null(strstr(e.msg, "big"));
	/* An account without a password. */
	assert_int_equal(ceilings_check_uids(&ceilings, "open::1900000005:1::/:/bin/sh\n", NULL, &e), -1);
	assert_non_null(strstr(e.msg, "open"));
	assert_int_equal(ceilings_check_uids(&ceilings, free_passwd, "user:1899999999:2\n", &e), -1);
	assert_int_equal(ceilings_check_uids(&ceilings, free_passwd, "user:1899999999:1\n", &e), 0);
	assert_int_equal(ceilings_check_uids(&ceilings, free_passwd, "user:1900004159:1\n", &e), -1);
	assert_int_equal(ceilings_check_uids(&ceilings, free_passwd, "user:1900004160:1\n", &e), 0);
}

static struct warden_secret good_secret(void)
{
	struct warden_secret secret;

	memset(&secret, 0, sizeof(secret));
	secret.op = WARDEN_PUT_SECRET;
	strcpy(secret.name, "shop_1-A");
	secret.len = 3;
	memcpy(secret.value, "abc", 3);
	return secret;
}

static enum err_code check_secret(const struct warden_secret *secret)
{
	struct err e = {0};

	return requests_check_secret(secret, sizeof(*secret), &e) == 0 ? ERR_NONE : e.code;
}

static void test_secrets(void **state)
{
	static const char *const bad[] = {"", ".new", "..", "a/b", "1a", "-a", "_a", "a b", "a.b", "a\n"};
	struct warden_secret secret = good_secret();
	struct err e = {0};

	(void)state;
	assert_int_equal(check_secret(&secret), ERR_NONE);
	assert_int_equal(requests_check_secret(&secret, sizeof(secret) - 1, &e), -1);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		memset(secret.name, 0, sizeof(secret.name));
		strcpy(secret.name, bad[i]);
		if (check_secret(&secret) != ERR_BAD_FIELD)
			fail_msg("the secret \"%s\" passed", bad[i]);
	}
	memset(secret.name, 'a', sizeof(secret.name));
	assert_int_equal(check_secret(&secret), ERR_BAD_FIELD);
	secret = good_secret();
	secret.len = 0;
	assert_int_equal(check_secret(&secret), ERR_BAD_FIELD);
	secret.len = LIMIT_SECRET_BYTES + 1;
	assert_int_equal(check_secret(&secret), ERR_BAD_FIELD);
	secret.len = 2;
	assert_int_equal(check_secret(&secret), ERR_BAD_REQUEST);
	secret = good_secret();
	secret.op = WARDEN_DROP_SECRET;
	assert_int_equal(check_secret(&secret), ERR_BAD_FIELD);
	secret.len = 0;
	memset(secret.value, 0, sizeof(secret.value));
	assert_int_equal(check_secret(&secret), ERR_NONE);
	secret.op = WARDEN_CREATE;
	assert_int_equal(check_secret(&secret), ERR_BAD_REQUEST);
}

static void test_secrets_of_a_create(void **state)
{
	struct warden_request request = good(WARDEN_CREATE);

	(void)state;
	strcpy(request.create.secrets[0], "one");
	strcpy(request.create.secrets[1], "Two");
	assert_int_equal(check(&request), ERR_NONE);
	strcpy(request.create.secrets[1], "one");
	assert_int_equal(check(&request), ERR_BAD_FIELD);
	strcpy(request.create.secrets[1], "../one");
	assert_int_equal(check(&request), ERR_BAD_FIELD);
	memset(request.create.secrets[1], 0, SECRET_NAME_SIZE);
	strcpy(request.create.secrets[2], "three");
	assert_int_equal(check(&request), ERR_BAD_FIELD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_secrets),
		cmocka_unit_test_setup(test_secrets_of_a_create, set_up),
		cmocka_unit_test_setup(test_good_ones_pass, set_up), cmocka_unit_test_setup(test_viewers, set_up),
		cmocka_unit_test_setup(test_length_and_op, set_up),
		cmocka_unit_test_setup(test_ids, set_up),             cmocka_unit_test_setup(test_image_names, set_up),
		cmocka_unit_test_setup(test_hashes, set_up),          cmocka_unit_test_setup(test_numbers, set_up),
		cmocka_unit_test_setup(test_a_new_life, set_up),
		cmocka_unit_test_setup(test_a_journal_goes, set_up),
		cmocka_unit_test_setup(test_sides, set_up),           cmocka_unit_test_setup(test_ceilings_bind, set_up),
		cmocka_unit_test_setup(test_ceilings_refuse, set_up),
		cmocka_unit_test_setup(test_ceilings_of_the_way_out, set_up),
		cmocka_unit_test_setup(test_ceilings_name_what_there_is, set_up), cmocka_unit_test_setup(test_uids_of_others, set_up),
	};

	return cmocka_run_group_tests_name("warden_proto", tests, NULL, NULL);
}
