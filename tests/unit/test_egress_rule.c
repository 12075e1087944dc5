/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Allow lists: which entries are taken, and what they let through. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "session/base/egress/egress_rule.h"
#include "session/base/limits.h"
#include "session/base/util.h"

static json_t *list_of(const char *text)
{
	json_error_t error;
	json_t *json = json_loads(text, JSON_ALLOW_NUL, &error);

	if (!json)
		fail_msg("%s: %s", text, error.text);
	return json;
}

static struct egress_rules *rules_of(const char *text)
{
	json_auto_t *json = list_of(text);
	struct egress_rules *rules = NULL;
	struct err e = {0};

	if (egress_rules_create(json, &rules, &e) < 0)
		fail_msg("%s: %s %s", text, e.path, e.msg);
	return rules;
}

/* The faults of a list with this one entry after a good one: its path and message, or "". */
static const char *fault_of(const char *entry, char out[512])
{
	auto_free char *text = util_printf("[\"ok.test\",%s]", entry);
	json_auto_t *json = list_of(text);
	struct err list[4];
	struct faults faults = {.list = list, .max = ARRAY_LEN(list)};

	*out = '\0';
	if (egress_rules_check(json, "/egress/allow", &faults) < 0)
		(void)snprintf(out, 512, "%s %s", list[0].path, list[0].msg);
	else
		assert_int_equal(faults.n, 0);
	return out;
}

static const char *reach(const struct egress_rules *rules, const char *host, uint16_t port, const char *method, const char *path)
{
	struct egress_host read;
	const struct egress_want want = {.host = &read, .port = port, .method = method, .path = path};
	const char *why = NULL;

	egress_host_read(host, strlen(host), &read);
	return egress_rules_find(rules, &want, &why);
}

static void lets(const char *list, const char *host, uint16_t port, bool wanted)
{
	struct egress_rules *rules = rules_of(list);
	bool found = reach(rules, host, port, NULL, NULL) != NULL;

	if (found != wanted)
		fail_msg("%s: %s:%u is %s", list, host, port, found ? "let through" : "refused");
	egress_rules_destroy(rules);
}

/* Entries of an allow list, and what is said of them: E01. */
static const struct {
	const char *entry, *says;
} BAD_ENTRIES[] = {
	{"\"\"", "/egress/allow/1 \"\": it must be a host: a name"},
	{"\"*\"", "/egress/allow/1 \"*\": everything is mode open"},
	{"\"*.\"", "it must be a host"},
	{"\"*.com\"", "/egress/allow/1 \"*.com\": a suffix must have two labels"},
	{"\"*.com.\"", "two labels"},
	{"\"a.*.test\"", "it must be a host"},
	{"\"*ok.test\"", "it must be a host"},
	{"\" ok.test \"", "it must be a host"},
	{"\"ok.test \"", "it must be a host"},
	{"\"ok..test\"", "it must be a host"},
	{"\".ok.test\"", "it must be a host"},
	{"\"ok.test\\u0000.evil.test\"", "it must be a host"},
	{"\"ok.test\\r\\n\"", "it must be a host"},
	{"\"-ok.test\"", "it must be a host"},
	{"\"https://ok.test/x\"", "it must be a host, without scheme and path"},
	{"\"ok.test/x\"", "it must be a host, without scheme and path"},
	{"\"user@ok.test\"", "without a user"},
	{"\"ok.test:99999\"", "behind \":\" must be a port"},
	{"\"ok.test:0\"", "must be a port"},
	{"\"ok.test:\"", "must be a port"},
	{"\"ok.test:+80\"", "must be a port"},
	{"\"ok.test:080\"", "must be a port"},
	{"\"ok.test:http\"", "must be a port"},
	{"\"b\\u00fccher.test\"", "A-labels"},
	{"\"2001:db8::1\"", "\"2001:db8::1\": IPv6 is written in brackets"},
	{"\"127.1\"", "an address must be in its usual spelling"},
	{"\"2130706433\"", "usual spelling"},
	{"\"0x7f.1\"", "usual spelling"},
	{"\"0177.0.0.1\"", "usual spelling"},
	{"\"1.2.3.4.5\"", "usual spelling"},
	{"\"[fe80::1%25lo]\"", "usual spelling"},
	{"\"*.10.0.0.1\"", "nothing below it"},
	{"\"localhost\"", "own loopback"},
	{"\"a.localhost:8080\"", "own loopback"},
	{"null", "it must be a host, or an object"},
	{"5", "it must be a host, or an object"},
	{"[]", "it must be a host, or an object"},
	{"{}", "/egress/allow/1/host"},
	{"{\"host\":\"ok.test\",\"port\":80}", "/egress/allow/1/port"},
	{"{\"host\":\"*\"}", "/egress/allow/1/host \"*\": everything is mode open"},
	{"{\"host\":\"ok.test:80\"}", "/egress/allow/1/host \"ok.test:80\": its ports stand in \"ports\""},
	{"{\"host\":\"10.0.0.1:80\"}", "/egress/allow/1/host \"10.0.0.1:80\": its ports stand in \"ports\""},
	{"{\"host\":\"https://ok.test\"}", "/egress/allow/1/host \"https://ok.test\": it must be a host, without scheme and path"},
	{"{\"host\":\"ok.test\",\"ports\":[]}", "/egress/allow/1/ports"},
	{"{\"host\":\"ok.test\",\"ports\":[70000]}", "/egress/allow/1/ports entry 0"},
	{"{\"host\":\"ok.test\",\"ports\":[\"80\"]}", "/egress/allow/1/ports"},
	{"{\"host\":\"ok.test\",\"ports\":80}", "/egress/allow/1/ports"},
	{"{\"host\":\"ok.test\",\"methods\":[\"get\"]}", "/egress/allow/1/methods"},
	{"{\"host\":\"ok.test\",\"methods\":[\"TRACE\"]}", "neither CONNECT nor TRACE"},
	{"{\"host\":\"ok.test\",\"paths\":[\"api\"]}", "/egress/allow/1/paths"},
	{"{\"host\":\"ok.test\",\"paths\":[\"/a/../b\"]}", "/egress/allow/1/paths"},
	{"{\"host\":\"ok.test\",\"paths\":[\"/a%2fb\"]}", "/egress/allow/1/paths"},
};

static void test_bad_entries(void **state)
{
	char said[512];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(BAD_ENTRIES); i++)
		if (!strstr(fault_of(BAD_ENTRIES[i].entry, said), BAD_ENTRIES[i].says))
			fail_msg("%s: said is \"%s\", wanted \"%s\"", BAD_ENTRIES[i].entry, said, BAD_ENTRIES[i].says);
}

static void test_good_entries(void **state)
{
	static const char *const rows[] = {"\"OK.Test\"", "\"ok.test.\"", "\"ok.test:8443\"", "\"*.ok.test\"", "\"xn--bcher-kva.test\"", "\"_x.ok.test\"",
	                                   "\"printer\"", "\"10.0.0.1\"", "\"[2001:db8::1]:443\"", "{\"host\":\"2001:db8::1\"}",
	                                   "{\"host\":\"[2001:db8::1]\",\"ports\":[1,65535]}", "{\"host\":\"*.ok.test\",\"methods\":[\"GET\"],\"paths\":[\"/a/\"]}"};
	char said[512];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (*fault_of(rows[i], said))
			fail_msg("%s: %s", rows[i], said);
}

static void test_all_faults(void **state)
{
	json_auto_t *json = list_of("[\"*\",\"ok.test\",\"a b\",7,\"x:0\",\"\"]");
	struct err list[3];
	struct faults faults = {.list = list, .max = ARRAY_LEN(list)};

	(void)state;
	assert_int_equal(egress_rules_check(json, "/egress/allow", &faults), -1);
	assert_int_equal(faults.n, 3);
	assert_string_equal(list[1].path, "/egress/allow/2");
	assert_string_equal(list[2].path, "/egress/allow/3");
	assert_int_equal(egress_rules_check(NULL, "", &faults), 0);
}

/* E01: nothing is let through by nothing. */
static void test_empty(void **state)
{
	(void)state;
	lets("[]", "ok.test", 443, false);
	lets("[]", "localhost", 443, false);
}

static void test_many(void **state)
{
	json_auto_t *json = json_array();
	struct egress_rules *rules;
	char host[64];
	struct err e;

	(void)state;
	for (int i = 0; i < LIMIT_EGRESS_ENTRIES; i++) {
		(void)snprintf(host, sizeof(host), "h%d.ok.test", i);
		(void)json_array_append_new(json, json_string(host));
	}
	assert_int_equal(egress_rules_create(json, &rules, &e), 0);
	assert_non_null(reach(rules, "h9999.ok.test", 443, NULL, NULL));
	assert_null(reach(rules, "h10000.ok.test", 443, NULL, NULL));
	egress_rules_destroy(rules);
	(void)json_array_append_new(json, json_string("one.too.many"));
	assert_int_equal(egress_rules_create(json, &rules, &e), -1);
	assert_string_equal(e.path, "/allow");
}

/* E03 */
static void test_labels(void **state)
{
	(void)state;
	lets("[\"*.ok.test\"]", "evilok.test", 443, false);
	lets("[\"*.ok.test\"]", "ok.test.evil.test", 443, false);
	lets("[\"*.ok.test\"]", "a.ok.test", 443, true);
	lets("[\"*.ok.test\"]", "a.b.ok.test", 443, true);
	lets("[\"*.ok.test\"]", "A.B.OK.TEST.", 443, true);
	lets("[\"*.ok.test\"]", "ok.test", 443, false);
	lets("[\"*.ok.test\",\"ok.test\"]", "ok.test", 443, true);
	lets("[\"ok.test\"]", "a.ok.test", 443, false);
	lets("[\"ok.test\"]", "ok.test", 443, true);
	lets("[\"ok.test\"]", "ok.test", 80, true);
	lets("[\"ok.test\"]", "ok.test", 8080, false);
	lets("[\"ok.test:8080\"]", "ok.test", 8080, true);
	lets("[\"ok.test:8080\"]", "ok.test", 443, false);
	lets("[{\"host\":\"ok.test\",\"ports\":[22,8080]}]", "ok.test", 22, true);
	lets("[{\"host\":\"ok.test\",\"ports\":[22,8080]}]", "ok.test", 443, false);
}

/* E05: a literal only if it is listed as one, and in one spelling. */
static void test_addresses(void **state)
{
	static const char *const odd[] = {"2130706433", "0x7f.1", "0177.0.0.1", "127.1", "0", "0x7f000001", "1.2.3.4.5", "[fe80::1%25lo]", "[1.2.3.4]", "1.0x"};
	static const char *const local[] = {"localhost", "LOCALHOST", "a.localhost", "localhost."};
	static const char *const bad[] = {"", ".", "ok..test", " ok.test", "ok.test ", "\tok.test", "ok.test%00.evil.test", "[", "[]", "[::1", "::1", "a,b", "ok.test/", "user@ok.test"};
	struct egress_host host;

	(void)state;
	lets("[\"*.ok.test\",\"ok.test\"]", "93.184.216.34", 443, false);
	lets("[\"93.184.216.34\"]", "93.184.216.34", 443, true);
	lets("[\"93.184.216.34\"]", "[::ffff:93.184.216.34]", 443, false);
	lets("[\"[2001:DB8:0::1]\"]", "[2001:db8::1]", 443, true);
	lets("[\"93.184.216.34\"]", "93.184.216.034", 443, false);
	for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
		egress_host_read(odd[i], strlen(odd[i]), &host);
		if (host.kind != EGRESS_HOST_ODD)
			fail_msg("%s is of kind %d", odd[i], host.kind);
	}
	for (size_t i = 0; i < ARRAY_LEN(local); i++) {
		egress_host_read(local[i], strlen(local[i]), &host);
		if (host.kind != EGRESS_HOST_LOCAL)
			fail_msg("%s is of kind %d", local[i], host.kind);
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		egress_host_read(bad[i], strlen(bad[i]), &host);
		if (host.kind != EGRESS_HOST_BAD || *host.text)
			fail_msg("\"%s\" is of kind %d", bad[i], host.kind);
	}
}

/* E02: what a resolver would cut, or another program read otherwise. */
static void test_names(void **state)
{
	char long_label[512] = "", name[EGRESS_HOST_SIZE * 2] = "";
	struct egress_host host;

	(void)state;
	egress_host_read("evil.test\0.ok.test", 18, &host);
	assert_int_equal(host.kind, EGRESS_HOST_BAD);
	egress_host_read("evil.test\r\nX: y", 15, &host);
	assert_int_equal(host.kind, EGRESS_HOST_BAD);
	memset(long_label, 'a', 256);
	egress_host_read(long_label, 256, &host);
	assert_int_equal(host.kind, EGRESS_HOST_BAD);
	egress_host_read(long_label, 64, &host);
	assert_int_equal(host.kind, EGRESS_HOST_BAD);
	egress_host_read(long_label, 63, &host);
	assert_int_equal(host.kind, EGRESS_HOST_NAME);
	for (size_t i = 0; i < 127; i++)
		memcpy(name + 2 * i, "a.", 2);
	egress_host_read(name, 253, &host);
	assert_int_equal(host.kind, EGRESS_HOST_NAME);
	egress_host_read("aa.", 3, &host);
	assert_string_equal(host.text, "aa");
	egress_host_read("aa..", 4, &host);
	assert_int_equal(host.kind, EGRESS_HOST_BAD);
	memcpy(name + 253, "bb", 3);
	egress_host_read(name, 255, &host);
	assert_int_equal(host.kind, EGRESS_HOST_BAD);
}

static void test_requests(void **state)
{
	struct egress_rules *rules = rules_of("[{\"host\":\"api.test\",\"methods\":[\"GET\",\"HEAD\"],\"paths\":[\"/v1\",\"/files/\"]},\"ok.test\"]");
	static const struct {
		const char *method, *path;
		bool lets;
	} rows[] = {
		{"GET", "/v1", true}, {"HEAD", "/v1/x", true}, {"GET", "/v1/", true}, {"POST", "/v1", false}, {"GET", "/v12", false}, {"GET", "/", false},
		{"GET", "/files", false}, {"GET", "/files/", true}, {"GET", "/files/a", true}, {"GET", "/v1/../admin", false}, {"GET", "/v1/%2e%2e/admin", false},
		{"GET", "/v1/%2E./admin", false}, {"GET", "/v1/..;/admin", false}, {"GET", "/v1%2fx", false}, {"GET", "/v1//x", false}, {"GET", "//v1", false},
		{"GET", "/v1/\\..\\x", false}, {"GET", "/v1/a%5cb", false}, {"GET", "/v1/%252e", false}, {"GET", "/v1/%zz", false}, {"GET", "/v1/a%20b", true},
		{"GET", "/v1/.", false}, {"GET", "/v1/.a", true}, {"GET", "/v1/a..", true}, {"GET", "/v1/a%00b", false}, {"GET", "/v1/%c0%ae%C0%AE/x", false},
		{"GET", "/v1/%E0%80%AE%e0%80%ae/x", false}, {"GET", "/v1/%f0%80%80%ae/x", false}, {"GET", "/v1/%e0%a4%85", true}, {"GET", "/%761", false}, {"GET", "/v1/a;b=1", true},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if ((reach(rules, "api.test", 80, rows[i].method, rows[i].path) != NULL) != rows[i].lets)
			fail_msg("%s %s is %s", rows[i].method, rows[i].path, rows[i].lets ? "refused" : "let through");
	assert_null(reach(rules, "api.test", 443, NULL, NULL));
	assert_string_equal(reach(rules, "ok.test", 80, "POST", "/x/../y"), "ok.test");
	assert_true(egress_rules_names(rules, "api.test", 443));
	assert_false(egress_rules_names(rules, "api.test", 22));
	assert_false(egress_rules_names(rules, "b.test", 443));
	egress_rules_destroy(rules);
}

static void test_why(void **state)
{
	struct egress_rules *rules = rules_of("[\"ok.test\",{\"host\":\"api.test\",\"ports\":[80],\"methods\":[\"GET\"],\"paths\":[\"/a\"]}]");
	struct egress_host ok, api;
	const char *why = NULL;

	(void)state;
	egress_host_read("ok.test", 7, &ok);
	egress_host_read("api.test", 8, &api);
	assert_null(egress_rules_find(rules, &(struct egress_want){.host = &ok, .port = 22}, &why));
	assert_string_equal(why, "the entry for this host is for other ports");
	assert_null(egress_rules_find(rules, &(struct egress_want){.host = &api, .port = 80}, &why));
	assert_non_null(strstr(why, "cannot be seen in a tunnel"));
	assert_string_equal(egress_rules_find(rules, &(struct egress_want){.host = &api, .port = 80, .is_read = true}, &why), "api.test:80");
	assert_null(egress_rules_find(rules, &(struct egress_want){.host = &api, .port = 80, .method = "GET", .path = "/b"}, &why));
	assert_string_equal(why, "the entry for this host is for other paths");
	egress_rules_destroy(rules);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_entries), cmocka_unit_test(test_good_entries), cmocka_unit_test(test_all_faults), cmocka_unit_test(test_empty),
		cmocka_unit_test(test_many), cmocka_unit_test(test_labels), cmocka_unit_test(test_addresses), cmocka_unit_test(test_names),
		cmocka_unit_test(test_requests), cmocka_unit_test(test_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
