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

static void scan_string(struct envelope_scan *scan, char c)
{
	if (scan->is_escaped)
		scan->is_escaped = false;
	else if (c == '\\')
		scan->is_escaped = true;
	else if (c == '"')
		scan->in_string = false;
}

bool envelope_scan(struct envelope_scan *scan, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		char c = text[i];

		if (scan->has_ended)
			return false;
		if (scan->in_string)
			scan_string(scan, c);
		else if (c == '{' || c == '[')
			scan->depth++;
		else if (scan->depth == 0)
			return false;
		else if (c == '}' || c == ']')
			scan->has_ended = --scan->depth == 0;
		else
			scan->in_string = c == '"';
	}
	return true;
}

void envelope_join_lines(char *text, size_t len)
{
	for (char *at = text; (at = memchr(at, '\n', len - (size_t)(at - text)));)
		*at = ' ';
	for (char *at = text; (at = memchr(at, '\r', len - (size_t)(at - text)));)
		*at = ' ';
}

char *envelope_splice_head(const json_t *id, const json_t *first, bool more, size_t *out_len)
{
	json_auto_t *head = envelope_result(id, first ? json_deep_copy(first) : json_object());
	size_t len;
	char *text = json_text(head, &len);

	/* It ends with the brace of its result and its own. */
	len -= 2;
	if (json_object_size(first) > 0 && more)
		text[len++] = ',';
	*out_len = len;
	return text;
}

char *envelope_splice(const json_t *id, const json_t *first, const char *text, size_t len, size_t *out_len)
{
	size_t at;
	auto_free char *head = envelope_splice_head(id, first, len > 2, &at);
	struct envelope_scan scan = {.depth = 0};
	char *out;

	if (len < 2 || text[0] != '{' || text[len - 1] != '}' || !envelope_scan(&scan, text, len) || !scan.has_ended)
		return NULL;
	out = util_alloc(at + len + sizeof(ENVELOPE_SPLICE_TAIL));
	memcpy(out, head, at);
	memcpy(out + at, text + 1, len - 1);
	envelope_join_lines(out + at, len - 1);
	at += len - 1;
	memcpy(out + at, ENVELOPE_SPLICE_TAIL, sizeof(ENVELOPE_SPLICE_TAIL));
	*out_len = at + sizeof(ENVELOPE_SPLICE_TAIL) - 1;
	return out;
}
