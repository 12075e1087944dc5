/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: glovebox-stage */
/* The act object: everything is checked before anything happens, and coordinates are mapped. */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "display/display.h"
#include "session/base/co.h"
#include "session/base/util.h"
#include "session/stage/act.h"
#include "session/stage/batch.h"
#include "session/stage/looks.h"
#include "session/stage/rows.h"

static const struct field poke_fields[] = {
	{"x", FIELD_X, true, 0, 0, NULL, NULL, "px", NULL, "column"},
	{"y", FIELD_Y, true, 0, 0, NULL, NULL, "px", NULL, "row"},
	{"path", FIELD_PATH, false, 2, 4, NULL, NULL, NULL, NULL, "points"},
	{"area", FIELD_RECT, false, 0, 0, NULL, NULL, NULL, NULL, "part"},
	{"text", FIELD_STRING, false, 0, 10, NULL, NULL, NULL, NULL, "text"},
};

static int check_poke(void *home, const json_t *args, struct err *e)
{
	const char *text = form_string(args, "text", "");

	assert_ptr_equal(home, poke_fields);
	return strcmp(text, "bad") == 0 ? err_set(e, ERR_BAD_FIELD, "/text", "not this") : 0;
}

static const struct action_row poke_rows[] = {
	{.name = "poke", .doc = "For tests.", .form = {poke_fields, ARRAY_LEN(poke_fields), NULL}, .check = check_poke, .lease = ACTION_ACTS},
};

static const struct space native = {1920, 1080};

static struct batch batch;
static struct err fault_list[LIMIT_FAULTS];
static struct faults faults;

static int read_in(struct space space, const char *body)
{
	const struct action_set sets[] = {
		{poke_rows, ARRAY_LEN(poke_rows), (void *)(uintptr_t)poke_fields},
		{rows_own, rows_n_own, NULL},
		{display_rows, display_n_rows, NULL},
	};

	const struct batch_place place = {space, native, space_is_same(space, native), false};

	faults = (struct faults){.list = fault_list, .max = LIMIT_FAULTS};
	return batch_read(&batch, body, strlen(body), sets, ARRAY_LEN(sets), &place, &faults);
}

static int read_body(const char *body)
{
	return read_in(native, body);
}

/* Refused, with the first fault's code and pointer. */
static void refuse(const char *body, enum err_code code, const char *path)
{
	if (read_body(body) == 0)
		fail_msg("accepted: %s", body);
	if (faults.list[0].code != code || strcmp(faults.list[0].path, path) != 0)
		fail_msg("%s\n  is refused as %s at \"%s\" (%s), not as %s at \"%s\"", body, err_info(faults.list[0].code)->wire,
		         faults.list[0].path, faults.list[0].msg, err_info(code)->wire, path);
	assert_true(faults.list[0].msg[0]);
	assert_int_equal(batch.n_steps, 0);
	assert_null(batch.body);
}

static void accept(const char *body)
{
	if (read_body(body) < 0)
		fail_msg("%s\n  is refused: %s at \"%s\"", body, faults.list[0].msg, faults.list[0].path);
	batch_free(&batch);
}

static void test_envelope(void **state)
{
	(void)state;
	accept("{\"actions\":[]}");
	accept("{\"actions\":[{\"action\":\"wait\",\"duration_ms\":0}],\"timeout_ms\":300000,\"check_only\":true,\"space\":\"native\"}");
	refuse("", ERR_BAD_JSON, "");
	refuse("{\"actions\":[],}", ERR_BAD_JSON, "");
	refuse("{\"actions\":[],\"actions\":[]}", ERR_BAD_JSON, "");
	refuse("[]", ERR_BAD_FIELD, "");
	refuse("{}", ERR_MISSING_FIELD, "/actions");
	refuse("{\"actions\":{}}", ERR_BAD_FIELD, "/actions");
	refuse("{\"actions\":[1]}", ERR_BAD_FIELD, "/actions/0");
	refuse("{\"actions\":[],\"look\":{}}", ERR_UNKNOWN_FIELD, "/look");
	accept("{\"actions\":[],\"seen\":{\"frame\":0,\"epoch\":1,\"episode\":1}}");
	refuse("{\"actions\":[],\"seen\":7}", ERR_BAD_FIELD, "/seen");
	refuse("{\"actions\":[],\"seen\":{\"frame\":0,\"epoch\":1}}", ERR_MISSING_FIELD, "/seen/episode");
	refuse("{\"actions\":[],\"seen\":{\"frame\":-1,\"epoch\":1,\"episode\":1}}", ERR_BAD_FIELD, "/seen/frame");
	refuse("{\"actions\":[],\"seen\":{\"frame\":\"1\",\"epoch\":1,\"episode\":1}}", ERR_BAD_FIELD, "/seen/frame");
	refuse("{\"actions\":[],\"seen\":{\"frame\":1.5,\"epoch\":1,\"episode\":1}}", ERR_BAD_FIELD, "/seen/frame");
	refuse("{\"actions\":[],\"seen\":{\"frame\":9007199254740992,\"epoch\":1,\"episode\":1}}", ERR_BAD_FIELD, "/seen/frame");
	refuse("{\"actions\":[],\"seen\":{\"frame\":1,\"epoch\":1,\"episode\":1,\"at\":1}}", ERR_UNKNOWN_FIELD, "/seen/at");
	refuse("{\"actions\":[],\"timeout_ms\":0}", ERR_BAD_FIELD, "/timeout_ms");
	refuse("{\"actions\":[],\"timeout_ms\":300001}", ERR_BAD_FIELD, "/timeout_ms");
	refuse("{\"actions\":[],\"timeout_ms\":1.5}", ERR_BAD_FIELD, "/timeout_ms");
	refuse("{\"actions\":[],\"check_only\":1}", ERR_BAD_FIELD, "/check_only");
	refuse("{\"actions\":[],\"space\":\"big\"}", ERR_BAD_FIELD, "/space");
	refuse("{\"actions\":[],\"space\":{\"width\":0,\"height\":1}}", ERR_BAD_FIELD, "/space/width");
	refuse("{\"actions\":[],\"space\":{\"width\":10}}", ERR_MISSING_FIELD, "/space/height");
}

static void test_faults_of_form_have_a_place(void **state)
{
	(void)state;
	refuse("{\"actions\":[\n  {\"action\":x}]}", ERR_BAD_JSON, "");
	assert_int_equal(faults.list[0].line, 2);
	assert_int_equal(faults.list[0].column, 13);
	assert_int_equal(faults.list[0].offset, 25);
}

static void test_observe(void **state)
{
	(void)state;
	assert_int_equal(read_body("{\"actions\":[]}"), 0);
	assert_null(batch.observe);
	batch_free(&batch);
	assert_int_equal(read_body("{\"actions\":[],\"observe\":false}"), 0);
	assert_null(batch.observe);
	batch_free(&batch);
	assert_int_equal(read_body("{\"actions\":[],\"observe\":true}"), 0);
	assert_int_equal(json_object_size(batch.observe), 0);
	batch_free(&batch);
	accept("{\"actions\":[],\"observe\":{\"picture\":\"none\",\"quiet_ms\":0,\"timeout_ms\":0,\"cursor\":false,\"format\":\"png\","
	       "\"space\":{\"width\":4096,\"height\":1},\"region\":{\"x\":1919,\"y\":1079,\"width\":1,\"height\":1}}}");
	accept("{\"actions\":[],\"observe\":{\"mask\":[{\"x\":1910,\"y\":0,\"width\":10,\"height\":1080}]}}");
	refuse("{\"actions\":[],\"observe\":{\"mask\":{}}}", ERR_BAD_FIELD, "/observe/mask");
	refuse("{\"actions\":[],\"observe\":{\"mask\":[{\"x\":1910,\"y\":0,\"width\":11,\"height\":1080}]}}", ERR_BAD_FIELD, "/observe/mask/0");
	refuse("{\"actions\":[],\"observe\":{\"mask\":[{\"x\":1,\"y\":0,\"width\":0,\"height\":1}]}}", ERR_BAD_FIELD, "/observe/mask/0/width");
	refuse("{\"actions\":[],\"observe\":1}", ERR_BAD_FIELD, "/observe");
	refuse("{\"actions\":[],\"observe\":null}", ERR_BAD_FIELD, "/observe");
	refuse("{\"actions\":[],\"observe\":{\"picture\":\"yes\"}}", ERR_BAD_FIELD, "/observe/picture");
	refuse("{\"actions\":[],\"observe\":{\"quiet\":1}}", ERR_UNKNOWN_FIELD, "/observe/quiet");
	refuse("{\"actions\":[],\"observe\":{\"quiet_ms\":10001}}", ERR_BAD_FIELD, "/observe/quiet_ms");
	refuse("{\"actions\":[],\"observe\":{\"format\":\"gif\"}}", ERR_BAD_FIELD, "/observe/format");
	refuse("{\"actions\":[],\"observe\":{\"space\":7}}", ERR_BAD_FIELD, "/observe/space");
	refuse("{\"actions\":[],\"observe\":{\"space\":{\"width\":4097,\"height\":1}}}", ERR_BAD_FIELD, "/observe/space/width");
	refuse("{\"actions\":[],\"observe\":{\"region\":{\"x\":1919,\"y\":0,\"width\":2,\"height\":1}}}", ERR_BAD_FIELD, "/observe/region");
}

/* The fields of a picture are the same wherever one is asked for, and so are their rules. */
static void test_pictures(void **state)
{
	static const char *const good[] = {
		"", "\"format\":\"png\"", "\"format\":\"jpeg\"", "\"format\":\"webp\"", "\"format\":\"raw\"",
		"\"format\":\"jpeg\",\"quality\":1", "\"format\":\"webp\",\"quality\":100", "\"format\":\"png\",\"compression\":\"small\"",
		"\"compression\":\"fast\"", "\"max_bytes\":1024", "\"format\":\"raw\",\"max_bytes\":50331648",
	};
	static const struct {
		const char *fields, *path;
	} bad[] = {
		{"\"format\":\"png_small\"", "/format"}, {"\"format\":\"jpg\"", "/format"}, {"\"format\":\"\"", "/format"}, {"\"format\":null", "/format"},
		{"\"format\":[\"png\"]", "/format"}, {"\"format\":\"jpeg\",\"quality\":0", "/quality"}, {"\"format\":\"jpeg\",\"quality\":101", "/quality"},
		{"\"format\":\"jpeg\",\"quality\":50.5", "/quality"}, {"\"format\":\"jpeg\",\"quality\":\"50\"", "/quality"},
		{"\"format\":\"jpeg\",\"quality\":null", "/quality"}, {"\"format\":\"png\",\"quality\":50", "/quality"},
		{"\"format\":\"raw\",\"quality\":50", "/quality"}, {"\"quality\":50", "/quality"}, {"\"compression\":\"best\"", "/compression"},
		{"\"compression\":9", "/compression"}, {"\"format\":\"jpeg\",\"compression\":\"small\"", "/compression"},
		{"\"format\":\"raw\",\"compression\":\"fast\"", "/compression"}, {"\"max_bytes\":0", "/max_bytes"}, {"\"max_bytes\":-1", "/max_bytes"},
		{"\"max_bytes\":1023", "/max_bytes"}, {"\"max_bytes\":50331649", "/max_bytes"}, {"\"max_bytes\":2048.5", "/max_bytes"},
		{"\"max_bytes\":\"2048\"", "/max_bytes"}, {"\"cursor\":\"yes\"", "/cursor"}, {"\"cursor\":1", "/cursor"},
		{"\"space\":\"Native\"", "/space"}, {"\"space\":[1,1]", "/space"}, {"\"region\":[0,0,1,1]", "/region"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		auto_free char *look = util_printf("{\"actions\":[],\"observe\":{%s}}", good[i]);
		auto_free char *shot = util_printf("{\"actions\":[{\"action\":\"screenshot\"%s%s}]}", *good[i] ? "," : "", good[i]);

		accept(look);
		accept(shot);
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		auto_free char *look = util_printf("{\"actions\":[],\"observe\":{%s}}", bad[i].fields);
		auto_free char *shot = util_printf("{\"actions\":[{\"action\":\"screenshot\",%s}]}", bad[i].fields);
		auto_free char *look_path = util_printf("/observe%s", bad[i].path);
		auto_free char *shot_path = util_printf("/actions/0%s", bad[i].path);

		refuse(look, ERR_BAD_FIELD, look_path);
		refuse(shot, ERR_BAD_FIELD, shot_path);
	}
}

/* What a request comes to. */
static void test_picture_requests(void **state)
{
	const struct space space = {960, 540};
	json_auto_t *plain = json_object(), *named = json_loads("{\"format\":\"png\"}", 0, NULL), *limited = json_loads("{\"max_bytes\":5000}", 0, NULL);
	json_auto_t *zoom = json_loads("{\"space\":\"native\",\"format\":\"webp\",\"quality\":7,\"cursor\":false,"
	                               "\"region\":{\"x\":100,\"y\":50,\"width\":20,\"height\":10}}", 0, NULL);
	json_auto_t *small = json_loads("{\"compression\":\"small\"}", 0, NULL);
	struct display_request request = display_request_read(plain, space, native);

	(void)state;
	assert_true(request.any_format && request.max_bytes == 3750000 && request.format == ENCODE_PNG && !request.no_cursor);
	assert_true(request.width == 0 && request.out_width == 960 && request.out_height == 540);
	request = display_request_read(named, space, native);
	assert_true(!request.any_format && request.max_bytes == 0);
	request = display_request_read(limited, space, native);
	assert_true(request.any_format && request.max_bytes == 5000);
	request = display_request_read(small, space, native);
	assert_true(request.any_format && request.max_bytes == 3750000 && request.format == ENCODE_PNG_SMALL);
	request = display_request_read(zoom, space, native);
	assert_true(request.format == ENCODE_WEBP && request.quality == 7 && request.no_cursor && request.max_bytes == 0);
	assert_true(request.x == 200 && request.y == 100 && request.width == 40 && request.height == 20);
	assert_true(request.out_width == 40 && request.out_height == 20);
}

static void test_actions(void **state)
{
	(void)state;
	accept("{\"actions\":[{\"action\":\"poke\",\"x\":0,\"y\":0},{\"action\":\"screenshot\"}]}");
	refuse("{\"actions\":[{}]}", ERR_MISSING_FIELD, "/actions/0/action");
	refuse("{\"actions\":[{\"action\":7}]}", ERR_BAD_FIELD, "/actions/0/action");
	refuse("{\"actions\":[{\"action\":\"\"}]}", ERR_UNKNOWN_ACTION, "/actions/0/action");
	refuse("{\"actions\":[{\"action\":\"wait\\u0000\",\"duration_ms\":1}]}", ERR_UNKNOWN_ACTION, "/actions/0/action");
	refuse("{\"actions\":[{\"action\":\"wait\"}]}", ERR_MISSING_FIELD, "/actions/0/duration_ms");
	refuse("{\"actions\":[{\"action\":\"wait\",\"duration_ms\":60001}]}", ERR_BAD_FIELD, "/actions/0/duration_ms");
	refuse("{\"actions\":[{\"action\":\"wait\",\"duration_ms\":1,\"x\":1}]}", ERR_UNKNOWN_FIELD, "/actions/0/x");
	refuse("{\"actions\":[{\"action\":\"wait\",\"duration_ms\":1},{\"action\":\"poke\",\"x\":1920,\"y\":0}]}", ERR_BAD_FIELD, "/actions/1/x");
	refuse("{\"actions\":[{\"action\":\"poke\",\"x\":0,\"y\":1080}]}", ERR_BAD_FIELD, "/actions/0/y");
	refuse("{\"actions\":[{\"action\":\"poke\",\"x\":0,\"y\":-1}]}", ERR_BAD_FIELD, "/actions/0/y");
	refuse("{\"actions\":[{\"action\":\"poke\",\"x\":0,\"y\":0,\"text\":\"bad\"}]}", ERR_BAD_FIELD, "/actions/0/text");
	refuse("{\"actions\":[{\"action\":\"poke\",\"x\":0,\"y\":0,\"text\":\"a\\u0000b\"}]}", ERR_BAD_FIELD, "/actions/0/text");
	refuse("{\"actions\":[{\"action\":\"screenshot\",\"space\":\"x\"}]}", ERR_BAD_FIELD, "/actions/0/space");
}

/* Case M03: coordinates of every wrong kind. */
static void test_wrong_coordinates(void **state)
{
	static const char *const wrong[] = {"\"11.5\"", "\"100\"", "100.5", "1.0", "null", "true", "[1]", "{\"x\":1}", "1e308", "-0.0", "1e2", "[]"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		auto_free char *body = util_printf("{\"actions\":[{\"action\":\"poke\",\"x\":%s,\"y\":1}]}", wrong[i]);

		refuse(body, ERR_BAD_FIELD, "/actions/0/x");
	}
	refuse("{\"actions\":[{\"action\":\"poke\",\"x\":1e999,\"y\":1}]}", ERR_BAD_JSON, "");
	refuse("{\"actions\":[{\"action\":\"poke\",\"x\":NaN,\"y\":1}]}", ERR_BAD_JSON, "");
	refuse("{\"actions\":[{\"action\":\"poke\",\"x\":99999999999999999999,\"y\":1}]}", ERR_BAD_JSON, "");
	refuse("{\"actions\":[{\"action\":\"poke\",\"x\":9223372036854775807,\"y\":1}]}", ERR_BAD_FIELD, "/actions/0/x");
	refuse("{\"actions\":[{\"action\":\"poke\",\"x\":1,\"y\":1,\"path\":[[1,2,3],[1,2]]}]}", ERR_BAD_FIELD, "/actions/0/path/0");
	refuse("{\"actions\":[{\"action\":\"poke\",\"x\":1,\"y\":1,\"path\":[[1,2],[null,1]]}]}", ERR_BAD_FIELD, "/actions/0/path/1/0");
}

/* Case H05: the body's encoding. */
static void test_strings(void **state)
{
	static const char *const wrong[] = {"\\ud83d", "\\udc00", "\\ud83d\\ud83d\\ude00", "\xff\xfe", "\xc0\x80", "\xed\xa0\x80"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		auto_free char *body = util_printf("{\"actions\":[{\"action\":\"poke\",\"x\":1,\"y\":1,\"text\":\"%s\"}]}", wrong[i]);

		refuse(body, ERR_BAD_JSON, "");
	}
	refuse("\xef\xbb\xbf{\"actions\":[]}", ERR_BAD_JSON, "");
}

static void test_near_names(void **state)
{
	(void)state;
	refuse("{\"actions\":[{\"action\":\"pokee\"}]}", ERR_UNKNOWN_ACTION, "/actions/0/action");
	assert_non_null(strstr(faults.list[0].msg, "near it: poke;"));
	refuse("{\"actions\":[{\"action\":\"ok\"}]}", ERR_UNKNOWN_ACTION, "/actions/0/action");
	assert_null(strstr(faults.list[0].msg, "near it"));
	refuse("{\"actions\":[{\"action\":\"left_poke\"}]}", ERR_UNKNOWN_ACTION, "/actions/0/action");
	assert_non_null(strstr(faults.list[0].msg, "poke"));
	refuse("{\"actions\":[{\"action\":\"zzzzzz\"}]}", ERR_UNKNOWN_ACTION, "/actions/0/action");
	assert_null(strstr(faults.list[0].msg, "near"));
	assert_non_null(strstr(faults.list[0].msg, "GET /v1/actions"));
}

/* Every fault of every action and of what is around them is told, up to a limit. */
static void test_all_faults(void **state)
{
	char body[4096] = "{\"actions\":[{\"action\":\"nothing\"},{\"action\":\"wait\",\"duration_ms\":1},{\"action\":\"wait\"}]}";

	(void)state;
	refuse(body, ERR_UNKNOWN_ACTION, "/actions/0/action");
	assert_int_equal(faults.n, 2);
	assert_string_equal(faults.list[1].path, "/actions/2/duration_ms");
	refuse("{\"actions\":[{\"action\":\"poke\",\"y\":-1,\"z\":1},{\"action\":\"poke\",\"x\":1,\"y\":2,\"path\":[[0,0],[1],[0,\"1\"]]},7],"
	       "\"timeout_ms\":0,\"observe\":{\"quiet_ms\":-1,\"picture\":\"no\"}}",
	       ERR_BAD_FIELD, "/actions/2");
	static const char *const paths[] = {"/actions/2", "/timeout_ms", "/observe/quiet_ms", "/observe/picture", "/actions/0/y", "/actions/0/z",
	                                    "/actions/0/x", "/actions/1/path/1", "/actions/1/path/2/1"};

	assert_int_equal(faults.n, ARRAY_LEN(paths));
	for (size_t i = 0; i < ARRAY_LEN(paths); i++)
		assert_string_equal(faults.list[i].path, paths[i]);
	(void)snprintf(body, sizeof(body), "{\"actions\":[{}");
	for (int i = 0; i < 100; i++)
		strcat(body, ",{}");
	strcat(body, "]}");
	refuse(body, ERR_MISSING_FIELD, "/actions/0/action");
	assert_int_equal(faults.n, LIMIT_FAULTS);
}

static void test_number_of_actions(void **state)
{
	char *body = util_alloc(32 + 64 * (size_t)(LIMIT_ACTIONS + 1));
	char *at = body + sprintf(body, "{\"actions\":[");

	(void)state;
	for (int i = 0; i < LIMIT_ACTIONS; i++)
		at += sprintf(at, "%s{\"action\":\"wait\",\"duration_ms\":1}", i ? "," : "");
	strcpy(at, "]}");
	assert_int_equal(read_body(body), 0);
	assert_int_equal(batch.n_steps, LIMIT_ACTIONS);
	batch_free(&batch);
	strcpy(at, ",{\"action\":\"wait\",\"duration_ms\":1}]}");
	refuse(body, ERR_BAD_FIELD, "/actions");
	free(body);
}

static long arg(size_t step, const char *name)
{
	return form_int(batch.steps[step].args, name, -1);
}

static void test_mapping(void **state)
{
	(void)state;
	assert_int_equal(read_in((struct space){1366, 768}, "{\"actions\":[{\"action\":\"poke\",\"x\":0,\"y\":0},"
	                                                    "{\"action\":\"poke\",\"x\":1365,\"y\":767},{\"action\":\"poke\",\"x\":683,\"y\":384}]}"),
	                 0);
	assert_int_equal(arg(0, "x"), 0);
	assert_int_equal(arg(0, "y"), 0);
	assert_int_equal(arg(1, "x"), 1919);
	assert_int_equal(arg(1, "y"), 1079);
	assert_int_equal(arg(2, "x"), 960);
	assert_int_equal(arg(2, "y"), 540);
	/* As it was asked it is kept, too. */
	assert_int_equal(form_int(batch.steps[1].asked, "x", -1), 1365);
	assert_null(json_object_get(batch.steps[1].asked, "action"));
	batch_free(&batch);
}

/* The call's own space, uneven, for every kind of coordinate; out of it is refused although it lies inside the display. */
static void test_space_of_the_call(void **state)
{
	(void)state;
	assert_int_equal(read_body("{\"space\":{\"width\":800,\"height\":600},\"actions\":[{\"action\":\"poke\",\"x\":799,\"y\":599,"
	                           "\"path\":[[0,0],[400,300]],\"area\":{\"x\":400,\"y\":300,\"width\":400,\"height\":300}}]}"),
	                 0);
	assert_int_equal(arg(0, "x"), 1919);
	assert_int_equal(arg(0, "y"), 1079);
	auto_free char *text = json_dumps(json_object_get(batch.steps[0].args, "path"), JSON_COMPACT);
	auto_free char *area = json_dumps(json_object_get(batch.steps[0].args, "area"), JSON_COMPACT);

	assert_string_equal(text, "[[0,0],[961,540]]");
	assert_string_equal(area, "{\"x\":960,\"y\":540,\"width\":960,\"height\":540}");
	assert_int_equal(batch.place.space.width_px, 800);
	batch_free(&batch);
	refuse("{\"space\":{\"width\":800,\"height\":600},\"actions\":[{\"action\":\"poke\",\"x\":800,\"y\":0}]}", ERR_BAD_FIELD, "/actions/0/x");
	assert_non_null(strstr(faults.list[0].msg, "in the space of 800x600, which shows a display of 1920x1080, x must be a whole number from 0 to 799"));
	refuse("{\"space\":{\"width\":800,\"height\":600},\"actions\":[{\"action\":\"poke\",\"x\":0,\"y\":600}]}", ERR_BAD_FIELD, "/actions/0/y");
}

static void check_query(const char *query, const char *want)
{
	json_auto_t *object = json_loads(query, 0, NULL);
	json_t *fields = NULL;
	struct err e;

	if (looks_read(object, &(const struct bounds){native, native}, &fields, &e) < 0)
		fail_msg("%s: %s", query, e.msg);
	auto_free char *text = json_dumps(fields, JSON_COMPACT | JSON_SORT_KEYS);

	assert_string_equal(text, want);
	json_decref(fields);
}

static void refuse_query(const char *query, enum err_code code, const char *path)
{
	json_auto_t *object = json_loads(query, 0, NULL);
	json_t *fields = NULL;
	struct err e;

	if (looks_read(object, &(const struct bounds){native, native}, &fields, &e) == 0)
		fail_msg("accepted: %s", query);
	assert_int_equal(e.code, code);
	assert_string_equal(e.path, path);
}

static void test_screenshot_query(void **state)
{
	(void)state;
	check_query("{}", "{}");
	check_query("{\"region\":\"1,2,30,40\",\"space\":\"native\",\"cursor\":\"false\",\"format\":\"png\"}",
	            "{\"cursor\":false,\"format\":\"png\",\"region\":{\"height\":40,\"width\":30,\"x\":1,\"y\":2},\"space\":\"native\"}");
	check_query("{\"space\":\"640x480\"}", "{\"space\":{\"height\":480,\"width\":640}}");
	refuse_query("{\"region\":\"1,2,3\"}", ERR_BAD_FIELD, "/region");
	refuse_query("{\"region\":\"1,2,3,4,\"}", ERR_BAD_FIELD, "/region");
	refuse_query("{\"region\":\"1,2,3,4,5\"}", ERR_BAD_FIELD, "/region");
	refuse_query("{\"region\":\"-1,2,3,4\"}", ERR_BAD_FIELD, "/region");
	refuse_query("{\"region\":\" 1,2,3,4\"}", ERR_BAD_FIELD, "/region");
	refuse_query("{\"region\":\"1,2,3,99999999999\"}", ERR_BAD_FIELD, "/region");
	refuse_query("{\"region\":\"0,0,1921,1\"}", ERR_BAD_FIELD, "/region");
	refuse_query("{\"region\":\"0,0,0,1\"}", ERR_BAD_FIELD, "/region/width");
	refuse_query("{\"space\":\"x\"}", ERR_BAD_FIELD, "/space");
	refuse_query("{\"space\":\"5000x1\"}", ERR_BAD_FIELD, "/space/width");
	refuse_query("{\"cursor\":\"1\"}", ERR_BAD_FIELD, "/cursor");
	refuse_query("{\"format\":\"gif\"}", ERR_BAD_FIELD, "/format");
	check_query("{\"format\":\"jpeg\",\"quality\":\"5\",\"max_bytes\":\"20000\"}", "{\"format\":\"jpeg\",\"max_bytes\":20000,\"quality\":5}");
	check_query("{\"compression\":\"small\"}", "{\"compression\":\"small\"}");
	refuse_query("{\"quality\":\"5\"}", ERR_BAD_FIELD, "/quality");
	refuse_query("{\"format\":\"webp\",\"quality\":\"0\"}", ERR_BAD_FIELD, "/quality");
	refuse_query("{\"format\":\"webp\",\"quality\":\"101\"}", ERR_BAD_FIELD, "/quality");
	refuse_query("{\"format\":\"webp\",\"quality\":\"5.5\"}", ERR_BAD_FIELD, "/quality");
	refuse_query("{\"max_bytes\":\"1023\"}", ERR_BAD_FIELD, "/max_bytes");
	refuse_query("{\"max_bytes\":\"99999999999\"}", ERR_BAD_FIELD, "/max_bytes");
	refuse_query("{\"format\":\"raw\",\"compression\":\"fast\"}", ERR_BAD_FIELD, "/compression");
	refuse_query("{\"width\":\"5\"}", ERR_UNKNOWN_FIELD, "/width");
}

static size_t json_bytes; /* that are in use */

static void *count_alloc(size_t len)
{
	void *data = malloc(len);

	json_bytes += malloc_usable_size(data);
	return data;
}

static void count_free(void *data)
{
	json_bytes -= malloc_usable_size(data);
	free(data);
}

/* A stage in which somebody else has the turn. */
struct busy {
	struct loop *loop;
	struct stage *stage;
	struct call *call;
	size_t bytes; /* of JSON while the call waits */
};

static void wait_for_turn(void *arg)
{
	struct busy *busy = arg;

	act_call(busy->stage, busy->call);
	loop_stop(busy->loop);
}

static void look_while_it_waits(void *arg)
{
	struct busy *busy = arg;

	busy->bytes = json_bytes;
	assert_int_equal(busy->stage->turns.n_waiting, 1);
	turns_pass(&busy->stage->turns);
}

/* A list takes many times the memory of its text, and many calls may wait. */
static void test_a_call_that_waits_is_small(void **state)
{
	struct loop *loop = loop_create(NULL);
	struct stage stage = {.loop = loop, .state = STAGE_IS_READY, .space = native, .native = native, .n_sets = 1,
	                      .sets[0] = {poke_rows, ARRAY_LEN(poke_rows), (void *)(uintptr_t)poke_fields}};
	char *body = util_alloc(64 + 64 * (size_t)LIMIT_ACTIONS), *at = body + sprintf(body, "{\"check_only\":false,\"actions\":[");
	struct call call = {.name = "act", .token = "t", .request_id = "r", .body = body};
	struct busy busy = {.loop = loop, .stage = &stage, .call = &call};

	(void)state;
	for (int i = 0; i < LIMIT_ACTIONS; i++)
		at += sprintf(at, "%s{\"action\":\"poke\",\"x\":1,\"y\":1,\"path\":[[1,1],[2,2]]}", i ? "," : "");
	strcpy(at, "]}");
	call.body_len = strlen(body);
	/* With its turn it is refused: the session has ended meanwhile. */
	stage.turns.running = (struct co *)(void *)&stage;
	json_set_alloc_funcs(count_alloc, count_free);
	(void)co_start(loop, wait_for_turn, &busy);
	(void)co_start(loop, look_while_it_waits, &busy);
	stage.connections = NULL;
	stage.state = STAGE_IS_ENDED;
	loop_run(loop);
	json_set_alloc_funcs(malloc, free);
	assert_true(call.answered);
	assert_null(stage.turns.running);
	assert_int_equal(busy.bytes, 0);
	json_decref(call.counts);
	loop_destroy(loop);
	free(body);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_envelope),
		cmocka_unit_test(test_faults_of_form_have_a_place),
		cmocka_unit_test(test_pictures), cmocka_unit_test(test_picture_requests), cmocka_unit_test(test_observe),
		cmocka_unit_test(test_actions),
		cmocka_unit_test(test_wrong_coordinates),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_near_names),
		cmocka_unit_test(test_all_faults),
		cmocka_unit_test(test_number_of_actions),
		cmocka_unit_test(test_a_call_that_waits_is_small),
		cmocka_unit_test(test_mapping),
		cmocka_unit_test(test_space_of_the_call),
		cmocka_unit_test(test_screenshot_query),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
