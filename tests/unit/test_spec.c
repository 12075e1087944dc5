/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: glovebox-front */
/* The session spec: its defaults, its faults, and what this version does not give. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/front/spec.h"

/* Design part 16. */
static const char whole[] =
	"{\"image\":\"desktop\","
	"\"display\":{\"width\":1280,\"height\":800,\"max_width\":1280,\"max_height\":800,\"layout\":\"us\",\"gl\":false},"
	"\"guard\":\"off\",\"lease\":\"agent\","
	"\"apps\":[],\"accessibility\":true,\"env\":{},\"labels\":{},\"ttl_s\":3600,\"idle_s\":900,"
	"\"isolation\":\"jail\",\"filesystem\":\"workspace\",\"egress\":{\"mode\":\"none\",\"allow\":[]},"
	"\"limits\":{\"cpu\":2.0,\"memory_mb\":3072,\"pids\":2048,\"disk_mb\":1024,\"inodes\":65536,\"open_files\":8192,\"x_mb\":800,\"exec_ms\":120000},"
	"\"approval\":{\"mode\":\"sensitive\",\"rules\":[],\"timeout_s\":600},\"secrets\":[],"
	"\"setup\":{\"commands\":[],\"secrets\":{},\"timeout_s\":300,\"egress\":{\"mode\":\"none\",\"allow\":[]}},"
	"\"results\":{\"private_keys\":\"mask\",\"cloud_keys\":\"mask\",\"cards\":\"alert\"},"
	"\"record\":{\"pictures\":true,\"text\":\"plain\",\"nodes\":true}}";

static json_t *parse(const char *text)
{
	json_t *value = NULL;
	struct err e;

	if (json_parse(text, strlen(text), &value, &e) < 0)
		fail_msg("%s: %s", text, e.msg);
	return value;
}

static json_t *complete(const char *text)
{
	json_auto_t *asked = parse(text);
	json_t *spec = NULL;
	struct err e;

	if (spec_complete(asked, NULL, &spec, &e) < 0)
		fail_msg("%s is refused at %s: %s", text, e.path, e.msg);
	return spec;
}

static void refuse(const char *text, enum err_code code, const char *path)
{
	json_auto_t *asked = parse(text);
	json_t *spec = NULL;
	struct err e;

	if (spec_complete(asked, NULL, &spec, &e) == 0)
		fail_msg("%s is accepted", text);
	if (e.code != code || strcmp(e.path, path) != 0)
		fail_msg("%s: %s at %s, not %s at %s: %s", text, err_info(e.code)->wire, e.path, err_info(code)->wire, path, e.msg);
	assert_null(spec);
}

static void test_defaults_are_those_of_the_contract(void **state)
{
	json_auto_t *contract = parse(whole);
	json_auto_t *empty = complete("{}");
	json_auto_t *full = complete(whole);

	(void)state;
	assert_true(json_equal(empty, contract));
	assert_true(json_equal(full, contract));
}

static void test_what_the_caller_says_stays(void **state)
{
	json_auto_t *spec = complete("{\"image\":\"minimal\",\"display\":{\"width\":1920,\"height\":1080},\"apps\":[\"terminal\"],"
	                             "\"env\":{\"A\":\"b\"},\"labels\":{\"team\":\"qa\"},\"limits\":{\"cpu\":0.5},\"idle_s\":0}");
	const json_t *display = json_object_get(spec, "display");

	(void)state;
	assert_string_equal(form_string(spec, "image", ""), "minimal");
	assert_int_equal(form_int(display, "max_width", 0), 1920);
	assert_int_equal(form_int(display, "max_height", 0), 1080);
	assert_null(json_object_get(spec, "space")); /* it goes with the display */
	assert_int_equal(form_int(spec, "idle_s", 1), 0);
	assert_true(form_number(json_object_get(spec, "limits"), "cpu", 0) == 0.5);
	assert_int_equal(form_int(json_object_get(spec, "limits"), "pids", 0), 2048);
	assert_string_equal(form_string(json_object_get(spec, "labels"), "team", ""), "qa");
}

/* The X server gets the maximum, and the display may be smaller at the start. */
static void test_room_to_grow(void **state)
{
	json_auto_t *spec = complete("{\"display\":{\"max_width\":3840,\"max_height\":2160}}");
	json_auto_t *manifest = json_pack("{s:s}", "hash", "00ff");
	struct warden_create create;

	(void)state;
	assert_int_equal(form_int(json_object_get(spec, "display"), "width", 0), 1280);
	spec_for_warden(spec, manifest, &create);
	assert_int_equal(create.width_px, 3840);
	assert_int_equal(create.height_px, 2160);
}

static void test_little_memory_has_a_small_disk(void **state)
{
	json_auto_t *spec = complete("{\"limits\":{\"memory_mb\":512}}");

	(void)state;
	assert_int_equal(form_int(json_object_get(spec, "limits"), "disk_mb", 0), 256);
	refuse("{\"limits\":{\"memory_mb\":512,\"disk_mb\":257}}", ERR_BAD_FIELD, "/limits/disk_mb");
}

/* What the rules between fields and this version's offers refuse is listed together, too. */
static void test_all_faults(void **state)
{
	json_auto_t *asked = json_loads("{\"isolation\":\"vm\",\"display\":{\"max_width\":1279,\"gl\":true},\"limits\":{\"memory_mb\":256,\"disk_mb\":200},"
					"\"env\":{\"A B\":\"\",\"1\":\"\"},\"labels\":{\"\":\"\"}}", 0, NULL);
	static const char *const paths[] = {"/display/max_width", "/limits/disk_mb", "/env", "/env", "/labels", "/isolation", "/display/gl"};
	struct err list[LIMIT_FAULTS];
	struct faults faults = {.list = list, .max = LIMIT_FAULTS};
	json_t *spec = NULL;

	(void)state;
	assert_int_equal(spec_complete_all(asked, NULL, &spec, &faults), -1);
	assert_null(spec);
	assert_int_equal(faults.n, ARRAY_LEN(paths));
	for (size_t i = 0; i < ARRAY_LEN(paths); i++)
		assert_string_equal(list[i].path, paths[i]);
}

/* Specs with one fault, and where it is. */
static const struct {
	const char *text;
	enum err_code code;
	const char *path;
} FAULTS[] = {
	{"[]", ERR_BAD_FIELD, ""},
	{"\"x\"", ERR_BAD_FIELD, ""},
	{"{\"images\":\"x\"}", ERR_UNKNOWN_FIELD, "/images"},
	{"{\"count\":2}", ERR_UNKNOWN_FIELD, "/count"},
	{"{\"image\":1}", ERR_BAD_FIELD, "/image"},
	{"{\"image\":\"\"}", ERR_BAD_FIELD, "/image"},
	{"{\"image\":null}", ERR_BAD_FIELD, "/image"},
	{"{\"image\":\"a\\u0000b\"}", ERR_BAD_FIELD, "/image"},
	{"{\"display\":[]}", ERR_BAD_FIELD, "/display"},
	{"{\"display\":{\"width\":63}}", ERR_BAD_FIELD, "/display/width"},
	{"{\"display\":{\"width\":4097}}", ERR_BAD_FIELD, "/display/width"},
	{"{\"display\":{\"width\":1280.5}}", ERR_BAD_FIELD, "/display/width"},
	{"{\"display\":{\"width\":\"1280\"}}", ERR_BAD_FIELD, "/display/width"},
	{"{\"display\":{\"width\":true}}", ERR_BAD_FIELD, "/display/width"},
	{"{\"display\":{\"width\":-1280}}", ERR_BAD_FIELD, "/display/width"},
	{"{\"display\":{\"depth\":24}}", ERR_UNKNOWN_FIELD, "/display/depth"},
	{"{\"display\":{\"width\":1280,\"max_width\":1279}}", ERR_BAD_FIELD, "/display/max_width"},
	{"{\"display\":{\"height\":900,\"max_height\":800}}", ERR_BAD_FIELD, "/display/max_height"},
	{"{\"space\":{\"width\":800}}", ERR_MISSING_FIELD, "/space/height"},
	{"{\"space\":{\"width\":0,\"height\":600}}", ERR_BAD_FIELD, "/space/width"},
	{"{\"guard\":\"on\"}", ERR_BAD_FIELD, "/guard"},
	{"{\"lease\":\"nobody\"}", ERR_BAD_FIELD, "/lease"},
	{"{\"on_lost\":{}}", ERR_MISSING_FIELD, "/on_lost/return_after_s"},
	{"{\"on_lost\":{\"return_after_s\":0}}", ERR_BAD_FIELD, "/on_lost/return_after_s"},
	{"{\"apps\":\"terminal\"}", ERR_BAD_FIELD, "/apps"},
	{"{\"apps\":[1]}", ERR_BAD_FIELD, "/apps/0"},
	{"{\"env\":{\"A\":1}}", ERR_BAD_FIELD, "/env/A"},
	{"{\"env\":{\"A B\":\"\"}}", ERR_BAD_FIELD, "/env"},
	{"{\"env\":{\"1A\":\"\"}}", ERR_BAD_FIELD, "/env"},
	{"{\"env\":{\"\":\"\"}}", ERR_BAD_FIELD, "/env"},
	{"{\"env\":{\"DISPLAY\":\":1\"}}", ERR_BAD_FIELD, "/env/DISPLAY"},
	{"{\"env\":{\"DBUS_SESSION_BUS_ADDRESS\":\"\"}}", ERR_BAD_FIELD, "/env/DBUS_SESSION_BUS_ADDRESS"},
	{"{\"env\":{\"A\":\"\\u0000\"}}", ERR_BAD_FIELD, "/env/A"},
	{"{\"labels\":{\"\":\"x\"}}", ERR_BAD_FIELD, "/labels"},
	{"{\"labels\":[]}", ERR_BAD_FIELD, "/labels"},
	{"{\"ttl_s\":0}", ERR_BAD_FIELD, "/ttl_s"},
	{"{\"ttl_s\":1e9}", ERR_BAD_FIELD, "/ttl_s"},
	{"{\"idle_s\":-1}", ERR_BAD_FIELD, "/idle_s"},
	{"{\"isolation\":\"none\"}", ERR_BAD_FIELD, "/isolation"},
	{"{\"egress\":{\"mode\":\"all\"}}", ERR_BAD_FIELD, "/egress/mode"},
	{"{\"egress\":null}", ERR_BAD_FIELD, "/egress"},
	{"{\"egress\":{\"allow\":[\"ok.test\"]}}", ERR_BAD_FIELD, "/egress/allow"},
	{"{\"egress\":{\"mode\":\"allowlist\",\"allow\":null}}", ERR_BAD_FIELD, "/egress/allow"},
	{"{\"egress\":{\"mode\":\"allowlist\",\"allow\":[\"\"]}}", ERR_BAD_FIELD, "/egress/allow/0"},
	{"{\"egress\":{\"mode\":\"allowlist\",\"allow\":[\"*\"]}}", ERR_BAD_FIELD, "/egress/allow/0"},
	{"{\"egress\":{\"mode\":\"allowlist\",\"allow\":[\" ok.test \"]}}", ERR_BAD_FIELD, "/egress/allow/0"},
	{"{\"egress\":{\"mode\":\"allowlist\",\"allow\":[\"ok.test\",\"https://ok.test/x\"]}}", ERR_BAD_FIELD, "/egress/allow/1"},
	{"{\"egress\":{\"mode\":\"allowlist\",\"allow\":[\"ok.test:99999\"]}}", ERR_BAD_FIELD, "/egress/allow/0"},
	{"{\"egress\":{\"mode\":\"allowlist\",\"caps\":{\"connections\":0}}}", ERR_BAD_FIELD, "/egress/caps/connections"},
	{"{\"egress\":{\"mode\":\"allowlist\",\"caps\":{\"bytes_s\":1}}}", ERR_BAD_FIELD, "/egress/caps/bytes_s"},
	{"{\"approval\":{\"rules\":[{\"verdict\":\"deny\",\"reach\":[\"none\"]}]}}", ERR_BAD_FIELD, "/approval/rules/0/reach/0"},
	{"{\"limits\":{\"cpu\":0}}", ERR_BAD_FIELD, "/limits/cpu"},
	{"{\"limits\":{\"cpu\":\"2\"}}", ERR_BAD_FIELD, "/limits/cpu"},
	{"{\"limits\":{\"memory_mb\":1}}", ERR_BAD_FIELD, "/limits/memory_mb"},
	{"{\"limits\":{\"memory_mb\":99999999}}", ERR_BAD_FIELD, "/limits/memory_mb"},
	{"{\"limits\":{\"pids\":1}}", ERR_BAD_FIELD, "/limits/pids"},
	{"{\"limits\":{\"exec_ms\":300001}}", ERR_BAD_FIELD, "/limits/exec_ms"},
	{"{\"approval\":{\"mode\":\"ask\"}}", ERR_BAD_FIELD, "/approval/mode"},
	{"{\"approval\":{\"rules\":[{\"verdict\":\"ask\",\"into\":[\"text\"]}]}}", ERR_BAD_FIELD, "/approval/rules/0/into/0"},
	{"{\"record\":{\"pictures\":1}}", ERR_BAD_FIELD, "/record/pictures"},
};

static void test_faults(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(FAULTS); i++)
		refuse(FAULTS[i].text, FAULTS[i].code, FAULTS[i].path);
}

static void test_what_is_not_given_is_refused(void **state)
{
	static const struct {
		const char *text, *path;
	} rows[] = {
		{"{\"display\":{\"layout\":\"de\"}}", "/display/layout"},
		{"{\"display\":{\"gl\":true}}", "/display/gl"},
		{"{\"filesystem\":\"readonly\"}", "/filesystem"},
		{"{\"env\":{\"PASSWORD\":{\"secret\":\"login\"}}}", "/env/PASSWORD"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		refuse(rows[i].text, ERR_UNSUPPORTED, rows[i].path);
	refuse("{\"isolation\":\"vm\"}", ERR_TIER_UNAVAILABLE, "/isolation");
	refuse("{\"isolation\":\"external\"}", ERR_TIER_UNAVAILABLE, "/isolation");
	refuse("{\"setup\":{\"commands\":\"true\"}}", ERR_BAD_FIELD, "/setup/commands");
	refuse("{\"setup\":{\"commands\":[[]]}}", ERR_BAD_FIELD, "/setup/commands/0");
	refuse("{\"setup\":{\"commands\":[\"true\",[\"a\",1]]}}", ERR_BAD_FIELD, "/setup/commands/1");
	refuse("{\"setup\":{\"commands\":[\"\"]}}", ERR_BAD_FIELD, "/setup/commands/0");
	refuse("{\"setup\":{\"commands\":[{}]}}", ERR_BAD_FIELD, "/setup/commands/0");
	refuse("{\"setup\":{\"secrets\":{\"A\":\"none\"}}}", ERR_BAD_FIELD, "/setup/secrets/A");
	refuse("{\"secrets\":[\"s\"],\"setup\":{\"secrets\":{\"1\":\"s\"}}}", ERR_BAD_FIELD, "/setup/secrets/1");
	json_decref(complete("{\"secrets\":[\"s\"],\"setup\":{\"commands\":[\"true\",[\"true\",\"x\"]],\"secrets\":{\"A\":\"s\"},\"egress\":{\"mode\":\"open\"}}}"));
	/* The order of members is the caller's. */
	json_decref(complete("{\"setup\":{\"egress\":{\"allow\":[],\"mode\":\"none\"}}}"));
	json_decref(complete("{\"approval\":{\"mode\":\"never\"}}"));
	json_decref(complete("{\"approval\":{\"mode\":\"always\",\"rules\":[{\"verdict\":\"deny\",\"actions\":[\"exec\"]}]}}"));
	json_decref(complete("{\"record\":{\"pictures\":false,\"text\":\"none\"}}"));
}

static void test_bounds(void **state)
{
	json_auto_t *asked = json_object();
	json_t *env = json_object(), *labels = json_object();
	char big[LIMIT_ENV_BYTES + 1];
	json_t *spec = NULL;
	struct err e;

	(void)state;
	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	(void)json_object_set_new(env, "A", json_string(big));
	(void)json_object_set_new(asked, "env", env);
	assert_int_equal(spec_complete(asked, NULL, &spec, &e), -1);
	assert_string_equal(e.path, "/env");
	(void)json_object_del(asked, "env");

	big[LIMIT_LABEL_BYTES + 1] = '\0';
	(void)json_object_set_new(labels, "a", json_string(big));
	(void)json_object_set_new(asked, "labels", labels);
	assert_int_equal(spec_complete(asked, NULL, &spec, &e), -1);
	assert_string_equal(e.path, "/labels");
	big[LIMIT_LABEL_BYTES] = '\0';
	(void)json_object_set_new(labels, "a", json_string(big));
	assert_int_equal(spec_complete(asked, NULL, &spec, &e), 0);
	json_decref(spec);
}

static void test_apps_are_of_the_catalogue(void **state)
{
	json_auto_t *manifest = parse("{\"name\":\"minimal\",\"apps\":[{\"name\":\"terminal\"},{\"name\":\"editor\"}]}");
	json_auto_t *good = complete("{\"apps\":[\"editor\",\"terminal\",\"terminal\"]}");
	json_auto_t *bad = complete("{\"apps\":[\"editor\",\"Firefox\"]}");
	struct err e;

	(void)state;
	assert_int_equal(spec_check_apps(good, manifest, &e), 0);
	assert_int_equal(spec_check_apps(bad, manifest, &e), -1);
	assert_int_equal(e.code, ERR_BAD_FIELD);
	assert_string_equal(e.path, "/apps/1");
	assert_non_null(strstr(e.msg, "\"Firefox\""));
	assert_non_null(strstr(e.msg, "terminal, editor"));
}

static void test_the_warden_gets_numbers(void **state)
{
	json_auto_t *manifest = json_pack("{s:s}", "hash", "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff");
	json_auto_t *spec = complete("{\"image\":\"minimal\",\"display\":{\"width\":1000},\"limits\":{\"cpu\":1.5},\"ttl_s\":60}");
	struct warden_create create;

	(void)state;
	spec_for_warden(spec, manifest, &create);
	assert_string_equal(create.image, "minimal");
	assert_int_equal(strlen(create.image_hash), 64);
	assert_int_equal(create.width_px, 1000);
	assert_int_equal(create.height_px, 800);
	assert_int_equal(create.cpu_milli, 1500);
	assert_int_equal(create.memory_mb, 3072);
	assert_int_equal(create.disk_mb, 1024);
	assert_int_equal(create.pids, 2048);
	assert_int_equal(create.inodes, 65536);
	assert_int_equal(create.open_files, 8192);
	assert_int_equal(create.x_mb, 800);
	assert_int_equal(create.ttl_s, 60);
}

static void test_values_of_the_environment_are_not_kept(void **state)
{
	json_auto_t *spec = complete("{\"env\":{\"TOKEN\":\"hunter2\"}}");
	json_auto_t *kept = spec_without_values(spec);
	json_auto_t *again = spec_without_values(kept);
	auto_free char *text = json_dumps(kept, 0);

	(void)state;
	assert_null(strstr(text, "hunter2"));
	assert_non_null(strstr(text, "TOKEN"));
	assert_true(json_equal(kept, again));
	assert_string_equal(form_string(json_object_get(spec, "env"), "TOKEN", ""), "hunter2");
}

static void test_a_count_is_taken_out(void **state)
{
	static const struct {
		const char *asked;
		int rc;
		size_t count;
	} rows[] = {
		{"{}", 0, 0}, {"{\"count\":1}", 0, 1}, {"{\"count\":64}", 0, 64}, {"{\"count\":0}", -1, 0}, {"{\"count\":65}", -1, 0},
		{"{\"count\":\"2\"}", -1, 0}, {"{\"count\":null}", -1, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		json_auto_t *asked = parse(rows[i].asked);
		size_t count = 99;
		struct err e = {.code = ERR_NONE};
		struct faults one = {.list = &e, .max = 1};

		if (spec_take_count(asked, &count, &one) != rows[i].rc)
			fail_msg("%s: %s", rows[i].asked, e.msg);
		if (rows[i].rc == 0) {
			assert_int_equal(count, rows[i].count);
			assert_null(json_object_get(asked, "count"));
		} else {
			assert_int_equal(e.code, ERR_BAD_FIELD);
			assert_string_equal(e.path, "/count");
		}
	}
}

/* The labels, ttl_s and idle_s that a spec has after a change. */
static void test_changes(void **state)
{
	static const struct {
		const char *change, *labels;
		long ttl_s, idle_s;
	} rows[] = {
		{"{}", "{\"a\":\"1\",\"b\":\"2\"}", 60, 900},
		{"{\"labels\":{\"b\":\"3\",\"c\":\"4\"}}", "{\"a\":\"1\",\"b\":\"3\",\"c\":\"4\"}", 60, 900},
		{"{\"labels\":{\"a\":null,\"none\":null}}", "{\"b\":\"2\"}", 60, 900},
		{"{\"labels\":null,\"ttl_s\":5}", "{}", 5, 900},
		{"{\"labels\":{},\"idle_s\":0}", "{\"a\":\"1\",\"b\":\"2\"}", 60, 0},
	};
	json_auto_t *spec = complete("{\"labels\":{\"a\":\"1\",\"b\":\"2\"},\"ttl_s\":60}");

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		json_auto_t *change = parse(rows[i].change), *changed = NULL, *labels = parse(rows[i].labels);
		struct err e;
		struct faults one = {.list = &e, .max = 1};

		if (spec_change(spec, change, &changed, &one) < 0)
			fail_msg("%s: %s", rows[i].change, e.msg);
		if (!json_equal(json_object_get(changed, "labels"), labels) || form_int(changed, "ttl_s", -1) != rows[i].ttl_s ||
		    form_int(changed, "idle_s", -1) != rows[i].idle_s)
			fail_msg("%s gives another spec", rows[i].change);
		assert_int_equal(form_int(spec, "ttl_s", -1), 60);
		assert_int_equal(json_object_size(json_object_get(spec, "labels")), 2);
	}
}

static void test_changes_that_are_refused(void **state)
{
	static const struct {
		const char *change;
		enum err_code code;
		const char *path;
	} rows[] = {
		{"{\"image\":\"desktop\"}", ERR_BAD_FIELD, "/image"},
		{"{\"labels\":{\"x\":\"y\"},\"env\":{}}", ERR_BAD_FIELD, "/env"},
		{"{\"lables\":{}}", ERR_UNKNOWN_FIELD, "/lables"},
		{"{\"ttl_s\":0}", ERR_BAD_FIELD, "/ttl_s"},
		{"{\"ttl_s\":null}", ERR_BAD_FIELD, "/ttl_s"},
		{"{\"idle_s\":-1}", ERR_BAD_FIELD, "/idle_s"},
		{"{\"labels\":[]}", ERR_BAD_FIELD, "/labels"},
		{"{\"labels\":{\"x\":5}}", ERR_BAD_FIELD, "/labels/x"},
		{"{\"labels\":{\"\":\"y\"}}", ERR_BAD_FIELD, "/labels"},
	};
	json_auto_t *spec = complete("{}"), *many = json_object(), *too_many = json_object();
	struct err e;
	struct faults one = {.list = &e, .max = 1};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		json_auto_t *change = parse(rows[i].change);
		json_t *changed = NULL;

		one.n = 0;
		if (spec_change(spec, change, &changed, &one) == 0)
			fail_msg("%s is accepted", rows[i].change);
		if (e.code != rows[i].code || strcmp(e.path, rows[i].path) != 0)
			fail_msg("%s: %s at %s: %s", rows[i].change, err_info(e.code)->wire, e.path, e.msg);
		assert_null(changed);
	}
	/* The bound is for what there is afterwards. */
	for (int i = 0; i < LIMIT_LABELS; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "n%d", i);
		(void)json_object_set_new(many, name, json_string(""));
	}
	(void)json_object_set(spec, "labels", many);
	(void)json_object_set_new(too_many, "labels", json_pack("{s:s}", "one", "more"));
	one.n = 0;
	assert_int_equal(spec_change(spec, too_many, &(json_t *){NULL}, &one), -1);
	assert_int_equal(e.code, ERR_BAD_FIELD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults_are_those_of_the_contract),
		cmocka_unit_test(test_what_the_caller_says_stays),
		cmocka_unit_test(test_room_to_grow), cmocka_unit_test(test_little_memory_has_a_small_disk),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_all_faults),
		cmocka_unit_test(test_what_is_not_given_is_refused),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_apps_are_of_the_catalogue),
		cmocka_unit_test(test_the_warden_gets_numbers),
		cmocka_unit_test(test_values_of_the_environment_are_not_kept),
		cmocka_unit_test(test_a_count_is_taken_out),
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_changes_that_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
