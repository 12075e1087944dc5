/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a request says of itself. */
#include "session/mcp/call.h"

#include <string.h>

#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/mcp/methods.h"

void mcp_notify(struct mcp_call *call, const char *method, json_t *params)
{
	if (call->send)
		call->send(call, envelope_notification(method, params));
	else
		json_decref(params);
}

static json_t *number(double value)
{
	json_int_t whole = (json_int_t)value;

	return (double)whole < value || (double)whole > value ? json_real(value) : json_integer(whole);
}

void mcp_progress(struct mcp_call *call, double progress, double total, const char *message)
{
	json_t *params;

	if (!call->progress_token)
		return;
	params = json_pack("{s:O,s:o,s:s*}", "progressToken", (json_t *)(uintptr_t)call->progress_token, "progress", number(progress), "message", message);
	if (total > 0)
		(void)json_object_set_new(params, "total", number(total));
	mcp_notify(call, "notifications/progress", params);
}

void mcp_call_read(struct mcp_call *call, const json_t *caps)
{
	const json_t *meta = json_object_get(call->params, "_meta"), *token = json_object_get(meta, "progressToken");

	call->caps = call->revision->modern ? json_object_get(meta, MCP_META_CAPABILITIES) : caps;
	call->log_level = json_string_value(json_object_get(meta, MCP_META_LOG_LEVEL));
	/* Sent with each notification: one of any length is none. */
	call->progress_token = (json_is_string(token) && json_string_length(token) <= LIMIT_MCP_ID_BYTES) || json_is_integer(token) ? token : NULL;
}

json_t *mcp_result_members(const struct mcp_call *call)
{
	if (!call->revision->modern)
		return json_object();
	return json_pack("{s:s,s:{s:o}}", "resultType", "complete", "_meta", MCP_META_SERVER, methods_server_info());
}
