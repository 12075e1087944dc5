/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: glovebox-stage */
/* Whose picture counts, and pictures of another epoch or episode. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "display/screen.h"
#include "session/base/util.h"
#include "session/stage/stage.h"

static struct display display = {.frame = 100};
static struct stage stage;
static struct batch batch;
static struct guard_picture picture;
static struct err e;

static int set_up(void **state)
{
	(void)state;
	stage = (struct stage){.display = &display, .epoch = 5, .episode = 3, .guard.last = true};
	batch = (struct batch){.n_steps = 0};
	return 0;
}

static int ask(const char *token)
{
	const struct call call = {.token = token};

	return guard_begin(&stage, &call, &batch, &picture, &e);
}

static void note_region(const char *token, uint64_t frame, struct rect region)
{
	const struct call call = {.token = token, .connection = (struct connection *)(void *)&stage};

	guard_note(&stage, &call, frame, region);
}

static void note(const char *token, uint64_t frame)
{
	note_region(token, frame, (struct rect){0});
}

static void refuse(long frame, long epoch, long episode, enum err_code code, const char *path)
{
	json_auto_t *seen = json_pack("{s:I,s:I,s:I}", "frame", (json_int_t)frame, "epoch", (json_int_t)epoch, "episode", (json_int_t)episode);

	batch.seen = seen;
	assert_int_equal(ask("a"), -1);
	assert_int_equal(e.code, code);
	assert_string_equal(e.path, path);
}

static void test_numbers(void **state)
{
	(void)state;
	json_auto_t *now = json_pack("{s:i,s:i,s:i}", "frame", 100, "epoch", 5, "episode", 3);

	batch.seen = now;
	assert_int_equal(ask("a"), 0);
	assert_true(picture.given && picture.frame == 100);
	refuse(101, 5, 3, ERR_BAD_FIELD, "/seen/frame");
	refuse(1, 4, 3, ERR_STALE_EPOCH, "/seen");
	refuse(1, 6, 3, ERR_BAD_FIELD, "/seen/epoch");
	/* In another episode the other numbers mean nothing. */
	refuse(1000, 9, 2, ERR_STALE_EPISODE, "/seen");
	refuse(1, 4, 4, ERR_BAD_FIELD, "/seen/episode");
}

static void test_each_token_has_its_own(void **state)
{
	(void)state;
	assert_int_equal(ask("a"), 0);
	assert_false(picture.given);
	note("a", 7);
	note("b", 8);
	note("a", 9);
	assert_int_equal(ask("a"), 0);
	assert_true(picture.given && picture.frame == 9);
	assert_int_equal(ask("b"), 0);
	assert_true(picture.given && picture.frame == 8);
	assert_int_equal(ask("c"), 0);
	assert_false(picture.given);
	stage.guard.last = false;
	assert_int_equal(ask("a"), 0);
	assert_false(picture.given);
}

static void test_what_nobody_got_is_not_seen(void **state)
{
	const struct call call = {.token = "a"};

	(void)state;
	note("a", 7);
	guard_note(&stage, &call, 9, (struct rect){0});
	assert_int_equal(ask("a"), 0);
	assert_int_equal(picture.frame, 7);
}

/* A picture of a part says nothing of the rest. */
static void test_a_part(void **state)
{
	const struct rect one = {10, 20, 30, 40}, other = {100, 20, 30, 40};

	(void)state;
	note_region("a", 5, one);
	assert_int_equal(ask("a"), 0);
	assert_int_equal(picture.elsewhere, 5); /* there is nothing better */
	note("a", 7);
	note_region("a", 9, one);
	assert_int_equal(ask("a"), 0);
	assert_true(picture.frame == 9 && picture.region.x == 10 && picture.elsewhere == 7);
	note_region("a", 11, other);
	assert_int_equal(ask("a"), 0);
	assert_true(picture.frame == 11 && picture.region.x == 100 && picture.elsewhere == 7);
	note("a", 12);
	assert_int_equal(ask("a"), 0);
	assert_true(picture.frame == 12 && picture.region.width == 0);
}

static void test_a_picture_is_of_its_epoch(void **state)
{
	(void)state;
	note("a", 7);
	stage.epoch++;
	assert_int_equal(ask("a"), -1);
	assert_int_equal(e.code, ERR_STALE_EPOCH);
	assert_string_equal(e.path, "");
	stage.episode++;
	assert_int_equal(ask("a"), -1);
	assert_int_equal(e.code, ERR_STALE_EPISODE);
}

static void test_tokens_are_bounded(void **state)
{
	char token[16];

	(void)state;
	for (int i = 0; i <= LIMIT_SEEN_TOKENS; i++) {
		(void)snprintf(token, sizeof(token), "t%d", i);
		note(token, 1);
		note("steady", 2);
	}
	assert_int_equal(ask("steady"), 0);
	assert_true(picture.given && picture.frame == 2);
	assert_int_equal(ask(token), 0);
	assert_true(picture.given && picture.frame == 1);
	assert_int_equal(ask("t0"), 0);
	assert_false(picture.given);
	assert_int_equal(stage.guard.n, LIMIT_SEEN_TOKENS);
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_numbers),
		TEST(test_each_token_has_its_own),
		TEST(test_what_nobody_got_is_not_seen),
		TEST(test_a_part),
		TEST(test_a_picture_is_of_its_epoch),
		TEST(test_tokens_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
