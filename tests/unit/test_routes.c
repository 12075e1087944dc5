/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: glovebox-front */
/* Every route with every role, against the table of roles written out here a second time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "session/base/util.h"
#include "session/front/operation.h"
#include "session/front/routes.h"
#include "session/front/sessions.h"

#define OWN "sabcdefghijklmno"
#define OTHER "szzzzzzzzzzzzzzz"

/* a agent, v viewer, c controller, o operator, w owner; "public": without a token. */
static const struct {
	const char *method, *path, *roles;
} expected[] = {
	{"GET", "/", "public"},
	{"GET", "/console/{file}", "public"},
	{"GET", "/livez", "public"},
	{"GET", "/readyz", "public"},
	{"GET", "/metrics", "o"},
	{"GET", "/openapi.json", "avcow"},
	{"GET", "/v1", "avcow"},
	{"GET", "/v1/actions", "avcow"},
	{"GET", "/v1/images", "ow"},
	{"GET", "/v1/secrets", "o"},
	{"PUT", "/v1/secrets/{secret}", "o"},
	{"DELETE", "/v1/secrets/{secret}", "o"},
	{"POST", "/v1/console", "public"},
	{"GET", "/v1/sessions", "avcow"},
	{"POST", "/v1/sessions", "ow"},
	{"GET", "/v1/sessions/{id}", "avcow"},
	{"PATCH", "/v1/sessions/{id}", "ow"},
	{"DELETE", "/v1/sessions/{id}", "acow"},
	{"POST", "/v1/sessions/{id}/act", "aow"},
	{"POST", "/v1/sessions/{id}/computer", "aow"},
	{"POST", "/v1/sessions/{id}/cancel", "aow"},
	{"GET", "/v1/sessions/{id}/events", "avcow"},
	{"GET", "/v1/sessions/{id}/journal", "cow"},
	{"DELETE", "/v1/sessions/{id}/journal", "ow"},
	{"GET", "/v1/sessions/{id}/recording", "cow"},
	{"GET", "/v1/sessions/{id}/screenshot", "aow"},
	{"GET", "/v1/sessions/{id}/thumbnail", "vcow"},
	{"GET", "/v1/sessions/{id}/stream", "aow"},
	{"GET", "/v1/sessions/{id}/files/{path}", "aow"},
	{"PUT", "/v1/sessions/{id}/files/{path}", "aow"},
	{"DELETE", "/v1/sessions/{id}/files/{path}", "aow"},
	{"POST", "/v1/sessions/{id}/pause", "cow"},
	{"POST", "/v1/sessions/{id}/resume", "cow"},
	{"GET", "/v1/sessions/{id}/lease", "avcow"},
	{"POST", "/v1/sessions/{id}/lease", "acow"},
	{"POST", "/v1/sessions/{id}/rfb", "vcow"},
	{"GET", "/v1/sessions/{id}/rfb", "vcow"},
	{"GET", "/v1/sessions/{id}/viewers", "cow"},
	{"DELETE", "/v1/sessions/{id}/viewers/{viewer}", "cow"},
	{"POST", "/v1/sessions/{id}/shares", "cow"},
	{"GET", "/v1/sessions/{id}/shares", "cow"},
	{"DELETE", "/v1/sessions/{id}/shares/{share}", "cow"},
	{"POST", "/v1/sessions/{id}/tokens", "ow"},
	{"POST", "/v1/sessions/{id}/tickets", "ow"},
	{"GET", "/v1/sessions/{id}/tokens", "ow"},
	{"DELETE", "/v1/sessions/{id}/tokens/{token}", "ow"},
	{"GET", "/v1/approvals", "cow"},
	{"GET", "/v1/approvals/rules", "cow"},
	{"GET", "/v1/approvals/{approval}", "cow"},
	{"POST", "/v1/approvals/{approval}", "cow"},
	{"GET", "/v1/approvals/{approval}/crop", "cow"},
	{"POST", "/mcp", "aow"},
	{"DELETE", "/mcp", "aow"},
};

static void test_table_is_as_the_contract_says(void **state)
{
	static const char letters[N_ROLES] = {'a', 'v', 'c', 'o', 'w'};
	struct err e;

	(void)state;
	assert_int_equal(routes_check(routes, routes_n, &e), 0);
	assert_int_equal(routes_n, ARRAY_LEN(expected));
	for (size_t i = 0; i < routes_n; i++) {
		bool is_public = strcmp(expected[i].roles, "public") == 0;

		assert_string_equal(routes[i].method, expected[i].method);
		assert_string_equal(routes[i].path, expected[i].path);
		assert_int_equal(!!(routes[i].flags & ROUTE_PUBLIC), is_public);
		for (enum role role = 0; role < N_ROLES && !is_public; role++)
			if (!!(routes[i].roles & ROLES_OF(role)) != !!strchr(expected[i].roles, letters[role]))
				fail_msg("%s %s: role %s", routes[i].method, routes[i].path, role_name(role));
	}
}

/* A path with something at each place in braces. */
static void fill_in(const char *path, char *out, size_t size)
{
	size_t len = 0;

	for (const char *at = path; *at;) {
		bool is_given = *at == '{';
		size_t n = is_given ? strcspn(at, "}") + 1 : strcspn(at, "{");

		if (is_given)
			len += (size_t)snprintf(out + len, size - len, "%s", strncmp(at, "{id}", n) == 0 ? OWN : "x");
		else
			len += (size_t)snprintf(out + len, size - len, "%.*s", (int)n, at);
		at += n;
	}
}

/* Each row is found by its own path, and the walk of roles goes the way a request goes. */
static void test_every_route_with_every_role(void **state)
{
	(void)state;
	for (size_t i = 0; i < routes_n; i++) {
		char path[128], allow[64];
		const char *mark = strstr(routes[i].path, "{id}"), *id;
		struct target target;
		struct err e;

		fill_in(routes[i].path, path, sizeof(path));
		assert_int_equal(target_parse(path, &target, &e), 0);
		assert_ptr_equal(routes_find(routes[i].method, &target, &id, allow, sizeof(allow), &e), &routes[i]);
		assert_int_equal(id != NULL, mark != NULL);
		for (enum role role = 0; role < N_ROLES; role++) {
			struct identity own = {.role = role}, other = {.role = role};
			bool allowed = routes[i].roles & ROLES_OF(role), of_session = role < ROLE_OPERATOR;

			(void)snprintf(own.session, sizeof(own.session), "%s", of_session ? OWN : "");
			(void)snprintf(other.session, sizeof(other.session), "%s", of_session ? OTHER : "");
			assert_int_equal(routes_permit(&routes[i], &own, id, &e), allowed ? 0 : -1);
			assert_int_equal(routes_permit(&routes[i], &other, id, &e), allowed && (!id || !of_session) ? 0 : -1);
			if (!allowed)
				assert_int_equal(e.code, ERR_FORBIDDEN);
		}
		target_finish(&target);
	}
}

/* An owner's key knows of nothing but what it made; a key that is gone leaves its sessions to the operator. */
static void test_who_sees_a_session(void **state)
{
	static const struct session mine = {.id = OWN, .owner = "team"}, operators = {.id = OTHER, .owner = OWNER_OPERATOR};
	static const struct {
		struct identity who;
		bool mine, operators;
	} rows[] = {
		{{.role = ROLE_OPERATOR, .owner = OWNER_OPERATOR}, true, true},
		{{.role = ROLE_OPERATOR, .owner = "admin"}, true, true},
		{{.role = ROLE_OWNER, .owner = "team"}, true, false},
		{{.role = ROLE_OWNER, .owner = "tea"}, false, false},
		{{.role = ROLE_AGENT, .session = OWN}, true, false},
		{{.role = ROLE_VIEWER, .session = OTHER}, false, true},
		{{.role = ROLE_CONTROLLER, .session = OWN}, true, false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (session_is_shown_to(&mine, &rows[i].who) != rows[i].mine || session_is_shown_to(&operators, &rows[i].who) != rows[i].operators)
			fail_msg("row %zu: %s %s", i, role_name(rows[i].who.role), rows[i].who.owner);
}

static int nothing(struct request *request, struct err *e)
{
	(void)request;
	(void)e;
	return 0;
}

static void test_a_row_that_is_not_whole_does_not_start(void **state)
{
	static const struct operation operation = {.id = "x"};
	const struct route good = {"GET", "/x", 0, ROLES_ALL, nothing, &operation, "x"};
	struct route bad[7] = {good, good, good, good, good, good, good};
	struct err e;

	(void)state;
	bad[0].roles = 0;
	bad[1].roles = 1U << N_ROLES;
	bad[2].run = NULL;
	bad[3].doc = NULL;
	bad[4].method = NULL;
	bad[5].path = "x";
	bad[6].operation = NULL;
	assert_int_equal(routes_check(&good, 1, &e), 0);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (routes_check(&bad[i], 1, &e) != -1)
			fail_msg("row %zu starts", i);
}

static void find(const char *method, const char *path, enum err_code code, const char *allowed)
{
	char allow[64];
	const char *id = "unset";
	struct target target;
	struct err e = {.code = ERR_NONE};

	assert_int_equal(target_parse(path, &target, &e), 0);
	assert_int_equal(routes_find(method, &target, &id, allow, sizeof(allow), &e) != NULL, code == ERR_NONE);
	assert_int_equal(e.code, code);
	assert_string_equal(code == ERR_METHOD ? allow : "", allowed);
	target_finish(&target);
}

static void test_what_is_not_there(void **state)
{
	(void)state;
	find("GET", "/nothing", ERR_NOT_FOUND, "");
	find("GET", "/v1/sessions/x/nothing", ERR_NOT_FOUND, "");
	find("GET", "/v1/sessions/x/act/more", ERR_NOT_FOUND, "");
	find("GET", "/V1", ERR_NOT_FOUND, "");
	find("GET", "/v1/actionsx", ERR_NOT_FOUND, "");
	find("GET", "/v1/action", ERR_NOT_FOUND, "");
	find("GET", "/1/2/3/4/5/6/7/8/9", ERR_NOT_FOUND, "");
	find("HEAD", "/livez", ERR_NONE, "");
	find("PUT", "/v1/sessions", ERR_METHOD, "GET, HEAD, POST");
	find("OPTIONS", "/v1/sessions/x/act", ERR_METHOD, "POST");
	find("HEAD", "/v1/console", ERR_METHOD, "POST");
	find("get", "/livez", ERR_METHOD, "GET, HEAD");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table_is_as_the_contract_says),
		cmocka_unit_test(test_every_route_with_every_role),
		cmocka_unit_test(test_who_sees_a_session),
		cmocka_unit_test(test_a_row_that_is_not_whole_does_not_start),
		cmocka_unit_test(test_what_is_not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
