/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: glovebox-front */
/* Tickets: one use, bounded, and read as people type them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "session/base/limits.h"
#include "session/base/secret.h"
#include "session/front/tickets.h"

#define NOW INT64_C(1800000000000)
#define SESSION "sabcdefghijklmno"

static char *make_of(struct tickets *tickets, enum role role, int session)
{
	struct ticket ticket = {.role = role, .session = SESSION, .ttl_s = 60};
	struct err e;
	char *text;

	ticket.session[1] = (char)('a' + session % 26);
	ticket.session[2] = (char)('a' + session / 26);
	assert_int_equal(tickets_make(tickets, &ticket, NOW, &text, &e), 0);
	assert_true(ticket.expires_ms == NOW + LIMIT_CODE_MS);
	return text;
}

static char *make(struct tickets *tickets, enum role role)
{
	return make_of(tickets, role, 26); /* which is SESSION */
}

static void test_one_use(void **state)
{
	struct tickets *tickets = tickets_create();
	char *first = make(tickets, ROLE_VIEWER), *second = make(tickets, ROLE_AGENT);
	struct ticket got;

	(void)state;
	assert_string_not_equal(first, second);
	assert_true(tickets_take(tickets, TICKET_CONSOLE, first, NOW, &got));
	assert_int_equal(got.role, ROLE_VIEWER);
	assert_string_equal(got.session, SESSION);
	assert_int_equal(got.ttl_s, 60);
	assert_false(tickets_take(tickets, TICKET_CONSOLE, first, NOW, &got));
	assert_true(tickets_take(tickets, TICKET_CONSOLE, second, NOW, &got));
	assert_int_equal(got.role, ROLE_AGENT);
	secret_wipe(first);
	secret_wipe(second);
	tickets_destroy(tickets);
}

static void test_as_people_type_them(void **state)
{
	struct tickets *tickets = tickets_create();
	char *text = make(tickets, ROLE_VIEWER), typed[64], longer[64];
	size_t len = 0;
	struct ticket got;

	(void)state;
	assert_int_equal(strlen(text), 23);
	for (const char *at = text; *at; at++)
		if (*at != '-')
			typed[len++] = *at >= 'A' ? (char)(*at - 'A' + 'a') : *at;
	typed[len] = '\0';
	memcpy(longer, typed, len);
	memcpy(longer + len, "a", 2);
	assert_false(tickets_take(tickets, TICKET_CONSOLE, "", NOW, &got));
	assert_false(tickets_take(tickets, TICKET_CONSOLE, longer, NOW, &got));
	assert_false(tickets_take(tickets, TICKET_CONSOLE, typed + 1, NOW, &got));
	assert_true(tickets_take(tickets, TICKET_CONSOLE, typed, NOW, &got));
	secret_wipe(text);
	tickets_destroy(tickets);
}

static void test_so_long(void **state)
{
	struct tickets *tickets = tickets_create();
	char *first = make(tickets, ROLE_VIEWER), *second = make(tickets, ROLE_VIEWER);
	struct ticket got;

	(void)state;
	assert_true(tickets_take(tickets, TICKET_CONSOLE, first, NOW + LIMIT_CODE_MS - 1, &got));
	assert_false(tickets_take(tickets, TICKET_CONSOLE, second, NOW + LIMIT_CODE_MS, &got));
	secret_wipe(first);
	secret_wipe(second);
	tickets_destroy(tickets);
}

static void assert_full(struct tickets *tickets, const char *session)
{
	struct ticket ticket = {.role = ROLE_VIEWER, .ttl_s = 60};
	struct err e;
	char *text;

	memcpy(ticket.session, session, sizeof(ticket.session));
	assert_int_equal(tickets_make(tickets, &ticket, NOW, &text, &e), -1);
	assert_int_equal(e.code, ERR_LIMIT);
}

static void test_so_many(void **state)
{
	struct tickets *tickets = tickets_create();
	struct ticket got;
	char *last = NULL;

	(void)state;
	for (int i = 0; i < LIMIT_TICKETS; i++) {
		secret_wipe(last);
		last = make_of(tickets, ROLE_VIEWER, i / LIMIT_SESSION_TICKETS);
		if ((i + 1) % LIMIT_SESSION_TICKETS == 0) {
			char session[] = SESSION;

			session[1] = (char)('a' + i / LIMIT_SESSION_TICKETS % 26);
			session[2] = (char)('a' + i / LIMIT_SESSION_TICKETS / 26);
			assert_full(tickets, session);
		}
	}
	assert_full(tickets, "szzzzzzzzzzzzzzz");
	assert_true(tickets_take(tickets, TICKET_CONSOLE, last, NOW, &got));
	secret_wipe(last);
	secret_wipe(make_of(tickets, ROLE_VIEWER, 100));
	tickets_destroy(tickets);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_use),
		cmocka_unit_test(test_as_people_type_them),
		cmocka_unit_test(test_so_long),
		cmocka_unit_test(test_so_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
