/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: glovebox-stage */
/* What readers of streams hold together, and who waits for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/stage/readers.h"

#define WAIT_MS 5000
#define LARGE (LIMIT_STREAM_SMALL_BYTES + 1)

struct place {
	struct loop *loop;
	struct readers all;
	struct reader reader;
	bool has_room;
};

static void wait_room(void *arg)
{
	struct place *place = arg;
	int64_t until_ms = util_now_ms() + WAIT_MS;

	while (!reader_has_room(&place->reader, LARGE))
		if (co_wait_event(&place->all.news, until_ms, NULL) < 0)
			return;
	place->has_room = true;
}

static void turn_some(struct place *place)
{
	for (int i = 0; i < 5; i++)
		loop_turn(place->loop, 0);
}

/* One that is let go wakes who waits; small ones always have room, and leave it to the large ones. */
static void test_room(void **state)
{
	struct place place = {.loop = loop_create(NULL)};
	struct reader other = {.all = &place.all};

	(void)state;
	place.reader.all = &place.all;
	reader_hold(&other, 2 * (size_t)LIMIT_STREAM_FRAMES_BYTES);
	assert_true(reader_has_room(&place.reader, LIMIT_STREAM_SMALL_BYTES));
	assert_false(reader_has_room(&place.reader, LARGE));
	reader_let_go(&other, 2 * (size_t)LIMIT_STREAM_FRAMES_BYTES);
	assert_true(reader_has_room(&place.reader, 2 * (size_t)LIMIT_STREAM_FRAMES_BYTES));
	reader_hold(&other, LIMIT_STREAM_FRAMES_BYTES - LARGE);
	assert_true(reader_has_room(&place.reader, LARGE));
	for (int i = 0; i < LIMIT_STREAMS; i++)
		reader_hold(&other, LIMIT_STREAM_SMALL_BYTES);
	assert_true(reader_has_room(&place.reader, LARGE));
	reader_hold(&other, LARGE);
	(void)co_start(place.loop, wait_room, &place);
	turn_some(&place);
	assert_false(place.has_room);
	reader_let_go(&other, LIMIT_STREAM_SMALL_BYTES);
	turn_some(&place);
	assert_false(place.has_room);
	reader_let_go(&other, LARGE);
	turn_some(&place);
	assert_true(place.has_room);
	loop_destroy(place.loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_room)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
