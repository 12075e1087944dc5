/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: session/replay */
/* Pictures compared pixel by pixel, and what is left out because it changes by itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "replay_make.h"
#include "session/replay/compare.h"
#include "session/replay/watch.h"

#define WIDTH 400
#define HEIGHT 300

static void paint(struct pixels *pixels, struct rect rect, unsigned colour)
{
	for (int y = rect.y; y < rect.y + rect.height; y++)
		for (int x = rect.x; x < rect.x + rect.width; x++) {
			uint8_t *at = pixels_at(pixels, x, y);

			at[0] = (uint8_t)(colour >> 16);
			at[1] = (uint8_t)(colour >> 8 & 0xff);
			at[2] = (uint8_t)(colour & 0xff);
		}
}

static void assert_rect(struct rect rect, int x, int y, int width, int height)
{
	assert_int_equal(rect.x, x);
	assert_int_equal(rect.y, y);
	assert_int_equal(rect.width, width);
	assert_int_equal(rect.height, height);
}

static void test_same_and_one_pixel(void **state)
{
	struct pixels a = make_pixels(WIDTH, HEIGHT, 0x808080), b = make_pixels(WIDTH, HEIGHT, 0x808080);
	struct compare compare = compare_pixels(&a, &b, NULL, 0);

	(void)state;
	assert_int_equal(compare.differing, 0);
	assert_int_equal(compare.compared, WIDTH * HEIGHT);
	assert_true(compare_is_same(&compare, 0));
	paint(&b, (struct rect){WIDTH - 1, HEIGHT - 1, 1, 1}, 0x808081);
	compare = compare_pixels(&a, &b, NULL, 0);
	assert_int_equal(compare.differing, 1);
	assert_rect(compare.box, WIDTH - 1, HEIGHT - 1, 1, 1);
	assert_false(compare_is_same(&compare, 0));
	assert_true(compare_is_same(&compare, 1.0 / (WIDTH * HEIGHT)));
	pixels_finish(&a);
	pixels_finish(&b);
}

/* Each channel by itself, up to the tolerance and not beyond, both ways. */
static void test_tolerance(void **state)
{
	static const unsigned colours[] = {0x838080, 0x808380, 0x808083, 0x7d8080, 0x807d80, 0x80807d};
	struct pixels a = make_pixels(2, 2, 0x808080);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(colours); i++) {
		struct pixels b = make_pixels(2, 2, colours[i]);

		assert_int_equal(compare_pixels(&a, &b, NULL, 3).differing, 0);
		assert_int_equal(compare_pixels(&a, &b, NULL, 2).differing, 4);
		pixels_finish(&b);
	}
	pixels_finish(&a);
}

static void test_box_and_hidden(void **state)
{
	struct pixels a = make_pixels(WIDTH, HEIGHT, 0), b = make_pixels(WIDTH, HEIGHT, 0), drawn;
	struct hidden hidden;
	struct compare compare;

	(void)state;
	paint(&b, (struct rect){10, 20, 5, 4}, 0xffffff);
	paint(&b, (struct rect){100, 200, 3, 2}, 0xffffff);
	compare = compare_pixels(&a, &b, NULL, 2);
	assert_int_equal(compare.differing, 26);
	assert_rect(compare.box, 10, 20, 93, 182);
	hidden_init(&hidden, WIDTH, HEIGHT);
	hidden_add(&hidden, (struct rect){-5, 15, 20, 20});
	compare = compare_pixels(&a, &b, &hidden, 2);
	assert_int_equal(compare.differing, 6);
	assert_rect(compare.box, 100, 200, 3, 2);
	assert_int_equal(compare.compared, WIDTH * HEIGHT - 15 * 20);
	drawn = compare_draw(&a, &b, &hidden, 2);
	assert_int_equal(pixels_at(&drawn, 100, 200)[0], 220);
	assert_int_equal(pixels_at(&drawn, 10, 20)[2], 255);
	assert_int_equal(pixels_at(&drawn, 50, 50)[0], pixels_at(&drawn, 50, 50)[1]);
	hidden_add(&hidden, (struct rect){WIDTH - 10, -10, 100, 1000});
	hidden_add(&hidden, (struct rect){WIDTH + 10, 0, 5, 5});
	assert_int_equal(compare_pixels(&a, &b, &hidden, 2).compared, WIDTH * HEIGHT - 15 * 20 - 10 * HEIGHT);
	hidden_finish(&hidden);
	pixels_finish(&drawn);
	pixels_finish(&a);
	pixels_finish(&b);
}

static void test_another_size(void **state)
{
	struct pixels a = make_pixels(4, 4, 0), b = make_pixels(4, 5, 0), drawn = compare_draw(&a, &b, NULL, 0);
	struct compare compare = compare_pixels(&a, &b, NULL, 255);

	(void)state;
	assert_true(compare.is_size);
	assert_false(compare_is_same(&compare, 1));
	assert_int_equal(drawn.height, 5);
	assert_int_equal(pixels_at(&drawn, 0, 4)[0], 220);
	pixels_finish(&a);
	pixels_finish(&b);
	pixels_finish(&drawn);
}

/* A screen on which the rectangle is painted in one colour after another, `ms` apart; what is hidden at the end, of a screen as `expected`. */
static int hide_after(struct rect rect, const unsigned *colours, size_t n, int ms, unsigned expected_colour, bool at_end, int late_ms, struct rect *found)
{
	struct pixels screen = make_pixels(WIDTH, HEIGHT, 0xffffff), expected = make_pixels(WIDTH, HEIGHT, 0xffffff);
	struct watch *watch = watch_create();
	struct hidden hidden;
	int64_t now_ms = 1000;
	int n_hidden;

	hidden_init(&hidden, WIDTH, HEIGHT);
	paint(&expected, rect, expected_colour);
	for (size_t i = 0; i < n; i++, now_ms += ms) {
		paint(&screen, rect, colours[i]);
		watch_see(watch, &screen, now_ms);
	}
	n_hidden = watch_hide(watch, &expected, 2, now_ms - ms + late_ms, at_end, &hidden, NULL, NULL);
	*found = (struct rect){0};
	if (n_hidden > 0) {
		struct pixels none = make_pixels(WIDTH, HEIGHT, 0), all = make_pixels(WIDTH, HEIGHT, 0xffffff), drawn = compare_draw(&none, &all, &hidden, 0);
		struct pixels red = make_pixels(WIDTH, HEIGHT, 0xdc141e);

		*found = compare_pixels(&red, &drawn, NULL, 0).box;
		pixels_finish(&none);
		pixels_finish(&all);
		pixels_finish(&drawn);
		pixels_finish(&red);
	}
	hidden_finish(&hidden);
	watch_destroy(watch);
	pixels_finish(&screen);
	pixels_finish(&expected);
	return n_hidden;
}

static const unsigned to_and_fro[] = {0xffffff, 0, 0xffffff, 0, 0xffffff, 0};
static const unsigned counts[] = {0x010101, 0x020202, 0x030303, 0x040404, 0x050505, 0x060606};

static void test_caret(void **state)
{
	struct rect caret = {50, 60, 2, 20}, found;

	(void)state;
	assert_int_equal(hide_after(caret, to_and_fro, 4, 500, 0, false, 100, &found), 1);
	assert_rect(found, 50, 60, 2, 20);
	/* Seen too few times; or it rests. */
	assert_int_equal(hide_after(caret, to_and_fro, 3, 500, 0, false, 100, &found), 0);
	assert_int_equal(hide_after(caret, to_and_fro, 6, 500, 0, true, WATCH_LATE_MS + 1, &found), 0);
	/* What was recorded at this place is neither of the two: another letter under the caret. */
	assert_int_equal(hide_after(caret, to_and_fro, 6, 500, 0x700000, false, 100, &found), 0);
	/* What is larger, such as the label of a button, counts. */
	assert_int_equal(hide_after((struct rect){50, 60, 17, 20}, to_and_fro, 6, 500, 0, false, 100, &found), 0);
	assert_int_equal(hide_after((struct rect){50, 60, 10, 49}, to_and_fro, 6, 500, 0, false, 100, &found), 0);
}

static void test_fading_caret(void **state)
{
	struct rect caret = {50, 60, 2, 20}, found;

	(void)state;
	assert_int_equal(hide_after(caret, counts, 6, 300, 0x808080, true, 100, &found), 1);
	assert_int_equal(hide_after(caret, counts, 6, 300, 0x808080, false, 100, &found), 0);
	assert_int_equal(hide_after(caret, counts, 3, 300, 0x808080, true, 100, &found), 0);
}

static void test_clock(void **state)
{
	struct rect seconds = {200, 60, 30, 12}, found;

	(void)state;
	assert_int_equal(hide_after(seconds, counts, 5, 1000, 0x808080, true, 500, &found), 1);
	assert_rect(found, 200 - 5 * 12, 60, 30 + 10 * 12, 12);
	assert_int_equal(hide_after(seconds, counts, 5, 1000, 0x808080, false, 500, &found), 0);
	/* Only the last digit has changed yet. */
	assert_int_equal(hide_after((struct rect){200, 60, 5, 9}, counts, 5, 1000, 0x808080, true, 500, &found), 1);
	assert_rect(found, 200 - 5 * 9, 60, 5 + 10 * 9, 9);
	/* Not once a second: something that loads, or a film. */
	assert_int_equal(hide_after(seconds, counts, 5, 300, 0x808080, true, 100, &found), 0);
	assert_int_equal(hide_after(seconds, counts, 5, 1400, 0x808080, true, 100, &found), 0);
	/* Too large, or it has stopped. */
	assert_int_equal(hide_after((struct rect){10, 60, 257, 12}, counts, 5, 1000, 0x808080, true, 500, &found), 0);
	assert_int_equal(hide_after(seconds, counts, 5, 1000, 0x808080, true, WATCH_LATE_MS + 1, &found), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_and_one_pixel), cmocka_unit_test(test_tolerance), cmocka_unit_test(test_box_and_hidden),
		cmocka_unit_test(test_another_size), cmocka_unit_test(test_caret), cmocka_unit_test(test_fading_caret), cmocka_unit_test(test_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
