/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages taken apart and put together. */
#include "session/mcp/envelope.h"

#include <string.h>

#include "session/base/json_text.h"
#include "session/base/limits.h"
#include "session/base/util.h"

/* A string without NUL, or NULL. */
static const char *text_of(const json_t *value)
{
	const char *text = json_string_value(value);

	return text && strlen(text) == json_string_length(value) ? text : NULL;
}

static bool is_id(const json_t *id)
{
	return json_is_integer(id) || (json_is_string(id) && json_string_length(id) <= LIMIT_MCP_ID_BYTES);
}

static int read_request(const json_t *message, struct envelope *out, struct mcp_error *e)
{
	const json_t *params = json_object_get(message, "params");

	out->kind = json_object_get(message, "id") ? ENVELOPE_REQUEST : ENVELOPE_NOTIFICATION;
	out->method = text_of(json_object_get(message, "method"));
	if (!out->method)
		return mcp_refuse(e, MCP_INVALID, false, NULL, "the method must be a string");
	if (params && !json_is_object(params))
		return mcp_refuse(e, MCP_INVALID, false, NULL, "params must be an object");
	out->params = params;
	return 0;
}

static int read_response(const json_t *message, struct envelope *out, struct mcp_error *e)
{
	out->kind = ENVELOPE_RESPONSE;
	if (!out->id || !json_object_get(message, "result") == !json_object_get(message, "error"))
		return mcp_refuse(e, MCP_INVALID, false, NULL, "it has no method, and is no response with an id and either result or error");
	return 0;
}

int envelope_read(const json_t *message, struct envelope *out, struct mcp_error *e)
{
	const json_t *id = json_object_get(message, "id");
	const char *version = text_of(json_object_get(message, "jsonrpc"));

	*out = (struct envelope){.id = is_id(id) ? id : NULL};
	if (!json_is_object(message))
		return mcp_refuse(e, MCP_INVALID, false, NULL, "a message must be an object");
	if (!version || strcmp(version, "2.0") != 0)
		return mcp_refuse(e, MCP_INVALID, false, NULL, "jsonrpc must be \"2.0\"");
	if (id && !out->id)
		return mcp_refuse(e, MCP_INVALID, false, NULL, "the id must be an integer, or a string of at most %d bytes; a notification has none",
		                  LIMIT_MCP_ID_BYTES);
	return json_object_get(message, "method") ? read_request(message, out, e) : read_response(message, out, e);
}

bool envelope_same_id(const json_t *a, const json_t *b)
{
	return json_equal(a, b);
}

static json_t *answer(const json_t *id)
{
	json_t *object = json_pack("{s:s}", "jsonrpc", "2.0");

	(void)json_object_set_new(object, "id", id ? json_deep_copy(id) : json_null());
	return object;
}

json_t *envelope_result(const json_t *id, json_t *result)
{
	json_t *object = answer(id);

	(void)json_object_set_new(object, "result", result);
	return object;
}

json_t *envelope_error(const json_t *id, const struct mcp_error *e)
{
	json_t *object = answer(id), *error = json_pack("{s:i,s:s}", "code", e->code, "message", e->message);

	if (e->data)
		(void)json_object_set(error, "data", e->data);
	(void)json_object_set_new(object, "error", error);
	return object;
}

json_t *envelope_notification(const char *method, json_t *params)
{
	return json_pack("{s:s,s:s,s:o}", "jsonrpc", "2.0", "method", method, "params", params);
}

/* A line break between two tokens would end the event that carries the text; within a string there is none. */
static void join_lines(char *text, size_t len)
{
	for (char *at = text; (at = memchr(at, '\n', len - (size_t)(at - text)));)
		*at = ' ';
	for (char *at = text; (at = memchr(at, '\r', len - (size_t)(at - text)));)
		*at = ' ';
}

char *envelope_splice(const json_t *id, const json_t *first, const char *text, size_t len, size_t *out_len)
{
	json_auto_t *head = envelope_result(id, first ? json_deep_copy(first) : json_object());
	size_t head_len, at;
	auto_free char *start = json_text(head, &head_len);
	bool has_first = json_object_size(first) > 0, has_members = len > 2;
	char *out;

	if (len < 2 || text[0] != '{' || text[len - 1] != '}')
		return NULL;
	/* The head ends with the brace of its result and its own. */
	at = head_len - 2;
	out = util_alloc(at + 1 + len + 2);
	memcpy(out, start, at);
	if (has_first && has_members)
		out[at++] = ',';
	memcpy(out + at, text + 1, len - 1);
	join_lines(out + at, len - 1);
	at += len - 1;
	out[at++] = '}';
	out[at] = '\0';
	*out_len = at;
	return out;
}
