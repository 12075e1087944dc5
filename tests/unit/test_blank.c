/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: display */
/* Taking pixels over around what nobody may see, against the same done pixel by pixel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "display/blank.h"
#include "display/rect.h"
#include "session/base/util.h"

#define WIDTH 83
#define HEIGHT 61
#define ROUNDS 2000

static uint32_t fresh[WIDTH * HEIGHT], expected[WIDTH * HEIGHT];
static struct image shown;
static struct blanks blanks, before;
static uint32_t dice;

static int roll(int below)
{
	dice = dice * 1664525U + 1013904223U;
	return (int)((dice >> 8) % (uint32_t)below);
}

static struct rect any_rect(void)
{
	return (struct rect){roll(WIDTH + 20) - 10, roll(HEIGHT + 20) - 10, 1 + roll(30), 1 + roll(20)};
}

static bool is_blank(const struct blanks *list, int x, int y)
{
	for (size_t i = 0; i < list->n; i++)
		if (rect_touch((struct rect){x, y, 1, 1}, list->list[i]))
			return true;
	return false;
}

/* Nothing is told of a place that stays blank. */
static void on_change(void *arg, struct rect changed)
{
	(void)arg;
	for (int y = changed.y; y < changed.y + changed.height; y++)
		for (int x = changed.x; x < changed.x + changed.width; x++)
			if (!is_blank(&before, x, y) || !is_blank(&blanks, x, y))
				return;
	fail_msg("a change is told of %d,%d %dx%d, all of which was blank and is", changed.x, changed.y, changed.width, changed.height);
}

static void reference(const struct blank_take *take, struct rect rect)
{
	for (int y = 0; y < HEIGHT; y++)
		for (int x = 0; x < WIDTH; x++) {
			uint32_t *pixel = &expected[y * WIDTH + x];

			if (is_blank(take->blanks, x, y))
				*pixel = BLANK_COLOUR;
			else if (is_blank(&before, x, y) || rect_touch((struct rect){x, y, 1, 1}, rect))
				*pixel = fresh[y * WIDTH + x];
		}
}

static void test_like_pixel_by_pixel(void **state)
{
	const struct blank_take take = {&shown, fresh, &blanks, on_change, NULL};

	(void)state;
	shown = image_create(WIDTH, HEIGHT);
	memset(shown.pixels, 0, sizeof(expected));
	for (int round = 0; round < ROUNDS; round++) {
		struct rect rect = any_rect();

		before = blanks;
		blanks.n = (size_t)roll(6);
		for (size_t i = 0; i < blanks.n; i++)
			blanks.list[i] = before.n > 0 && roll(2) ? before.list[0] : any_rect();
		for (int i = 0; i < 200; i++)
			fresh[roll(WIDTH * HEIGHT)] = (uint32_t)roll(0xFFFFFF);
		reference(&take, rect);
		blank_cover(&take, &before);
		blank_take(&take, rect);
		assert_memory_equal(shown.pixels, expected, sizeof(expected));
	}
	free(shown.pixels);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_like_pixel_by_pixel)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
