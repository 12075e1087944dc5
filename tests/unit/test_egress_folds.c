/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: glovebox-stage */
/* What egress says, folded: repeats, floods, the bytes of what was folded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "session/base/util.h"
#include "session/stage/egress_folds.h"

struct written {
	size_t n;
	json_t *lines; /* [event, fields] */
};

static void write_line(void *arg, const char *event, json_t *fields)
{
	struct written *written = arg;

	written->n++;
	json_array_append_new(written->lines, json_pack("[s,o]", event, fields));
}

static json_t *denied(int port)
{
	return json_pack("{s:s,s:s,s:i,s:s}", "verdict", "deny", "host", "evil.test", "port", port, "reason", "not on the list");
}

static json_t *closed(int up, int down)
{
	return json_pack("{s:s,s:i,s:i,s:i,s:i}", "host", "ok.test", "port", 443, "up", up, "down", down, "ms", up + down);
}

static void assert_line(const struct written *written, size_t at, const char *event, const char *text)
{
	const json_t *line = json_array_get(written->lines, at);
	json_auto_t *wanted = json_loads(text, 0, NULL);

	assert_string_equal(json_string_value(json_array_get(line, 0)), event);
	assert_true(json_equal(json_array_get(line, 1), wanted));
}

static void test_repeats_are_one_more_line(void **state)
{
	struct written written = {.lines = json_array()};
	struct egress_folds folds = {.n = 0};

	(void)state;
	assert_int_equal(egress_folds_add(&folds, "egress", denied(443), 1000, write_line, &written), 1000 + EGRESS_FOLD_MS);
	for (int i = 0; i < 5; i++)
		assert_int_equal(egress_folds_add(&folds, "egress", denied(443), 2000 + i, write_line, &written), 1000 + EGRESS_FOLD_MS);
	(void)egress_folds_add(&folds, "egress_closed", closed(1, 10), 3000, write_line, &written);
	(void)egress_folds_add(&folds, "egress_closed", closed(2, 20), 3000, write_line, &written);
	(void)egress_folds_add(&folds, "egress_closed", closed(3, 30), 3000, write_line, &written);
	assert_int_equal(written.n, 2);
	egress_folds_flush(&folds, write_line, &written);
	assert_int_equal(written.n, 4);
	assert_line(&written, 2, "egress", "{\"verdict\":\"deny\",\"host\":\"evil.test\",\"port\":443,\"reason\":\"not on the list\",\"again\":5}");
	assert_line(&written, 3, "egress_closed", "{\"host\":\"ok.test\",\"port\":443,\"up\":5,\"down\":50,\"again\":2}");
	/* A new window begins with the next one. */
	assert_int_equal(egress_folds_add(&folds, "egress", denied(443), 50000, write_line, &written), 50000 + EGRESS_FOLD_MS);
	assert_int_equal(written.n, 5);
	egress_folds_flush(&folds, write_line, &written);
	assert_int_equal(written.n, 5);
	json_decref(written.lines);
}

static void test_a_flood_is_counted(void **state)
{
	struct written written = {.lines = json_array()};
	struct egress_folds folds = {.n = 0};

	(void)state;
	for (int port = 1; port <= 10000; port++)
		(void)egress_folds_add(&folds, "egress", denied(port), 1000, write_line, &written);
	(void)egress_folds_add(&folds, "egress_closed", closed(4, 5), 1000, write_line, &written);
	assert_int_equal(written.n, EGRESS_FOLDS);
	egress_folds_flush(&folds, write_line, &written);
	assert_int_equal(written.n, EGRESS_FOLDS + 1);
	assert_line(&written, EGRESS_FOLDS, "egress_rest", "{\"lines\":9969,\"up\":4,\"down\":5}");
	json_decref(written.lines);
}

/* One that goes on and on gets longer windows. */
static void test_windows_grow(void **state)
{
	struct written written = {.lines = json_array()};
	struct egress_folds folds = {.n = 0};
	int64_t now_ms = 1000;

	(void)state;
	for (int window = 0; written.n < EGRESS_FOLD_LINES; window++, now_ms += EGRESS_FOLD_MS) {
		assert_true(window < 100);
		for (int port = 1; port <= 100; port++)
			(void)egress_folds_add(&folds, "egress", denied(port), now_ms, write_line, &written);
		egress_folds_flush(&folds, write_line, &written);
	}
	assert_int_equal(egress_folds_add(&folds, "egress", denied(1), now_ms, write_line, &written), now_ms + EGRESS_FOLD_LONG_MS);
	egress_folds_flush(&folds, write_line, &written);
	json_decref(written.lines);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_repeats_are_one_more_line),
		cmocka_unit_test(test_a_flood_is_counted),
		cmocka_unit_test(test_windows_grow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
