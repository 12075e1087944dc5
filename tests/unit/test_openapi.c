/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: glovebox-front */
/* The OpenAPI document: each route has all of its parts, each reference leads somewhere, and a wrong row makes no document. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "session/base/util.h"
#include "session/front/openapi.h"
#include "session/front/operation.h"

static json_t *made;

static int make(void **state)
{
	struct err e;

	(void)state;
	made = openapi_document(routes, routes_n, &e);
	return made ? 0 : -1;
}

static int drop(void **state)
{
	(void)state;
	json_decref(made);
	return 0;
}

static json_t *at(json_t *value, const char *name)
{
	json_t *found = json_object_get(value, name);

	if (!found)
		fail_msg("there is no %s", name);
	return found;
}

/* Where a reference leads, or NULL. */
static const json_t *follow(const char *ref)
{
	const json_t *value = made;

	if (strncmp(ref, "#/", 2) != 0)
		return NULL;
	for (const char *name = ref + 2; value && *name;) {
		size_t len = strcspn(name, "/");

		value = json_object_getn(value, name, len);
		name += len + (name[len] == '/');
	}
	return value;
}

static void check_refs(json_t *value)
{
	const char *name;
	json_t *member;
	size_t i;

	json_array_foreach(value, i, member)
		check_refs(member);
	json_object_foreach(value, name, member) {
		if (strcmp(name, "$ref") == 0 && json_is_string(member) && !follow(json_string_value(member)))
			fail_msg("%s leads nowhere", json_string_value(member));
		check_refs(member);
	}
}

static void test_references(void **state)
{
	(void)state;
	check_refs(made);
}

/* JSON replies have a schema and an example, other bodies a media type. */
static void check_said(const char *id, json_t *reply)
{
	const char *media;
	json_t *content;

	json_object_foreach(json_object_get(reply, "content"), media, content)
		if (strcmp(media, "application/json") == 0 && (!json_object_get(content, "schema") || !json_object_get(content, "example")))
			fail_msg("%s: the reply has no schema or no example", id);
}

static void check_operation(const struct route *route, json_t *operation)
{
	const char *id = json_string_value(at(operation, "operationId")), *status;
	json_t *responses = at(operation, "responses"), *reply, *content;
	size_t n_good = 0;

	assert_string_equal(id, route->operation->id);
	json_object_foreach(responses, status, reply) {
		if (status[0] == '2' || status[0] == '3')
			check_said(id, reply);
		n_good += status[0] == '2' || strcmp(status, "101") == 0;
	}
	assert_true(n_good > 0);
	assert_int_equal(!!json_object_get(operation, "requestBody"), !!(route->flags & (ROUTE_BODY | ROUTE_BYTES | ROUTE_UPLOAD)));
	if (!(route->flags & ROUTE_BODY))
		return;
	content = at(at(at(operation, "requestBody"), "content"), "application/json");
	assert_non_null(at(content, "schema"));
	assert_non_null(at(content, "example"));
}

static void test_every_route_has_its_operation(void **state)
{
	json_auto_t *ids = json_object();

	(void)state;
	for (size_t i = 0; i < routes_n; i++) {
		char method[8] = "";

		for (size_t c = 0; routes[i].method[c]; c++)
			method[c] = (char)(routes[i].method[c] | 0x20);
		check_operation(&routes[i], at(at(at(made, "paths"), routes[i].path), method));
		if (json_object_get(ids, routes[i].operation->id))
			fail_msg("two routes are %s", routes[i].operation->id);
		json_object_set_new(ids, routes[i].operation->id, json_true());
	}
}

static void test_codes(void **state)
{
	json_t *codes = at(at(at(at(made, "components"), "schemas"), "ErrorCode"), "enum");

	(void)state;
	assert_int_equal(json_array_size(codes), ERR_N_CODES - 1);
	for (size_t i = 0; i < json_array_size(codes); i++)
		assert_string_equal(json_string_value(json_array_get(codes, i)), err_info((enum err_code)(i + 1))->wire);
}

static void test_what_follows_from_flags(void **state)
{
	json_t *paths = at(made, "paths"), *act = at(at(paths, "/v1/sessions/{id}/act"), "post"), *live = at(at(paths, "/livez"), "get");

	(void)state;
	assert_string_equal(json_string_value(at(json_array_get(at(act, "parameters"), 0), "$ref")), "#/components/parameters/Idempotency-Key");
	assert_non_null(at(at(act, "responses"), "401"));
	assert_null(json_object_get(act, "security"));
	assert_int_equal(json_array_size(at(live, "security")), 0);
	assert_null(json_object_get(at(live, "responses"), "401"));
}

static void refuse(struct operation operation, const char *text)
{
	const struct route row = {"GET", "/x", 0, ROLES_ALL, routes[0].run, &operation, "x"};
	struct err e;

	assert_null(openapi_document(&row, 1, &e));
	if (!strstr(e.msg, text))
		fail_msg("%s", e.msg);
}

static void test_wrong_rows(void **state)
{
	static const struct said good[] = {{200, "application/json", "object", NULL, "x", "{}"}},
	                         bad_header[] = {{200, "application/json", "object", "ETag Etag", "x", "{}"}},
	                         bad_example[] = {{200, "application/json", "object", NULL, "x", "{"}};

	(void)state;
	refuse((struct operation){.id = "x", .tag = "server", .said = good, .n_said = 1, .errors = "busy bussy"}, "bussy is no code");
	refuse((struct operation){.id = "x", .tag = "server", .said = bad_header, .n_said = 1}, "the header Etag is not known");
	refuse((struct operation){.id = "x", .tag = "server", .said = bad_example, .n_said = 1}, "the reply of x is no JSON");
	refuse((struct operation){.id = "x", .tag = "server", .said = good, .n_said = 1, .body = "Spec", .request = "{"}, "the request of x is no JSON");
}

static void check_type(const char *type, const char *expected)
{
	json_auto_t *schema = shape_type(type);
	auto_free char *text = schema ? json_dumps(schema, JSON_COMPACT) : util_strdup("none");

	assert_string_equal(text, expected);
}

static void test_types(void **state)
{
	(void)state;
	check_type("count", "{\"type\":\"integer\",\"minimum\":0}");
	check_type("string|null", "{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]}");
	check_type("=a b", "{\"type\":\"string\",\"enum\":[\"a\",\"b\"]}");
	check_type("=a b[]", "{\"type\":\"array\",\"items\":{\"type\":\"string\",\"enum\":[\"a\",\"b\"]}}");
	check_type("Rect[]", "{\"type\":\"array\",\"items\":{\"$ref\":\"#/components/schemas/Rect\"}}");
	check_type("number{}", "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"number\"}}");
	check_type("any", "{}");
	check_type("int", "none");
	check_type("string|", "none");
	check_type("", "none");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_references), cmocka_unit_test(test_every_route_has_its_operation), cmocka_unit_test(test_codes),
		cmocka_unit_test(test_what_follows_from_flags), cmocka_unit_test(test_wrong_rows), cmocka_unit_test(test_types),
	};

	return cmocka_run_group_tests(tests, make, drop);
}
