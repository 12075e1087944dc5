/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: display */
/* What counts as blinking, and what does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "display/blinks.h"
#include "session/base/util.h"

#define SIDE TILES_SIDE_PX
#define WIDTH (6 * SIDE + 5) /* the last column is cut, to an odd width */
#define HEIGHT (5 * SIDE)

static struct tiles tiles;
static struct blinks blinks;
static struct image shown;
static uint64_t frame;
static int64_t now_ms;

static const struct rect all = {0, 0, WIDTH, HEIGHT};
static const struct rect caret = {SIDE + 3, SIDE + 2, 2, 12};

static int set_up(void **state)
{
	(void)state;
	tiles_init(&tiles, (struct space){WIDTH, HEIGHT});
	blinks_init(&blinks, &tiles);
	shown = image_create(WIDTH, HEIGHT);
	memset(shown.pixels, 0, (size_t)WIDTH * HEIGHT * sizeof(uint32_t));
	frame = 10;
	now_ms = 100000;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	free(shown.pixels);
	blinks_finish(&blinks);
	tiles_finish(&tiles);
	return 0;
}

static void mark(struct rect rect)
{
	for (size_t i = 0; i < tiles_count(&tiles); i++) {
		struct rect tile = tiles_rect(&tiles, i);
		int left = tile.x > rect.x ? tile.x : rect.x, right = rect.x + rect.width;
		int top = tile.y > rect.y ? tile.y : rect.y, bottom = rect.y + rect.height;

		right = right < tile.x + tile.width ? right : tile.x + tile.width;
		bottom = bottom < tile.y + tile.height ? bottom : tile.y + tile.height;
		if (left >= right || top >= bottom)
			continue;
		tiles_mark(&tiles, (struct rect){left, top, right - left, bottom - top}, frame);
		blinks_mark(&blinks, (struct rect){left, top, right - left, bottom - top}, frame);
	}
}

/* The rectangle gets a colour: a change that was drawn at least `least_ms` after the one before and seen `most_ms` after it. */
static void draw_between(struct rect rect, uint32_t colour, int least_ms, int most_ms)
{
	int64_t from_ms = now_ms + least_ms;

	frame++;
	for (int y = rect.y; y < rect.y + rect.height; y++)
		for (int x = rect.x; x < rect.x + rect.width; x++)
			image_row(&shown, y)[x] = colour;
	mark(rect);
	now_ms += most_ms;
	blinks_learn(&blinks, &shown, frame, (struct blinks_time){from_ms, now_ms});
}

static void draw(struct rect rect, uint32_t colour, int after_ms)
{
	draw_between(rect, colour, after_ms, after_ms);
}

static void blink(struct rect rect, int times, int step_ms)
{
	for (int i = 0; i < times; i++)
		draw(rect, i % 2 == 0 ? 0xFFFFFF : 0, step_ms);
}

/* A caret comes at some frame and goes to and fro. Who has seen it since it came is not disturbed, who saw what was there before is. */
static void test_a_caret(void **state)
{
	uint64_t before, first;

	(void)state;
	draw((struct rect){caret.x, caret.y, 1, 1}, 0, 500); /* what was there is known */
	before = frame;
	draw(caret, 0xFFFFFF, 500);
	first = frame;
	for (int i = 1; i <= BLINKS_RETURNS; i++) {
		assert_true(i == 1 || blinks_changed(&blinks, all, first));
		draw(caret, i % 2 == 1 ? 0 : 0xFFFFFF, 500);
	}
	assert_false(blinks_changed(&blinks, all, first));
	assert_false(blinks_changed(&blinks, all, frame - 1));
	assert_true(blinks_changed(&blinks, all, before));
	assert_false(blinks_changed(&blinks, (struct rect){0, 0, SIDE, SIDE}, before));
	blink(caret, 41, 600);
	assert_false(blinks_changed(&blinks, all, first));
	/* A step that was not seen at once may have been a short one. */
	draw_between(caret, 0, 500, 60000);
	assert_false(blinks_changed(&blinks, all, first));
}

/* Something else is a change, at once, and the blinking begins again from there. */
static void test_something_else(void **state)
{
	uint64_t seen;

	(void)state;
	blink(caret, 10, 500);
	seen = frame;
	draw(caret, 0xFFFFFF, 500);
	assert_false(blinks_changed(&blinks, all, seen));
	draw((struct rect){SIDE + 1, SIDE + 1, 1, 1}, 0x123456, 500);
	assert_true(blinks_changed(&blinks, all, seen));
	draw(caret, 0, 500);
	draw(caret, 0xFFFFFF, 500);
	assert_true(blinks_changed(&blinks, all, frame - 1));
	draw(caret, 0, 500);
	draw(caret, 0xFFFFFF, 500);
	assert_false(blinks_changed(&blinks, all, frame - 1));
	assert_true(blinks_changed(&blinks, all, seen));
}

/* What is switched once or twice, and what is switched slowly, has changed each time. */
static void test_a_checkbox(void **state)
{
	uint64_t seen = frame;

	(void)state;
	draw(caret, 0xFFFFFF, 300);
	assert_true(blinks_changed(&blinks, all, seen));
	for (int i = 0; i < 2; i++) {
		seen = frame;
		draw(caret, i % 2 == 0 ? 0 : 0xFFFFFF, 300);
		assert_true(blinks_changed(&blinks, all, seen));
	}
	for (int i = 0; i < 20; i++) {
		seen = frame;
		draw(caret, i % 2 == 0 ? 0 : 0xFFFFFF, BLINKS_STEP_MS + 1);
		assert_true(blinks_changed(&blinks, all, seen));
	}
	/* Nor what was not seen to be quick. */
	for (int i = 0; i < 20; i++) {
		seen = frame;
		draw_between(caret, i % 2 == 0 ? 0 : 0xFFFFFF, 10, BLINKS_STEP_MS + 1);
		assert_true(blinks_changed(&blinks, all, seen));
	}
}

/* What has rested for long is no blinking any more. */
static void test_a_rest(void **state)
{
	uint64_t seen;

	(void)state;
	blink(caret, 10, 500);
	seen = frame;
	draw(caret, 0xFFFFFF, BLINKS_STEP_MS + 1);
	assert_true(blinks_changed(&blinks, all, seen));
}

/* Three contents in turn are no blinking. */
static void test_three_contents(void **state)
{
	(void)state;
	for (int i = 0; i < 30; i++)
		draw(caret, (uint32_t)(i % 3), 200);
	assert_true(blinks_changed(&blinks, all, frame - 1));
}

/* A button that flips between two labels changes each time, however quickly and in however few tiles. */
static void test_what_is_not_narrow(void **state)
{
	static const struct rect labels[] = {
		{SIDE, SIDE, 2 * SIDE, SIDE}, {SIDE + 2, SIDE + 2, BLINKS_WIDTH_PX + 1, 1}, {SIDE, 3, 1, BLINKS_HEIGHT_PX + 1},
		{SIDE, SIDE, SIDE, SIDE}};
	static const struct rect narrow[] = {{SIDE + 2, SIDE + 2, BLINKS_WIDTH_PX, 8}, {SIDE, 3, 1, BLINKS_HEIGHT_PX}, {6 * SIDE, 0, 5, SIDE}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(labels); i++) {
		blink(labels[i], 20, 100);
		if (!blinks_changed(&blinks, labels[i], frame - 1))
			fail_msg("label %zu", i);
	}
	for (size_t i = 0; i < ARRAY_LEN(narrow); i++) {
		blink(narrow[i], 21, 500);
		if (blinks_changed(&blinks, narrow[i], frame - 1))
			fail_msg("narrow %zu", i);
	}
}

/* One pixel of one bit more is another content, also in the last column of an odd width. */
static void test_each_pixel_counts(void **state)
{
	(void)state;
	for (int x = 0; x < WIDTH; x++)
		for (uint32_t bit = 1; bit < 0x1000000; bit <<= 1) {
			blink((struct rect){x, 7, 1, 1}, 6, 100);
			assert_false(blinks_changed(&blinks, all, frame - 1));
			draw((struct rect){x, 7, 1, 1}, bit, 100);
			if (!blinks_changed(&blinks, all, frame - 1))
				fail_msg("column %d, %06x", x, bit);
		}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_caret),        TEST(test_something_else),     TEST(test_a_checkbox),        TEST(test_a_rest),
		TEST(test_three_contents), TEST(test_what_is_not_narrow), TEST(test_each_pixel_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
