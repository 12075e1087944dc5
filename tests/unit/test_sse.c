/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: session/cli session/replay */
/* Server-sent events taken apart, and the buffer that they are in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "session/base/util.h"
#include "session/cli/sse.h"

static void note_event(void *arg, const char *data, size_t len)
{
	struct buffer *events = arg;

	buffer_add(events, "[", 1);
	buffer_add(events, data, len);
	buffer_add(events, "]", 1);
}

/* The stream in two pieces, cut at each place, must make these events. */
static void expect_events(const char *stream, const char *events)
{
	size_t len = strlen(stream);

	for (size_t cut = 0; cut <= len; cut++) {
		struct buffer got = {0};
		struct sse sse = {0};

		assert_int_equal(sse_take(&sse, stream, cut, 1000, note_event, &got), 0);
		assert_int_equal(sse_take(&sse, stream + cut, len - cut, 1000, note_event, &got), 0);
		assert_string_equal(buffer_text(&got), events);
		sse_finish(&sse);
		buffer_finish(&got);
	}
}

static void test_events(void **state)
{
	(void)state;
	expect_events("data: {\"a\":1}\n\n", "[{\"a\":1}]");
	expect_events("event: message\r\nid: 7\r\ndata: one\r\ndata:two\r\n\r\n: ping\r\n\r\ndata: 3\r\n\r\n", "[one\ntwo][3]");
	expect_events("data: a\r\rdata:  b\r\rretry: 5\r\r", "[a][ b]");
	expect_events("data\n\ndata:\ndata:\n\n", "[][\n]");
	expect_events("database: no\nDATA: no\n data: no\n\n", "");
	expect_events("data: whole\n\ndata: cut off", "[whole]");
}

static void test_limit(void **state)
{
	struct buffer got = {0};
	struct sse sse = {0};

	(void)state;
	assert_int_equal(sse_take(&sse, "data: 12345\n", 12, 16, note_event, &got), 0);
	assert_int_equal(sse_take(&sse, "data: 12345\n", 12, 16, note_event, &got), 0);
	assert_int_equal(sse_take(&sse, "data: 12345", 11, 16, note_event, &got), -1);
	sse_finish(&sse);
	assert_string_equal(buffer_text(&got), "");
	buffer_finish(&got);
}

static void test_buffer(void **state)
{
	struct buffer buffer = {0};
	char text[64];

	(void)state;
	assert_string_equal(buffer_text(&buffer), "");
	for (int i = 0; i < 1000; i++) {
		int len = snprintf(text, sizeof(text), "%d;", i);

		buffer_add(&buffer, text, (size_t)len);
		if (i >= 10) {
			len = snprintf(text, sizeof(text), "%d;", i - 10);
			assert_memory_equal(buffer_text(&buffer), text, (size_t)len);
			buffer_drop(&buffer, (size_t)len);
		}
	}
	assert_string_equal(buffer_text(&buffer), "990;991;992;993;994;995;996;997;998;999;");
	assert_int_equal(buffer.len, 40);
	assert_true(buffer.size < 1000);
	buffer_finish(&buffer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_buffer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
