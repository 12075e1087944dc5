/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tools that answer at once: each kind of content, errors, progress, log messages, schemas. */
#include "session/base/util.h"
#include "tests/mcp/fixtures.h"

#define PNG                                                                                                              \
	"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg=="
#define WAV "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="
#define IMAGE "{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":\"" PNG "\"}"

/* Features of JSON Schema 2020-12 that must come through as they are. */
static const char schema_2020[] =
	"{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"type\":\"object\","
	"\"$defs\":{\"address\":{\"$anchor\":\"addressDef\",\"type\":\"object\","
	"\"properties\":{\"street\":{\"type\":\"string\"},\"city\":{\"type\":\"string\"}}}},"
	"\"properties\":{\"name\":{\"type\":\"string\"},\"address\":{\"$ref\":\"#/$defs/address\"},"
	"\"contactMethod\":{\"type\":\"string\",\"enum\":[\"phone\",\"email\"]},\"phone\":{\"type\":\"string\"},\"email\":{\"type\":\"string\"}},"
	"\"allOf\":[{\"anyOf\":[{\"required\":[\"phone\"]},{\"required\":[\"email\"]}]}],"
	"\"if\":{\"properties\":{\"contactMethod\":{\"const\":\"phone\"}},\"required\":[\"contactMethod\"]},"
	"\"then\":{\"required\":[\"phone\"]},\"else\":{\"required\":[\"email\"]},\"additionalProperties\":false}";

static int tell_progress(struct mcp_call *call, json_t **result, struct mcp_error *e)
{
	static const double parts[] = {0, 50, 100};

	(void)e;
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		mcp_progress(call, parts[i], 100, NULL);
	*result = fixture_text("done");
	return 0;
}

static void log_to_client(struct mcp_call *call, const char *text)
{
	mcp_notify(call, "notifications/message", json_pack("{s:s,s:s}", "level", "info", "data", text));
}

static int log_three(struct mcp_call *call, json_t **result, struct mcp_error *e)
{
	(void)e;
	log_to_client(call, "Tool execution started");
	log_to_client(call, "Tool processing data");
	log_to_client(call, "Tool execution completed");
	*result = fixture_text("done");
	return 0;
}

static int log_if_asked(struct mcp_call *call, json_t **result, struct mcp_error *e)
{
	(void)e;
	if (call->log_level)
		log_to_client(call, "asked for");
	*result = fixture_text("done");
	return 0;
}

static int need_sampling(struct mcp_call *call, json_t **result, struct mcp_error *e)
{
	if (call->revision->modern && !fixture_can(call, "sampling"))
		return mcp_refuse(e, MCP_NO_CAPABILITY, true, json_pack("{s:{s:{}}}", "requiredCapabilities", "sampling"),
		                  "this tool needs a client that samples");
	*result = fixture_text("ok");
	return 0;
}

static const struct fixture_tool rows[] = {
	{"test_simple_text", NULL, "{\"content\":[{\"type\":\"text\",\"text\":\"This is a simple text response for testing.\"}]}", NULL},
	{"test_image_content", NULL, "{\"content\":[" IMAGE "]}", NULL},
	{"test_audio_content", NULL, "{\"content\":[{\"type\":\"audio\",\"mimeType\":\"audio/wav\",\"data\":\"" WAV "\"}]}", NULL},
	{"test_embedded_resource", NULL,
	 "{\"content\":[{\"type\":\"resource\",\"resource\":{\"uri\":\"test://embedded-resource\",\"mimeType\":\"text/plain\","
	 "\"text\":\"This is an embedded resource content.\"}}]}", NULL},
	{"test_multiple_content_types", NULL,
	 "{\"content\":[{\"type\":\"text\",\"text\":\"Multiple content types test:\"}," IMAGE ",{\"type\":\"resource\",\"resource\":"
	 "{\"uri\":\"test://mixed-content-resource\",\"mimeType\":\"application/json\",\"text\":\"{\\\"test\\\":\\\"data\\\",\\\"value\\\":123}\"}}]}",
	 NULL},
	{"test_error_handling", NULL,
	 "{\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":\"This tool intentionally returns an error for testing\"}]}", NULL},
	{"test_tool_with_progress", NULL, NULL, tell_progress},
	{"test_tool_with_logging", NULL, NULL, log_three},
	{"test_logging_tool", NULL, NULL, log_if_asked},
	{"test_missing_capability", NULL, NULL, need_sampling},
	{"test_reconnection", NULL, "{\"content\":[{\"type\":\"text\",\"text\":\"ok\"}]}", NULL},
	{"json_schema_2020_12_tool", schema_2020, "{\"content\":[{\"type\":\"text\",\"text\":\"ok\"}]}", NULL},
	{"untyped_tool", "{\"type\":\"object\",\"properties\":{\"anything\":{}}}", "{\"content\":[]}", NULL}, /* the inspector warns of it */
	{"x_mcp_header_tool", "{\"type\":\"object\",\"properties\":{\"region\":{\"type\":\"string\",\"x-mcp-header\":\"Region\"}}}",
	 "{\"content\":[{\"type\":\"text\",\"text\":\"ok\"}]}", NULL},
};
const struct fixture_tools fixture_plain = {rows, ARRAY_LEN(rows)};
