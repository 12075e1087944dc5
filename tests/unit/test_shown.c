/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: display */
/* Taking fresh pixels over: what is copied, and what is said to have changed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "display/shown.h"
#include "display/tiles.h"
#include "session/base/util.h"

#define SIDE TILES_SIDE_PX
#define WIDTH (5 * SIDE + 3)
#define HEIGHT (4 * SIDE + 5)
#define PIXELS ((size_t)WIDTH * HEIGHT)

static struct image shown;
static uint32_t fresh[PIXELS];
static struct rect told[64];
static size_t n_told;

static const struct rect all = {0, 0, WIDTH, HEIGHT};

static int set_up(void **state)
{
	(void)state;
	shown = image_create(WIDTH, HEIGHT);
	memset(shown.pixels, 0, PIXELS * sizeof(uint32_t));
	memset(fresh, 0, sizeof(fresh));
	n_told = 0;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	free(shown.pixels);
	return 0;
}

static void note(void *arg, struct rect changed)
{
	assert_ptr_equal(arg, told);
	assert_true(n_told < ARRAY_LEN(told));
	told[n_told++] = changed;
}

static void take(struct rect rect)
{
	n_told = 0;
	shown_take(&shown, fresh, rect, note, told);
}

static void expect_told(size_t i, int x, int y, int width, int height)
{
	assert_true(i < n_told);
	if (told[i].x != x || told[i].y != y || told[i].width != width || told[i].height != height)
		fail_msg("%d,%d %dx%d is told, not %d,%d %dx%d", told[i].x, told[i].y, told[i].width, told[i].height, x, y, width, height);
}

static void test_nothing(void **state)
{
	(void)state;
	take(all);
	assert_int_equal(n_told, 0);
	/* The uppermost byte is no colour. */
	for (size_t i = 0; i < PIXELS; i++)
		fresh[i] = 0xFF000000;
	take(all);
	assert_int_equal(n_told, 0);
	assert_int_equal(shown.pixels[0], 0);
}

static void test_each_pixel(void **state)
{
	(void)state;
	for (int y = 0; y < HEIGHT; y++)
		for (int x = 0; x < WIDTH; x++) {
			fresh[y * WIDTH + x] = 0xAB000000U + 1;
			take(all);
			assert_int_equal(n_told, 1);
			expect_told(0, x, y, 1, 1);
			assert_int_equal(shown.pixels[y * WIDTH + x], 1);
		}
}

/* One rectangle for each tile, with the outermost pixels that changed. */
static void test_bounds(void **state)
{
	(void)state;
	fresh[2 * WIDTH + 3] = fresh[9 * WIDTH + 7] = fresh[4 * WIDTH + 12] = 5; /* in the first tile */
	fresh[3 * WIDTH + SIDE] = 5;                                            /* in the second */
	fresh[(SIDE + 1) * WIDTH + WIDTH - 1] = 5;                              /* in the last, below them */
	take(all);
	assert_int_equal(n_told, 3);
	expect_told(0, 3, 2, 10, 8);
	expect_told(1, SIDE, 3, 1, 1);
	expect_told(2, WIDTH - 1, SIDE + 1, 1, 1);
}

/* Only what is asked for; what lies outside is nothing, whatever the server says. */
static void test_rectangles(void **state)
{
	static const struct rect outside[] = {{-9, -9, 9, 9}, {WIDTH, 0, 10, 10}, {0, HEIGHT, 10, 10}, {-32768, -32768, 65535, 32768},
	                                      {3, 3, 0, 5}, {3, 3, 5, 0}, {32767, 32767, 65535, 65535}};

	(void)state;
	for (size_t i = 0; i < PIXELS; i++)
		fresh[i] = 7;
	for (size_t i = 0; i < ARRAY_LEN(outside); i++) {
		take(outside[i]);
		assert_int_equal(n_told, 0);
	}
	take((struct rect){SIDE - 1, SIDE - 2, 2, 3});
	assert_int_equal(n_told, 4);
	expect_told(0, SIDE - 1, SIDE - 2, 1, 2);
	expect_told(1, SIDE, SIDE - 2, 1, 2);
	expect_told(2, SIDE - 1, SIDE, 1, 1);
	expect_told(3, SIDE, SIDE, 1, 1);
	for (int y = 0; y < HEIGHT; y++)
		for (int x = 0; x < WIDTH; x++)
			assert_int_equal(shown.pixels[y * WIDTH + x], x >= SIDE - 1 && x <= SIDE && y >= SIDE - 2 && y <= SIDE ? 7 : 0);
	take((struct rect){-32768, -32768, 65535, 65535});
	assert_int_equal(n_told, 6 * 5);
	for (size_t i = 0; i < PIXELS; i++)
		assert_int_equal(shown.pixels[i], 7);
	take((struct rect){WIDTH - 1, HEIGHT - 1, 65535, 65535});
	assert_int_equal(n_told, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {TEST(test_nothing), TEST(test_each_pixel), TEST(test_bounds), TEST(test_rectangles)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
