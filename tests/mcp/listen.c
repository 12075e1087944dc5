/* SPDX-License-Identifier: GPL-2.0-or-later */
/* subscriptions/listen: a stream that tells of changes until the client leaves; and tools that make such changes (modern revisions). */
#include "session/base/co.h"
#include "session/base/util.h"
#include "session/mcp/revisions.h"
#include "tests/mcp/fixtures.h"

#define META_SUBSCRIPTION MCP_META "subscriptionId"

struct listener {
	struct listener *next;
	struct mcp_call *call;
	struct co_event never;
};

static struct listener *listeners;
static bool has_extra_tool;

bool fixture_has_extra_tool(void)
{
	return has_extra_tool;
}

static json_t *subscription(const struct mcp_call *call)
{
	return json_pack("{s:o}", META_SUBSCRIPTION, json_deep_copy(call->id));
}

int fixture_listen(struct mcp_call *call, json_t **result, struct mcp_error *e)
{
	const json_t *filter = json_object_get(call->params, "notifications");
	struct listener self = {.next = listeners, .call = call}, **place = &listeners;
	struct err why = {0};

	(void)result;
	mcp_notify(call, "notifications/subscriptions/acknowledged",
	           json_pack("{s:o,s:o}", "_meta", subscription(call), "notifications", filter ? json_deep_copy(filter) : json_object()));
	listeners = &self;
	while (co_wait_event(&self.never, CO_FOREVER, &why) == 0)
		continue;
	while (*place != &self)
		place = &(*place)->next;
	*place = self.next;
	return mcp_refuse(e, MCP_INTERNAL, true, NULL, "%s", why.msg);
}

/* Tells all who listen to this kind of change. */
static void tell(const char *kind, const char *method)
{
	for (struct listener *listener = listeners; listener; listener = listener->next) {
		if (json_is_true(json_object_get(json_object_get(listener->call->params, "notifications"), kind)))
			mcp_notify(listener->call, method, json_pack("{s:o}", "_meta", subscription(listener->call)));
	}
}

static int change_tools(struct mcp_call *call, json_t **result, struct mcp_error *e)
{
	(void)call;
	(void)e;
	has_extra_tool = !has_extra_tool;
	tell("toolsListChanged", "notifications/tools/list_changed");
	*result = fixture_text("ok");
	return 0;
}

static int change_prompts(struct mcp_call *call, json_t **result, struct mcp_error *e)
{
	(void)call;
	(void)e;
	tell("promptsListChanged", "notifications/prompts/list_changed");
	*result = fixture_text("ok");
	return 0;
}

static const struct fixture_tool rows[] = {
	{"test_trigger_tool_change", NULL, NULL, change_tools},
	{"test_trigger_prompt_change", NULL, NULL, change_prompts},
};
const struct fixture_tools fixture_changing = {rows, ARRAY_LEN(rows)};
