/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prompts: plain, with arguments, with a resource, with a picture, and one that needs to know something first. */
#include <string.h>

#include "session/base/util.h"
#include "tests/mcp/fixtures.h"

static const char list[] =
	"{\"prompts\":[{\"name\":\"test_simple_prompt\",\"description\":\"A plain prompt\"},"
	"{\"name\":\"test_prompt_with_arguments\",\"description\":\"A prompt of two arguments\",\"arguments\":["
	"{\"name\":\"arg1\",\"description\":\"The first\",\"required\":true},{\"name\":\"arg2\",\"description\":\"The second\",\"required\":true}]},"
	"{\"name\":\"test_prompt_with_embedded_resource\",\"description\":\"A prompt with a resource\",\"arguments\":["
	"{\"name\":\"resourceUri\",\"description\":\"Which one\",\"required\":true}]},"
	"{\"name\":\"test_prompt_with_image\",\"description\":\"A prompt with a picture\"},"
	"{\"name\":\"test_input_required_result_prompt\",\"description\":\"A prompt that asks first\"}]}";

int fixture_list_prompts(struct mcp_call *call, json_t **result, struct mcp_error *e)
{
	(void)call;
	(void)e;
	*result = fixture_json(list);
	return 0;
}

static const char *argument(const struct mcp_call *call, const char *name)
{
	const char *text = json_string_value(json_object_get(json_object_get(call->params, "arguments"), name));

	return text ? text : "";
}

/* One message of the user with this text; the caller's reference. */
static json_t *say(const char *text)
{
	return json_pack("{s:s,s:{s:s,s:s}}", "role", "user", "content", "type", "text", "text", text);
}

static json_t *simple(const struct mcp_call *call)
{
	(void)call;
	return json_pack("{s:[o]}", "messages", say("This is a simple prompt for testing."));
}

static json_t *with_arguments(const struct mcp_call *call)
{
	auto_free char *text = util_printf("Prompt with arguments: arg1='%s', arg2='%s'", argument(call, "arg1"), argument(call, "arg2"));

	return json_pack("{s:[o]}", "messages", say(text));
}

static json_t *with_resource(const struct mcp_call *call)
{
	json_t *resource = json_pack("{s:s,s:s,s:s}", "uri", argument(call, "resourceUri"), "mimeType", "text/plain", "text",
	                             "Embedded resource content for testing.");

	return json_pack("{s:[{s:s,s:{s:s,s:o}},o]}", "messages", "role", "user", "content", "type", "resource", "resource", resource,
	                 say("Please process the embedded resource above."));
}

static json_t *with_image(const struct mcp_call *call)
{
	json_t *image = json_pack("{s:s,s:s,s:s}", "type", "image", "mimeType", "image/png", "data",
	                          "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==");

	(void)call;
	return json_pack("{s:[{s:s,s:o},o]}", "messages", "role", "user", "content", image, say("Please analyze the image above."));
}

static json_t *asks_first(const struct mcp_call *call)
{
	const json_t *context = json_object_get(json_object_get(call->params, "inputResponses"), "user_context");

	if (context)
		return json_pack("{s:[o]}", "messages", say(json_string_value(json_object_get(json_object_get(context, "content"), "context"))));
	return fixture_json("{\"resultType\":\"input_required\",\"inputRequests\":{\"user_context\":{\"method\":\"elicitation/create\",\"params\":"
	                    "{\"mode\":\"form\",\"message\":\"What context should the prompt use?\",\"requestedSchema\":{\"type\":\"object\","
	                    "\"properties\":{\"context\":{\"type\":\"string\"}},\"required\":[\"context\"]}}}}}");
}

int fixture_get_prompt(struct mcp_call *call, json_t **result, struct mcp_error *e)
{
	static const struct {
		const char *name;
		json_t *(*make)(const struct mcp_call *call);
	} rows[] = {{"test_simple_prompt", simple}, {"test_prompt_with_arguments", with_arguments},
	            {"test_prompt_with_embedded_resource", with_resource}, {"test_prompt_with_image", with_image},
	            {"test_input_required_result_prompt", asks_first}};
	const char *name = json_string_value(json_object_get(call->params, "name"));

	for (size_t i = 0; name && i < ARRAY_LEN(rows); i++) {
		if (strcmp(rows[i].name, name) != 0)
			continue;
		*result = rows[i].make(call);
		return 0;
	}
	return mcp_refuse(e, MCP_BAD_PARAMS, call->revision->modern, NULL, "there is no such prompt");
}
