/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: session/cli session/replay */
/* Acts checked against schemas of the kind that the server makes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "session/base/util.h"
#include "session/cli/check.h"

static const char schema_text[] =
	"{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"action\"],\"properties\":{"
	"\"action\":{\"const\":\"click\"},"
	"\"x\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":9},"
	"\"n\":{\"type\":\"number\"},"
	"\"b\":{\"type\":\"boolean\"},"
	"\"button\":{\"type\":\"string\",\"enum\":[\"left\",\"right\"]},"
	"\"text\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":2},"
	"\"keys\":{\"anyOf\":[{\"type\":\"string\",\"minLength\":1},{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"minItems\":1,\"maxItems\":2}]},"
	"\"env\":{\"type\":\"object\",\"maxProperties\":1,\"additionalProperties\":{\"type\":\"string\"}},"
	"\"region\":{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"x\"],\"properties\":{\"x\":{\"type\":\"integer\"}}},"
	"\"any\":{}}}";

static void test_schema(void **state)
{
	static const struct {
		const char *value, *path, *msg; /* msg NULL: it is good */
	} cases[] = {
		{"{\"action\":\"click\"}", "", NULL},
		{"{\"action\":\"click\",\"x\":0,\"n\":1.5,\"b\":true,\"button\":\"left\",\"text\":\"\xc3\xa4\xc3\xb6\",\"keys\":[\"a\",\"b\"],\"env\":{\"A\":\"1\"},"
		 "\"region\":{\"x\":7},\"any\":[1]}", "", NULL},
		{"{\"action\":\"click\",\"keys\":\"a\",\"n\":3,\"x\":9}", "", NULL},
		{"7", "", "7 is not allowed here: it must be of type object"},
		{"{}", "", "\"action\" is required"},
		{"{\"action\":\"move\"}", "/action", "\"move\" is not allowed here: it must be one of \"click\""},
		{"{\"action\":\"click\",\"x\":10}", "/x", "10 is not allowed here: maximum is 9"},
		{"{\"action\":\"click\",\"x\":-1}", "/x", "-1 is not allowed here: minimum is 0"},
		{"{\"action\":\"click\",\"x\":1.0}", "/x", "1.0 is not allowed here: it must be of type integer"},
		{"{\"action\":\"click\",\"b\":0}", "/b", "0 is not allowed here: it must be of type boolean"},
		{"{\"action\":\"click\",\"text\":\"\"}", "/text", "0 is not allowed here: minLength is 1"},
		{"{\"action\":\"click\",\"keys\":[]}", "/keys", "0 is not allowed here: minItems is 1"},
		{"{\"action\":\"click\",\"keys\":[\"a\",\"b\",\"c\"]}", "/keys", "3 is not allowed here: maxItems is 2"},
		{"{\"action\":\"click\",\"keys\":[\"a\",7]}", "/keys/1", "7 is not allowed here: it must be of type string"},
		{"{\"action\":\"click\",\"env\":{\"A\":\"1\",\"B\":\"2\"}}", "/env", "2 is not allowed here: maxProperties is 1"},
		{"{\"action\":\"click\",\"region\":{}}", "/region", "\"x\" is required"},
		{"{\"action\":\"click\",\"region\":{\"x\":1,\"y/z\":2}}", "/region", "\"y/z\" is not a field of this object; its fields: x"},
		{"{\"action\":\"click\",\"y\":1}", "", "\"y\" is not a field of this object; its fields: action, x, n, b, button, text, keys, env, region, any"},
	};
	json_auto_t *schema = json_loads(schema_text, 0, NULL);

	(void)state;
	assert_non_null(schema);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		json_auto_t *value = json_loads(cases[i].value, JSON_DECODE_ANY, NULL);
		auto_free char *path = util_printf("/steps/3%s", cases[i].path);
		struct err e = {0};
		int rc;

		assert_non_null(value);
		rc = check_schema(schema, value, "/steps/3", &e);
		assert_int_equal(rc, cases[i].msg ? -1 : 0);
		if (cases[i].msg) {
			assert_string_equal(e.msg, cases[i].msg);
			assert_string_equal(e.path, path);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_schema)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
