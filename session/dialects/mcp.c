/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tools of MCP: {"name","arguments"} as the front passes them on, and results with content for a model. `computer` takes the members of an
 * act, so what is wrong with them is told with pointers into the arguments.
 */
#include "session/dialects/mcp.h"

#include <stdio.h>
#include <string.h>

#include "session/base/json_text.h"
#include "session/base/util.h"
#include "session/dialects/dialect.h"
#include "session/dialects/rows.h"
#include "session/mcp/forms.h"
#include "session/mcp/result.h"

#define SHOWN_MAX 80

json_t *mcp_unwrap(const json_t *value)
{
	const char *text = json_string_value(value);
	json_t *parsed = NULL;
	struct err e;

	if (text && (text[0] == '[' || text[0] == '{') && json_parse(text, json_string_length(value), &parsed, &e) == 0)
		return parsed;
	return json_incref((json_t *)(uintptr_t)value);
}

json_t *mcp_failure(const json_t *result)
{
	const json_t *error = json_object_get(result, "error");
	auto_free char *text = NULL;

	if (json_is_true(json_object_get(result, "ok")))
		return NULL;
	text = util_printf("%s: %s", form_string(error, "code", "internal"), form_string(error, "detail", "it failed"));
	return result_of_failure(text);
}

/* --- computer: what is asked --- */

/* Members that some clients send as the text of a list or an object. A text for typing is none of them. */
static const char *const structured[] = {"path", "region", "argv", "args", "env", "hold", "keys", "actions", "observe", "seen", "mask"};

static void unwrap_members(json_t *object)
{
	for (size_t i = 0; i < ARRAY_LEN(structured); i++) {
		json_t *value = json_object_get(object, structured[i]);

		if (value)
			(void)json_object_set_new(object, structured[i], mcp_unwrap(value));
	}
}

/* Pixels without a form cannot be shown. */
static int check_format(const json_t *object, const char *path, struct err *e)
{
	if (strcmp(form_string(object, "format", ""), "raw") != 0)
		return 0;
	return err_set(e, ERR_BAD_FIELD, path, "\"raw\" is not allowed here: it must be png, jpeg or webp");
}

static int take_actions(json_t *act, struct err *e)
{
	const json_t *asked = json_object_get(act, "actions");
	json_t *list = json_is_array(asked) ? json_copy((json_t *)(uintptr_t)asked) : json_array(), *action;
	bool is_list = !asked || json_is_array(asked);
	size_t i;

	(void)json_object_set_new(act, "actions", list);
	if (!is_list)
		return err_set(e, ERR_BAD_FIELD, "/actions", "actions must be a list of objects, as it is or as the text of one");
	json_array_foreach(list, i, action) {
		json_t *copy = json_copy(action);
		char path[48];

		(void)snprintf(path, sizeof(path), "/actions/%zu/format", i);
		unwrap_members(copy);
		(void)json_array_set_new(list, i, copy);
		if (check_format(copy, path, e) < 0)
			return -1;
	}
	return 0;
}

/* Looks unless it is told not to. */
static int take_look(json_t *act, struct err *e)
{
	const json_t *look = json_object_get(act, "look"), *observe = json_object_get(act, "observe");
	bool off = json_is_false(look);

	if (look && !json_is_boolean(look))
		return err_set(e, ERR_BAD_FIELD, "/look", "look must be true or false");
	if (off && observe && !json_is_false(observe))
		return err_set(e, ERR_BAD_FIELD, "/observe", "observe says how to look, and look is false: leave one of them out");
	if (check_format(observe, "/observe/format", e) < 0)
		return -1;
	(void)json_object_del(act, "look");
	if (!observe)
		(void)json_object_set_new(act, "observe", json_boolean(!off));
	return 0;
}

static int computer_ask(const json_t *arguments, json_t **act, struct err *e)
{
	json_auto_t *made = json_copy((json_t *)(uintptr_t)arguments);

	unwrap_members(made);
	if (take_actions(made, e) < 0 || take_look(made, e) < 0)
		return -1;
	*act = json_incref(made);
	return 0;
}

/* --- computer: what came of it --- */

/* The holder's picture as image content; in its place its size. A copy, the caller's. */
static json_t *take_picture(const json_t *holder, json_t *content)
{
	json_t *copy = json_copy((json_t *)(uintptr_t)holder), *picture = json_object_get(holder, "picture"), *size;
	json_t *data = json_object_get(picture, "data");
	char type[24];

	if (!json_is_string(data))
		return copy;
	(void)snprintf(type, sizeof(type), "image/%s", form_string(picture, "format", "png"));
	(void)json_array_append_new(content, result_image(type, json_incref(data)));
	size = json_copy(picture);
	(void)json_object_del(size, "data");
	(void)json_object_set_new(copy, "picture", size);
	return copy;
}

/* Content of an error is text alone: models take nothing else there. */
static void drop_pictures(json_t *content)
{
	static const char hint[] = "A picture is left out of an error: call computer without actions to look.";
	size_t n = json_array_size(content);

	for (size_t i = n; i-- > 1;)
		(void)json_array_remove(content, i);
	if (n > 1)
		(void)json_array_append_new(content, result_text(hint, strlen(hint)));
}

static json_t *computer_answer(const json_t *arguments, const json_t *reply)
{
	json_t *content = json_array(), *results = json_array(), *out = json_copy((json_t *)(uintptr_t)reply);
	const json_t *result, *observation = json_object_get(reply, "observation");
	auto_free char *text = NULL;
	size_t i, len;

	(void)arguments;
	json_array_foreach(json_object_get(reply, "results"), i, result)
		(void)json_array_append_new(results, take_picture(result, content));
	(void)json_object_set_new(out, "results", results);
	if (observation)
		(void)json_object_set_new(out, "observation", take_picture(observation, content));
	text = json_text(out, &len);
	(void)json_array_insert_new(content, 0, result_text(text, len));
	if (json_is_true(json_object_get(reply, "ok")))
		return json_pack("{s:o,s:o}", "content", content, "structuredContent", out);
	drop_pictures(content);
	return json_pack("{s:o,s:o,s:b}", "content", content, "structuredContent", out, "isError", 1);
}

/* --- the dialect --- */

static const struct mcp_tool tools[] = {
	{"computer", computer_ask, computer_answer},
	{"run_command", mcp_command_ask, mcp_command_answer},
};

static const struct mcp_tool *find(const json_t *body)
{
	const char *name = json_string_value(json_object_get(body, "name"));

	for (size_t i = 0; name && i < ARRAY_LEN(tools); i++)
		if (strcmp(tools[i].name, name) == 0)
			return &tools[i];
	return NULL;
}

static int ask(const struct dialect *dialect, const json_t *body, const struct dialect_place *place, json_t **act, struct err *e)
{
	const struct mcp_tool *tool = find(body);
	const json_t *arguments = json_object_get(body, "arguments");
	const char *name = json_string_value(json_object_get(body, "name"));
	char shown[SHOWN_MAX];

	(void)dialect;
	(void)place;
	if (!tool)
		return err_set(e, ERR_BAD_FIELD, "/name", "%s is no tool of a session",
		               name ? err_quote(shown, sizeof(shown), name, strlen(name)) : "what is there");
	if (!json_is_object(arguments))
		return err_set(e, ERR_BAD_FIELD, "/arguments", "arguments must be an object");
	return tool->ask(arguments, act, e);
}

static json_t *answer(const struct dialect *dialect, const json_t *body, const struct dialect_place *place, const json_t *reply)
{
	(void)dialect;
	(void)place;
	return find(body)->answer(json_object_get(body, "arguments"), reply);
}

/* A pointer into an action that the caller has not written says nothing to it. */
static void trim_pointer(json_t *fault)
{
	static const char action[] = "/actions/0";
	const char *pointer = form_string(fault, "pointer", "");

	if (strncmp(pointer, action, strlen(action)) == 0)
		(void)json_object_set_new(fault, "pointer", json_string(pointer + strlen(action)));
}

static json_t *refuse(const struct dialect *dialect, const json_t *body, const struct dialect_place *place, const json_t *problem)
{
	json_auto_t *told = json_deep_copy(problem);
	json_t *fault;
	size_t i;

	(void)dialect;
	(void)place;
	if (find(body)->ask != computer_ask) {
		trim_pointer(told);
		json_array_foreach(json_object_get(told, "errors"), i, fault)
			trim_pointer(fault);
	}
	return result_of_problem(told);
}

const struct dialect dialect_mcp = {
	.name = "mcp",
	.doc = "tools of the Model Context Protocol: {\"name\",\"arguments\"}",
	.passes = true,
	.ask = ask,
	.answer = answer,
	.refuse = refuse,
};
