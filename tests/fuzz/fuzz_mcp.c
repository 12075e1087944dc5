/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: session/mcp */
/* longest: 1024 */
/*
 * The envelope of MCP. The input is header fields a line each ("MCP-Protocol-Version: …", "Mcp-Param-X: …"), an empty line, and a body. Whatever it is,
 * each message is answered by JSON with its own id, refused with a code of the table, or not answered at all. The revision that its session has is picked by the
 * input's bytes.
 */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "session/base/json.h"
#include "session/base/json_text.h"
#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/mcp/envelope.h"
#include "session/mcp/methods.h"
#include "session/mcp/revisions.h"

#define PARAM "Mcp-Param-"

static void insist(bool holds, const char *what)
{
	if (!holds)
		DIE("%s", what);
}

static bool always(void *arg, const char *method, const char *path)
{
	(void)arg;
	(void)method;
	(void)path;
	return true;
}

static const struct tools *all_tools(void)
{
	static const struct form none = {NULL, 0, NULL};
	static struct tools *tools;
	json_auto_t *actions = json_pack("{s:[],s:{s:s,s:{s:{s:s},s:{s:s,s:{}}}}}", "actions", "act", "type", "object", "properties", "actions", "type", "array",
	                                 "observe", "type", "object", "properties");

	if (!tools)
		tools = tools_create(actions, &none);
	return tools;
}

/* --- header fields, as the front has them: without controls, each once --- */

static void take_field(struct mcp_head *head, char *line)
{
	char *colon = strchr(line, ':'), *value = colon ? colon + 1 : NULL;
	const struct {
		const char *name;
		const char **place;
	} singles[] = {{"MCP-Protocol-Version", &head->version}, {"Mcp-Method", &head->method}, {"Mcp-Name", &head->name}, {"Mcp-Session-Id", &head->session}};

	if (!colon)
		return;
	*colon = '\0';
	for (size_t i = 0; i < ARRAY_LEN(singles); i++)
		if (strcasecmp(line, singles[i].name) == 0)
			*singles[i].place = value;
	if (strncasecmp(line, PARAM, strlen(PARAM)) == 0 && head->n_params < LIMIT_MCP_PARAMS)
		head->params[head->n_params++] = (struct mcp_param){line + strlen(PARAM), value};
}

/* The body, which begins behind the first empty line; without one there are no fields. */
static char *read_head(char *text, struct mcp_head *head)
{
	char *end = strstr(text, "\n\n");

	if (!end)
		return text;
	*end = '\0';
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		take_field(head, line);
	return end + 2;
}

/* --- messages --- */

static void check_refusal(const struct mcp_error *e, const json_t *id)
{
	json_auto_t *answer = envelope_error(id, e);
	auto_free char *text = json_text(answer, NULL);

	insist(e->code < 0 && e->status >= 200 && e->message[0], "a refusal says nothing");
	insist(util_utf8_valid(e->message, strlen(e->message)), "a refusal is no text");
	insist(id ? json_equal(json_object_get(answer, "id"), id) : json_is_null(json_object_get(answer, "id")), "a refusal has another id");
	insist(!strchr(text, '\n'), "a refusal has several lines");
}

static void check_answer(const struct mcp_call *call, json_t *result)
{
	json_auto_t *members = mcp_result_members(call), *answer = NULL, *spliced = NULL;
	size_t len, out_len;
	auto_free char *text = json_text(result, &len);
	auto_free char *out = envelope_splice(call->id, members, text, len, &out_len);
	struct err e;

	answer = envelope_result(call->id, json_incref(result));
	insist(json_equal(json_object_get(answer, "id"), call->id), "an answer has another id");
	insist(out && strlen(out) == out_len && json_parse(out, out_len, &spliced, &e) == 0, "an answer is no JSON");
	insist(json_equal(json_object_get(spliced, "id"), call->id), "a spliced answer has another id");
}

/* A text of a stage that wants to say more than its result. */
static void check_splice(const char *text)
{
	json_auto_t *id = json_integer(7), *value = NULL;
	size_t len = 0;
	auto_free char *out = envelope_splice(id, NULL, text, strlen(text), &len);

	value = out ? json_loadb(out, len, JSON_ALLOW_NUL, NULL) : NULL;
	insist(!value || (json_object_size(value) == 3 && json_equal(json_object_get(value, "id"), id)), "a stage answers another request");
}

static void send(struct mcp_call *call, json_t *taken)
{
	auto_free char *text = json_text(taken, NULL);

	(void)call;
	insist(!strchr(text, '\n'), "a notification has several lines");
	json_decref(taken);
}

static int answer(struct mcp_call *call, const struct mcp_head *head, struct mcp_error *e)
{
	const struct tools_view view = {all_tools(), always, NULL};
	const struct method *method = method_find(call, e);
	const json_t *arguments = NULL;
	json_auto_t *result = NULL;

	if (!method)
		return -1;
	if (method->kind == METHOD_TOOL) {
		if (!tools_find(&view, call, head, &arguments, e))
			return -1;
		insist(!arguments || json_is_object(arguments), "arguments are no object");
		mcp_progress(call, 1.5, 3, "half");
		return 0;
	}
	if (methods_answer(method, call, &view, &result, e) < 0)
		return -1;
	check_answer(call, result);
	return 0;
}

static void take(const json_t *message, const struct mcp_head *head, const struct revision *of_session)
{
	json_auto_t *none = json_object();
	struct mcp_call call = {.send = send};
	struct envelope envelope;
	struct mcp_error e = {0};
	int rc = envelope_read(message, &envelope, &e);

	if (rc == 0)
		rc = revision_of(&envelope, head, of_session, &call.revision, &e);
	if (rc == 0 && envelope.kind == ENVELOPE_REQUEST) {
		call.id = envelope.id;
		call.method = envelope.method;
		call.params = envelope.params ? envelope.params : none;
		mcp_call_read(&call, NULL);
		rc = answer(&call, head, &e);
	}
	if (rc < 0)
		check_refusal(&e, envelope.id);
	mcp_error_finish(&e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_free char *text = util_alloc(size + 1);
	const struct revision *revision;
	json_auto_t *value = NULL;
	struct mcp_head head = {0};
	struct mcp_error e = {0};
	const json_t *message;
	const char *body;
	struct err ignored;
	size_t i, of_session;

	memcpy(text, data, size);
	text[size] = '\0';
	body = memchr(text, '\0', size) ? text : read_head(text, &head);
	check_splice(body);
	if (json_parse(body, size - (size_t)(body - text), &value, &ignored) < 0)
		return 0;
	of_session = fuzz_pick(data, size) % (revisions_n + 1);
	take(value, &head, of_session < revisions_n ? &revisions[of_session] : NULL);
	if (json_is_array(value) && revision_of_batch(&head, NULL, &revision, &e) < 0)
		check_refusal(&e, NULL);
	mcp_error_finish(&e);
	json_array_foreach(value, i, message)
		take(message, &head, NULL);
	return 0;
}
