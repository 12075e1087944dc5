/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: glovebox-front */
/* The audit log: its chain over restarts, torn lines, rotation, full disks, floods. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "session/base/chain.h"
#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/front/audit.h"

struct place {
	char folder[64], path[96];
	struct loop *loop;
	struct audit *audit;
};

static void open_it(struct place *place, size_t max_bytes)
{
	struct err e = {0};

	place->audit = audit_open(place->loop, place->path, max_bytes, &e);
	if (!place->audit)
		fail_msg("%s", e.msg);
}

static int setup(void **state)
{
	struct place *place = util_zalloc(sizeof(*place));

	(void)snprintf(place->folder, sizeof(place->folder), "/tmp/front_audit.XXXXXX");
	assert_non_null(mkdtemp(place->folder));
	(void)snprintf(place->path, sizeof(place->path), "%s/audit.jsonl", place->folder);
	place->loop = loop_create(NULL);
	open_it(place, LIMIT_AUDIT_BYTES);
	*state = place;
	return 0;
}

static char *old_path(const struct place *place, int number)
{
	return number ? util_printf("%s/audit.%d.jsonl", place->folder, number) : util_strdup(place->path);
}

static int teardown(void **state)
{
	struct place *place = *state;

	audit_close(place->audit);
	loop_destroy(place->loop);
	for (int i = 0; i < 8; i++) {
		auto_free char *path = old_path(place, i);

		(void)unlink(path);
	}
	assert_int_equal(rmdir(place->folder), 0);
	free(place);
	return 0;
}

static char *read_file(const char *path)
{
	auto_fd fd = open(path, O_RDONLY | O_CLOEXEC);
	char *text = NULL;

	if (fd < 0 || util_read_file(fd, 1024 * 1024, &text) < 0)
		return NULL;
	return text;
}

/* Checks seq and chain of all lines of a text from a place on; the events, joined by spaces, in the caller's memory. */
static char *check_chain(struct chain *chain, char *text)
{
	char *events = util_strdup(""), *save = NULL;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		json_auto_t *object = json_loads(line, 0, NULL);
		auto_free char *again = NULL, *before = events, *written = util_printf("%s\n", line);
		struct chain next;

		assert_non_null(object);
		assert_int_equal(json_integer_value(json_object_get(object, "seq")), chain->seq + 1);
		events = util_printf("%s%s%s", before, *before ? " " : "", json_string_value(json_object_get(object, "event")));
		(void)json_object_del(object, "hash");
		again = chain_text(chain, object, &next);
		assert_string_equal(again, written);
		*chain = next;
	}
	return events;
}

static void check(const struct place *place, const char *expected)
{
	auto_free char *text = read_file(place->path);
	auto_free char *events = NULL;
	struct chain chain = {.seq = 0};

	assert_non_null(text);
	events = check_chain(&chain, text);
	assert_string_equal(events, expected);
}

static void test_the_chain_goes_on_over_restarts(void **state)
{
	struct place *place = *state;
	struct err e;

	assert_int_equal(audit_add(place->audit, "a", json_pack("{s:s}", "k", "v"), &e), 0);
	audit_note(place->audit, "b", NULL);
	audit_close(place->audit);
	open_it(place, LIMIT_AUDIT_BYTES);
	assert_int_equal(audit_add(place->audit, "c", NULL, &e), 0);
	check(place, "a b c");
}

static void test_a_torn_line_is_none(void **state)
{
	struct place *place = *state;
	struct err e;
	auto_fd fd = open(place->path, O_WRONLY | O_APPEND | O_CLOEXEC);

	assert_int_equal(audit_add(place->audit, "a", NULL, &e), 0);
	audit_close(place->audit);
	assert_int_equal(write(fd, "{\"seq\":2,", 9), 9);
	open_it(place, LIMIT_AUDIT_BYTES);
	assert_int_equal(audit_add(place->audit, "b", NULL, &e), 0);
	check(place, "a b");
}

static void test_it_is_put_aside(void **state)
{
	struct place *place = *state;
	struct chain chain = {.seq = 0};
	struct err e;

	audit_close(place->audit);
	open_it(place, 1000);
	for (int i = 0; i < 40; i++) {
		assert_int_equal(audit_add(place->audit, "x", json_pack("{s:i}", "i", i), &e), 0);
		audit_close(place->audit);
		open_it(place, 1000);
	}
	for (int number = 4; number >= 0; number--) {
		auto_free char *path = old_path(place, number), *text = read_file(path), *copy = NULL, *events = NULL;
		json_auto_t *first = NULL;

		assert_non_null(text);
		assert_in_range(strlen(text), 1, 1000);
		copy = util_strdup(text);
		first = json_loads(strtok(copy, "\n"), 0, NULL);
		/* The oldest was begun in the middle of the chain: it goes on from one file to the next. */
		if (number == 4) {
			const char *line = strchr(text, '\n') + 1;

			assert_true(chain_resume(&chain, text, (size_t)(line - text)));
			memmove(text, line, strlen(line) + 1);
		} else {
			assert_int_equal(json_integer_value(json_object_get(first, "seq")), chain.seq + 1);
		}
		events = check_chain(&chain, text);
	}
	assert_int_equal(chain.seq, 40);
	{
		auto_free char *path = old_path(place, 5);

		assert_int_equal(access(path, F_OK), -1);
	}
}

/* Without descriptors there is no new file: the old one goes on, and none of those before it is lost. */
static void test_it_is_not_put_aside_without_a_new_file(void **state)
{
	struct place *place = *state;
	auto_free char *first = old_path(place, 1), *second = old_path(place, 2), *kept = NULL, *now = NULL;
	struct rlimit before, none = {.rlim_cur = 0};
	struct err e;

	audit_close(place->audit);
	open_it(place, 200);
	assert_int_equal(audit_add(place->audit, "a", NULL, &e), 0);
	assert_int_equal(audit_add(place->audit, "b", NULL, &e), 0);
	kept = read_file(first);
	assert_non_null(kept);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none.rlim_max = before.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	for (int i = 0; i < 8; i++)
		assert_int_equal(audit_add(place->audit, "c", NULL, &e), 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	now = read_file(first);
	assert_string_equal(now, kept);
	assert_int_equal(access(second, F_OK), -1);
	assert_int_equal(audit_add(place->audit, "d", NULL, &e), 0);
	assert_int_equal(access(second, F_OK), 0);
}

/* A limit of the file's size stands for a full disk. */
static void test_a_full_disk(void **state)
{
	struct place *place = *state;
	struct rlimit before, small;
	struct stat st;
	struct err e = {0};

	assert_int_equal(audit_add(place->audit, "a", NULL, &e), 0);
	assert_int_equal(stat(place->path, &st), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = (struct rlimit){(rlim_t)st.st_size + 20, before.rlim_max};
	(void)signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(audit_add(place->audit, "b", NULL, &e), -1);
	assert_int_equal(e.code, ERR_INTERNAL);
	audit_note(place->audit, "c", NULL);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(audit_add(place->audit, "d", NULL, &e), 0);
	check(place, "a d");
}

static void test_floods_are_counted(void **state)
{
	struct place *place = *state;
	const struct identity who = {.role = ROLE_OWNER, .owner = "ada", .name = "t1"};
	auto_free char *text = NULL;
	struct err why;

	(void)err_set(&why, ERR_BAD_FIELD, "/image", "image must be a string");
	for (int i = 0; i < LIMIT_AUDIT_REFUSALS + 7; i++)
		audit_refusal(place->audit, &who, "r1", &why);
	for (int i = 0; i < 1000; i++)
		audit_count(place->audit, AUDIT_UNAUTHORIZED);
	audit_close(place->audit);
	text = read_file(place->path);
	place->audit = NULL;
	assert_non_null(strstr(text, "\"owner\":\"ada\",\"role\":\"owner\",\"token\":\"t1\",\"request\":\"r1\",\"code\":\"bad_field\",\"pointer\":\"/image\""));
	assert_non_null(strstr(text, "\"event\":\"unauthorized\",\"count\":1000,"));
	assert_non_null(strstr(text, "\"event\":\"refusals_left_out\",\"count\":7,"));
	{
		struct chain chain = {.seq = 0};
		auto_free char *events = check_chain(&chain, text);

		assert_int_equal(chain.seq, LIMIT_AUDIT_REFUSALS + 2);
		assert_non_null(strstr(events, "create_refused unauthorized refusals_left_out"));
	}
}

static void test_a_damaged_end_begins_anew(void **state)
{
	struct place *place = *state;
	struct err e;
	auto_fd fd = open(place->path, O_WRONLY | O_APPEND | O_CLOEXEC);
	auto_free char *text = NULL;

	assert_int_equal(audit_add(place->audit, "a", NULL, &e), 0);
	audit_close(place->audit);
	assert_int_equal(write(fd, "no line\n", 8), 8);
	open_it(place, LIMIT_AUDIT_BYTES);
	assert_int_equal(audit_add(place->audit, "b", NULL, &e), 0);
	text = read_file(place->path);
	assert_non_null(strstr(text, "no line\n{\"seq\":1,"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_the_chain_goes_on_over_restarts, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_torn_line_is_none, setup, teardown),
		cmocka_unit_test_setup_teardown(test_it_is_put_aside, setup, teardown),
		cmocka_unit_test_setup_teardown(test_it_is_not_put_aside_without_a_new_file, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_full_disk, setup, teardown),
		cmocka_unit_test_setup_teardown(test_floods_are_counted, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_damaged_end_begins_anew, setup, teardown),
	};

	return cmocka_run_group_tests_name("front_audit", tests, NULL, NULL);
}
