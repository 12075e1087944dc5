/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: session/stage session/dialects session/mcp session/journal display input apps */
/* The lease as a table, and every row of calls and actions against it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "session/base/util.h"
#include "session/stage/calls.h"
#include "session/stage/lease.h"
#include "session/stage/stage.h"

/* --- the table --- */

static void test_each_row_is_one(void **state)
{
	size_t n = 0, n_rows = 0;

	(void)state;
#define COUNT(from, event, to, effects, words) n_rows++;
	LEASE_ROWS(COUNT)
#undef COUNT
	for (enum lease_holder from = LEASE_AGENT; from < LEASE_N_HOLDERS; from++)
		for (enum lease_event event = LEASE_ASK; event < LEASE_N_EVENTS; event++)
			n += lease_row(from, event) != NULL;
	assert_int_equal(n, n_rows);
}

/* What must be so in every row, whatever else it says. */
static void test_rules_of_rows(void **state)
{
	(void)state;
	for (enum lease_holder from = LEASE_AGENT; from < LEASE_N_HOLDERS; from++) {
		for (enum lease_event event = LEASE_ASK; event < LEASE_N_EVENTS; event++) {
			const struct lease_row *row = lease_row(from, event);

			if (!row)
				continue;
			/* Each change of the holder has a number, and nothing else has one. */
			assert_int_equal((row->effects & LEASE_EPOCH) != 0, row->from != row->to);
			assert_int_equal((row->effects & LEASE_HOLD) != 0, row->from == LEASE_AGENT);
			assert_int_equal((row->effects & LEASE_FREE) != 0, row->to == LEASE_AGENT);
			/* Whoever loses the controls holds nothing down. */
			if (row->from != row->to && row->from != LEASE_NOBODY)
				assert_true(row->effects & LEASE_RELEASE);
			if (row->from == LEASE_AGENT)
				assert_true(row->effects & LEASE_STOP);
		}
	}
}

static void test_a_person_never_loses_them_to_the_agent_alone(void **state)
{
	static const enum lease_event by_itself[] = {LEASE_LOSE, LEASE_RUN_OUT, LEASE_REVOKE, LEASE_WITHDRAW, LEASE_CLEAR, LEASE_ASK, LEASE_DEMAND};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(by_itself); i++) {
		const struct lease_row *row = lease_row(LEASE_HUMAN, by_itself[i]);

		assert_true(!row || row->to != LEASE_AGENT);
	}
}

/* --- rows of calls and actions --- */

static struct stage stage;

static int check(const struct call_row *row, enum role role)
{
	const struct call call = {.name = row->name, .lease = row->lease, .role = role, .role_name = "x", .token = "t"};

	return lease_check(&stage, &call, NULL);
}

static bool one_of(const char *name, const char *const *names)
{
	while (*names && strcmp(*names, name) != 0)
		names++;
	return *names != NULL;
}

/* In a hold an agent has the lease, the bare state and events with gaps; nothing else that the table knows. */
static void test_every_call(void **state)
{
	static const char *const open_to_agents[] = {"state", "lease", "events", NULL};
	enum lease_holder holders[] = {LEASE_HUMAN, LEASE_NOBODY};

	(void)state;
	for (size_t i = 0; i < calls_n_rows; i++) {
		const struct call_row *row = &calls_rows[i];

		if (row->lease == CALL_UNSAID)
			fail_msg("the call %s does not say what a hold means for it", row->name);
		stage.lease = (struct lease){.holder = LEASE_AGENT};
		assert_int_equal(check(row, ROLE_AGENT), 0);
		for (size_t h = 0; h < ARRAY_LEN(holders); h++) {
			stage.lease.holder = holders[h];
			stage.lease.was_login = true;
			if (row->lease == CALL_EYES)
				assert_int_equal(check(row, ROLE_OPERATOR), -1);
			if (row->roles & ROLE_AGENT && (check(row, ROLE_AGENT) == 0) != one_of(row->name, open_to_agents))
				fail_msg("%s is %s to an agent in a hold", row->name, one_of(row->name, open_to_agents) ? "closed" : "open");
			/* Who acts as agent is refused as an agent is. */
			if (row->roles & ROLE_AGENT)
				assert_int_equal(check(row, ROLE_OPERATOR), check(row, ROLE_AGENT));
		}
	}
	stage.lease = (struct lease){.holder = LEASE_AGENT};
}

static void test_a_call_without_a_word_is_refused(void **state)
{
	const struct call_row row = {"x", ROLE_AGENT, CALL_UNSAID, false, NULL};
	struct err e;
	const struct call call = {.name = row.name, .lease = row.lease, .role = ROLE_AGENT, .role_name = "agent", .token = "t"};

	(void)state;
	assert_int_equal(lease_check(&stage, &call, &e), -1);
	assert_int_equal(e.code, ERR_FORBIDDEN);
}

static void test_every_action_says(void **state)
{
	const struct action_set sets[] = {
		{input_rows, input_n_rows, NULL}, {rows_own, rows_n_own, NULL},       {display_rows, display_n_rows, NULL},
		{apps_rows, apps_n_rows, NULL},   {access_rows, access_n_rows, NULL},
	};

	(void)state;
	for (size_t s = 0; s < ARRAY_LEN(sets); s++)
		for (size_t i = 0; i < sets[s].n_rows; i++)
			if (sets[s].rows[i].lease == ACTION_UNSAID)
				fail_msg("the action %s does not say what a change of the lease does to it", sets[s].rows[i].name);
}

/* --- answers, looks, results --- */

static void test_answers(void **state)
{
	struct call call = {.name = "screenshot", .lease = CALL_HANDS, .epoch = 1, .token = "t"};
	struct err e;

	(void)state;
	stage.epoch = 1;
	assert_int_equal(lease_check_answer(&stage, &call, &e), 0);
	stage.epoch = 2;
	stage.lease.holder = LEASE_HUMAN;
	assert_int_equal(lease_check_answer(&stage, &call, &e), -1);
	assert_int_equal(e.code, ERR_LEASE_LOST);
	/* Also when the hold is over: it may have seen of it. */
	stage.epoch = 3;
	stage.lease.holder = LEASE_AGENT;
	assert_int_equal(lease_check_answer(&stage, &call, &e), -1);
	call.is_bare = true;
	assert_int_equal(lease_check_answer(&stage, &call, &e), 0);
}

static void test_must_observe(void **state)
{
	struct call call = {.name = "act", .lease = CALL_HANDS, .epoch = 3, .token = "t"}, other = {.epoch = 3, .token = "u"};
	struct err e;

	(void)state;
	stage.epoch = 3;
	stage.lease = (struct lease){.holder = LEASE_AGENT, .returned = 3, .unseen = true};
	assert_int_equal(lease_check_act(&stage, &call, false, &e), -1);
	assert_int_equal(e.code, ERR_MUST_OBSERVE);
	assert_int_equal(lease_check_act(&stage, &call, true, &e), 0);
	assert_true(lease_is_unseen(&stage));
	lease_looked(&stage, &call);
	assert_false(lease_is_unseen(&stage));
	assert_int_equal(lease_check_act(&stage, &call, false, &e), 0);
	/* Each token for itself. */
	assert_int_equal(lease_check_act(&stage, &other, false, &e), -1);
	/* One that was made before the hold does not profit from a later look. */
	call.epoch = 1;
	assert_int_equal(lease_check_act(&stage, &call, false, &e), -1);
	assert_int_equal(e.code, ERR_MUST_OBSERVE);
}

static void test_who_has_looked_is_bounded(void **state)
{
	(void)state;
	stage.lease = (struct lease){.holder = LEASE_AGENT, .returned = 3};
	for (int i = 0; i < 3 * LIMIT_SEEN_TOKENS; i++) {
		char token[16];
		struct call call = {.epoch = 3, .token = token};

		(void)snprintf(token, sizeof(token), "t%d", i);
		lease_looked(&stage, &call);
		assert_int_equal(lease_check_act(&stage, &call, false, NULL), 0);
	}
	assert_int_equal(stage.lease.n_looked, LIMIT_SEEN_TOKENS);
}

static void test_bare_results(void **state)
{
	json_auto_t *result = json_pack("{s:b,s:i,s:i,s:s,s:{s:s},s:{s:s}}", "ok", 0, "elapsed_ms", 3, "delivered", 41, "stdout", "secret", "node", "name",
	                                "secret", "error", "code", "lease_lost");
	auto_free char *text = NULL;

	(void)state;
	lease_bare(result);
	text = json_dumps(result, JSON_SORT_KEYS | JSON_COMPACT);
	assert_string_equal(text, "{\"delivered\":41,\"elapsed_ms\":3,\"error\":{\"code\":\"lease_lost\"},\"ok\":false,\"withheld\":true}");
}

static void test_who_sees_and_moves(void **state)
{
	const struct call holder = {.token = "p"}, other = {.token = "q"};

	(void)state;
	stage.state = STAGE_IS_READY;
	stage.lease = (struct lease){.holder = LEASE_HUMAN, .viewer = 3, .token = "p", .has_hands = true};
	assert_true(lease_may_input(&stage, 3));
	assert_false(lease_may_input(&stage, 4));
	assert_false(lease_may_input(&stage, 0));
	assert_true(lease_may_look(&stage, 4) && lease_may_see(&stage, &other));
	/* Before the agent's programs stand still, and while the session is paused, nobody has hands. */
	stage.lease.has_hands = false;
	assert_false(lease_may_input(&stage, 3));
	stage.lease.has_hands = true;
	stage.state = STAGE_IS_PAUSED;
	assert_false(lease_may_input(&stage, 3));
	stage.state = STAGE_IS_READY;
	/* A login is nobody else's to see, also when the person is gone. */
	stage.lease.was_login = true;
	assert_true(lease_may_look(&stage, 3) && lease_may_see(&stage, &holder));
	assert_false(lease_may_look(&stage, 4) || lease_may_see(&stage, &other) || lease_may_look(&stage, 0));
	stage.lease.shares = true;
	assert_true(lease_may_look(&stage, 4));
	stage.lease.shares = false;
	stage.lease.holder = LEASE_NOBODY;
	stage.lease.viewer = 0;
	assert_false(lease_may_look(&stage, 3) || lease_may_see(&stage, &holder) || lease_may_input(&stage, 3) || lease_may_input(&stage, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_row_is_one),
		cmocka_unit_test(test_rules_of_rows),
		cmocka_unit_test(test_a_person_never_loses_them_to_the_agent_alone),
		cmocka_unit_test(test_every_call),
		cmocka_unit_test(test_a_call_without_a_word_is_refused),
		cmocka_unit_test(test_every_action_says),
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_must_observe),
		cmocka_unit_test(test_who_has_looked_is_bounded),
		cmocka_unit_test(test_bare_results),
		cmocka_unit_test(test_who_sees_and_moves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
