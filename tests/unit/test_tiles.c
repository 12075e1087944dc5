/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: display */
/* The grid of tiles: what counts as changed, and how places become rectangles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "display/tiles.h"

#define SIDE TILES_SIDE_PX
#define WIDTH (10 * SIDE + 3) /* the last column and row are cut */
#define HEIGHT (6 * SIDE + 1)

static struct tiles tiles;
static struct rect list[4];

static int set_up(void **state)
{
	(void)state;
	tiles_init(&tiles, (struct space){WIDTH, HEIGHT});
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	tiles_finish(&tiles);
	return 0;
}

static bool is(struct rect rect, int x, int y, int width, int height)
{
	return rect.x == x && rect.y == y && rect.width == width && rect.height == height;
}

static void test_only_touched_tiles_change(void **state)
{
	(void)state;
	tiles_mark(&tiles, (struct rect){SIDE, 2 * SIDE, SIDE, 1}, 7);
	assert_true(tiles_changed(&tiles, (struct rect){SIDE, 2 * SIDE, 1, 1}, 6));
	assert_true(tiles_changed(&tiles, (struct rect){2 * SIDE - 1, 3 * SIDE - 1, 1, 1}, 6)); /* the same tile */
	assert_false(tiles_changed(&tiles, (struct rect){SIDE, 2 * SIDE, 1, 1}, 7));
	assert_false(tiles_changed(&tiles, (struct rect){0, 2 * SIDE, SIDE, SIDE}, 0));
	assert_false(tiles_changed(&tiles, (struct rect){2 * SIDE, 2 * SIDE, SIDE, SIDE}, 0));
	assert_false(tiles_changed(&tiles, (struct rect){SIDE, SIDE, SIDE, SIDE}, 0));
	assert_false(tiles_changed(&tiles, (struct rect){SIDE, 3 * SIDE, SIDE, SIDE}, 0));
	assert_true(tiles_changed(&tiles, (struct rect){SIDE - 1, 2 * SIDE - 1, 2, 2}, 0));
}

static void test_what_lies_outside_is_nothing(void **state)
{
	(void)state;
	tiles_mark(&tiles, (struct rect){-50, -50, 50, 50}, 1);
	tiles_mark(&tiles, (struct rect){WIDTH, 0, 10, 10}, 1);
	tiles_mark(&tiles, (struct rect){0, HEIGHT, 10, 10}, 1);
	tiles_mark(&tiles, (struct rect){5, 5, 0, 10}, 1);
	assert_int_equal(tiles_list(&tiles, 0, list, 4), 0);
	tiles_mark(&tiles, (struct rect){-50, -50, 51, 51}, 1);
	tiles_mark(&tiles, (struct rect){WIDTH - 1, HEIGHT - 1, 1000, 1000}, 1);
	assert_int_equal(tiles_list(&tiles, 0, list, 4), 2);
	assert_true(is(list[0], 0, 0, SIDE, SIDE));
	assert_true(is(list[1], 10 * SIDE, 6 * SIDE, 3, 1));
	assert_true(tiles_changed(&tiles, (struct rect){-20, -20, 40, 40}, 0));
	assert_false(tiles_changed(&tiles, (struct rect){-20, -20, 20, 20}, 0));
}

static void test_runs_become_rectangles(void **state)
{
	(void)state;
	tiles_mark(&tiles, (struct rect){0, 0, WIDTH, HEIGHT}, 3);
	assert_int_equal(tiles_list(&tiles, 2, list, 4), 1);
	assert_true(is(list[0], 0, 0, WIDTH, HEIGHT));
	assert_int_equal(tiles_list(&tiles, 3, list, 4), 0);
	tiles_mark(&tiles, (struct rect){2 * SIDE, SIDE, 3 * SIDE, 2 * SIDE}, 5);
	tiles_mark(&tiles, (struct rect){7 * SIDE, 2 * SIDE, SIDE, SIDE}, 4);
	assert_int_equal(tiles_list(&tiles, 3, list, 4), 2);
	assert_true(is(list[0], 2 * SIDE, SIDE, 3 * SIDE, 2 * SIDE));
	assert_true(is(list[1], 7 * SIDE, 2 * SIDE, SIDE, SIDE));
	assert_int_equal(tiles_list(&tiles, 4, list, 4), 1);
}

/* Whatever is left out of the list would be a change that nobody hears of. */
static void test_a_full_list_covers_everything(void **state)
{
	(void)state;
	for (int i = 0; i < 5; i++)
		tiles_mark(&tiles, (struct rect){2 * i * SIDE, i * SIDE, 1, 1}, 2);
	size_t n = tiles_list(&tiles, 0, list, 2);

	assert_int_equal(n, 2);
	for (int i = 0; i < 5; i++) {
		bool covered = false;

		for (size_t k = 0; k < n; k++)
			covered |= 2 * i * SIDE >= list[k].x && 2 * i * SIDE < list[k].x + list[k].width && i * SIDE >= list[k].y &&
			           i * SIDE < list[k].y + list[k].height;
		assert_true(covered);
	}
	assert_int_equal(tiles_list(&tiles, 0, list, 1), 1);
	assert_true(is(list[0], 0, 0, 9 * SIDE, 5 * SIDE));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_only_touched_tiles_change),
		TEST(test_what_lies_outside_is_nothing),
		TEST(test_runs_become_rectangles),
		TEST(test_a_full_list_covers_everything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
