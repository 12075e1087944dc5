/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Resources: a text, bytes, one to be watched, and those of a template. */
#include <string.h>

#include "session/base/util.h"
#include "tests/mcp/fixtures.h"

#define RESOURCE_NOT_FOUND (-32002) /* of legacy revisions */
#define TEMPLATE_START "test://template/"
#define TEMPLATE_END "/data"

int fixture_list_resources(struct mcp_call *call, json_t **result, struct mcp_error *e)
{
	(void)call;
	(void)e;
	*result = fixture_json("{\"resources\":["
	                       "{\"uri\":\"test://static-text\",\"name\":\"static-text\",\"description\":\"A text\",\"mimeType\":\"text/plain\"},"
	                       "{\"uri\":\"test://static-binary\",\"name\":\"static-binary\",\"description\":\"Bytes\",\"mimeType\":\"image/png\"},"
	                       "{\"uri\":\"test://watched-resource\",\"name\":\"watched-resource\",\"description\":\"To be watched\","
	                       "\"mimeType\":\"text/plain\"}]}");
	return 0;
}

int fixture_list_templates(struct mcp_call *call, json_t **result, struct mcp_error *e)
{
	(void)call;
	(void)e;
	*result = fixture_json("{\"resourceTemplates\":[{\"uriTemplate\":\"" TEMPLATE_START "{id}" TEMPLATE_END "\",\"name\":\"template\","
	                       "\"description\":\"Data by id\",\"mimeType\":\"application/json\"}]}");
	return 0;
}

/* The contents of a URI of the template; NULL when it is none. The caller's reference. */
static json_t *read_template(const char *uri)
{
	size_t start = strlen(TEMPLATE_START), end = strlen(TEMPLATE_END), len = strlen(uri);
	auto_free char *id = NULL, *text = NULL;

	if (len <= start + end || memcmp(uri, TEMPLATE_START, start) != 0 || strcmp(uri + len - end, TEMPLATE_END) != 0)
		return NULL;
	id = util_printf("%.*s", (int)(len - start - end), uri + start);
	text = util_printf("{\"id\":\"%s\",\"templateTest\":true,\"data\":\"Data for ID: %s\"}", id, id);
	return json_pack("{s:[{s:s,s:s,s:s}]}", "contents", "uri", uri, "mimeType", "application/json", "text", text);
}

int fixture_read_resource(struct mcp_call *call, json_t **result, struct mcp_error *e)
{
	static const struct {
		const char *uri, *type, *member, *content;
	} rows[] = {{"test://static-text", "text/plain", "text", "This is the content of the static text resource."},
	            {"test://static-binary", "image/png", "blob",
	             "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg=="},
	            {"test://watched-resource", "text/plain", "text", "watched"}};
	const char *uri = json_string_value(json_object_get(call->params, "uri"));

	for (size_t i = 0; uri && i < ARRAY_LEN(rows); i++) {
		if (strcmp(rows[i].uri, uri) != 0)
			continue;
		*result = json_pack("{s:[{s:s,s:s,s:s}]}", "contents", "uri", uri, "mimeType", rows[i].type, rows[i].member, rows[i].content);
		return 0;
	}
	*result = uri ? read_template(uri) : NULL;
	if (*result)
		return 0;
	(void)mcp_refuse(e, MCP_BAD_PARAMS, call->revision->modern, json_pack("{s:s*}", "uri", uri), "there is no such resource");
	if (!call->revision->modern)
		e->code = RESOURCE_NOT_FOUND;
	return -1;
}
