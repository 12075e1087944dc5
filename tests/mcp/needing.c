/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tools that answer with what they need to know first (resultType input_required); the client calls again with inputResponses and, unchanged,
 * the requestState, which holds how far a tool was and is signed (modern revisions).
 */
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <string.h>

#include "session/base/hash.h"
#include "session/base/util.h"
#include "tests/mcp/fixtures.h"

#define ASK_NAME                                                                                                        \
	"{\"method\":\"elicitation/create\",\"params\":{\"mode\":\"form\",\"message\":\"What is your name?\",\"requestedSchema\":"                 \
	"{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"}},\"required\":[\"name\"]}}}"
#define ASK_OK                                                                                                          \
	"{\"method\":\"elicitation/create\",\"params\":{\"mode\":\"form\",\"message\":\"Please confirm\",\"requestedSchema\":"                     \
	"{\"type\":\"object\",\"properties\":{\"ok\":{\"type\":\"boolean\"}},\"required\":[\"ok\"]}}}"
#define ASK_COLOUR                                                                                                      \
	"{\"method\":\"elicitation/create\",\"params\":{\"mode\":\"form\",\"message\":\"Step 2: What is your favorite color?\","                    \
	"\"requestedSchema\":{\"type\":\"object\",\"properties\":{\"color\":{\"type\":\"string\"}},\"required\":[\"color\"]}}}"
#define SAMPLE(text, tokens)                                                                                            \
	"{\"method\":\"sampling/createMessage\",\"params\":{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"" text     \
	"\"}}],\"maxTokens\":" tokens "}}"
#define ROOTS "{\"method\":\"roots/list\",\"params\":{}}"

/* --- requestState: "N.hex of its HMAC", N the round --- */

static void sign_round(int round, char out[2 * HASH_BYTES + 1])
{
	static uint8_t key[HASH_BYTES];
	static bool has_key;
	uint8_t mac[HASH_BYTES];

	if (!has_key) {
		util_random(key, sizeof(key));
		has_key = true;
	}
	if (gnutls_hmac_fast(GNUTLS_MAC_SHA256, key, sizeof(key), &round, sizeof(round), mac) < 0)
		DIE("gnutls makes no HMAC");
	util_hex(out, mac, sizeof(mac));
}

static char *state_make(int round)
{
	char mac[2 * HASH_BYTES + 1];

	sign_round(round, mac);
	return util_printf("%d.%s", round, mac);
}

/* The round that the call's requestState says: 0 without one, -1 when it is not one of ours. */
static int state_round(const struct mcp_call *call)
{
	const json_t *state = json_object_get(call->params, "requestState");
	uint8_t said[HASH_BYTES], right[HASH_BYTES];
	char mac[2 * HASH_BYTES + 1];
	const char *dot;
	int round;

	if (!state)
		return 0;
	dot = json_is_string(state) ? strchr(json_string_value(state), '.') : NULL;
	round = dot ? atoi(json_string_value(state)) : 0;
	if (!dot || !hash_from_hex(dot + 1, said))
		return -1;
	sign_round(round, mac);
	return hash_from_hex(mac, right) && hash_same(said, right) ? round : -1;
}

/* --- results --- */

/* What is needed, a JSON text of named requests; with the state of a round unless it is 0. */
static int need(json_t **result, const char *requests, int round)
{
	auto_free char *state = round > 0 ? state_make(round) : NULL;

	*result = json_pack("{s:s,s:o,s:s*}", "resultType", "input_required", "inputRequests", fixture_json(requests), "requestState", state);
	return 0;
}

static int done(json_t **result, const char *text)
{
	*result = fixture_text("%s", text);
	return 0;
}

static const json_t *response(const struct mcp_call *call, const char *name)
{
	return json_object_get(json_object_get(call->params, "inputResponses"), name);
}

static int refuse_state(struct mcp_error *e)
{
	return mcp_refuse(e, MCP_BAD_PARAMS, true, NULL, "the requestState is not one that this server has given");
}

/* --- tools --- */

static int need_name(struct mcp_call *call, json_t **result, struct mcp_error *e)
{
	const char *name = json_string_value(json_object_get(json_object_get(response(call, "user_name"), "content"), "name"));

	(void)e;
	if (!name)
		return need(result, "{\"user_name\":" ASK_NAME "}", 0);
	*result = fixture_text("Hello, %s!", name);
	return 0;
}

static int need_sample(struct mcp_call *call, json_t **result, struct mcp_error *e)
{
	const char *text = json_string_value(json_object_get(json_object_get(response(call, "capital_question"), "content"), "text"));

	(void)e;
	return text ? done(result, text) : need(result, "{\"capital_question\":" SAMPLE("What is the capital of France?", "100") "}", 0);
}

static int need_roots(struct mcp_call *call, json_t **result, struct mcp_error *e)
{
	const json_t *roots = json_object_get(response(call, "client_roots"), "roots");
	auto_free char *text = roots ? json_dumps(roots, JSON_COMPACT) : NULL;

	(void)e;
	return text ? done(result, text) : need(result, "{\"client_roots\":" ROOTS "}", 0);
}

static int need_state(struct mcp_call *call, json_t **result, struct mcp_error *e)
{
	int round = state_round(call);

	if (round < 0)
		return refuse_state(e);
	return response(call, "confirm") && round == 1 ? done(result, "state-ok") : need(result, "{\"confirm\":" ASK_OK "}", 1);
}

static int need_several(struct mcp_call *call, json_t **result, struct mcp_error *e)
{
	if (state_round(call) < 0)
		return refuse_state(e);
	if (response(call, "user_name") && response(call, "greeting") && response(call, "client_roots"))
		return done(result, "all done");
	return need(result, "{\"user_name\":" ASK_NAME ",\"greeting\":" SAMPLE("Generate a greeting", "50") ",\"client_roots\":" ROOTS "}", 1);
}

static int need_rounds(struct mcp_call *call, json_t **result, struct mcp_error *e)
{
	int round = state_round(call);

	if (round < 0)
		return refuse_state(e);
	if (round == 2 && response(call, "step2"))
		return done(result, "finished");
	return round == 1 && response(call, "step1") ? need(result, "{\"step2\":" ASK_COLOUR "}", 2) : need(result, "{\"step1\":" ASK_NAME "}", 1);
}

/* Only what the client has said that it can. */
static int need_what_can_be(struct mcp_call *call, json_t **result, struct mcp_error *e)
{
	bool samples = fixture_can(call, "sampling"), elicits = fixture_can(call, "elicitation");

	(void)e;
	if (json_object_size(json_object_get(call->params, "inputResponses")) > 0 || (!samples && !elicits))
		return done(result, "ok");
	if (samples && elicits)
		return need(result, "{\"sample\":" SAMPLE("hi", "100") ",\"name\":" ASK_NAME "}", 0);
	return need(result, samples ? "{\"sample\":" SAMPLE("hi", "100") "}" : "{\"name\":" ASK_NAME "}", 0);
}

static int need_on_stream(struct mcp_call *call, json_t **result, struct mcp_error *e)
{
	(void)e;
	return fixture_can(call, "elicitation") ? need(result, "{\"name\":" ASK_NAME "}", 0) : done(result, "no elicitation");
}

#define NAME(rest) "test_input_required_result_" rest

static const struct fixture_tool rows[] = {
	{NAME("elicitation"), NULL, NULL, need_name},        {NAME("sampling"), NULL, NULL, need_sample},
	{NAME("list_roots"), NULL, NULL, need_roots},        {NAME("request_state"), NULL, NULL, need_state},
	{NAME("multiple_inputs"), NULL, NULL, need_several}, {NAME("multi_round"), NULL, NULL, need_rounds},
	{NAME("tampered_state"), NULL, NULL, need_state},    {NAME("capabilities"), NULL, NULL, need_what_can_be},
	{"test_streaming_elicitation", NULL, NULL, need_on_stream},
};
const struct fixture_tools fixture_needing = {rows, ARRAY_LEN(rows)};
