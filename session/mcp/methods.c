/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Methods as rows, and the answers of those that need nothing but the tables. */
#include "session/mcp/methods.h"

#include <string.h>

#include "session/base/util.h"
#include "session/mcp/more.h"

#define SHOWN_MAX 80
#define DISCOVER_TTL_MS 3600000
#define LIST_TTL_MS 300000

static const char instructions[] =
	"Desktops in jails, to look at and to act on. The tool computer runs a list of actions and answers with a picture of the screen once "
	"it is quiet; coordinates are pixels of that picture. Without actions it only looks. run_command, read_file, write_file and list_files work "
	"inside the same session. A token of one session needs no session_id; any other begins with session_create.";

json_t *methods_server_info(void)
{
	return json_pack("{s:s,s:s,s:s}", "name", "glovebox", "title", "Glovebox", "version", GLOVEBOX_VERSION);
}

static json_t *capabilities(const struct mcp_call *call)
{
	json_t *out = json_pack("{s:{}}", "tools");

	if (mcp_more && mcp_more->capabilities)
		mcp_more->capabilities(call->revision->modern, out);
	return out;
}

static int answer_initialize(const struct mcp_call *call, const struct tools_view *view, json_t **result, struct mcp_error *e)
{
	const struct revision *asked = revision_find(json_string_value(json_object_get(call->params, "protocolVersion")));

	(void)view;
	(void)e;
	if (!asked || asked->modern)
		asked = revision_newest_legacy();
	*result = json_pack("{s:s,s:o,s:o,s:s}", "protocolVersion", asked->name, "capabilities", capabilities(call), "serverInfo",
	                    methods_server_info(), "instructions", instructions);
	return 0;
}

static int answer_ping(const struct mcp_call *call, const struct tools_view *view, json_t **result, struct mcp_error *e)
{
	(void)call;
	(void)view;
	(void)e;
	*result = json_object();
	return 0;
}

static int answer_discover(const struct mcp_call *call, const struct tools_view *view, json_t **result, struct mcp_error *e)
{
	(void)view;
	(void)e;
	*result = json_pack("{s:o,s:o,s:s,s:i,s:s}", "supportedVersions", revisions_list(), "capabilities", capabilities(call), "instructions",
	                    instructions, "ttlMs", DISCOVER_TTL_MS, "cacheScope", "public");
	return 0;
}

/* All of them have room in one page: there is no cursor that we have given. */
static int answer_tools(const struct mcp_call *call, const struct tools_view *view, json_t **result, struct mcp_error *e)
{
	if (json_object_get(call->params, "cursor"))
		return mcp_refuse(e, MCP_BAD_PARAMS, call->revision->modern, NULL, "the cursor is refused: the list has one page");
	*result = json_pack("{s:o}", "tools", tools_list(view, call->revision));
	if (call->revision->modern)
		(void)json_object_update_new(*result, json_pack("{s:i,s:s}", "ttlMs", LIST_TTL_MS, "cacheScope", "private"));
	return 0;
}

static const struct method methods[] = {
	{"initialize", true, false, METHOD_BEGIN, answer_initialize},
	{"ping", true, false, METHOD_PLAIN, answer_ping},
	{"server/discover", false, true, METHOD_PLAIN, answer_discover},
	{"tools/list", true, true, METHOD_PLAIN, answer_tools},
	{"tools/call", true, true, METHOD_TOOL, NULL},
};

const struct method *method_find(const struct mcp_call *call, struct mcp_error *e)
{
	bool modern = call->revision->modern;
	char shown[SHOWN_MAX];

	for (size_t i = 0; i < ARRAY_LEN(methods); i++)
		if (strcmp(methods[i].name, call->method) == 0 && (modern ? methods[i].modern : methods[i].legacy))
			return &methods[i];
	(void)mcp_refuse(e, MCP_NO_METHOD, modern, NULL, "the method %s is not offered in revision %s",
	                 err_quote(shown, sizeof(shown), call->method, strlen(call->method)), call->revision->name);
	return NULL;
}

int methods_answer(const struct method *method, const struct mcp_call *call, const struct tools_view *view, json_t **result,
                   struct mcp_error *e)
{
	return method->answer(call, view, result, e);
}
