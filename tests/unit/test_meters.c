/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: glovebox-stage */
/* Limits that are met: what the kernel counts, as lines, numbers and members of results. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "session/base/util.h"
#include "session/stage/stage.h"

static struct stage stage;
static int journal_fd;

static void put(enum end_meter which, const char *text)
{
	assert_int_equal(ftruncate(stage.ends.meter_fds[which], 0), 0);
	assert_int_equal(pwrite(stage.ends.meter_fds[which], text, strlen(text), 0), (ssize_t)strlen(text));
}

static int set_up(void **state)
{
	struct err e;

	(void)state;
	memset(&stage, 0, sizeof(stage));
	stage.loop = loop_create(&e);
	stage.spec = json_loads("{\"limits\":{\"cpu\":1.0,\"memory_mb\":256,\"pids\":64,\"x_mb\":256,\"exec_ms\":1000}}", 0, NULL);
	for (int i = 0; i < N_END_METERS; i++)
		stage.ends.meter_fds[i] = i == END_JAIL_DISK ? -1 : memfd_create("meter", 0);
	journal_fd = memfd_create("journal", 0);
	stage.journal = journal_create(stage.loop, dup(journal_fd));
	put(END_JAIL_MEMORY, "104857600\n");
	put(END_JAIL_MEMORY_PEAK, "209715200\n");
	put(END_JAIL_OOM, "oom_kill_disable 0\nunder_oom 0\noom_kill 0\n");
	put(END_JAIL_PIDS, "7\n");
	put(END_JAIL_PIDS_REFUSED, "max 0\n");
	put(END_DESK_CPU_US, "usage_usec 1000000\nuser_usec 1\n");
	put(END_DESK_THROTTLED, "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n");
	put(END_DISPLAY_OOM, "low 0\noom 0\noom_kill 0\n");
	meters_begin(&stage, -1);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	loop_cancel(stage.meters.timer);
	journal_destroy(stage.journal);
	close(journal_fd);
	for (int i = 0; i < N_END_METERS; i++)
		if (stage.ends.meter_fds[i] >= 0)
			close(stage.ends.meter_fds[i]);
	json_decref(stage.spec);
	loop_destroy(stage.loop);
	return 0;
}

/* Lines of this event in the journal; *last is the last one, the caller's reference. */
static size_t lines_of(const char *event, json_t **last)
{
	static char text[256 * 1024];
	ssize_t len = pread(journal_fd, text, sizeof(text) - 1, 0);
	char *save = NULL;
	size_t n = 0;

	text[len < 0 ? 0 : len] = '\0';
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		json_auto_t *object = json_loads(line, 0, NULL);

		if (strcmp(form_string(object, "event", ""), event) != 0)
			continue;
		n++;
		if (last) {
			json_decref(*last);
			*last = json_incref(object);
		}
	}
	return n;
}

static double member(const json_t *object, const char *limit, const char *name)
{
	return json_number_value(json_object_get(json_object_get(object, limit), name));
}

static void test_what_is_used(void **state)
{
	json_auto_t *told = NULL;

	(void)state;
	meters_look(&stage);
	told = meters_json(&stage);
	assert_true(member(told, "memory_mb", "value") == 256 && member(told, "memory_mb", "used") == 100 && member(told, "memory_mb", "peak") == 200);
	assert_true(member(told, "pids", "used") == 7 && member(told, "pids", "hits") == 0);
	assert_true(json_is_null(json_object_get(json_object_get(told, "pids"), "hit_at")));
	/* What the host does not count, and what the spec does not name, is not made up. */
	assert_null(json_object_get(json_object_get(told, "x_mb"), "used"));
	assert_null(json_object_get(told, "disk_mb"));
	assert_int_equal(lines_of("limit", NULL), 0);
}

/* One line at once; what follows is counted, and told later. */
static void test_a_limit_that_is_met_again_and_again(void **state)
{
	const struct meters_mark before = meters_mark(&stage);
	json_auto_t *line = NULL, *met = NULL, *hits = NULL;
	char text[32];

	(void)state;
	for (int n = 1; n <= 100; n++) {
		(void)snprintf(text, sizeof(text), "max %d\n", n * 10);
		put(END_JAIL_PIDS_REFUSED, text);
		meters_look(&stage);
	}
	assert_int_equal(lines_of("limit", &line), 1);
	assert_string_equal(form_string(line, "limit", ""), "pids");
	assert_int_equal(form_int(line, "hits", 0), 10);
	assert_true(json_number_value(json_object_get(line, "value")) == 64);
	hits = meters_hits(&stage);
	assert_int_equal(form_int(hits, "pids", 0), 1000);
	assert_int_equal(json_object_size(hits), 1);
	met = meters_since(&stage, &before);
	assert_int_equal(json_array_size(met), 1);
	assert_string_equal(form_string(json_array_get(met, 0), "limit", ""), "pids");
	stage.meters.of[METER_PIDS].told_ms -= LIMIT_METER_TELL_MS;
	meters_look(&stage);
	assert_int_equal(lines_of("limit", &line), 2);
	assert_int_equal(form_int(line, "hits", 0), 990);
	meters_look(&stage);
	assert_int_equal(lines_of("limit", NULL), 2);
}

static void test_nothing_was_met(void **state)
{
	const struct meters_mark before = meters_mark(&stage);

	(void)state;
	assert_null(meters_since(&stage, &before));
}

/* A kill for memory, of the jail and of the display: the second is told of the X server. */
static void test_kills(void **state)
{
	json_auto_t *hits = NULL;

	(void)state;
	put(END_JAIL_OOM, "low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 0\n");
	put(END_DISPLAY_OOM, "oom_kill 1\n");
	meters_look(&stage);
	hits = meters_hits(&stage);
	assert_int_equal(form_int(hits, "memory_mb", 0), 2);
	assert_int_equal(form_int(hits, "x_mb", 0), 1);
	assert_int_equal(lines_of("limit", NULL), 2);
	assert_true(stage.watch.n >= 2);
}

/* One look at which it waited is a burst; five in a row are a limit, which is met once. */
static void test_a_slow_processor(void **state)
{
	char text[64];

	(void)state;
	for (int n = 1; n <= 12; n++) {
		(void)snprintf(text, sizeof(text), "nr_periods %d\nnr_throttled %d\nthrottled_usec 0\n", n * 10, n * 9);
		put(END_DESK_THROTTLED, text);
		meters_look(&stage);
		assert_int_equal(stage.meters.of[METER_CPU].hits, n >= 5);
	}
}

static void test_a_limit_of_time(void **state)
{
	json_auto_t *line = NULL;

	(void)state;
	meters_hit(&stage, METER_EXEC, 1000, 1003);
	assert_int_equal(lines_of("limit", &line), 1);
	assert_string_equal(form_string(line, "limit", ""), "exec_ms");
	assert_true(json_number_value(json_object_get(line, "used")) == 1003);
}

static void test_the_last_line(void **state)
{
	json_auto_t *line = NULL;

	(void)state;
	put(END_JAIL_PIDS, "60\n");
	meters_look(&stage);
	put(END_JAIL_PIDS, "5\n");
	meters_end(&stage);
	meters_end(&stage);
	assert_int_equal(lines_of("usage", &line), 1);
	assert_true(json_number_value(json_object_get(json_object_get(line, "peaks"), "pids")) == 60);
	assert_true(json_number_value(json_object_get(json_object_get(line, "peaks"), "memory_mb")) == 200);
	assert_null(json_object_get(json_object_get(line, "peaks"), "cpu")); /* no 10 s are over */
	assert_int_equal(form_int(line, "cpu_ms", 0), 1000);
	stage.meters.timer = NULL;
}

/* A file that says nothing, or nonsense. */
static void test_files_without_numbers(void **state)
{
	(void)state;
	for (int i = 0; i < N_END_METERS; i++)
		if (stage.ends.meter_fds[i] >= 0)
			put((enum end_meter)i, i % 2 ? "" : "oom_kill \nmax x\nnr_periods\n");
	meters_look(&stage);
	assert_false(stage.meters.of[METER_MEMORY].known);
	assert_int_equal(lines_of("limit", NULL), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_what_is_used),
		TEST(test_a_limit_that_is_met_again_and_again),
		TEST(test_nothing_was_met),
		TEST(test_kills),
		TEST(test_a_slow_processor),
		TEST(test_a_limit_of_time),
		TEST(test_the_last_line),
		TEST(test_files_without_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
