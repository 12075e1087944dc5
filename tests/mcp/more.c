/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The fixtures, joined: which methods and tools they take. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "session/base/util.h"
#include "tests/mcp/fixtures.h"

#define TEXT_MAX 1024
#define LIST_TTL_MS 60000

static const struct fixture_tools *const tools[] = {&fixture_plain, &fixture_asking, &fixture_needing, &fixture_changing};
static const struct fixture_tool extra = {"extra_tool", NULL, "{\"content\":[]}", NULL};

json_t *fixture_json(const char *text)
{
	json_t *json = json_loads(text, 0, NULL);

	if (!json)
		DIE("a fixture is no JSON: %s", text);
	return json;
}

json_t *fixture_text(const char *fmt, ...)
{
	char text[TEXT_MAX];
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return json_pack("{s:[{s:s,s:s}]}", "content", "type", "text", "text", text);
}

bool fixture_can(const struct mcp_call *call, const char *capability)
{
	return json_is_object(json_object_get(call->caps, capability));
}

/* --- tools --- */

static const struct fixture_tool *find_tool(const char *name)
{
	for (size_t i = 0; name && i < ARRAY_LEN(tools); i++) {
		for (size_t k = 0; k < tools[i]->n_rows; k++) {
			if (strcmp(tools[i]->rows[k].name, name) == 0)
				return &tools[i]->rows[k];
		}
	}
	return name && fixture_has_extra_tool() && strcmp(name, extra.name) == 0 ? &extra : NULL;
}

static json_t *describe_tool(const struct fixture_tool *tool)
{
	json_t *schema = fixture_json(tool->schema ? tool->schema : "{\"type\":\"object\",\"properties\":{}}");
	auto_free char *doc = util_printf("Fixture of the conformance suite: %s", tool->name);

	return json_pack("{s:s,s:s,s:o}", "name", tool->name, "description", doc, "inputSchema", schema);
}

static void list_tools(const char *what, bool modern, json_t *array)
{
	(void)modern;
	if (strcmp(what, "tools/list") != 0)
		return;
	for (size_t i = 0; i < ARRAY_LEN(tools); i++) {
		for (size_t k = 0; k < tools[i]->n_rows; k++)
			(void)json_array_append_new(array, describe_tool(&tools[i]->rows[k]));
	}
	if (fixture_has_extra_tool())
		(void)json_array_append_new(array, describe_tool(&extra));
}

static int call_tool(struct mcp_call *call, json_t **result, struct mcp_error *e)
{
	const struct fixture_tool *tool = find_tool(json_string_value(json_object_get(call->params, "name")));

	if (!tool)
		return mcp_refuse(e, MCP_BAD_PARAMS, call->revision->modern, NULL, "there is no such fixture");
	if (tool->run)
		return tool->run(call, result, e);
	*result = fixture_json(tool->result);
	return 0;
}

/* --- methods --- */

static int answer_empty(struct mcp_call *call, json_t **result, struct mcp_error *e)
{
	(void)call;
	(void)e;
	*result = json_object();
	return 0;
}

static int complete(struct mcp_call *call, json_t **result, struct mcp_error *e)
{
	(void)call;
	(void)e;
	*result = fixture_json("{\"completion\":{\"values\":[\"paris\",\"park\"],\"total\":2,\"hasMore\":false}}");
	return 0;
}

enum { LEGACY = 1, MODERN = 2, CACHED = 4 };

static const struct {
	const char *method;
	int flags;
	fixture_fn *run;
} methods[] = {
	{"tools/call", LEGACY | MODERN, call_tool},
	{"prompts/list", LEGACY | MODERN | CACHED, fixture_list_prompts},
	{"prompts/get", LEGACY | MODERN, fixture_get_prompt},
	{"resources/list", LEGACY | MODERN | CACHED, fixture_list_resources},
	{"resources/templates/list", LEGACY | MODERN | CACHED, fixture_list_templates},
	{"resources/read", LEGACY | MODERN | CACHED, fixture_read_resource},
	{"completion/complete", LEGACY | MODERN, complete},
	{"logging/setLevel", LEGACY, answer_empty},
	{"resources/subscribe", LEGACY, answer_empty},
	{"resources/unsubscribe", LEGACY, answer_empty},
	{"subscriptions/listen", MODERN, fixture_listen},
};

static int find_method(const struct mcp_call *call)
{
	for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
		if (strcmp(methods[i].method, call->method) == 0 && (methods[i].flags & (call->revision->modern ? MODERN : LEGACY)))
			return (int)i;
	}
	return -1;
}

static bool takes(const struct mcp_call *call)
{
	int row = find_method(call);

	return row > 0 || (row == 0 && find_tool(json_string_value(json_object_get(call->params, "name"))));
}

static int run(struct mcp_call *call, json_t **result, struct mcp_error *e)
{
	int row = find_method(call);

	if (methods[row].run(call, result, e) < 0)
		return -1;
	if (call->revision->modern && (methods[row].flags & CACHED))
		(void)json_object_update_new(*result, json_pack("{s:i,s:s}", "ttlMs", LIST_TTL_MS, "cacheScope", "private"));
	return 0;
}

static void add_capabilities(bool modern, json_t *capabilities)
{
	json_t *more = fixture_json(modern ? "{\"tools\":{\"listChanged\":true},\"prompts\":{\"listChanged\":true},\"resources\":{},\"completions\":{}}"
	                                   : "{\"tools\":{\"listChanged\":true},\"prompts\":{},\"resources\":{\"subscribe\":true},"
	                                     "\"logging\":{},\"completions\":{}}");

	(void)json_object_update_new(capabilities, more);
}

static const struct mcp_more fixtures = {
	.list = list_tools, .capabilities = add_capabilities, .takes = takes, .run = run, .response = fixture_response};
const struct mcp_more *const mcp_more = &fixtures;
