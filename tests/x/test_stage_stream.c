/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: glovebox-stage */
/* The stream of a stage, seen from the front: what is sent when, to one that takes it and to one that does not. */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "session/base/json.h"
#include "session/base/util.h"
#include "session/stage/link.h"
#include "tests/x/rig.h"

#define ROUNDS 5

struct reading {
	int fd;
	char *text; /* what has come and was not looked at */
	size_t len;
	uint64_t total;
	bool over;  /* the answer is whole */
};

static void finish(struct reading *reading)
{
	(void)close(reading->fd);
	free(reading->text);
}

static void take(const struct reading *reading, uint64_t n)
{
	rig_send_frame(reading->fd, LINK_TAKEN, 0, &n, sizeof(n));
}

static void read_more(struct reading *reading)
{
	struct ipc_frame_head head;
	auto_free char *data = rig_read_frame(reading->fd, &head);

	assert_int_equal(head.kind, LINK_DATA);
	reading->text = util_realloc(reading->text, reading->len + head.length + 1);
	memcpy(reading->text + reading->len, data, head.length + 1);
	reading->len += head.length;
	reading->total += head.length;
	reading->over = !(head.flags & LINK_MORE);
}

/* The next event; its data, the caller's. */
static json_t *next(struct reading *reading, const char *name)
{
	for (;;) {
		char *end = reading->len > 0 ? strstr(reading->text, "\n\n") : NULL;
		const char *data;
		json_t *value = NULL;

		if (!end) {
			assert_false(reading->over);
			read_more(reading);
			continue;
		}
		*end = '\0';
		data = strstr(reading->text, "\ndata: ");
		if (data) {
			auto_free char *event = util_printf("event: %s\n", name);

			assert_non_null(strstr(reading->text, event));
			value = json_loads(data + strlen("\ndata: "), 0, NULL);
			assert_non_null(value);
		}
		reading->len -= (size_t)(end + 2 - reading->text);
		memmove(reading->text, end + 2, reading->len + 1);
		if (value)
			return value;
	}
}

static json_int_t next_frame(struct reading *reading)
{
	json_t *data = next(reading, "frame");
	json_int_t frame = form_int(json_object_get(data, "at"), "frame", 0);

	json_decref(data);
	return frame;
}

static struct reading begin(struct rig *rig, const char *query)
{
	struct reading reading = {.fd = rig_connect(rig)};
	struct ipc_frame_head head;

	rig_send_call(reading.fd, "stream", "agent", query, NULL);
	auto_free char *envelope = rig_read_frame(reading.fd, &head);

	assert_int_equal(head.kind, LINK_REPLY);
	assert_true(head.flags & LINK_MORE);
	assert_non_null(strstr(envelope, "text/event-stream"));
	return reading;
}

static void move(int fd, int x)
{
	auto_free char *body = util_printf("{\"actions\":[{\"action\":\"move\",\"x\":%d,\"y\":50}]}", x);

	json_decref(rig_expect(fd, 200, "act", "agent", body));
}

static void test_one_at_a_time(void **state)
{
	struct rig *rig = *state;
	int fd = rig_open(rig);
	struct reading stopped = begin(rig, NULL), other = begin(rig, "{\"max_fps\":\"60\"}");
	struct pollfd p = {.fd = stopped.fd, .events = POLLIN};
	json_int_t first = next_frame(&stopped), last = next_frame(&other);

	assert_true(first > 0 && last > 0);
	for (int i = 0; i < ROUNDS; i++) {
		json_int_t before = last;

		take(&other, other.total);
		move(fd, 100 + 20 * i);
		last = next_frame(&other);
		assert_true(last > before);
	}
	/* What it was sent is on its way still: it gets no more, but then the newest. */
	assert_int_equal(poll(&p, 1, 0), 0);
	take(&stopped, stopped.total - 1);
	take(&stopped, stopped.total + 1);
	take(&other, other.total);
	move(fd, 10);
	last = next_frame(&other);
	assert_int_equal(poll(&p, 1, 0), 0);
	take(&stopped, stopped.total);
	assert_int_equal(next_frame(&stopped), last);
	finish(&stopped);
	finish(&other);
	(void)close(fd);
}

/* A second lies between two frames, when so much is asked for; the newest is told then. */
static void test_time_between_frames(void **state)
{
	struct rig *rig = *state;
	int fd = rig_open(rig);
	struct reading reading = begin(rig, "{\"max_fps\":\"1\"}");
	int64_t start_ms;

	(void)next_frame(&reading);
	take(&reading, reading.total);
	start_ms = util_now_ms();
	move(fd, 20);
	(void)next_frame(&reading);
	take(&reading, reading.total);
	for (int i = 0; i < ROUNDS; i++)
		move(fd, 40 + 20 * i);
	json_t *data = next(&reading, "frame");

	assert_true(util_now_ms() - start_ms >= 1000);
	/* The pointer is at two places only: where the reader had it, and where it is. */
	assert_int_equal(json_array_size(json_object_get(data, "tiles")), 2);
	json_decref(data);
	finish(&reading);
	(void)close(fd);
}

static void test_the_end(void **state)
{
	struct rig *rig = *state;
	int fd = rig_open(rig);
	struct reading reading = begin(rig, NULL), stopped = begin(rig, NULL);

	(void)next_frame(&reading);
	take(&reading, reading.total);
	json_decref(rig_expect(fd, 200, "end", "server", "{\"reason\":\"ttl\"}"));
	json_t *data = next(&reading, "end");

	assert_string_equal(form_string(data, "reason", ""), "ttl");
	assert_string_equal(form_string(data, "state", ""), "ended");
	json_decref(data);
	while (!reading.over)
		read_more(&reading);
	(void)next_frame(&stopped);
	finish(&reading);
	finish(&stopped);
	(void)close(fd);
}

static void test_what_is_refused(void **state)
{
	static const char *const queries[] = {
		"{\"max_fps\":\"0\"}", "{\"max_fps\":\"61\"}", "{\"max_fps\":\"a\"}", "{\"max_fps\":\"\"}", "{\"max_fps\":\"030\"}", "{\"format\":\"gif\"}",
	};
	struct rig *rig = *state;
	int fd = rig_open(rig);

	for (size_t i = 0; i < ARRAY_LEN(queries); i++) {
		rig_send_call(fd, "stream", "agent", queries[i], NULL);
		struct rig_reply reply = rig_read_reply(fd);

		assert_int_equal(reply.status, 400);
		assert_string_equal(form_string(reply.json, "code", ""), "bad_field");
		rig_free_reply(&reply);
	}
	rig_expect_code(fd, 403, "forbidden", "stream", "viewer", NULL);
	/* A word of the front that breaks the form ends its connection. */
	rig_send_frame(fd, LINK_TAKEN, 0, "abc", 3);
	char byte;

	assert_int_equal(read(fd, &byte, 1), 0);
	(void)close(fd);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_set_up, rig_tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_one_at_a_time), TEST(test_time_between_frames), TEST(test_the_end), TEST(test_what_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
