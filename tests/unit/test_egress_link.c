/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: glovebox-stage */
/* The stage's end of the link to egress, against words of any kind: what breaks the form ends the link, and nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "sandbox/egress/link.h"
#include "session/base/util.h"
#include "session/stage/stage.h"

#define GOOD "{\"verdict\":\"deny\",\"host\":\"evil.test\",\"port\":443,\"reason\":\"no entry\"}"

static struct stage stage;
static int journal_fd, egress_end;

static int set_up(void **state)
{
	struct err e;
	int ends[2];

	(void)state;
	memset(&stage, 0, sizeof(stage));
	stage.loop = loop_create(&e);
	stage.state = STAGE_IS_READY;
	journal_fd = memfd_create("journal", 0);
	stage.journal = journal_create(stage.loop, dup(journal_fd));
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
	egress_end = ends[1];
	egress_take(&stage, ends[0]);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	egress_finish(&stage);
	journal_destroy(stage.journal);
	close(journal_fd);
	close(egress_end);
	loop_destroy(stage.loop);
	return 0;
}

static void say(unsigned kind, unsigned flags, const char *text)
{
	const struct ipc_frame_head head = {.length = (uint32_t)strlen(text), .kind = (uint16_t)kind, .flags = (uint16_t)flags};

	assert_int_equal(write(egress_end, &head, sizeof(head)), sizeof(head));
	assert_int_equal(write(egress_end, text, strlen(text)), strlen(text));
	while (loop_turn(stage.loop, 0))
		;
}

static size_t lines_with(const char *word)
{
	auto_free char *text = util_zalloc(1 << 20);
	size_t n = 0;

	assert_true(pread(journal_fd, text, (1 << 20) - 1, 0) >= 0);
	for (const char *at = text; (at = strstr(at, word)); at++)
		n++;
	return n;
}

static void test_good_words(void **state)
{
	json_auto_t *shown = NULL;

	(void)state;
	say(EGRESS_DECISION, 0, GOOD);
	say(EGRESS_DECISION, 0, "{\"verdict\":\"deny\",\"reason\":\"nobody can tell the host\"}");
	say(EGRESS_CLOSED, 0, "{\"host\":\"ok.test\",\"port\":443,\"up\":1,\"down\":2,\"ms\":3}");
	say(EGRESS_USAGE, 0, "{\"connections\":1,\"up\":10,\"down\":20,\"allowed\":3,\"denied\":4}");
	assert_non_null(stage.egress.link);
	assert_int_equal(lines_with("\"event\":\"egress\""), 2);
	assert_int_equal(lines_with("\"event\":\"egress_closed\""), 1);
	shown = egress_describe(&stage);
	assert_int_equal(json_integer_value(json_object_get(shown, "denied")), 4);
	/* Those of a process that has ended stay. */
	say(99, 0, "{}");
	json_decref(shown);
	shown = egress_describe(&stage);
	assert_false(json_is_true(json_object_get(shown, "up")));
	assert_int_equal(json_integer_value(json_object_get(shown, "denied")), 4);
	assert_int_equal(json_integer_value(json_object_get(shown, "connections")), 0);
}

static void test_bad_words(void **state)
{
	static const struct {
		unsigned kind, flags;
		const char *text;
	} rows[] = {
		{0, 0, "{}"}, {EGRESS_POLICY, 0, "{}"}, {EGRESS_VERDICT, 0, "{\"id\":1,\"allow\":true,\"session\":true}"}, {EGRESS_LEFT + 1, 0, "{}"}, {65535, 0, "{}"},
		{EGRESS_DECISION, EGRESS_MORE, GOOD}, {EGRESS_DECISION, 0, ""}, {EGRESS_DECISION, 0, "[]"}, {EGRESS_DECISION, 0, GOOD GOOD}, {EGRESS_DECISION, 0, "{}"},
		{EGRESS_DECISION, 0, "{\"verdict\":\"perhaps\"}"}, {EGRESS_DECISION, 0, "{\"verdict\":\"allow\",\"port\":65536}"},
		{EGRESS_DECISION, 0, "{\"verdict\":\"allow\",\"event\":\"end\"}"}, {EGRESS_DECISION, 0, "{\"verdict\":\"allow\",\"host\":\"a\\u0000b\"}"},
		{EGRESS_CLOSED, 0, "{\"host\":\"a\",\"port\":1,\"up\":-1,\"down\":0,\"ms\":0}"}, {EGRESS_CLOSED, 0, "{\"host\":\"a\",\"port\":1,\"up\":1e300,\"down\":0,\"ms\":0}"},
		{EGRESS_USAGE, 0, "{\"connections\":1}"}, {EGRESS_ASK, 0, "{\"id\":1,\"host\":\"\",\"port\":1}"}, {EGRESS_ASK, 0, "{\"id\":1,\"host\":\"a\",\"port\":0}"},
		{EGRESS_READY, 0, "{\"ready\":1}"}, {EGRESS_LEFT, 0, "{}"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		say(rows[i].kind, rows[i].flags, rows[i].text);
		if (stage.egress.link)
			fail_msg("row %zu was taken", i);
		assert_int_equal(lines_with("\"event\":\"egress\""), 0);
		assert_int_equal(lines_with("\"event\":\"egress_lost\""), 1);
		(void)tear_down(state);
		(void)set_up(state);
	}
}

/* Each question has an answer, which nobody takes. */
static void test_one_that_reads_nothing(void **state)
{
	unsigned n = 0;

	(void)state;
	while (stage.egress.link && n++ < 60000)
		say(EGRESS_ASK, 0, "{\"id\":1,\"host\":\"a\",\"port\":1}");
	assert_null(stage.egress.link);
	assert_int_equal(lines_with("\"event\":\"egress_lost\""), 1);
}

struct waiter {
	bool is_over;
	int rc;
};

static void end_setup(void *arg)
{
	struct waiter *waiter = arg;
	struct err e;

	waiter->rc = egress_setup_end(&stage, util_now_ms() + 5000, &e);
	waiter->is_over = true;
}

/* A process that was started in the place of another answers for each policy that it was sent: the first answer is not that for the last one. */
static void test_the_last_policy_holds(void **state)
{
	struct waiter waiter = {false, -1};
	int ends[2];

	(void)state;
	stage.spec = json_pack("{s:{s:s}}", "egress", "mode", "open");
	stage.egress.policy = json_pack("{s:s,s:{}}", "mode", "allowlist", "caps");
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
	egress_take(&stage, ends[0]);
	close(egress_end);
	egress_end = ends[1];
	(void)co_start(stage.loop, end_setup, &waiter);
	while (loop_turn(stage.loop, 0))
		;
	say(EGRESS_READY, 0, "{\"ready\":true}");
	assert_false(waiter.is_over);
	say(EGRESS_READY, 0, "{\"ready\":true}");
	assert_true(waiter.is_over);
	assert_int_equal(waiter.rc, 0);
	json_decref(stage.spec);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_good_words, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_bad_words, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_one_that_reads_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_the_last_policy_holds, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
