/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: glovebox-init */
/* Spawn records: good ones come out as they went in, hostile ones are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "apps/init/request.h"
#include "session/base/util.h"

#define TEXT_GOOD "/home/user\0sh\0-c\0true\0PATH=/bin\0EMPTY=\0"
static const struct init_spawn GOOD = {.op = INIT_SPAWN, .tag = 7, .group = INIT_GROUP_AGENT, .n_argv = 3, .n_env = 2};

static int parse(const struct init_spawn *head, const char *text, size_t len, size_t n_fds, struct request *out)
{
	static char record[2 * REQUEST_MAX];

	memset(record, 'x', sizeof(record)); /* what follows the record is not to be trusted */
	memcpy(record, head, sizeof(*head));
	memcpy(record + sizeof(*head), text, len);
	return request_parse(record, sizeof(*head) + len, n_fds, out, NULL);
}

static void good(void **state)
{
	struct request request;

	(void)state;
	assert_int_equal(parse(&GOOD, TEXT_GOOD, sizeof(TEXT_GOOD) - 1, 0, &request), 0);
	assert_int_equal(request.tag, 7);
	assert_int_equal(request.group, INIT_GROUP_AGENT);
	assert_string_equal(request.folder, "/home/user");
	assert_string_equal(request.argv[0], "sh");
	assert_string_equal(request.argv[2], "true");
	assert_null(request.argv[3]);
	assert_string_equal(request.env[0], "PATH=/bin");
	assert_string_equal(request.env[1], "EMPTY=");
	assert_null(request.env[2]);
	request_finish(&request);
}

static void no_environment(void **state)
{
	static const struct init_spawn head = {.op = INIT_SPAWN, .n_argv = 1};
	struct request request;

	(void)state;
	assert_int_equal(parse(&head, "/\0a", 4, 0, &request), 0);
	assert_null(request.env[0]);
	request_finish(&request);
}

static void hostile_heads(void **state)
{
	struct {
		struct init_spawn head;
		size_t n_fds;
	} rows[] = {
	        {{.n_argv = 3, .n_env = 2, .group = INIT_N_GROUPS}, 0},  {{.n_argv = 3, .n_env = 2, .group = 255}, 0},
	        {{.n_argv = 3, .n_env = 2, .flags = 8}, 0},              {{.n_argv = 3, .n_env = 2, .flags = 1}, 0},
	        {{.n_argv = 3, .n_env = 2, .flags = 6}, 1},              {{.n_argv = 3, .n_env = 2, .flags = 17}, 1},
	        {{.n_argv = 3, .n_env = 2, .group = 2, .flags = 16}, 0}, {{.n_argv = 3, .n_env = 2, .flags = 32}, 0},
	        {{.n_argv = 3, .n_env = 2}, 1},
	        {{.n_argv = 0, .n_env = 5}, 0},                          {{.n_argv = 3, .n_env = 1}, 0},
	        {{.n_argv = 3, .n_env = 3}, 0},                          {{.n_argv = 2, .n_env = 3}, 0},
	        {{.n_argv = 65535, .n_env = 65535}, 0},                  {{.n_argv = LIMIT_SPAWN_STRINGS, .n_env = 1}, 0},
	};
	struct request request;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (parse(&rows[i].head, TEXT_GOOD, sizeof(TEXT_GOOD) - 1, rows[i].n_fds, &request) != -1)
			fail_msg("row %zu was taken", i);
}

static void hostile_texts(void **state)
{
	static const struct {
		const char *text;
		size_t len;
	} rows[] = {
	        {"", 0},
	        {"\0", 1},
	        {"/\0sh\0A=b", 8},              /* the last string does not end */
	        {"home\0sh\0A=b", 12},          /* relative folder */
	        {"\0sh\0A=b", 8},               /* no folder */
	        {"/\0\0A=b", 7},                /* no program */
	        {"/\0sh\0Ab", 8},               /* no = */
	        {"/\0sh\0=b", 8},               /* no name */
	        {"/\0sh\0A=b\0more", 14},       /* one too many */
	        {"/\0sh", 5},                   /* one too few */
	        {"/\0sh\0A=b\0\0\0\0", 12},     /* padding */
	};
	static const struct init_spawn head = {.op = INIT_SPAWN, .n_argv = 1, .n_env = 1};
	struct request request;

	(void)state;
	assert_int_equal(parse(&head, "/\0sh\0A=b", 9, 0, &request), 0);
	request_finish(&request);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (parse(&head, rows[i].text, rows[i].len, 0, &request) != -1)
			fail_msg("row %zu was taken", i);
}

/* Every cut of a good record, and every single changed byte: a verdict, no fault. Sanitizers watch. */
static void mangled(void **state)
{
	char text[sizeof(TEXT_GOOD) - 1];

	(void)state;
	for (size_t len = 0; len < sizeof(text); len++)
		assert_int_equal(parse(&GOOD, TEXT_GOOD, len, 0, &(struct request){0}), -1);
	for (size_t at = 0; at < sizeof(text); at++)
		for (int value = 0; value < 256; value++) {
			struct request request;

			memcpy(text, TEXT_GOOD, sizeof(text));
			text[at] = (char)value;
			if (parse(&GOOD, text, sizeof(text), 0, &request) == 0)
				request_finish(&request);
		}
}

static void short_and_long(void **state)
{
	static char text[LIMIT_SPAWN_BYTES + 1];
	static const struct init_spawn head = {.op = INIT_SPAWN, .n_argv = 1};
	struct request request;

	(void)state;
	for (size_t len = 0; len < sizeof(struct init_spawn); len++) {
		char record[sizeof(struct init_spawn)] = {1};

		assert_int_equal(request_parse(record, len, 0, &request, NULL), -1);
	}
	memset(text, 'a', sizeof(text));
	memcpy(text, "/\0", 2);
	text[LIMIT_SPAWN_BYTES - 1] = '\0';
	assert_int_equal(parse(&head, text, LIMIT_SPAWN_BYTES, 0, &request), 0);
	assert_int_equal(strlen(request.argv[0]), LIMIT_SPAWN_BYTES - 3);
	request_finish(&request);
	text[LIMIT_SPAWN_BYTES - 1] = 'a';
	text[LIMIT_SPAWN_BYTES] = '\0';
	assert_int_equal(parse(&head, text, LIMIT_SPAWN_BYTES + 1, 0, &request), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(good),          cmocka_unit_test(no_environment), cmocka_unit_test(hostile_heads),
	        cmocka_unit_test(hostile_texts), cmocka_unit_test(mangled),        cmocka_unit_test(short_and_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
