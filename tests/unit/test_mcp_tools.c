/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: session/mcp */
/* The tools of MCP: schemas that no client drops, what a role sees, headers that repeat arguments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "session/base/util.h"
#include "session/mcp/call.h"
#include "session/mcp/flat.h"
#include "session/mcp/tools.h"

static const char document[] =
	"{\"actions\":["
	"{\"name\":\"click\",\"doc\":\"Clicks.\",\"schema\":{\"type\":\"object\",\"properties\":{"
	"\"x\":{\"type\":\"integer\",\"minimum\":0,\"description\":\"column\"},"
	"\"hold\":{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"array\",\"items\":{\"type\":\"string\"}}],\"description\":\"keys\"},"
	"\"action\":{\"const\":\"click\"}},\"additionalProperties\":false,\"required\":[\"action\"]}},"
	"{\"name\":\"wait\",\"doc\":\"Waits.\",\"schema\":{\"type\":\"object\",\"properties\":{"
	"\"x\":{\"type\":\"integer\",\"minimum\":0,\"description\":\"column\"},"
	"\"duration_ms\":{\"type\":\"integer\",\"minimum\":5,\"maximum\":10,\"default\":7,\"description\":\"how long\"},"
	"\"action\":{\"const\":\"wait\"}},\"required\":[\"action\",\"duration_ms\"]}},"
	"{\"name\":\"screenshot\",\"doc\":\"Looks.\",\"schema\":{\"type\":\"object\",\"properties\":{"
	"\"duration_ms\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":9,\"default\":0,\"description\":\"never\"},"
	"\"space\":{\"description\":\"scale\"},"
	"\"format\":{\"type\":\"string\",\"enum\":[\"png\",\"raw\"],\"description\":\"of it; raw: pixels\"},"
	"\"action\":{\"const\":\"screenshot\"}},\"required\":[\"action\"]}},"
	"{\"name\":\"get\",\"doc\":\"Gets.\",\"schema\":{\"type\":\"object\",\"properties\":{"
	"\"x\":{\"type\":\"integer\",\"minimum\":-5,\"maximum\":5,\"description\":\"column\"},"
	"\"hold\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":9,\"description\":\"keys\"},"
	"\"format\":{\"type\":\"string\",\"enum\":[\"text\",\"png\"],\"default\":\"text\",\"description\":\"what\"},"
	"\"action\":{\"const\":\"get\"}},\"required\":[\"action\"]}}],"
	"\"act\":{\"type\":\"object\",\"properties\":{\"actions\":{\"type\":\"array\",\"items\":{\"type\":\"object\"},\"description\":\"what\"},"
	"\"observe\":{\"default\":false,\"anyOf\":[{\"type\":\"boolean\"},{\"type\":\"object\",\"properties\":{"
	"\"format\":{\"type\":\"string\",\"enum\":[\"png\",\"raw\"]},\"space\":{}},\"additionalProperties\":false}]}},"
	"\"additionalProperties\":false,\"required\":[\"actions\"]}}";

static const struct field spec_fields[] = {
	{"image", FIELD_STRING, false, 1, 9, NULL, NULL, NULL, NULL, "what"},
	{"any", FIELD_ANY, false, 0, 0, NULL, NULL, NULL, NULL, "what"},
};
static const struct form spec = {spec_fields, ARRAY_LEN(spec_fields), NULL};

static json_t *parse(const char *text)
{
	json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);

	if (!value)
		fail_msg("this is no JSON: %s", text);
	return value;
}

static void expect(const json_t *found, const char *expected)
{
	json_auto_t *wanted = parse(expected);
	auto_free char *shown = found ? json_dumps(found, JSON_ENCODE_ANY | JSON_SORT_KEYS) : util_strdup("nothing");

	if (!json_equal(found, wanted))
		fail_msg("it is\n%s\nand not\n%s", shown, expected);
}

static void test_flat_actions(void **state)
{
	json_auto_t *actions = parse(document);
	json_auto_t *flat = flat_actions(json_object_get(actions, "actions"));
	auto_free char *doc = flat_actions_doc(json_object_get(actions, "actions"));

	(void)state;
	expect(flat, "{\"type\":\"object\",\"required\":[\"action\"],\"properties\":{"
	             "\"action\":{\"type\":\"string\",\"enum\":[\"click\",\"wait\",\"screenshot\",\"get\"],\"description\":\"what to do\"},"
	             /* What one action takes is not refused for another's sake: clipboard_get's formats had hidden those of pictures. */
	             "\"x\":{\"type\":\"integer\",\"minimum\":-5,\"description\":\"column\"},"
	             "\"hold\":{\"type\":\"string\",\"description\":\"keys\"},"
	             "\"duration_ms\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":10,\"description\":\"wait: how long; screenshot: never\"},"
	             "\"space\":{\"type\":\"string\",\"enum\":[\"native\"],\"description\":\"scale\"},"
	             "\"format\":{\"type\":\"string\",\"enum\":[\"png\",\"raw\",\"text\"],"
	             "\"description\":\"screenshot: of it; raw: pixels; get: what\"}}}");
	assert_string_equal(doc, "\nclick {x?, hold?}: Clicks.\nwait {x?, duration_ms}: Waits.\nscreenshot {duration_ms?, space?, format?}: Looks."
	                         "\nget {x?, hold?, format?}: Gets.");
}

/* --- what clients stumble over --- */

static void check_schema(const char *where, const json_t *schema)
{
	static const char *const combined[] = {"anyOf", "oneOf", "allOf", "not", "if", "$ref", "const"};
	const char *name;
	json_t *member;

	if (!json_is_string(json_object_get(schema, "type")))
		fail_msg("%s has no type of its own", where);
	for (size_t i = 0; i < ARRAY_LEN(combined); i++)
		if (json_object_get(schema, combined[i]))
			fail_msg("%s has %s", where, combined[i]);
	json_object_foreach(json_object_get(schema, "properties"), name, member)
		check_schema(name, member);
	member = json_object_get(schema, "items");
	if (member)
		check_schema(where, member);
	if (json_is_array(member) || json_object_get(schema, "prefixItems"))
		fail_msg("%s has places of a list with types of their own", where);
}

static bool always(void *arg, const char *method, const char *path)
{
	(void)arg;
	(void)method;
	(void)path;
	return true;
}

static bool only_get(void *arg, const char *method, const char *path)
{
	(void)arg;
	(void)path;
	return strcmp(method, "GET") == 0;
}

static const json_t *named(const json_t *list, const char *name)
{
	const json_t *tool;
	size_t i;

	json_array_foreach(list, i, tool)
		if (strcmp(json_string_value(json_object_get(tool, "name")), name) == 0)
			return tool;
	return NULL;
}

static void test_lists(void **state)
{
	json_auto_t *actions = parse(document);
	struct tools *tools = tools_create(actions, &spec);
	const struct tools_view all = {tools, always, NULL}, some = {tools, only_get, NULL};

	(void)state;
	for (size_t r = 0; r < revisions_n; r++) {
		json_auto_t *list = tools_list(&all, &revisions[r]), *again = tools_list(&all, &revisions[r]), *few = tools_list(&some, &revisions[r]);
		const json_t *tool, *session;
		size_t i;

		assert_true(json_equal(list, again));
		assert_int_equal(json_array_size(list), tools_n);
		json_array_foreach(list, i, tool) {
			const json_t *output = json_object_get(tool, "outputSchema");
			const char *name = json_string_value(json_object_get(tool, "name"));

			assert_int_equal(strspn(name, "abcdefghijklmnopqrstuvwxyz_"), strlen(name));
			check_schema(name, json_object_get(tool, "inputSchema"));
			assert_string_equal(json_string_value(json_object_get(json_object_get(tool, "inputSchema"), "type")), "object");
			assert_int_equal(output != NULL, revisions[r].structured);
			if (output)
				check_schema(name, output);
			assert_true(strlen(json_string_value(json_object_get(tool, "description"))) < 200);
			session = json_object_get(json_object_get(json_object_get(tool, "inputSchema"), "properties"), "session_id");
			assert_int_equal(session != NULL, !!(tools_rows[i].flags & TOOL_SESSION));
			if (session)
				assert_int_equal(json_object_get(session, "x-mcp-header") != NULL, revisions[r].modern);
		}
		assert_int_equal(json_array_size(few), 4);
		assert_non_null(named(few, "read_file"));
		assert_non_null(named(few, "list_files"));
		assert_non_null(named(few, "session_list"));
		assert_non_null(named(few, "session_get"));
	}
	tools_destroy(tools);
}

static void test_computer(void **state)
{
	json_auto_t *actions = parse(document);
	struct tools *tools = tools_create(actions, &spec);
	const struct tools_view all = {tools, always, NULL};
	json_auto_t *list = tools_list(&all, revision_newest_legacy());
	const json_t *schema = json_object_get(named(list, "computer"), "inputSchema"), *properties = json_object_get(schema, "properties");

	(void)state;
	/* Pixels without a form are no image content. */
	expect(json_object_get(json_object_get(json_object_get(json_object_get(properties, "observe"), "properties"), "format"), "enum"), "[\"png\"]");
	expect(json_object_get(json_object_get(json_object_get(json_object_get(json_object_get(properties, "actions"), "items"), "properties"), "format"), "enum"),
	       "[\"png\",\"text\"]");
	expect(json_object_get(json_object_get(json_object_get(json_object_get(json_object_get(properties, "actions"), "items"), "properties"), "format"), "description"),
	       "\"screenshot: of it\"");
	assert_string_equal(json_string_value(json_object_get(json_object_get(properties, "observe"), "type")), "object");
	assert_string_equal(json_string_value(json_object_get(json_object_get(properties, "look"), "type")), "boolean");
	assert_null(json_object_get(schema, "required"));
	expect(json_object_get(json_object_get(named(list, "session_create"), "inputSchema"), "properties"),
	       "{\"image\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":9,\"description\":\"what\"},\"any\":{\"type\":\"string\",\"description\":\"what\"}}");
	tools_destroy(tools);
}

/* --- calls --- */

static const struct {
	const char *params;
	const char *header; /* Mcp-Param-Session */
	bool modern, rights;
	const char *tool; /* or NULL: refused with this code */
	int code;
} calls[] = {
	{"{\"name\":\"session_get\"}", NULL, false, true, "session_get", 0},
	{"{\"name\":\"session_get\",\"arguments\":null}", NULL, false, true, "session_get", 0},
	{"{\"name\":\"session_get\",\"arguments\":{\"session_id\":\"s1\"}}", NULL, false, true, "session_get", 0},
	{"{\"name\":\"session_get\",\"arguments\":[]}", NULL, false, true, NULL, -32602},
	{"{\"name\":\"session_get\",\"arguments\":\"{}\"}", NULL, false, true, NULL, -32602},
	{"{\"name\":\"nothing\"}", NULL, false, true, NULL, -32602},
	{"{\"name\":5}", NULL, false, true, NULL, -32602},
	{"{}", NULL, false, true, NULL, -32602},
	{"{\"name\":\"computer\"}", NULL, false, false, NULL, -32602},
	{"{\"name\":\"session_get\",\"arguments\":{\"session_id\":\"s1\"}}", "s1", true, true, "session_get", 0},
	{"{\"name\":\"session_get\",\"arguments\":{\"session_id\":\"s1\"}}", "=?base64?czE=?=", true, true, "session_get", 0},
	{"{\"name\":\"session_get\",\"arguments\":{\"session_id\":\"s1\"}}", NULL, true, true, NULL, -32020},
	{"{\"name\":\"session_get\",\"arguments\":{\"session_id\":\"s1\"}}", "s2", true, true, NULL, -32020},
	{"{\"name\":\"session_get\",\"arguments\":{}}", "s1", true, true, NULL, -32020},
	{"{\"name\":\"session_get\",\"arguments\":{\"session_id\":null}}", NULL, true, true, "session_get", 0},
	{"{\"name\":\"session_get\"}", NULL, true, true, "session_get", 0},
	{"{\"name\":\"session_list\"}", "s1", true, true, "session_list", 0},
};

static void test_calls(void **state)
{
	json_auto_t *actions = parse(document);
	struct tools *tools = tools_create(actions, &spec);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
		json_auto_t *params = parse(calls[i].params);
		const struct tools_view view = {tools, calls[i].rights ? always : only_get, NULL};
		const struct mcp_call call = {.params = params, .revision = calls[i].modern ? revisions : revision_newest_legacy()};
		const struct mcp_head head = {.params = {{"session", calls[i].header}}, .n_params = calls[i].header ? 1 : 0};
		const json_t *arguments = NULL;
		struct mcp_error e = {0};
		const struct tool *tool = tools_find(&view, &call, &head, &arguments, &e);

		if (tool ? !calls[i].tool || strcmp(tool->name, calls[i].tool) != 0 : calls[i].tool || e.code != calls[i].code)
			fail_msg("row %zu: %s: %s %d %s", i, calls[i].params, tool ? tool->name : "refused", e.code, e.message);
		assert_true(!arguments || json_is_object(arguments));
	}
	tools_destroy(tools);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flat_actions), cmocka_unit_test(test_lists), cmocka_unit_test(test_computer), cmocka_unit_test(test_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
