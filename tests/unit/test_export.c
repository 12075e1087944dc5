/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: session/replay */
/* Exports of journals that are anybody's files: what their steps become, and archives that can be read again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "replay_make.h"
#include "session/base/limits.h"
#include "session/replay/export.h"

static struct reader *read_made(struct make *make)
{
	struct reader_parts parts = make_parts(make);
	struct reader *reader = NULL;
	struct err e = {0};

	if (reader_read(&parts, &reader, &e) < 0)
		fail_msg("%s", e.msg);
	return reader;
}

/* A journal with one call of this one action, and picture 1. */
static struct reader *read_one(const char *action, const char *result)
{
	struct make make = {0};
	struct pixels red = make_pixels(8, 6, 0xff0000);
	auto_free char *intent = util_printf("{\"request\":\"r1\",\"index\":0,\"space\":{\"width\":4,\"height\":3},\"action\":%s,\"before\":1}", action);

	make_line(&make, "start", "{\"session\":\"s1\",\"image\":\"minimal\",\"native\":{\"width\":8,\"height\":6}}");
	make_picture(&make, &red, 0, 0, 8, 6, true);
	make_line(&make, "call", "{\"request\":\"r1\",\"actions\":3,\"before\":1}");
	make_line(&make, "intent", intent);
	if (result)
		make_line(&make, "result", result);
	pixels_finish(&red);
	return read_made(&make);
}

static void test_marks(void **state)
{
	static const struct {
		const char *action, *marks, *region;
	} rows[] = {
		{"{\"action\":\"click\",\"x\":0,\"y\":2}", "[{\"x\":0,\"y\":5}]", NULL},
		{"{\"action\":\"click\"}", "[]", NULL},
		{"{\"action\":\"drag\",\"path\":[[1,1],[2,2]]}", "[{\"x\":3,\"y\":3},{\"x\":5,\"y\":5}]", NULL},
		{"{\"action\":\"wait_settled\",\"region\":{\"x\":1,\"y\":1,\"width\":2,\"height\":1}}", "[]", "{\"x\":2,\"y\":2,\"width\":4,\"height\":2}"},
		/* What no stage writes. */
		{"{\"action\":\"click\",\"x\":\"1\",\"y\":1}", "[]", NULL},
		{"{\"action\":\"click\",\"x\":1e300,\"y\":-1e300}", "[{\"x\":0,\"y\":0}]", NULL},
		{"{\"action\":\"drag\",\"path\":[1,[1],[\"a\",2],[2,2,2]]}", "[{\"x\":5,\"y\":5}]", NULL},
		{"{\"action\":\"drag\",\"path\":{\"x\":1}}", "[]", NULL},
		{"{\"action\":\"click\",\"region\":[1,2]}", "[]", NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct reader *reader = read_one(rows[i].action, "{\"request\":\"r1\",\"index\":0,\"ok\":true,\"after\":1}");
		json_auto_t *steps = export_steps(reader);
		const json_t *step = json_array_get(steps, 0), *region = json_object_get(step, "region");
		auto_free char *marks = json_dumps(json_object_get(step, "marks"), JSON_COMPACT), *shown = region ? json_dumps(region, JSON_COMPACT) : NULL;

		assert_int_equal(json_array_size(steps), 1);
		assert_string_equal(marks, rows[i].marks);
		if (rows[i].region)
			assert_string_equal(shown, rows[i].region);
		else
			assert_null(shown);
		reader_close(reader);
	}
}

/* What a click met is in its title, and its place is one of the display, as the marks are. */
static void test_nodes(void **state)
{
	static const char met[] = "{\"request\":\"r1\",\"index\":0,\"ok\":true,\"after\":1,\"node\":{\"role\":\"push button\",\"name\":\"Go\","
	                          "\"bounds\":{\"x\":1,\"y\":1,\"width\":2,\"height\":1}},\"node_to\":7}";
	struct reader *reader = read_one("{\"action\":\"click\",\"x\":1,\"y\":1}", met);
	json_auto_t *steps = export_steps(reader);
	const json_t *step = json_array_get(steps, 0);
	auto_free char *node = json_dumps(json_object_get(step, "node"), JSON_COMPACT);

	(void)state;
	assert_string_equal(json_string_value(json_object_get(step, "title")), "click push button \"Go\" at 1, 1");
	assert_string_equal(node, "{\"role\":\"push button\",\"name\":\"Go\",\"bounds\":{\"x\":2,\"y\":2,\"width\":4,\"height\":2}}");
	assert_null(json_object_get(step, "node_to"));
	reader_close(reader);
}

/* Times that would not fit into a difference are none. */
static void test_times_that_no_clock_has(void **state)
{
	static const char *const times[] = {"-9223372036854775808", "9223372036854775807", "1e300", "\"1\"", "-1"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(times); i++) {
		struct make make = {0};
		auto_free char *intent = util_printf("{\"event\":\"intent\",\"request\":\"r\",\"index\":0,\"action\":{\"action\":\"wait\"},\"mono_ms\":%s}", times[i]);
		struct reader *reader;

		make_raw(&make, "{\"event\":\"start\",\"mono_ms\":5}");
		make_raw(&make, intent);
		make_raw(&make, "{\"event\":\"intent\",\"request\":\"s\",\"index\":0,\"action\":{\"action\":\"wait\"},\"mono_ms\":12}");
		reader = read_made(&make);
		json_auto_t *steps = export_steps(reader);

		assert_null(json_object_get(json_array_get(steps, 0), "at_ms"));
		assert_int_equal(json_integer_value(json_object_get(json_array_get(steps, 1), "at_ms")), 7);
		reader_close(reader);
	}
}

/* A list that failed left actions out; one whose journal breaks off may have gone on. */
static void test_what_was_left_out(void **state)
{
	struct reader *failed = read_one("{\"action\":\"wait\"}", "{\"request\":\"r1\",\"index\":0,\"ok\":false,\"error\":\"timeout\"}");
	struct reader *cut = read_one("{\"action\":\"wait\"}", NULL);
	json_auto_t *steps = export_steps(failed), *of_cut = export_steps(cut);

	(void)state;
	assert_int_equal(json_array_size(steps), 2);
	assert_string_equal(json_string_value(json_object_get(json_array_get(steps, 0), "error")), "timeout");
	assert_string_equal(json_string_value(json_object_get(json_array_get(steps, 1), "kind")), "left_out");
	assert_int_equal(json_integer_value(json_object_get(json_array_get(steps, 1), "n")), 2);
	assert_int_equal(json_array_size(of_cut), 1);
	assert_null(json_object_get(json_array_get(of_cut, 0), "ok"));
	reader_close(failed);
	reader_close(cut);
}

typedef int write_fn(struct reader *reader, const char *name, struct archive_writer *zip, struct export_count *count, struct err *e);

static struct export_count write_to(const char *path, write_fn *write_it, struct reader *reader)
{
	struct archive_writer *zip;
	struct export_count count;
	struct err e = {0};

	if (archive_writer_create(path, &zip, &e) < 0 || write_it(reader, "s1", zip, &count, &e) < 0 || archive_writer_finish(zip, &e) < 0)
		fail_msg("%s", e.msg);
	archive_writer_destroy(zip);
	return count;
}

/* What was written is a journal again; a picture that a line names and nobody has is counted. */
static void test_archives(void **state)
{
	struct reader *reader = read_one("{\"action\":\"type\",\"text\":\"</script>\"}", "{\"request\":\"r1\",\"index\":0,\"ok\":true,\"after\":7}"), *again;
	char folder[] = "/tmp/test-export-XXXXXX";
	auto_free char *path = util_printf("%s/page.zip", mkdtemp(folder)), *other = util_printf("%s/osworld.zip", folder);
	struct export_count count = write_to(path, export_page, reader), run = write_to(other, export_osworld, reader);
	struct err e = {0};

	(void)state;
	assert_int_equal(count.n_steps, 1);
	assert_int_equal(count.n_pictures, 1);
	assert_int_equal(count.n_missing, 1);
	assert_int_equal(run.n_steps, 1);
	assert_int_equal(run.n_pictures, 0);
	assert_int_equal(run.n_missing, 1);
	if (reader_open(path, &again, &e) < 0)
		fail_msg("%s", e.msg);
	assert_null(reader_broken(again));
	assert_int_equal(reader_n_calls(again), 1);
	reader_close(again);
	reader_close(reader);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(unlink(other), 0);
	assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_marks), cmocka_unit_test(test_nodes),
		cmocka_unit_test(test_what_was_left_out),
		cmocka_unit_test(test_times_that_no_clock_has), cmocka_unit_test(test_archives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
