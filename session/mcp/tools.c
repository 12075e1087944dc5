/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tools as rows, and their schemas. */
#include "session/mcp/tools.h"

#include <string.h>
#include <strings.h>

#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/mcp/call.h"
#include "session/mcp/flat.h"
#include "session/mcp/forms.h"
#include "session/mcp/more.h"

#define SHOWN_MAX 80
#define ACT "POST", "/v1/sessions/{id}/act"
#define FILES "/v1/sessions/{id}/files/{path}"
#define HEADER "x-mcp-header"

const struct tool tools_rows[] = {
	{"computer", "Computer", "Runs a list of mouse, keyboard, window and waiting actions in a session, in order, up to the first that fails, and "
	 "answers with a picture of the screen. Without actions it only looks.", ACT, TOOL_ENDS | TOOL_SESSION | TOOL_STAGE, NULL,
	 &mcp_computer_output},
	{"run_command", "Run a command", "Runs a command inside a session and waits for its end.", ACT, TOOL_ENDS | TOOL_SESSION | TOOL_STAGE,
	 &mcp_command_form, &mcp_command_output},
	{"read_file", "Read a file", "Reads a text file or a part of it, or a picture, of a session.", "GET", FILES,
	 TOOL_READS | TOOL_SESSION | TOOL_FILES, &mcp_read_form, &mcp_read_output},
	{"write_file", "Write a file", "Writes a whole file in a session: the new content is there all at once, or the old one stays.", "PUT", FILES,
	 TOOL_ENDS | TOOL_AGAIN | TOOL_SESSION | TOOL_FILES, &mcp_write_form, &mcp_write_output},
	{"list_files", "List a folder", "Lists what is in a folder of a session: names, kinds and sizes.", "GET", FILES,
	 TOOL_READS | TOOL_SESSION | TOOL_FILES, &mcp_folder_form, &mcp_folder_output},
	{"session_create", "Make a session", "Makes a session, a desktop of its own, and waits until it is ready.", "POST", "/v1/sessions", 0, NULL,
	 &mcp_session_output},
	{"session_list", "List sessions", "Lists the sessions that this token may see.", "GET", "/v1/sessions", TOOL_READS, &mcp_list_form,
	 &mcp_sessions_output},
	{"session_get", "Show a session", "Shows the state of a session.", "GET", "/v1/sessions/{id}", TOOL_READS | TOOL_SESSION, &mcp_none_form,
	 &mcp_session_output},
	{"session_end", "End a session", "Ends a session and all that is in it, and waits until it is gone.", "DELETE", "/v1/sessions/{id}",
	 TOOL_ENDS | TOOL_AGAIN | TOOL_SESSION, &mcp_none_form, &mcp_end_output},
};
const size_t tools_n = ARRAY_LEN(tools_rows);

struct tools {
	json_t *inputs[ARRAY_LEN(tools_rows)], *outputs[ARRAY_LEN(tools_rows)];
};

/* --- schemas --- */

static json_t *flat_form(const struct form *form)
{
	json_t *schema = form_schema(form), *flat = flat_schema(schema);

	json_decref(schema);
	return flat;
}

static json_t *open_form(const struct form *form)
{
	json_t *schema = flat_form(form);

	flat_open(schema);
	return schema;
}

/* A picture goes out as image content, which raw pixels are not: neither as a choice nor in what is said of it, "…; raw: …" to its end. */
static void drop_raw(json_t *format)
{
	json_t *choices = json_object_get(format, "enum");
	const char *doc = json_string_value(json_object_get(format, "description")), *raw = doc ? strstr(doc, "; raw:") : NULL;

	for (size_t i = json_array_size(choices); i-- > 0;)
		if (strcmp(json_string_value(json_array_get(choices, i)), "raw") == 0)
			(void)json_array_remove(choices, i);
	if (raw)
		(void)json_object_set_new(format, "description", json_stringn(doc, (size_t)(raw - doc)));
}

static json_t *computer_input(const json_t *document)
{
	const json_t *rows = json_object_get(document, "actions");
	json_t *schema = flat_schema(json_object_get(document, "act")), *properties = json_object_get(schema, "properties");
	json_t *actions = json_object_get(properties, "actions"), *items = flat_actions(rows);
	json_auto_t *look = form_schema(&mcp_look_form);
	auto_free char *lines = flat_actions_doc(rows);
	auto_free char *doc = util_printf("what to do, in order; none: only look. Fields without ? are required.%s", lines);

	drop_raw(json_object_get(json_object_get(items, "properties"), "format"));
	drop_raw(json_object_get(json_object_get(json_object_get(properties, "observe"), "properties"), "format"));
	(void)json_object_set_new(actions, "items", items);
	(void)json_object_set_new(actions, "description", json_string(doc));
	(void)json_object_set_new(actions, "default", json_array());
	(void)json_object_update(properties, json_object_get(look, "properties"));
	(void)json_object_del(json_object_get(properties, "observe"), "default");
	(void)json_object_set_new(json_object_get(properties, "observe"), "description", json_string("how to wait and look"));
	(void)json_object_del(schema, "required");
	return schema;
}

/* The argument that names a session comes first. */
static void add_session(json_t *schema)
{
	json_t *properties = json_pack("{s:{s:s,s:s,s:s}}", "session_id", "type", "string", "description",
	                               "the session; may be left out with a token of one session", HEADER, "Session");

	(void)json_object_update(properties, json_object_get(schema, "properties"));
	(void)json_object_set_new(schema, "properties", properties);
}

struct tools *tools_create(const json_t *actions, const struct form *spec)
{
	struct tools *tools = util_zalloc(sizeof(*tools));

	for (size_t i = 0; i < tools_n; i++) {
		const struct tool *row = &tools_rows[i];

		if (row->input)
			tools->inputs[i] = flat_form(row->input);
		else
			tools->inputs[i] = row->flags & TOOL_STAGE ? computer_input(actions) : flat_form(spec);
		if (row->flags & TOOL_SESSION)
			add_session(tools->inputs[i]);
		tools->outputs[i] = open_form(row->output);
	}
	return tools;
}

void tools_destroy(struct tools *tools)
{
	for (size_t i = 0; tools && i < tools_n; i++) {
		json_decref(tools->inputs[i]);
		json_decref(tools->outputs[i]);
	}
	free(tools);
}

/* --- the list --- */

static json_t *annotations(const struct tool *row)
{
	return json_pack("{s:s,s:b,s:b,s:b,s:b}", "title", row->title, "readOnlyHint", (row->flags & TOOL_READS) != 0, "destructiveHint",
	                 (row->flags & TOOL_ENDS) != 0, "idempotentHint", (row->flags & (TOOL_AGAIN | TOOL_READS)) != 0, "openWorldHint", 0);
}

/* Only modern clients know what to do with the mark of a header. */
static json_t *input_of(const struct tools *tools, size_t i, bool modern)
{
	json_t *schema = tools->inputs[i], *properties, *session;

	if (modern || !(tools_rows[i].flags & TOOL_SESSION))
		return json_incref(schema);
	schema = json_copy(schema);
	properties = json_copy(json_object_get(schema, "properties"));
	session = json_copy(json_object_get(properties, "session_id"));
	(void)json_object_del(session, HEADER);
	(void)json_object_set_new(properties, "session_id", session);
	(void)json_object_set_new(schema, "properties", properties);
	return schema;
}

json_t *tools_list(const struct tools_view *view, const struct revision *revision)
{
	json_t *list = json_array();

	for (size_t i = 0; i < tools_n; i++) {
		const struct tool *row = &tools_rows[i];
		json_t *tool;

		if (!view->may(view->arg, row->method, row->path))
			continue;
		tool = json_pack("{s:s,s:s,s:o,s:o}", "name", row->name, "description", row->doc, "inputSchema",
		                 input_of(view->tools, i, revision->modern), "annotations", annotations(row));
		if (revision->structured) {
			(void)json_object_set_new(tool, "title", json_string(row->title));
			(void)json_object_set(tool, "outputSchema", view->tools->outputs[i]);
		}
		(void)json_array_append_new(list, tool);
	}
	if (mcp_more && mcp_more->list)
		mcp_more->list("tools/list", revision->modern, list);
	return list;
}

/* --- finding one --- */

/* The field of a name that stands at most once; NULL when it does not stand there. */
static const char *param_of(const struct mcp_head *head, const char *name)
{
	for (size_t i = 0; i < head->n_params; i++)
		if (strcasecmp(head->params[i].name, name) == 0)
			return head->params[i].value;
	return NULL;
}

static int check_param(const char *name, const json_t *value, const struct mcp_head *head, struct mcp_error *e)
{
	const char *sent = param_of(head, name);
	auto_free char *field = util_printf(MCP_PARAM_FIELD "%.40s", name);
	auto_free char *text = NULL;

	if (!value || json_is_null(value)) {
		if (!sent)
			return 0;
		return mcp_refuse(e, MCP_HEADER, true, NULL, "the header %s stands for an argument that is not there", field);
	}
	text = json_is_string(value) ? util_strdup(json_string_value(value)) : json_dumps(value, JSON_ENCODE_ANY);
	return revision_check_header(field, sent, text, e);
}

int tools_check_params(const json_t *schema, const json_t *arguments, const struct mcp_head *head, struct mcp_error *e)
{
	const char *name;
	json_t *property;

	json_object_foreach(json_object_get(schema, "properties"), name, property) {
		const char *header = json_string_value(json_object_get(property, HEADER));

		if (header && check_param(header, json_object_get(arguments, name), head, e) < 0)
			return -1;
	}
	return 0;
}

static size_t index_of(const struct tools_view *view, const char *name)
{
	for (size_t i = 0; name && i < tools_n; i++)
		if (strcmp(tools_rows[i].name, name) == 0 && view->may(view->arg, tools_rows[i].method, tools_rows[i].path))
			return i;
	return tools_n;
}

const struct tool *tools_find(const struct tools_view *view, const struct mcp_call *call, const struct mcp_head *head,
                              const json_t **arguments, struct mcp_error *e)
{
	const json_t *named = json_object_get(call->params, "name");
	const char *name = json_string_value(named);
	const json_t *given = json_object_get(call->params, "arguments");
	bool modern = call->revision->modern;
	/* A name that goes on behind a NUL is not the name before it. */
	size_t i = name && strlen(name) == json_string_length(named) ? index_of(view, name) : tools_n;
	char shown[SHOWN_MAX];

	if (i == tools_n)
		(void)mcp_refuse(e, MCP_BAD_PARAMS, modern, NULL, "there is no tool %s for this token; tools/list names them",
		                 name ? err_quote(shown, sizeof(shown), name, strlen(name)) : "without a name");
	else if (given && !json_is_object(given) && !json_is_null(given))
		(void)mcp_refuse(e, MCP_BAD_PARAMS, modern, NULL, "the arguments must be an object");
	else if (!modern || tools_check_params(view->tools->inputs[i], given, head, e) == 0) {
		*arguments = json_is_object(given) ? given : NULL;
		return &tools_rows[i];
	}
	return NULL;
}
