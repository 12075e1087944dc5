/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: session/mcp */
/* The Model Context Protocol without HTTP: envelopes, revisions with every row of the table of errors, sessions of clients. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "session/base/json_text.h"
#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/mcp/envelope.h"
#include "session/mcp/methods.h"
#include "session/mcp/revisions.h"
#include "session/mcp/sessions.h"

#define META_OF(version, caps) "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":" version ",\"io.modelcontextprotocol/clientCapabilities\":" caps "}"
#define META META_OF("\"2026-07-28\"", "{}")
#define ANY_ID 1

static json_t *parse(const char *text)
{
	json_t *value = json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);

	if (!value)
		fail_msg("this is no JSON: %s", text);
	return value;
}

/* --- envelopes --- */

static const struct {
	const char *text;
	int kind; /* enum envelope_kind, or -1: refused */
	const char *id;
} messages[] = {
	{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", ENVELOPE_REQUEST, "1"},
	{"{\"jsonrpc\":\"2.0\",\"id\":\"\",\"method\":\"ping\",\"params\":{}}", ENVELOPE_REQUEST, "\"\""},
	{"{\"jsonrpc\":\"2.0\",\"id\":-7,\"method\":\"x\",\"more\":[]}", ENVELOPE_REQUEST, "-7"},
	{"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}", ENVELOPE_NOTIFICATION, NULL},
	{"{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}", ENVELOPE_RESPONSE, "3"},
	{"{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"error\":{\"code\":1}}", ENVELOPE_RESPONSE, "\"a\""},
	{"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", -1, NULL},
	{"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}", -1, NULL},
	{"{\"jsonrpc\":\"2.0\",\"id\":1.0,\"method\":\"ping\"}", -1, NULL},
	{"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}", -1, NULL},
	{"{\"jsonrpc\":\"2.0\",\"id\":[1],\"method\":\"ping\"}", -1, NULL},
	{"{\"jsonrpc\":\"2.0\",\"id\":true,\"method\":\"ping\"}", -1, NULL},
	{"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", -1, "1"},
	{"{\"id\":1,\"method\":\"ping\"}", -1, "1"},
	{"{\"jsonrpc\":2.0,\"id\":1,\"method\":\"ping\"}", -1, "1"},
	{"{\"jsonrpc\":\"2.0\\u0000\",\"id\":1,\"method\":\"ping\"}", -1, "1"},
	{"{\"jsonrpc\":\"2.0\",\"id\":1}", -1, "1"},
	{"{\"jsonrpc\":\"2.0\",\"result\":{}}", -1, NULL},
	{"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{},\"error\":{}}", -1, "1"},
	{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":5}", -1, "1"},
	{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\\u0000b\"}", -1, "1"},
	{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":[]}", -1, "1"},
	{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":null}", -1, "1"},
	{"{}", -1, NULL},
	{"[]", -1, NULL},
	{"1", -1, NULL},
	{"null", -1, NULL},
};

static void test_envelopes(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(messages); i++) {
		json_auto_t *message = parse(messages[i].text), *id = messages[i].id ? parse(messages[i].id) : NULL;
		struct envelope envelope;
		struct mcp_error e = {0};
		int rc = envelope_read(message, &envelope, &e);

		if ((rc == 0 ? (int)envelope.kind : -1) != messages[i].kind || (id ? !json_equal(envelope.id, id) : envelope.id != NULL))
			fail_msg("%s: kind %d %s", messages[i].text, rc == 0 ? (int)envelope.kind : -1, e.message);
		if (rc < 0 && (e.code != -32600 || e.status != 400))
			fail_msg("%s: %d %d", messages[i].text, e.status, e.code);
	}
}

static void test_long_ids(void **state)
{
	auto_free char *x = util_alloc(LIMIT_MCP_ID_BYTES + 2);
	struct mcp_error e = {0};

	(void)state;
	for (int over = 0; over < 2; over++) {
		json_auto_t *message = NULL;
		struct envelope envelope;

		memset(x, 'x', LIMIT_MCP_ID_BYTES + 1);
		x[LIMIT_MCP_ID_BYTES + over] = '\0';
		message = json_pack("{s:s,s:s,s:s}", "jsonrpc", "2.0", "id", x, "method", "ping");
		assert_int_equal(envelope_read(message, &envelope, &e), -over);
	}
}

static void check_splice(const char *id, const char *first, const char *text, const char *expected)
{
	json_auto_t *id_value = parse(id), *first_value = first ? parse(first) : NULL;
	size_t len = 0;
	auto_free char *out = envelope_splice(id_value, first_value, text, strlen(text), &len);

	if (!expected) {
		assert_null(out);
		return;
	}
	assert_non_null(out);
	assert_string_equal(out, expected);
	assert_int_equal(len, strlen(expected));
}

static void test_splices(void **state)
{
	(void)state;
	check_splice("1", NULL, "{}", "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
	check_splice("\"a\\\"\"", NULL, "{\"b\":[1]}", "{\"jsonrpc\":\"2.0\",\"id\":\"a\\\"\",\"result\":{\"b\":[1]}}");
	check_splice("1", "{\"x\":\"y\"}", "{\"b\":2}", "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"x\":\"y\",\"b\":2}}");
	check_splice("1", "{\"x\":\"y\"}", "{}", "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"x\":\"y\"}}");
	/* What would end the line of an event does not. */
	check_splice("1", NULL, "{\"a\":\n1,\r\n\"b\":2}", "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\": 1,  \"b\":2}}");
	check_splice("1", NULL, "[]", NULL);
	check_splice("1", NULL, "{", NULL);
	check_splice("1", NULL, "", NULL);
	check_splice("1", NULL, "{\"a\":\"}\\\\\",\"b\":\"\\\"}{\"}", "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":\"}\\\\\",\"b\":\"\\\"}{\"}}");
	/* A text that goes on behind its object would say things beside the result: the id of another request. */
	check_splice("1", NULL, "{\"a\":1},\"id\":2,\"x\":{}", NULL);
	check_splice("1", NULL, "{}},{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}", NULL);
	check_splice("1", NULL, "{\"a\":[}", NULL);
	check_splice("1", NULL, "{\"a\":\"}", NULL);
}

/* In pieces it is the same, wherever they are cut. */
static void test_scans(void **state)
{
	static const struct {
		const char *text;
		bool goes_on; /* behind its end */
		bool ends;
	} rows[] = {
		{"{\"a\":\"}\\\\\",\"b\":[{\"c\":\"\\\"}{\"}]}", false, true}, {"{\"a\":1},\"id\":2,\"x\":{}", true, true}, {"{\"a\":[}", false, false},
		{"{\"a\":\"}", false, false}, {"[]", false, true}, {"x{}", true, false}, {"{} ", true, true},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		for (size_t cut = 0; cut <= strlen(rows[i].text); cut++) {
			struct envelope_scan scan = {.depth = 0};
			bool inside = envelope_scan(&scan, rows[i].text, cut) && envelope_scan(&scan, rows[i].text + cut, strlen(rows[i].text) - cut);

			if (inside == rows[i].goes_on || (scan.has_ended != rows[i].ends && inside))
				fail_msg("%s cut at %zu: %d %d", rows[i].text, cut, inside, scan.has_ended);
		}
}

/* --- revisions --- */

static const struct {
	const char *message;
	const char *version, *method, *name; /* headers */
	const char *of_session;
	const char *expected; /* the revision, or NULL: refused */
	int status, code;
} asked[] = {
	/* Legacy: what the header says, or the session, or the oldest. */
	{"{\"method\":\"tools/list\"}", NULL, NULL, NULL, NULL, "2025-03-26", 0, 0},
	{"{\"method\":\"tools/list\"}", NULL, NULL, NULL, "2025-11-25", "2025-11-25", 0, 0},
	{"{\"method\":\"tools/list\"}", "2025-06-18", NULL, NULL, "2025-11-25", "2025-06-18", 0, 0},
	{"{\"method\":\"tools/list\"}", "1900-01-01", NULL, NULL, NULL, NULL, 400, -32022},
	{"{\"method\":\"tools/list\"}", "not-a-version", NULL, NULL, "2025-11-25", NULL, 400, -32022},
	{"{\"method\":\"tools/list\"}", "", NULL, NULL, NULL, NULL, 400, -32022},
	{"{\"method\":\"tools/list\"}", "2024-11-05", NULL, NULL, NULL, NULL, 400, -32022},
	/* initialize is legacy, whatever the header says, unless it says itself that it is not. */
	{"{\"method\":\"initialize\"}", NULL, NULL, NULL, NULL, "2025-11-25", 0, 0},
	{"{\"method\":\"initialize\"}", "2099-01-01", NULL, NULL, NULL, "2025-11-25", 0, 0},
	{"{\"method\":\"initialize\"}", "2026-07-28", NULL, NULL, NULL, "2025-11-25", 0, 0},
	{"{\"method\":\"initialize\",\"params\":{" META "}}", "2026-07-28", "initialize", NULL, NULL, "2026-07-28", 0, 0},
	/* Modern: all must be there, and say the same. */
	{"{\"method\":\"tools/list\",\"params\":{" META "}}", "2026-07-28", "tools/list", NULL, NULL, "2026-07-28", 0, 0},
	{"{\"method\":\"tools/list\",\"params\":{" META "}}", " 2026-07-28\t", "  tools/list ", NULL, NULL, "2026-07-28", 0, 0},
	{"{\"method\":\"tools/list\",\"params\":{" META "}}", "2026-07-28", "=?base64?dG9vbHMvbGlzdA==?=", NULL, NULL, "2026-07-28", 0, 0},
	{"{\"method\":\"tools/list\",\"params\":{" META "}}", "2026-07-28", "=?base64?dG9vbHMvbGlzdA?=", NULL, NULL, NULL, 400, -32020},
	{"{\"method\":\"tools/list\",\"params\":{" META "}}", "2026-07-28", "=?base64?%%%?=", NULL, NULL, NULL, 400, -32020},
	{"{\"method\":\"tools/list\",\"params\":{" META "}}", "2026-07-28", "=?base64?" "?=", NULL, NULL, NULL, 400, -32020},
	{"{\"method\":\"tools/list\",\"params\":{" META "}}", NULL, "tools/list", NULL, NULL, NULL, 400, -32020},
	{"{\"method\":\"tools/list\",\"params\":{" META "}}", "2025-11-25", "tools/list", NULL, NULL, NULL, 400, -32020},
	{"{\"method\":\"tools/list\",\"params\":{" META "}}", "2026-07-28", NULL, NULL, NULL, NULL, 400, -32020},
	{"{\"method\":\"tools/list\",\"params\":{" META "}}", "2026-07-28", "tools/call", NULL, NULL, NULL, 400, -32020},
	{"{\"method\":\"tools/list\",\"params\":{" META "}}", "2026-07-28", "Tools/list", NULL, NULL, NULL, 400, -32020},
	{"{\"method\":\"tools/list\"}", "2026-07-28", "tools/list", NULL, NULL, NULL, 400, -32602},
	{"{\"method\":\"tools/list\",\"params\":{" META_OF("\"2026-07-28\"", "[]") "}}", "2026-07-28", "tools/list", NULL, NULL, NULL, 400, -32602},
	{"{\"method\":\"tools/list\",\"params\":{" META_OF("5", "{}") "}}", "2026-07-28", "tools/list", NULL, NULL, NULL, 400, -32602},
	{"{\"method\":\"server/discover\"}", NULL, NULL, NULL, NULL, NULL, 400, -32602},
	{"{\"method\":\"tools/list\",\"params\":{" META_OF("\"2099-01-01\"", "{}") "}}", "2099-01-01", "tools/list", NULL, NULL, NULL, 400, -32022},
	{"{\"method\":\"tools/list\",\"params\":{" META_OF("\"2025-11-25\"", "{}") "}}", "2025-11-25", "tools/list", NULL, NULL, NULL, 400, -32022},
	{"{\"method\":\"tools/call\",\"params\":{\"name\":\"computer\"," META "}}", "2026-07-28", "tools/call", "computer", NULL, "2026-07-28", 0, 0},
	{"{\"method\":\"tools/call\",\"params\":{\"name\":\"computer\"," META "}}", "2026-07-28", "tools/call", NULL, NULL, NULL, 400, -32020},
	{"{\"method\":\"tools/call\",\"params\":{\"name\":\"computer\"," META "}}", "2026-07-28", "tools/call", "Computer", NULL, NULL, 400, -32020},
	{"{\"method\":\"resources/read\",\"params\":{\"uri\":\"a:b\"," META "}}", "2026-07-28", "resources/read", "a:b", NULL, "2026-07-28", 0, 0},
	{"{\"method\":\"resources/read\",\"params\":{\"uri\":\"a:b\"," META "}}", "2026-07-28", "resources/read", "a:c", NULL, NULL, 400, -32020},
};

static void test_revisions(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(asked); i++) {
		json_auto_t *message = parse(asked[i].message);
		struct envelope envelope;
		const struct mcp_head head = {.version = asked[i].version, .method = asked[i].method, .name = asked[i].name};
		const struct revision *found = NULL;
		struct mcp_error e = {0};
		int rc;

		(void)json_object_update_new(message, json_pack("{s:s,s:i}", "jsonrpc", "2.0", "id", ANY_ID));
		assert_int_equal(envelope_read(message, &envelope, &e), 0);
		rc = revision_of(&envelope, &head, revision_find(asked[i].of_session), &found, &e);
		if (rc == 0 ? !asked[i].expected || strcmp(found->name, asked[i].expected) != 0
		            : asked[i].expected || e.status != asked[i].status || e.code != asked[i].code)
			fail_msg("row %zu: %s %s: %s, %d %d %s", i, asked[i].message, asked[i].version ? asked[i].version : "-",
			         rc == 0 ? found->name : "refused", e.status, e.code, e.message);
		if (e.code == -32022) {
			assert_int_equal(json_array_size(json_object_get(e.data, "supported")), revisions_n);
			assert_true(json_is_string(json_object_get(e.data, "requested")));
		}
		mcp_error_finish(&e);
	}
}

static void test_batches(void **state)
{
	static const struct {
		const char *version, *of_session;
		int rc;
	} rows[] = {
		{NULL, NULL, 0}, {"2025-03-26", NULL, 0}, {NULL, "2025-03-26", 0}, {NULL, "2025-06-18", -1},
		{"2025-06-18", NULL, -1}, {"2025-11-25", NULL, -1}, {"2026-07-28", NULL, -1}, {"x", NULL, -1},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct mcp_head head = {.version = rows[i].version};
		const struct revision *found;
		struct mcp_error e = {0};

		if (revision_of_batch(&head, revision_find(rows[i].of_session), &found, &e) != rows[i].rc)
			fail_msg("row %zu", i);
		mcp_error_finish(&e);
	}
}

/* Faults by era: status of HTTP and code. */
static void test_faults(void **state)
{
	static const struct {
		enum mcp_fault fault;
		int code, legacy, modern;
	} rows[] = {
		{MCP_PARSE, -32700, 400, 400},  {MCP_INVALID, -32600, 400, 400},       {MCP_NO_METHOD, -32601, 200, 404},
		{MCP_BAD_PARAMS, -32602, 200, 200}, {MCP_NO_META, -32602, 400, 400},   {MCP_HEADER, -32020, 400, 400},
		{MCP_NO_CAPABILITY, -32021, 400, 400}, {MCP_VERSION, -32022, 400, 400}, {MCP_INTERNAL, -32603, 200, 200},
		{MCP_NO_SESSION, -32001, 404, 404}, {MCP_ELICIT, -32042, 200, 200}, {MCP_BUSY, -31003, 429, 429},
	};

	(void)state;
	assert_int_equal(ARRAY_LEN(rows), MCP_N_FAULTS);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		for (int modern = 0; modern < 2; modern++) {
			struct mcp_error e;

			assert_int_equal(mcp_refuse(&e, rows[i].fault, modern, NULL, "x"), -1);
			assert_int_equal(e.code, rows[i].code);
			assert_int_equal(e.status, modern ? rows[i].modern : rows[i].legacy);
		}
}

/* --- methods --- */

static void test_methods(void **state)
{
	static const struct {
		const char *name;
		bool legacy, modern;
	} rows[] = {
		{"initialize", true, false}, {"ping", true, false}, {"server/discover", false, true}, {"tools/list", true, true},
		{"tools/call", true, true}, {"logging/setLevel", false, false}, {"resources/subscribe", false, false}, {"resources/read", false, false},
		{"prompts/get", false, false}, {"tasks/get", false, false}, {"", false, false}, {"tools/list ", false, false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		for (size_t r = 0; r < revisions_n; r++) {
			const struct mcp_call call = {.method = rows[i].name, .revision = &revisions[r]};
			struct mcp_error e = {0};
			bool found = method_find(&call, &e);

			if (found != (revisions[r].modern ? rows[i].modern : rows[i].legacy))
				fail_msg("%s in %s", rows[i].name, revisions[r].name);
			if (!found && (e.code != -32601 || e.status != (revisions[r].modern ? 404 : 200)))
				fail_msg("%s in %s: %d %d", rows[i].name, revisions[r].name, e.status, e.code);
		}
}

static void check_initialize(const char *params, const char *expected)
{
	json_auto_t *value = parse(params), *result = NULL;
	const struct mcp_call call = {.method = "initialize", .params = value, .revision = revision_newest_legacy()};
	struct mcp_error e = {0};
	const struct method *method = method_find(&call, &e);

	assert_int_equal(methods_answer(method, &call, NULL, &result, &e), 0);
	assert_string_equal(json_string_value(json_object_get(result, "protocolVersion")), expected);
	assert_true(json_is_object(json_object_get(json_object_get(result, "capabilities"), "tools")));
	assert_int_equal(json_object_size(json_object_get(result, "capabilities")), 1);
}

static void test_initialize(void **state)
{
	(void)state;
	check_initialize("{\"protocolVersion\":\"2025-03-26\"}", "2025-03-26");
	check_initialize("{\"protocolVersion\":\"2025-06-18\"}", "2025-06-18");
	check_initialize("{\"protocolVersion\":\"2025-11-25\"}", "2025-11-25");
	check_initialize("{\"protocolVersion\":\"2024-11-05\"}", "2025-11-25");
	check_initialize("{\"protocolVersion\":\"2026-07-28\"}", "2025-11-25");
	check_initialize("{\"protocolVersion\":\"2099-01-01\"}", "2025-11-25");
	check_initialize("{\"protocolVersion\":\"\"}", "2025-11-25");
	check_initialize("{\"protocolVersion\":5}", "2025-11-25");
	check_initialize("{}", "2025-11-25");
}

/* --- what a call says of itself, and progress --- */

static char told[512];

static void keep(struct mcp_call *call, json_t *taken)
{
	auto_free char *text = json_text(taken, NULL);

	(void)call;
	(void)snprintf(told, sizeof(told), "%s", text);
	json_decref(taken);
}

static void test_progress(void **state)
{
	json_auto_t *params = parse("{\"_meta\":{\"progressToken\":\"t\"}}"), *none = parse("{\"_meta\":{\"progressToken\":{}}}");
	struct mcp_call call = {.params = params, .revision = revision_newest_legacy(), .send = keep};

	(void)state;
	mcp_call_read(&call, NULL);
	mcp_progress(&call, 2, 5, "2 of 5");
	assert_string_equal(told, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":\"t\",\"progress\":2,"
	                          "\"message\":\"2 of 5\",\"total\":5}}");
	mcp_progress(&call, 2.5, 0, NULL);
	assert_string_equal(told, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":\"t\",\"progress\":2.5}}");
	/* A token of another type is none. */
	told[0] = '\0';
	call.params = none;
	mcp_call_read(&call, NULL);
	mcp_progress(&call, 1, 1, NULL);
	assert_string_equal(told, "");
	call.send = NULL;
	mcp_notify(&call, "x", json_object());
}

/* --- sessions of clients --- */

static void test_sessions(void **state)
{
	struct mcp_sessions *all = mcp_sessions_create();
	json_auto_t *caps = parse("{\"roots\":{}}");
	const struct mcp_session *session = mcp_sessions_begin(all, "a", revision_find("2025-06-18"), caps, 1);
	auto_free char *first = util_strdup(session->id);

	(void)state;
	assert_int_equal(strlen(first), 32);
	session = mcp_sessions_find(all, "a", first, 2);
	assert_non_null(session);
	assert_string_equal(session->revision->name, "2025-06-18");
	assert_true(json_equal(session->caps, caps));
	/* Another's token does not find it, nor end it. */
	assert_null(mcp_sessions_find(all, "b", first, 2));
	assert_false(mcp_sessions_end(all, "b", first));
	assert_null(mcp_sessions_find(all, "a", "", 2));
	assert_true(mcp_sessions_end(all, "a", first));
	assert_null(mcp_sessions_find(all, "a", first, 2));
	assert_false(mcp_sessions_end(all, "a", first));
	mcp_sessions_destroy(all);
}

/* The one of the same token that was used longest ago makes room. */
static void test_many_sessions(void **state)
{
	struct mcp_sessions *all = mcp_sessions_create();
	char ids[LIMIT_MCP_SESSIONS_OF_TOKEN][33], other[33];

	(void)state;
	(void)snprintf(other, sizeof(other), "%s", mcp_sessions_begin(all, "b", revisions, NULL, 0)->id);
	for (int i = 0; i < LIMIT_MCP_SESSIONS_OF_TOKEN; i++)
		(void)snprintf(ids[i], sizeof(ids[i]), "%s", mcp_sessions_begin(all, "a", revisions, NULL, 1 + i)->id);
	assert_non_null(mcp_sessions_find(all, "a", ids[0], 1000));
	(void)mcp_sessions_begin(all, "a", revisions, NULL, 2000);
	assert_non_null(mcp_sessions_find(all, "a", ids[0], 2000));
	assert_null(mcp_sessions_find(all, "a", ids[1], 2000));
	assert_non_null(mcp_sessions_find(all, "b", other, 2000));
	mcp_sessions_destroy(all);
}

/* And when there are too many of all, that of any. */
static void test_too_many_sessions(void **state)
{
	struct mcp_sessions *all = mcp_sessions_create();
	char first[33] = "", token[16];

	(void)state;
	for (int i = 0; i <= LIMIT_MCP_SESSIONS; i++) {
		const struct mcp_session *session;

		(void)snprintf(token, sizeof(token), "t%d", i);
		session = mcp_sessions_begin(all, token, revisions, NULL, 1 + i);
		if (i == 0)
			(void)snprintf(first, sizeof(first), "%s", session->id);
	}
	assert_null(mcp_sessions_find(all, "t0", first, 9));
	mcp_sessions_destroy(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_envelopes),      cmocka_unit_test(test_long_ids),
		cmocka_unit_test(test_splices),        cmocka_unit_test(test_scans),
		cmocka_unit_test(test_revisions),
		cmocka_unit_test(test_batches),        cmocka_unit_test(test_faults),
		cmocka_unit_test(test_methods),        cmocka_unit_test(test_initialize),
		cmocka_unit_test(test_progress),       cmocka_unit_test(test_sessions),
		cmocka_unit_test(test_many_sessions),  cmocka_unit_test(test_too_many_sessions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
