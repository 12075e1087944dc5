/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: glovebox-stage */
/* The lease as a table, and every row of calls and actions against it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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
	lease_looked(&stage, &call, (struct rect){.width = 0}, 0, 0);
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
		lease_looked(&stage, &call, (struct rect){.width = 0}, 0, 0);
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

/* --- changes, without a display --- */

#define SOON_MS 30
#define LONG_MS 100000

static const struct call person = {.name = "lease", .role = ROLE_CONTROLLER, .role_name = "controller", .token = "p", .request_id = "r"};
static int journal_fd;

static int set_up(void **state)
{
	struct err e;

	(void)state;
	memset(&stage, 0, sizeof(stage));
	stage.loop = loop_create(&e);
	stage.state = STAGE_IS_READY;
	stage.epoch = stage.episode = 1;
	stage.ends = (struct ends){.agent_freeze_fd = -1, .agent_kill_fd = -1, .agent_events_fd = -1};
	journal_fd = memfd_create("journal", 0);
	stage.journal = journal_create(stage.loop, dup(journal_fd));
	lease_begin(&stage, NULL);
	stage.lease.idle_ms = stage.lease.lost_ms = LONG_MS;
	stage.lease.warn_ms = 0;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	lease_end(&stage);
	journal_destroy(stage.journal);
	close(journal_fd);
	loop_destroy(stage.loop);
	memset(&stage, 0, sizeof(stage));
	return 0;
}

static int move(enum lease_event event, uint32_t viewer)
{
	const struct lease_by by = {.call = &person, .viewer = viewer};

	return lease_move(&stage, event, &by, NULL);
}

static void turn_until(enum lease_holder holder)
{
	int64_t deadline_ms = util_now_ms() + 5000;

	while ((stage.lease.holder != holder || stage.lease.clearing) && util_now_ms() < deadline_ms)
		(void)loop_turn(stage.loop, 10);
	assert_int_equal(stage.lease.holder, holder);
}

static void turn_for(int64_t ms)
{
	for (int64_t until_ms = util_now_ms() + ms; util_now_ms() < until_ms;)
		(void)loop_turn(stage.loop, 5);
}

static size_t count_lines(const char *piece)
{
	char text[8192];
	ssize_t n = pread(journal_fd, text, sizeof(text) - 1, 0);
	size_t found = 0;

	text[n > 0 ? n : 0] = '\0';
	for (const char *at = text; (at = strstr(at, piece)); at++)
		found++;
	return found;
}

static void test_a_viewer_that_is_lost(void **state)
{
	(void)state;
	stage.lease.lost_ms = SOON_MS;
	assert_int_equal(move(LEASE_TAKE, 3), 0);
	lease_viewer_gone(&stage, 4);
	assert_int_equal(stage.lease.viewer, 3);
	lease_viewer_gone(&stage, 3);
	assert_int_equal(stage.lease.viewer, 0);
	assert_int_equal(stage.lease.holder, LEASE_HUMAN);
	assert_int_equal(stage.epoch, 2);
	turn_until(LEASE_NOBODY);
	assert_int_equal(stage.epoch, 3);
	/* And never back to the agent by itself. */
	turn_for(3 * SOON_MS);
	assert_int_equal(stage.lease.holder, LEASE_NOBODY);
}

static void test_a_viewer_that_comes_back(void **state)
{
	(void)state;
	stage.lease.lost_ms = SOON_MS;
	assert_int_equal(move(LEASE_TAKE, 3), 0);
	lease_viewer_gone(&stage, 3);
	lease_viewer_here(&stage, 7, "another");
	assert_int_equal(stage.lease.viewer, 0);
	lease_viewer_here(&stage, 8, "p");
	assert_int_equal(stage.lease.viewer, 8);
	turn_for(3 * SOON_MS);
	assert_int_equal(stage.lease.holder, LEASE_HUMAN);
	assert_int_equal(stage.epoch, 2);
	/* A second viewer of the same person takes no hands from the first. */
	lease_viewer_here(&stage, 9, "p");
	assert_int_equal(stage.lease.viewer, 8);
}

static void test_the_spec_may_give_them_back(void **state)
{
	(void)state;
	stage.lease.lost_ms = SOON_MS;
	stage.lease.return_after_s = 1;
	assert_int_equal(move(LEASE_TAKE, 3), 0);
	lease_viewer_gone(&stage, 3);
	turn_until(LEASE_NOBODY);
	turn_until(LEASE_AGENT);
	assert_int_equal(stage.epoch, 4);
	assert_true(stage.lease.unseen);
}

static void test_an_idle_person(void **state)
{
	(void)state;
	stage.lease.idle_ms = 20 * SOON_MS;
	stage.lease.warn_ms = 2 * SOON_MS;
	assert_int_equal(move(LEASE_TAKE, 3), 0);
	turn_for(SOON_MS);
	assert_int_equal(count_lines("\"warning\""), 0);
	/* Whoever does something is not idle. */
	for (int i = 0; i < 6; i++) {
		lease_touch(&stage);
		turn_for(SOON_MS);
	}
	assert_int_equal(stage.lease.holder, LEASE_HUMAN);
	assert_int_equal(move(LEASE_EXTEND, 0), 0);
	turn_until(LEASE_NOBODY);
	assert_int_equal(count_lines("\"event\":\"warning\",\"reason\":\"idle\""), 1);
}

static void test_the_end_stops_countdowns(void **state)
{
	(void)state;
	stage.lease.idle_ms = SOON_MS;
	assert_int_equal(move(LEASE_TAKE, 3), 0);
	stage.state = STAGE_IS_ENDED;
	lease_end(&stage);
	turn_for(3 * SOON_MS);
	assert_int_equal(stage.lease.holder, LEASE_HUMAN);
}

static void test_what_has_no_row_changes_nothing(void **state)
{
	(void)state;
	for (enum lease_holder holder = LEASE_AGENT; holder < LEASE_N_HOLDERS; holder++) {
		for (enum lease_event event = LEASE_ASK; event < LEASE_N_EVENTS; event++) {
			if (lease_row(holder, event))
				continue;
			stage.lease.holder = holder;
			assert_int_equal(move(event, 0), -1);
			assert_int_equal(stage.lease.holder, holder);
		}
	}
	assert_int_equal(stage.epoch, 1);
	assert_int_equal(count_lines("\"lease\""), 0);
}

static void test_lines_of_a_hold_are_private(void **state)
{
	struct err e;

	(void)state;
	assert_int_equal(journal_add(stage.journal, "result", json_object(), &e), 0);
	assert_int_equal(move(LEASE_TAKE, 3), 0);
	assert_int_equal(journal_add(stage.journal, "result", json_object(), &e), 0);
	assert_int_equal(journal_add(stage.journal, "paused", json_object(), &e), 0);
	assert_int_equal(move(LEASE_GIVE, 0), 0);
	turn_until(LEASE_AGENT);
	assert_int_equal(journal_add(stage.journal, "result", json_object(), &e), 0);
	assert_int_equal(count_lines("\"private\":true"), 1);
	assert_int_equal(count_lines("\"event\":\"lease\""), 2);
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
		cmocka_unit_test_setup_teardown(test_a_viewer_that_is_lost, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_viewer_that_comes_back, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_the_spec_may_give_them_back, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_an_idle_person, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_the_end_stops_countdowns, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_what_has_no_row_changes_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_lines_of_a_hold_are_private, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
