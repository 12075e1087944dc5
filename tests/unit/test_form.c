/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: */
/* Forms, the schemas made of their rows, and the action table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "session/base/action.h"
#include "session/base/json.h"
#include "session/base/limits.h"
#include "session/base/util.h"

/* Says which case of a table failed. */
#define CASE(what, ...)                                                                                                        \
	do {                                                                                                                   \
		if (!(what))                                                                                                   \
			fail_msg(__VA_ARGS__);                                                                                 \
	} while (0)

/* A form with a field of every type. */
static const struct field inner_fields[] = {
	{"size", FIELD_INT, true, 1, 10, NULL, NULL, "px", NULL, "a size"},
	{"a/b~c", FIELD_BOOL, false, 0, 0, NULL, NULL, NULL, "false", "an odd name"},
};
static const struct form inner = {inner_fields, ARRAY_LEN(inner_fields), NULL};
static const struct field fields[] = {
	{"int", FIELD_INT, false, -5, 100, NULL, NULL, "ms", "7", "a whole number"},
	{"number", FIELD_NUMBER, false, 0.5, 2, NULL, NULL, NULL, "1.5", "a number"},
	{"bool", FIELD_BOOL, false, 0, 0, NULL, NULL, NULL, "true", "a truth"},
	{"string", FIELD_STRING, false, 1, 5, NULL, NULL, NULL, "\"x\"", "a string"},
	{"enum", FIELD_ENUM, false, 0, 0, "left middle right", NULL, NULL, "\"left\"", "a choice"},
	{"keys", FIELD_KEYS, false, 0, 0, NULL, NULL, NULL, NULL, "keys"},
	{"x", FIELD_X, false, 0, 0, NULL, NULL, "px", NULL, "column"},
	{"y", FIELD_Y, false, 0, 0, NULL, NULL, "px", NULL, "row"},
	{"path", FIELD_PATH, false, 2, 3, NULL, NULL, NULL, NULL, "points"},
	{"strings", FIELD_STRINGS, false, 1, 2, NULL, NULL, NULL, NULL, "the strings"},
	{"map", FIELD_MAP, false, 0, 2, NULL, NULL, NULL, NULL, "a map"},
	{"object", FIELD_OBJECT, false, 0, 0, NULL, &inner, NULL, NULL, "an object"},
	{"open", FIELD_OBJECT, false, 0, 0, NULL, NULL, NULL, NULL, "any object"},
	{"list", FIELD_LIST, false, 1, 2, NULL, &inner, NULL, NULL, "objects"},
	{"rect", FIELD_RECT, false, 0, 0, NULL, NULL, NULL, NULL, "a rectangle"},
	{"any", FIELD_ANY, false, 0, 0, NULL, NULL, NULL, NULL, "anything"},
};
static const struct form every = {fields, ARRAY_LEN(fields), "a rule of the whole"};
static const struct bounds bounds = {{1280, 800}, {1920, 1200}};

static void test_good_fields(void **state)
{
	static const char *const good[] = {
		"{}", "{\"int\":-5}", "{\"int\":100}", "{\"number\":0.5}", "{\"number\":2}", "{\"bool\":false}", "{\"string\":\"x\"}",
		"{\"string\":\"12345\"}", "{\"enum\":\"left\"}", "{\"enum\":\"right\"}", "{\"keys\":\"ctrl+a\"}", "{\"keys\":[\"ctrl\",\"+\"]}",
		"{\"x\":0,\"y\":0}", "{\"x\":1279,\"y\":799}", "{\"path\":[[0,0],[1279,799]]}", "{\"strings\":[\"\"]}", "{\"map\":{}}",
		"{\"map\":{\"a\":\"\",\"b/\":\"1\"}}", "{\"object\":{\"size\":10}}", "{\"object\":{\"size\":1,\"a/b~c\":true}}", "{\"open\":{\"z\":[]}}",
		"{\"list\":[{\"size\":1},{\"size\":2}]}", "{\"rect\":{\"x\":1279,\"y\":799,\"width\":1,\"height\":1}}",
		"{\"rect\":{\"x\":0,\"y\":0,\"width\":1280,\"height\":800}}", "{\"any\":null}",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		json_auto_t *value = json_loads(good[i], 0, NULL);
		struct err e = {0};

		CASE(form_check(&every, value, "", &bounds, &e) == 0, "%s is refused: %s %s", good[i], e.path, e.msg);
	}
}

struct bad {
	const char *text, *path;
	enum err_code code;
	const char *value, *rule; /* parts of the message */
};

static const struct bad bads[] = {
	{"[]", "", ERR_BAD_FIELD, "a list of 0", "must be an object"},
	{"{\"int\":-6}", "/int", ERR_BAD_FIELD, "-6 ", "from -5 to 100"},
	{"{\"int\":101}", "/int", ERR_BAD_FIELD, "101 ", "from -5 to 100"},
	{"{\"int\":9223372036854775807}", "/int", ERR_BAD_FIELD, "9223372036854775807 ", "from -5 to 100"},
	{"{\"int\":1.5}", "/int", ERR_BAD_FIELD, "1.5 ", "whole number"},
	{"{\"int\":1.0}", "/int", ERR_BAD_FIELD, "1.0 ", "whole number"},
	{"{\"int\":\"1\"}", "/int", ERR_BAD_FIELD, "\"1\" ", "whole number"},
	{"{\"int\":true}", "/int", ERR_BAD_FIELD, "true ", "whole number"},
	{"{\"int\":null}", "/int", ERR_BAD_FIELD, "null ", "whole number"},
	{"{\"number\":0.4}", "/number", ERR_BAD_FIELD, "0.4", "from 0.5 to 2"},
	{"{\"number\":3}", "/number", ERR_BAD_FIELD, "3 ", "from 0.5 to 2"},
	{"{\"number\":\"1\"}", "/number", ERR_BAD_FIELD, "\"1\" ", "number"},
	{"{\"bool\":0}", "/bool", ERR_BAD_FIELD, "0 ", "true or false"},
	{"{\"bool\":\"true\"}", "/bool", ERR_BAD_FIELD, "\"true\" ", "true or false"},
	{"{\"string\":\"\"}", "/string", ERR_BAD_FIELD, "\"\" ", "1 to 5 bytes and has 0"},
	{"{\"string\":\"123456\"}", "/string", ERR_BAD_FIELD, "\"123456\" ", "1 to 5 bytes and has 6"},
	{"{\"string\":\"ééé\"}", "/string", ERR_BAD_FIELD, "\"ééé\" ", "1 to 5 bytes and has 6"},
	{"{\"string\":\"a\\u0000b\"}", "/string", ERR_BAD_FIELD, "\"a\\x00b\" ", "NUL"},
	{"{\"string\":{}}", "/string", ERR_BAD_FIELD, "an object ", "must be a string"},
	{"{\"enum\":\"lef\"}", "/enum", ERR_BAD_FIELD, "\"lef\" ", "left middle right"},
	{"{\"enum\":\"left middle\"}", "/enum", ERR_BAD_FIELD, "\"left middle\" ", "one of"},
	{"{\"enum\":\"\"}", "/enum", ERR_BAD_FIELD, "\"\" ", "one of"},
	{"{\"enum\":\"left\\u0000\"}", "/enum", ERR_BAD_FIELD, "\"left\\x00\" ", "one of"},
	{"{\"enum\":1}", "/enum", ERR_BAD_FIELD, "1 ", "one of"},
	{"{\"keys\":\"\"}", "/keys", ERR_BAD_FIELD, "\"\" ", "1 to 200 bytes"},
	{"{\"keys\":[]}", "/keys", ERR_BAD_FIELD, "a list of 0 ", "1 to 8 strings"},
	{"{\"keys\":[\"a\",1]}", "/keys/1", ERR_BAD_FIELD, "1 ", "must be a string"},
	{"{\"keys\":7}", "/keys", ERR_BAD_FIELD, "7 ", "ctrl+shift+t"},
	{"{\"x\":1280}", "/x", ERR_BAD_FIELD, "1280 ", "in the space of 1280x800, which shows a display of 1920x1200, x must be a whole number from 0 to 1279"},
	{"{\"x\":-1}", "/x", ERR_BAD_FIELD, "-1 ", "0 to 1279"},
	{"{\"y\":800}", "/y", ERR_BAD_FIELD, "800 ", "y must be a whole number from 0 to 799"},
	{"{\"y\":10.5}", "/y", ERR_BAD_FIELD, "10.5 ", "whole number"},
	{"{\"path\":[[0,0]]}", "/path", ERR_BAD_FIELD, "a list of 1 ", "2 to 3 points"},
	{"{\"path\":[[0,0],[1,1],[2,2],[3,3]]}", "/path", ERR_BAD_FIELD, "a list of 4 ", "2 to 3 points"},
	{"{\"path\":[[0,0],[1]]}", "/path/1", ERR_BAD_FIELD, "a list of 1 ", "[x, y]"},
	{"{\"path\":[{\"x\":0,\"y\":0},[1,1]]}", "/path/0", ERR_BAD_FIELD, "{\"x\":0,\"y\":0} ", "[x, y]"},
	{"{\"path\":[[0,0],[1280,0]]}", "/path/1/0", ERR_BAD_FIELD, "1280 ", "a display of 1920x1200, x must be"},
	{"{\"path\":[[0,0],[0,800]]}", "/path/1/1", ERR_BAD_FIELD, "800 ", "y must be"},
	{"{\"path\":\"0,0\"}", "/path", ERR_BAD_FIELD, "\"0,0\" ", "points"},
	{"{\"strings\":[]}", "/strings", ERR_BAD_FIELD, "a list of 0 ", "1 to 2 strings"},
	{"{\"strings\":\"ls\"}", "/strings", ERR_BAD_FIELD, "\"ls\" ", "1 to 2 strings: the strings"},
	{"{\"strings\":[\"a\",null]}", "/strings/1", ERR_BAD_FIELD, "null ", "must be a string"},
	{"{\"strings\":[\"a\\u0000\"]}", "/strings/0", ERR_BAD_FIELD, "\"a\\x00\" ", "NUL"},
	{"{\"map\":{\"a\":\"\",\"b\":\"\",\"c\":\"\"}}", "/map", ERR_BAD_FIELD, "an object of 3 ", "at most 2 strings"},
	{"{\"map\":{\"a/~b\":1}}", "/map/a~1~0b", ERR_BAD_FIELD, "1 ", "must be a string"},
	{"{\"map\":[]}", "/map", ERR_BAD_FIELD, "a list of 0 ", "an object of"},
	{"{\"object\":1}", "/object", ERR_BAD_FIELD, "1 ", "must be an object"},
	{"{\"object\":{}}", "/object/size", ERR_MISSING_FIELD, "\"size\" ", "a size"},
	{"{\"object\":{\"size\":0}}", "/object/size", ERR_BAD_FIELD, "0 ", "from 1 to 10"},
	{"{\"object\":{\"a/b~c\":1}}", "/object/a~1b~0c", ERR_BAD_FIELD, "1 ", "true or false"},
	{"{\"object\":{\"size\":1,\"~/\":1}}", "/object/~0~1", ERR_UNKNOWN_FIELD, "\"~/\" ", "its fields: size, a/b~c"},
	{"{\"object\":{\"size\":1,\"\":1}}", "/object/", ERR_UNKNOWN_FIELD, "\"\" ", "its fields"},
	{"{\"open\":[]}", "/open", ERR_BAD_FIELD, "a list of 0 ", "must be an object"},
	{"{\"list\":{}}", "/list", ERR_BAD_FIELD, "an object ", "1 to 2 objects"},
	{"{\"list\":[]}", "/list", ERR_BAD_FIELD, "a list of 0 ", "1 to 2 objects"},
	{"{\"list\":[{\"size\":1},{\"size\":11}]}", "/list/1/size", ERR_BAD_FIELD, "11 ", "from 1 to 10"},
	{"{\"list\":[{\"size\":1},7]}", "/list/1", ERR_BAD_FIELD, "7 ", "must be an object"},
	{"{\"list\":[{\"sise\":1}]}", "/list/0/sise", ERR_UNKNOWN_FIELD, "\"sise\" ", "size"},
	{"{\"rect\":{\"x\":0,\"y\":0,\"width\":0,\"height\":1}}", "/rect/width", ERR_BAD_FIELD, "0 ", "from 1 to"},
	{"{\"rect\":{\"x\":1279,\"y\":0,\"width\":2,\"height\":1}}", "/rect", ERR_BAD_FIELD,
	 "{\"x\":1279,\"y\":0,\"width\":2,\"height\":1} ", "1280x800, which shows a display of 1920x1200"},
	{"{\"rect\":{\"x\":0,\"y\":1,\"width\":1,\"height\":800}}", "/rect", ERR_BAD_FIELD,
	 "{\"x\":0,\"y\":1,\"width\":1,\"height\":800} ", "1280x800, which shows a display of 1920x1200"},
	{"{\"rect\":{\"x\":0,\"y\":1,\"width\":1}}", "/rect/height", ERR_MISSING_FIELD, "\"height\" ", "required"},
	{"{\"rect\":[0,0,1,1]}", "/rect", ERR_BAD_FIELD, "a list of 4 ", "must be an object"},
	{"{\"Int\":1}", "/Int", ERR_UNKNOWN_FIELD, "\"Int\" ", "its fields: int, number"},
	{"{\"a\\u202eb\":1}", "/a\xe2\x80\xae" "b", ERR_UNKNOWN_FIELD, "\"a\\xe2\\x80\\xaeb\" ", "its fields"},
};

static void test_bad_fields(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bads); i++) {
		const struct bad *b = &bads[i];
		json_auto_t *value = json_loads(b->text, JSON_ALLOW_NUL, NULL);
		auto_free char *path = util_printf("/actions/3%s", b->path);
		struct err e = {0};

		assert_non_null(value);
		CASE(form_check(&every, value, "/actions/3", &bounds, &e) == -1, "%s is taken", b->text);
		CASE(e.code == b->code, "%s: the code is %s", b->text, err_info(e.code)->wire);
		CASE(strcmp(e.path, path) == 0, "%s: the path is %s and not %s", b->text, e.path, path);
		CASE(strncmp(e.msg, b->value, strlen(b->value)) == 0, "%s: \"%s\" does not begin with %s", b->text, e.msg, b->value);
		CASE(strstr(e.msg, b->rule), "%s: \"%s\" does not say %s", b->text, e.msg, b->rule);
		assert_int_equal(form_check(&every, value, "", &bounds, NULL), -1);
	}
}

/* All faults, in the order of the body, then what is missing; no more than there is room for. */
static void test_all_faults(void **state)
{
	static const char text[] = "{\"int\":-6,\"no\":1,\"keys\":[1,\"a\",2],\"object\":{\"a/b~c\":1},\"list\":[{\"size\":0},{\"size\":1},{}],"
				   "\"map\":{\"a\":1,\"b\":2},\"rect\":{\"x\":-1,\"width\":1},\"path\":[[0,0],[-1,-1]],\"bool\":true}";
	static const char *const paths[] = {"/int", "/no", "/keys/0", "/keys/2", "/object/a~1b~0c", "/object/size", "/list", "/map/a", "/map/b",
					    "/rect/x", "/rect/y", "/rect/height", "/path/1/0", "/path/1/1"};
	json_auto_t *value = json_loads(text, 0, NULL);
	struct err list[20];

	(void)state;
	for (size_t room = 1; room <= ARRAY_LEN(list); room++) {
		struct faults found = {.list = list, .max = room};

		assert_int_equal(form_check_all(&every, value, "", &bounds, &found), -1);
		assert_int_equal(found.n, room < ARRAY_LEN(paths) ? room : ARRAY_LEN(paths));
		for (size_t i = 0; i < found.n; i++)
			assert_string_equal(list[i].path, paths[i]);
	}
}

/* Names as long as a caller likes: the pointer is cut, stays UTF-8 and never ends inside an escape. */
static void test_long_pointers(void **state)
{
	static const struct form any_map = {&fields[10], 1, NULL};

	(void)state;
	for (size_t shift = 0; shift < 8; shift++)
		for (size_t kind = 0; kind < 3; kind++) {
			static const char *const units[] = {"€", "~", "😀"};
			json_auto_t *map = json_object();
			json_auto_t *value = json_pack("{s:O}", "map", map);
			char key[512] = "";
			struct err e = {0};

			memset(key, 'a', shift);
			while (strlen(key) + 5 < sizeof(key))
				memcpy(key + strlen(key), units[kind], strlen(units[kind]) + 1);
			json_object_set_new(map, key, json_integer(1));
			assert_int_equal(form_check(&any_map, value, "", NULL, &e), -1);
			CASE(util_utf8_valid(e.path, strlen(e.path)), "%s at %zu: %s", units[kind], shift, e.path);
			CASE(strlen(e.path) > ERR_PATH_MAX - 8 && e.path[strlen(e.path) - 1] != '~', "%s at %zu: %s", units[kind], shift, e.path);
		}
}

/* A pointer that is full already takes no piece of what is deeper. */
static void test_full_pointer(void **state)
{
	json_auto_t *value = json_loads("{\"map\":{\"bcdefghi\":1}}", 0, NULL);

	(void)state;
	for (size_t len = 90; len < ERR_PATH_MAX; len++) {
		char path[ERR_PATH_MAX] = "/";
		struct err e = {0};

		memset(path + 1, 'p', len - 1);
		memcpy(path + len - 3, "€", 3);
		assert_int_equal(form_check(&every, value, path, &bounds, &e), -1);
		CASE(util_utf8_valid(e.path, strlen(e.path)), "%zu: %s", len, e.path);
		CASE(strncmp(e.path, path, len) == 0, "%zu: %s", len, e.path);
	}
}

/* A list of names that is too long for the message says so, and none of them is shown in part. */
static void test_many_names(void **state)
{
	static char names[40][16];
	static struct field many[40];
	const struct form form = {many, ARRAY_LEN(many), NULL};
	json_auto_t *value = json_pack("{s:i}", "other", 1);
	struct err e = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(many); i++) {
		(void)snprintf(names[i], sizeof(names[i]), "field_%03zu", i);
		many[i] = (struct field){.name = names[i], .type = FIELD_ANY, .doc = "x"};
	}
	assert_int_equal(form_check(&form, value, "", NULL, &e), -1);
	assert_non_null(strstr(e.msg, "field_000, field_001, "));
	assert_string_equal(e.msg + strlen(e.msg) - strlen(", …"), ", …");
	assert_int_equal((strlen(strstr(e.msg, "field_")) - strlen("…")) % strlen("field_000, "), 0);
}

static json_t *at(json_t *value, const char *name)
{
	return json_object_get(value, name);
}

static void check_json(json_t *value, const char *expected)
{
	json_auto_t *wanted = json_loads(expected, JSON_DECODE_ANY, NULL);
	auto_free char *text = json_dumps(value, JSON_ENCODE_ANY);

	assert_non_null(wanted);
	CASE(json_equal(value, wanted), "%s is not %s", text ? text : "nothing", expected);
}

static void test_schema(void **state)
{
	json_auto_t *schema = form_schema(&every);
	json_t *p = at(schema, "properties");

	(void)state;
	check_json(at(schema, "type"), "\"object\"");
	check_json(at(schema, "additionalProperties"), "false");
	check_json(at(schema, "description"), "\"a rule of the whole\"");
	assert_null(at(schema, "required"));
	assert_int_equal(json_object_size(p), ARRAY_LEN(fields));
	check_json(at(p, "int"), "{\"type\":\"integer\",\"minimum\":-5,\"maximum\":100,\"default\":7,\"description\":\"a whole number (ms)\"}");
	check_json(at(p, "number"), "{\"type\":\"number\",\"minimum\":0.5,\"maximum\":2.0,\"default\":1.5,\"description\":\"a number\"}");
	check_json(at(p, "bool"), "{\"type\":\"boolean\",\"default\":true,\"description\":\"a truth\"}");
	check_json(at(at(p, "string"), "default"), "\"x\"");
	check_json(at(at(p, "enum"), "enum"), "[\"left\",\"middle\",\"right\"]");
	check_json(at(at(p, "x"), "type"), "\"integer\"");
	check_json(at(at(p, "path"), "maxItems"), "3");
	check_json(at(at(at(p, "path"), "items"), "maxItems"), "2");
	check_json(at(at(p, "strings"), "items"), "{\"type\":\"string\"}");
	check_json(at(at(p, "map"), "maxProperties"), "2");
	check_json(at(at(p, "object"), "required"), "[\"size\"]");
	check_json(at(at(p, "object"), "additionalProperties"), "false");
	check_json(at(at(p, "open"), "type"), "\"object\"");
	check_json(at(at(at(p, "list"), "items"), "required"), "[\"size\"]");
	check_json(at(at(p, "rect"), "required"), "[\"x\",\"y\",\"width\",\"height\"]");
	check_json(at(p, "any"), "{\"description\":\"anything\"}");
	assert_int_equal(json_array_size(at(at(p, "keys"), "anyOf")), 2);
}

static void test_values(void **state)
{
	json_auto_t *value = json_loads("{\"i\":5,\"n\":1.5,\"b\":true,\"s\":\"t\"}", 0, NULL);

	(void)state;
	assert_int_equal(form_int(value, "i", 1), 5);
	assert_int_equal(form_int(value, "none", 1), 1);
	assert_true(form_number(value, "n", 0) > 1.4 && form_number(value, "n", 0) < 1.6);
	assert_true(form_number(value, "i", 0) > 4.9);
	assert_true(form_number(value, "none", 2.0) > 1.9);
	assert_true(form_bool(value, "b", false));
	assert_true(form_bool(value, "none", true));
	assert_string_equal(form_string(value, "s", ""), "t");
	assert_null(form_string(value, "none", NULL));
}

static void test_actions(void **state)
{
	static const struct action_row first[] = {{.name = "click", .doc = "clicks", .form = {fields, 1, NULL}}};
	static const struct action_row second[] = {{.name = "wait", .doc = "waits", .form = {inner_fields, 1, NULL}}};
	const struct action_set sets[] = {{first, 1, NULL}, {second, 1, NULL}};
	const struct action_set *set = NULL;

	(void)state;
	assert_ptr_equal(action_find(sets, 2, "wait", &set), &second[0]);
	assert_ptr_equal(set, &sets[1]);
	assert_null(action_find(sets, 2, "wai", &set));
	assert_null(action_find(sets, 2, "", &set));
	json_auto_t *document = action_document(sets, 2);
	json_t *list = at(document, "actions");

	assert_int_equal(json_array_size(list), 2);
	check_json(at(json_array_get(list, 0), "name"), "\"click\"");
	check_json(at(json_array_get(list, 0), "doc"), "\"clicks\"");
	check_json(at(at(json_array_get(list, 0), "schema"), "required"), "[\"action\"]");
	check_json(at(at(json_array_get(list, 1), "schema"), "required"), "[\"action\",\"size\"]");
	check_json(at(at(at(json_array_get(list, 1), "schema"), "properties"), "action"), "{\"const\":\"wait\"}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good_fields),
		cmocka_unit_test(test_bad_fields),
		cmocka_unit_test(test_all_faults),
		cmocka_unit_test(test_long_pointers),
		cmocka_unit_test(test_full_pointer),
		cmocka_unit_test(test_many_names),
		cmocka_unit_test(test_schema),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_actions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
