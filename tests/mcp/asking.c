/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tools that ask the client while they run: a request on the stream of the answer, whose response the client posts (legacy revisions). */
#include <string.h>

#include "session/base/co.h"
#include "session/base/util.h"
#include "tests/mcp/fixtures.h"

#define ANSWER_MS 60000

struct question {
	struct question *next;
	char *id;
	json_t *answer; /* the client's response, once it is here */
	struct co_event answered;
};

static struct question *questions; /* that wait */
static unsigned int n_questions;

void fixture_response(const struct mcp_call *call, const json_t *message)
{
	const char *id = json_string_value(json_object_get(message, "id"));

	(void)call;
	for (struct question *question = questions; id && question; question = question->next) {
		if (strcmp(question->id, id) != 0 || question->answer)
			continue;
		question->answer = json_deep_copy(message);
		co_signal(&question->answered);
	}
}

static void forget(const struct question *question)
{
	struct question **place = &questions;

	while (*place != question)
		place = &(*place)->next;
	*place = question->next;
}

/* Asks, and waits for the client's result; params are taken. The caller's reference. */
static int ask(struct mcp_call *call, const char *method, json_t *params, json_t **result, struct mcp_error *e)
{
	auto_free char *id = util_printf("fixture-%u", ++n_questions);
	struct question question = {.next = questions, .id = id};
	struct err why = {0};
	json_t *got;

	questions = &question;
	call->send(call, json_pack("{s:s,s:s,s:s,s:o}", "jsonrpc", "2.0", "id", id, "method", method, "params", params));
	while (!question.answer && co_wait_event(&question.answered, util_now_ms() + ANSWER_MS, &why) == 0)
		continue;
	forget(&question);
	got = json_object_get(question.answer, "result");
	*result = json_incref(got);
	json_decref(question.answer);
	return got ? 0 : mcp_refuse(e, MCP_INTERNAL, false, NULL, "the client did not answer: %s", why.msg);
}

/* Elicits what the schema says and shows what came of it. */
static int elicit(struct mcp_call *call, const char *message, const char *schema, const char *label, json_t **result, struct mcp_error *e)
{
	json_t *params = json_pack("{s:s,s:o}", "message", message, "requestedSchema", fixture_json(schema));
	auto_free char *content = NULL;
	json_auto_t *answer = NULL;

	if (ask(call, "elicitation/create", params, &answer, e) < 0)
		return -1;
	content = json_dumps(json_object_get(answer, "content"), JSON_COMPACT | JSON_ENCODE_ANY);
	*result = fixture_text("%s: action=%s, content=%s", label, json_string_value(json_object_get(answer, "action")), content ? content : "{}");
	return 0;
}

static const char *argument(const struct mcp_call *call, const char *name)
{
	const char *text = json_string_value(json_object_get(json_object_get(call->params, "arguments"), name));

	return text ? text : "";
}

static int sample(struct mcp_call *call, json_t **result, struct mcp_error *e)
{
	json_t *params = json_pack("{s:[{s:s,s:{s:s,s:s}}],s:i}", "messages", "role", "user", "content", "type", "text", "text",
	                           argument(call, "prompt"), "maxTokens", 100);
	json_auto_t *answer = NULL;

	if (ask(call, "sampling/createMessage", params, &answer, e) < 0)
		return -1;
	*result = fixture_text("LLM response: %s", json_string_value(json_object_get(json_object_get(answer, "content"), "text")));
	return 0;
}

static int ask_user(struct mcp_call *call, json_t **result, struct mcp_error *e)
{
	return elicit(call, argument(call, "message"),
	              "{\"type\":\"object\",\"properties\":{\"username\":{\"type\":\"string\",\"description\":\"User's response\"},"
	              "\"email\":{\"type\":\"string\",\"description\":\"User's email address\"}},\"required\":[\"username\",\"email\"]}",
	              "User response", result, e);
}

static int ask_defaults(struct mcp_call *call, json_t **result, struct mcp_error *e)
{
	return elicit(call, "What are your details?",
	              "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\",\"default\":\"John Doe\"},"
	              "\"age\":{\"type\":\"integer\",\"default\":30},\"score\":{\"type\":\"number\",\"default\":95.5},"
	              "\"status\":{\"type\":\"string\",\"enum\":[\"active\",\"inactive\",\"pending\"],\"default\":\"active\"},"
	              "\"verified\":{\"type\":\"boolean\",\"default\":true}},\"required\":[]}",
	              "Elicitation completed", result, e);
}

static int ask_enums(struct mcp_call *call, json_t **result, struct mcp_error *e)
{
	return elicit(call, "Which options?",
	              "{\"type\":\"object\",\"properties\":{"
	              "\"untitledSingle\":{\"type\":\"string\",\"enum\":[\"option1\",\"option2\",\"option3\"]},"
	              "\"titledSingle\":{\"type\":\"string\",\"oneOf\":[{\"const\":\"value1\",\"title\":\"First Option\"},"
	              "{\"const\":\"value2\",\"title\":\"Second Option\"},{\"const\":\"value3\",\"title\":\"Third Option\"}]},"
	              "\"legacyEnum\":{\"type\":\"string\",\"enum\":[\"opt1\",\"opt2\",\"opt3\"],"
	              "\"enumNames\":[\"Option One\",\"Option Two\",\"Option Three\"]},"
	              "\"untitledMulti\":{\"type\":\"array\",\"items\":{\"type\":\"string\",\"enum\":[\"option1\",\"option2\",\"option3\"]}},"
	              "\"titledMulti\":{\"type\":\"array\",\"items\":{\"anyOf\":[{\"const\":\"value1\",\"title\":\"First Choice\"},"
	              "{\"const\":\"value2\",\"title\":\"Second Choice\"},{\"const\":\"value3\",\"title\":\"Third Choice\"}]}}}}",
	              "Elicitation completed", result, e);
}

static const struct fixture_tool rows[] = {
	{"test_sampling", "{\"type\":\"object\",\"properties\":{\"prompt\":{\"type\":\"string\"}},\"required\":[\"prompt\"]}", NULL, sample},
	{"test_elicitation", "{\"type\":\"object\",\"properties\":{\"message\":{\"type\":\"string\"}},\"required\":[\"message\"]}", NULL, ask_user},
	{"test_elicitation_sep1034_defaults", NULL, NULL, ask_defaults},
	{"test_elicitation_sep1330_enums", NULL, NULL, ask_enums},
};
const struct fixture_tools fixture_asking = {rows, ARRAY_LEN(rows)};
