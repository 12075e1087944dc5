/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages of MCP: kind, era, headers. */
#include "session/cli/mcp_message.h"

#include <string.h>

#include "session/base/base64.h"
#include "session/base/util.h"
#include "session/mcp/wire.h"

#define SCHEMA_DEPTH 8 /* objects within the arguments of a tool that are looked into */

const char *message_string(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

struct message message_read(json_t *json)
{
	struct message message = {.json = json, .kind = MESSAGE_OTHER, .method = ""};
	const char *method = message_string(json, "method");

	message.id = json_object_get(json, "id");
	message.params = json_object_get(json, "params");
	message.version = message_string(json_object_get(message.params, "_meta"), MCP_META_VERSION);
	if (method) {
		message.method = method;
		message.kind = message.id ? MESSAGE_REQUEST : MESSAGE_NOTIFICATION;
	} else if (message.id && (json_object_get(json, "result") || json_object_get(json, "error"))) {
		message.kind = MESSAGE_RESPONSE;
	}
	message.is_modern = message.version || strcmp(message.method, "server/discover") == 0;
	return message;
}

/* --- headers --- */

/* A value that cannot stand in a header as it is, or would be read as something else there. */
static bool needs_base64(const char *value, size_t len)
{
	size_t prefix = strlen(MCP_BASE64_BEFORE), suffix = strlen(MCP_BASE64_AFTER);

	if (len == 0 || strchr(" \t", value[0]) || strchr(" \t", value[len - 1]))
		return true;
	if (len >= prefix + suffix && memcmp(value, MCP_BASE64_BEFORE, prefix) == 0 && memcmp(value + len - suffix, MCP_BASE64_AFTER, suffix) == 0)
		return true;
	for (size_t i = 0; i < len; i++) {
		if ((value[i] < ' ' || value[i] > '~') && value[i] != '\t')
			return true;
	}
	return false;
}

static void add_header(json_t *headers, const char *name, const char *suffix, const char *value, size_t len)
{
	auto_free char *coded = needs_base64(value, len) ? base64_encode(value, len, NULL) : NULL;
	auto_free char *line = coded ? util_printf("%s%s: " MCP_BASE64_BEFORE "%s" MCP_BASE64_AFTER, name, suffix, coded)
	                             : util_printf("%s%s: %s", name, suffix, value);

	(void)json_array_append_new(headers, json_string(line));
}

/* An argument as its header says it; NULL for what has none. The caller's. */
static char *primitive_text(const json_t *value, size_t *len)
{
	char *text = NULL;

	if (json_is_string(value)) {
		*len = json_string_length(value);
		text = util_alloc(*len + 1);
		memcpy(text, json_string_value(value), *len + 1);
		return text;
	}
	if (json_is_boolean(value))
		text = util_strdup(json_is_true(value) ? "true" : "false");
	else if (json_is_number(value))
		text = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));
	*len = text ? strlen(text) : 0;
	return text;
}

static void add_arguments(json_t *headers, const struct message *message, const json_t *tools)
{
	const char *tool = message_string(message->params, "name");
	const json_t *rows = tool ? json_object_get(tools, tool) : NULL, *row, *key;
	size_t i, k;

	json_array_foreach(rows, i, row) {
		const json_t *value = json_object_get(message->params, "arguments");
		auto_free char *text = NULL;
		size_t len;

		json_array_foreach(json_object_get(row, "path"), k, key)
			value = json_object_get(value, json_string_value(key));
		text = primitive_text(value, &len);
		if (text)
			add_header(headers, MCP_PARAM_FIELD, message_string(row, "header"), text, len);
	}
}

json_t *message_headers(const struct message *message, const json_t *tools)
{
	const char *member = mcp_name_member(message->method);
	const json_t *name = member ? json_object_get(message->params, member) : NULL;
	json_t *headers = json_array();

	if (message->version)
		add_header(headers, "MCP-Protocol-Version", "", message->version, strlen(message->version));
	add_header(headers, "Mcp-Method", "", message->method, strlen(message->method));
	if (json_is_string(name))
		add_header(headers, "Mcp-Name", "", json_string_value(name), json_string_length(name));
	if (strcmp(message->method, "tools/call") == 0)
		add_arguments(headers, message, tools);
	return headers;
}

/* --- what tools say of their arguments --- */

static bool is_token(const char *text)
{
	return *text && text[strspn(text, "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")] == '\0';
}

static void learn_schema(json_t *rows, const json_t *schema, json_t *path, int depth)
{
	json_t *properties = json_object_get(schema, "properties"), *property;
	const char *key;

	if (depth > SCHEMA_DEPTH)
		return;
	json_object_foreach(properties, key, property) {
		const char *header = message_string(property, "x-mcp-header");

		(void)json_array_append_new(path, json_string(key));
		if (header && is_token(header))
			(void)json_array_append_new(rows, json_pack("{s:s, s:o}", "header", header, "path", json_copy(path)));
		learn_schema(rows, property, path, depth + 1);
		(void)json_array_remove(path, json_array_size(path) - 1);
	}
}

void message_learn_tools(json_t *known, const json_t *result)
{
	const json_t *tool;
	size_t i;

	json_array_foreach(json_object_get(result, "tools"), i, tool) {
		const char *name = message_string(tool, "name");
		json_auto_t *path = json_array();
		json_t *rows = json_array();

		learn_schema(rows, json_object_get(tool, "inputSchema"), path, 0);
		(void)json_object_set_new(known, name ? name : "", rows);
	}
}

json_t *message_error(const json_t *id, int code, const char *text, const json_t *data)
{
	json_t *error = json_pack("{s:i, s:s}", "code", code, "message", text);
	json_t *response = json_pack("{s:s, s:o, s:o}", "jsonrpc", "2.0", "id", id ? json_deep_copy(id) : json_null(), "error", error);

	if (!response)
		DIE("no memory for an error");
	if (data)
		(void)json_object_set_new(error, "data", json_deep_copy(data));
	return response;
}
