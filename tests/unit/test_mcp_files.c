/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: session/mcp */
/* Paths as models write them; which bytes of a file are read for a call, and what is told of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/mcp/files.h"

static void test_paths(void **state)
{
	static const char *const rows[][2] = {
		{"notes.txt", "/home/user/notes.txt"}, {"a b/ü", "/home/user/a b/ü"},   {"~", "/home/user"},        {"~/x", "/home/user/x"},
		{"~x", "/home/user/~x"},               {".", "/home/user"},             {"./x", "/home/user/x"},    {"a/./b//c/", "/home/user/a/b/c"},
		{"/", "/"},                            {"/tmp/./x", "/tmp/x"},          {"//tmp//x", "/tmp/x"},     {"/tmp/..", "/tmp/.."},
		{"../x", "/home/user/../x"},           {".hidden", "/home/user/.hidden"}, {"...", "/home/user/..."}, {"/.", "/"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		json_auto_t *arguments = json_pack("{s:s}", "path", rows[i][0]);
		auto_free char *path = mcp_files_path(arguments);

		if (strcmp(path, rows[i][1]) != 0)
			fail_msg("%s is %s, not %s", rows[i][0], path, rows[i][1]);
	}
}

/* What is read of a file `content` for these arguments, and told: its text, or the first letters of its base64. */
static const struct {
	const char *arguments, *content;
	size_t size;
	int64_t offset, length;
	bool more;
	const char *type, *text;
} reads[] = {
	{"{\"path\":\"g\"}", "Gr\xc3\xb6\xc3\x9f" "e\n", 8, 0, 8, false, "text/plain", "Größe\n"},
	{"{\"path\":\"g\",\"offset\":3,\"length\":4}", "Gr\xc3\xb6\xc3\x9f" "e\n", 8, 4, 3, true, "text/plain", "ße"},
	{"{\"path\":\"g\",\"length\":5}", "Gr\xc3\xb6\xc3\x9f" "e\n", 8, 0, 4, true, "text/plain", "Grö"},
	{"{\"path\":\"g\",\"offset\":9}", "Gr\xc3\xb6\xc3\x9f" "e\n", 8, 8, 0, false, "text/plain", ""},
	{"{\"path\":\"g\"}", "\0\xff\0", 3, 0, 3, false, "application/octet-stream", NULL},
	{"{\"path\":\"g\"}", "a\xc3", 2, 0, 2, false, "application/octet-stream", NULL},
	{"{\"path\":\"/x.PNG\"}", "\x89PNG\r\n\x1a\n\0", 9, 0, 9, false, "image/png", NULL},
	{"{\"path\":\"x.webp\",\"offset\":2}", "RIFF....WEBP", 12, 0, 12, false, "image/webp", NULL},
	{"{\"path\":\"x\",\"length\":8}", "\x89PNG\r\n\x1a\n\0", 9, 0, 8, true, "application/octet-stream", NULL},
	{"{\"path\":\"/x.jpg\",\"offset\":1,\"length\":4}", "abcdef", 6, 1, 4, true, "text/plain", "bcde"},
	{"{\"path\":\"/x.jpg\",\"offset\":7}", "abcdef", 6, 6, 0, false, "text/plain", ""},
};

static void test_reads(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(reads); i++) {
		json_auto_t *arguments = json_loads(reads[i].arguments, 0, NULL);
		struct mcp_window window = mcp_files_window(arguments);
		size_t from = (size_t)window.offset < reads[i].size ? (size_t)window.offset : reads[i].size;
		size_t len = reads[i].size - from < (size_t)window.length ? reads[i].size - from : (size_t)window.length;
		uint8_t data[64];
		const json_t *told, *text;
		json_auto_t *result = NULL;

		memcpy(data, reads[i].content + from, len);
		result = mcp_files_read(arguments, data, len, (int64_t)reads[i].size);
		told = json_object_get(result, "structuredContent");
		text = json_object_get(told, "text");
		
		assert_int_equal(json_integer_value(json_object_get(told, "size")), reads[i].size);
		assert_int_equal(json_integer_value(json_object_get(told, "offset")), reads[i].offset);
		assert_int_equal(json_integer_value(json_object_get(told, "length")), reads[i].length);
		assert_int_equal(json_is_true(json_object_get(told, "more")), reads[i].more);
		assert_string_equal(json_string_value(json_object_get(told, "media_type")), reads[i].type);
		assert_int_equal(json_array_size(json_object_get(result, "content")), reads[i].text ? 1 : 2);
		if (reads[i].text)
			assert_string_equal(json_string_value(text), reads[i].text);
		else
			assert_null(text);
	}
}

static void test_windows(void **state)
{
	static const struct {
		const char *arguments;
		int64_t offset, length;
	} rows[] = {
		{"{\"path\":\"a\"}", 0, 65536},
		{"{\"path\":\"a\",\"offset\":5,\"length\":4}", 5, 4},
		{"{\"path\":\"a.gif\",\"offset\":5,\"length\":4}", 0, LIMIT_MCP_PICTURE_BYTES},
		{"{\"path\":\"a.gif\",\"offset\":2580477,\"length\":4}", 2580477, 4}, /* its end would not be there */
		{"{\"path\":\"a.gif\",\"offset\":4294967295}", 4294967295, 65536},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		json_auto_t *arguments = json_loads(rows[i].arguments, 0, NULL);
		struct mcp_window window = mcp_files_window(arguments);

		assert_int_equal(window.offset, rows[i].offset);
		assert_int_equal(window.length, rows[i].length);
	}
}

static void test_others(void **state)
{
	json_auto_t *arguments = json_pack("{s:s}", "path", "x");
	json_auto_t *listed = json_loads("{\"path\":\"/home/user/x\",\"more\":true,\"not_utf8\":2,\"entries\":[{\"name\":\"a\",\"type\":\"file\",\"size\":6,\"mode\":\"644\"}]}", 0, NULL);
	json_auto_t *written = json_loads("{\"path\":\"/home/user/x\",\"bytes\":7,\"created\":true}", 0, NULL);
	json_auto_t *a = mcp_files_listed(arguments, listed), *b = mcp_files_written(arguments, written);
	json_auto_t *list = json_loads("{\"path\":\"x\",\"more\":true,\"not_utf8\":2,\"entries\":[{\"name\":\"a\",\"type\":\"file\",\"size\":6}]}", 0, NULL);
	json_auto_t *size = json_loads("{\"path\":\"x\",\"size\":7}", 0, NULL);

	(void)state;
	assert_true(json_equal(json_object_get(a, "structuredContent"), list));
	assert_true(json_equal(json_object_get(b, "structuredContent"), size));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_paths), cmocka_unit_test(test_reads), cmocka_unit_test(test_windows), cmocka_unit_test(test_others)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
