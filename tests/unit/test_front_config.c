/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: glovebox-front */
/* The operator's configuration: what it may say, what it is refused for, and the quotas of its keys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/front/hosts.h"
#include "session/front/quota.h"
#include "session/front/spec.h"

#define A64 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B64 "BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB"
#define KEY(rest) "{\"keys\":[{\"name\":\"team\",\"token_sha256\":\"" A64 "\"" rest "}]}"

static int read_text(const char *text, struct config *config, struct err *e)
{
	auto_fd fd = memfd_create("test", MFD_CLOEXEC);

	assert_int_equal(util_write_all(fd, text, strlen(text)), 0);
	/* The offset is at the end: it must not matter. */
	return config_read(fd, config, e);
}

static void must_read(const char *text, struct config *config)
{
	struct err e = {0};

	if (read_text(text, config, &e) < 0)
		fail_msg("%s is refused at %s: %s", text, e.path, e.msg);
}

static void test_none(void **state)
{
	struct config config;

	(void)state;
	must_read("", &config);
	assert_null(config.document);
	assert_null(config_find_key(&config, OWNER_OPERATOR));
	config_finish(&config);
}

static void test_keys(void **state)
{
	struct config config;
	const struct config_key *key;
	char text[96];

	(void)state;
	must_read("{\"keys\":[{\"name\":\"team-1\",\"token_sha256\":\"" A64 "\"},{\"name\":\"admin\",\"token_sha256\":\"" B64
	          "\",\"role\":\"operator\"}],\"hosts\":[\"box.example\"]}", &config);
	key = config_find_key(&config, "team-1");
	assert_non_null(key);
	assert_int_equal(key->role, ROLE_OWNER);
	assert_int_equal(key->hash[0], 0xAA);
	assert_int_equal(key->hash[31], 0xAA);
	key = config_find_key(&config, "admin");
	assert_int_equal(key->role, ROLE_OPERATOR);
	assert_int_equal(key->hash[5], 0xBB);
	assert_null(config_find_key(&config, "team"));
	assert_string_equal(config_summary(&config, text, sizeof(text)), "2 keys, 1 host name, no defaults");
	config_finish(&config);
}

static void test_faults(void **state)
{
	static const struct {
		const char *text;
		enum err_code code;
		const char *path;
	} rows[] = {
		{"[]", ERR_BAD_FIELD, ""},
		{"{\n  \"keys\": [,]}", ERR_BAD_JSON, ""},
		{"{\"key\":[]}", ERR_UNKNOWN_FIELD, "/key"},
		{"{\"keys\":{}}", ERR_BAD_FIELD, "/keys"},
		{"{\"keys\":[{}]}", ERR_MISSING_FIELD, "/keys/0/name"},
		{"{\"keys\":[{\"name\":\"a\"}]}", ERR_MISSING_FIELD, "/keys/0/token_sha256"},
		{"{\"keys\":[{\"name\":\"a\",\"token_sha256\":\"gbk_secret\"}]}", ERR_BAD_FIELD, "/keys/0/token_sha256"},
		{"{\"keys\":[{\"name\":\"A\",\"token_sha256\":\"" A64 "\"}]}", ERR_BAD_FIELD, "/keys/0/name"},
		{"{\"keys\":[{\"name\":\"operator\",\"token_sha256\":\"" A64 "\"}]}", ERR_BAD_FIELD, "/keys/0/name"},
		{"{\"keys\":[{\"name\":\"a2345678901234567890123456789012\",\"token_sha256\":\"" A64 "\"}]}", ERR_BAD_FIELD, "/keys/0/name"},
		{"{\"keys\":[{\"name\":\"a\",\"token_sha256\":\"" A64 "\"},{\"name\":\"b\",\"token_sha256\":\"" A64 "\"}]}", ERR_BAD_FIELD,
		 "/keys/1/token_sha256"},
		{"{\"keys\":[{\"name\":\"a\",\"token_sha256\":\"" A64 "\"},{\"name\":\"a\",\"token_sha256\":\"" B64 "\"}]}", ERR_BAD_FIELD,
		 "/keys/1/name"},
		{KEY(",\"token\":\"x\""), ERR_UNKNOWN_FIELD, "/keys/0/token"},
		{KEY(",\"role\":\"agent\""), ERR_BAD_FIELD, "/keys/0/role"},
		{KEY(",\"sessions\":-1"), ERR_BAD_FIELD, "/keys/0/sessions"},
		{KEY(",\"sessions\":1.5"), ERR_BAD_FIELD, "/keys/0/sessions"},
		{KEY(",\"images\":\"minimal\""), ERR_BAD_FIELD, "/keys/0/images"},
		{KEY(",\"isolation\":[\"jail\",\"none\"]"), ERR_BAD_FIELD, "/keys/0/isolation/1"},
		{KEY(",\"egress\":\"all\""), ERR_BAD_FIELD, "/keys/0/egress"},
		{KEY(",\"ttl_s\":0"), ERR_BAD_FIELD, "/keys/0/ttl_s"},
		{KEY(",\"limits\":{\"ram\":1}"), ERR_UNKNOWN_FIELD, "/keys/0/limits/ram"},
		{KEY(",\"limits\":{\"memory_mb\":1}"), ERR_BAD_FIELD, "/keys/0/limits/memory_mb"},
		{"{\"hosts\":[\"a.example\",\"b.example:80\"]}", ERR_BAD_FIELD, "/hosts/1"},
		{"{\"hosts\":[\"http://a.example\"]}", ERR_BAD_FIELD, "/hosts/0"},
		{"{\"hosts\":[\"\"]}", ERR_BAD_FIELD, "/hosts/0"},
		{"{\"hosts\":[\"*\"]}", ERR_BAD_FIELD, "/hosts/0"},
		{"{\"approval\":{\"rules\":[{\"verdict\":\"ask\",\"actions\":[\"cl*\",\"clik\"]}]}}", ERR_UNKNOWN_ACTION, "/approval/rules/0/actions/1"},
		{"{\"approval\":{\"rules\":[{\"verdict\":\"ask\",\"place\":[\"bank\"]}]}}", ERR_BAD_FIELD, "/approval/rules/0/place/0"},
		{"{\"approval\":{\"mode\":\"never\"}}", ERR_UNKNOWN_FIELD, "/approval/mode"},
		{"{\"defaults\":{\"ttl\":1}}", ERR_UNKNOWN_FIELD, "/defaults/ttl"},
		{"{\"defaults\":{\"isolation\":\"vm\"}}", ERR_TIER_UNAVAILABLE, "/defaults/isolation"},
		{"{\"defaults\":{\"display\":{\"max_width\":1280}}}", ERR_UNSUPPORTED, "/defaults/display"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct config config = {.n_keys = 77};
		struct err e = {0};

		if (read_text(rows[i].text, &config, &e) == 0)
			fail_msg("%s is accepted", rows[i].text);
		if (e.code != rows[i].code || strcmp(e.path, rows[i].path) != 0)
			fail_msg("%s: %s at %s: %s", rows[i].text, err_info(e.code)->wire, e.path, e.msg);
		assert_int_equal(config.n_keys, 77);
		assert_null(strstr(e.msg, "gbk_secret"));
		if (e.code == ERR_BAD_JSON)
			assert_non_null(strstr(e.msg, "line 2, column 12"));
	}
}

static void test_hosts(void **state)
{
	static const struct {
		const char *value;
		bool known;
	} rows[] = {
		{"box.example", true},      {"BOX.example:8443", true},   {"box.example:", false}, {"box.example:x", false}, {"ox.example", false},
		{"10.0.0.7:70", true},      {"[fd00::1]:70", true},       {"127.0.0.1:7070", true}, {"127.0.0.1:80", false},  {"box.example.", false},
		{"a.box.example", false},
	};
	struct config config;
	struct hosts hosts = {.n_places = 0};
	const json_t *name;
	struct err e;
	size_t n;

	(void)state;
	must_read("{\"hosts\":[\"Box.example\",\"10.0.0.7\",\"[fd00::1]\"]}", &config);
	assert_int_equal(hosts_listen(&hosts, "http://127.0.0.1:7070", &e), 0);
	assert_false(hosts_has(&hosts, "box.example", false));
	json_array_foreach(config.hosts, n, name)
		assert_int_equal(hosts_add(&hosts, json_string_value(name), &e), 0);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (hosts_has(&hosts, rows[i].value, false) != rows[i].known)
			fail_msg("%s", rows[i].value);
	config_finish(&config);
}

/* Completes what a caller with the first key asks for; the completed spec, or its refusal by the quota. */
static json_t *complete(const struct config *config, const char *asked_text, struct faults *faults)
{
	json_auto_t *asked = json_loads(asked_text, 0, NULL);
	const struct config_key *key = config->n_keys ? &config->keys[0] : NULL;
	json_t *spec = NULL;
	struct err e = {0};

	assert_non_null(asked);
	if (spec_complete(asked, key ? key->usual : config->defaults, &spec, &e) < 0)
		fail_msg("%s is refused at %s: %s", asked_text, e.path, e.msg);
	(void)quota_check_spec(key, spec, faults);
	return spec;
}

static long limit_of(const json_t *spec, const char *name)
{
	return form_int(json_object_get(spec, "limits"), name, -1);
}

/* What a caller does not say is the configuration's default, and never beyond the key. */
static void test_defaults(void **state)
{
	struct err list[LIMIT_FAULTS];
	struct faults faults = {.list = list, .max = LIMIT_FAULTS};
	struct config config;
	json_t *spec;

	(void)state;
	must_read("{\"defaults\":{\"image\":\"minimal\",\"ttl_s\":600,\"display\":{\"width\":1024},\"limits\":{\"pids\":256,\"disk_mb\":2000,"
	          "\"memory_mb\":8000},\"labels\":{\"a\":\"b\"}},\"keys\":[{\"name\":\"team\",\"token_sha256\":\"" A64
	          "\",\"ttl_s\":60,\"limits\":{\"memory_mb\":1024,\"cpu\":1.5,\"pids\":512}}]}", &config);
	spec = complete(&config, "{\"display\":{\"height\":600}}", &faults);
	assert_int_equal(faults.n, 0);
	assert_string_equal(form_string(spec, "image", ""), "minimal");
	assert_int_equal(form_int(spec, "ttl_s", 0), 60);
	assert_int_equal(form_int(json_object_get(spec, "display"), "width", 0), 1024);
	assert_int_equal(form_int(json_object_get(spec, "display"), "max_width", 0), 1024);
	assert_int_equal(form_int(json_object_get(spec, "display"), "height", 0), 600);
	assert_string_equal(form_string(json_object_get(spec, "labels"), "a", ""), "b");
	assert_int_equal(limit_of(spec, "memory_mb"), 1024);
	assert_int_equal(limit_of(spec, "disk_mb"), 512);
	assert_int_equal(limit_of(spec, "pids"), 256);
	assert_true(form_number(json_object_get(spec, "limits"), "cpu", 0) == 1.5);
	json_decref(spec);
	config_finish(&config);
}

static void test_quotas(void **state)
{
	static const struct {
		const char *key, *asked, *path; /* path NULL: it is allowed */
	} rows[] = {
		{"", "{\"image\":\"any\",\"ttl_s\":86400,\"limits\":{\"memory_mb\":65536}}", NULL},
		{",\"images\":[\"a\",\"b\"]", "{\"image\":\"b\"}", NULL},
		{",\"images\":[\"a\",\"b\"]", "{\"image\":\"c\"}", "/image"},
		{",\"images\":[]", "{\"image\":\"a\"}", "/image"},
		{",\"ttl_s\":60", "{\"ttl_s\":60}", NULL},
		{",\"ttl_s\":60", "{\"ttl_s\":61}", "/ttl_s"},
		{",\"isolation\":[\"vm\"]", "{}", "/isolation"},
		{",\"limits\":{\"memory_mb\":1024}", "{\"limits\":{\"memory_mb\":1025}}", "/limits/memory_mb"},
		{",\"limits\":{\"memory_mb\":1024}", "{\"limits\":{\"memory_mb\":1024}}", NULL},
		{",\"limits\":{\"cpu\":0.5}", "{\"limits\":{\"cpu\":0.51}}", "/limits/cpu"},
		{",\"limits\":{\"disk_mb\":100}", "{}", NULL},
		{",\"limits\":{\"disk_mb\":100}", "{\"limits\":{\"disk_mb\":101}}", "/limits/disk_mb"},
		{",\"limits\":{\"exec_ms\":10}", "{\"limits\":{\"exec_ms\":11}}", "/limits/exec_ms"},
		{",\"limits\":{\"pids\":64}", "{\"limits\":{\"pids\":65}}", "/limits/pids"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		auto_free char *text = util_printf("{\"keys\":[{\"name\":\"team\",\"token_sha256\":\"" A64 "\"%s}]}", rows[i].key);
		struct err list[LIMIT_FAULTS];
		struct faults faults = {.list = list, .max = LIMIT_FAULTS};
		struct config config;

		must_read(text, &config);
		json_decref(complete(&config, rows[i].asked, &faults));
		if (faults.n != (rows[i].path ? 1U : 0U))
			fail_msg("%s with %s: %zu faults", rows[i].asked, rows[i].key, faults.n);
		if (rows[i].path) {
			assert_int_equal(list[0].code, ERR_FORBIDDEN);
			assert_string_equal(list[0].path, rows[i].path);
			assert_non_null(strstr(list[0].msg, "the key team"));
		}
		config_finish(&config);
	}
}

/* This version refuses a way out before a quota is asked: the rule is there for when it does not. */
static void test_the_way_out(void **state)
{
	static const struct {
		const char *key, *spec, *path;
	} rows[] = {
		{"", "{\"egress\":{\"mode\":\"none\"}}", NULL},
		{"", "{\"egress\":{\"mode\":\"allowlist\"}}", "/egress/mode"},
		{",\"egress\":\"allowlist\"", "{\"egress\":{\"mode\":\"allowlist\"}}", NULL},
		{",\"egress\":\"allowlist\"", "{\"egress\":{\"mode\":\"open\"}}", "/egress/mode"},
		{",\"egress\":\"open\"", "{\"egress\":{\"mode\":\"open\"}}", NULL},
		{",\"egress\":\"none\"", "{\"setup\":{\"egress\":{\"mode\":\"open\"}}}", "/setup/egress/mode"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		auto_free char *text = util_printf("{\"keys\":[{\"name\":\"team\",\"token_sha256\":\"" A64 "\"%s}]}", rows[i].key);
		json_auto_t *spec = json_loads(rows[i].spec, 0, NULL);
		struct err e = {0};
		struct faults faults = {.list = &e, .max = 1};
		struct config config;

		must_read(text, &config);
		assert_int_equal(quota_check_spec(&config.keys[0], spec, &faults), rows[i].path ? -1 : 0);
		assert_string_equal(e.path, rows[i].path ? rows[i].path : "");
		config_finish(&config);
	}
}

static void test_sessions_at_once(void **state)
{
	struct session ended = {.owner = "team", .state = SESSION_ENDED}, others = {.owner = "other", .next = &ended};
	struct session second = {.owner = "team", .state = SESSION_ENDING, .next = &others};
	struct session first = {.owner = "team", .next = &second};
	struct sessions sessions = {.first = &first};
	struct config config;
	struct err e = {0};

	(void)state;
	must_read(KEY(",\"sessions\":3"), &config);
	assert_int_equal(quota_check_count(&config.keys[0], &sessions, 1, &e), 0);
	assert_int_equal(quota_check_count(&config.keys[0], &sessions, 2, &e), -1);
	assert_int_equal(e.code, ERR_QUOTA);
	assert_int_equal(quota_check_count(NULL, &sessions, 1000, &e), 0);
	config_finish(&config);
	must_read(KEY(""), &config);
	assert_int_equal(quota_check_count(&config.keys[0], &sessions, 1000, &e), 0);
	config_finish(&config);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_none),     cmocka_unit_test(test_keys),   cmocka_unit_test(test_faults),      cmocka_unit_test(test_hosts),
		cmocka_unit_test(test_defaults), cmocka_unit_test(test_quotas), cmocka_unit_test(test_the_way_out), cmocka_unit_test(test_sessions_at_once),
	};

	return cmocka_run_group_tests_name("front_config", tests, NULL, NULL);
}
