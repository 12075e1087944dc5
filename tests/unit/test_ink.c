/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: glovebox-stage */
/* Is what was written still there? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "display/ink.h"

static const struct space SCREEN = {320, 100};
static const struct rect FIELD = {10, 20, 200, 30}, DOTS = {16, 30, 90, 8}, CARET = {108, 24, 1, 20}, LINE = {0, 26, 320, 2};

static void paint(uint32_t *pixels, struct rect rect, uint32_t colour)
{
	for (int y = rect.y; y < rect.y + rect.height; y++)
		for (int x = rect.x; x < rect.x + rect.width; x++)
			pixels[y * SCREEN.width_px + x] = colour;
}

/* A field with dots, 6 pixels of 10. */
static void write_dots(uint32_t *pixels)
{
	for (int x = DOTS.x; x < DOTS.x + DOTS.width; x += 10)
		paint(pixels, (struct rect){x, DOTS.y, 6, DOTS.height}, 0x222222);
}

static struct ink look(const uint32_t *pixels)
{
	struct ink ink;

	ink_take(pixels, SCREEN, FIELD, &ink);
	return ink;
}

static void test_what_was_written_is_known_again(void **state)
{
	static uint32_t pixels[320 * 100];
	struct ink before, written, now;

	(void)state;
	paint(pixels, (struct rect){0, 0, 320, 100}, 0xFFFFFF);
	paint(pixels, LINE, 0x8888FF); /* of the page itself */
	before = look(pixels);
	write_dots(pixels);
	written = look(pixels);
	assert_int_equal(ink_left(&before, &written, &written), 100);
	/* A caret hides none of it, and what is beside the field is nothing. */
	paint(pixels, CARET, 0);
	paint(pixels, (struct rect){215, 20, 100, 30}, 0xFF0000);
	now = look(pixels);
	assert_in_range(ink_left(&before, &written, &now), 90, 100);
	/* The same page again, empty; and another page. */
	assert_int_equal(ink_left(&before, &written, &before), 0);
	paint(pixels, (struct rect){0, 0, 320, 100}, 0x00FF00);
	now = look(pixels);
	assert_int_equal(ink_left(&before, &written, &now), 0);
}

static void test_where_nothing_was_written(void **state)
{
	static uint32_t pixels[320 * 100];
	const struct ink nothing = {.width = 0};
	struct ink before, written;

	(void)state;
	paint(pixels, (struct rect){0, 0, 320, 100}, 0xFFFFFF);
	before = look(pixels);
	paint(pixels, CARET, 0);
	written = look(pixels);
	assert_int_equal(ink_left(&before, &written, &written), -1);
	assert_int_equal(ink_left(&before, &nothing, &written), -1);
	/* Without a look before it, all that is not of one colour was. */
	write_dots(pixels);
	written = look(pixels);
	assert_int_equal(ink_left(&nothing, &written, &written), 100);
	assert_int_equal(ink_left(&nothing, &written, &before), 0);
}

static void test_outside_of_the_screen(void **state)
{
	static uint32_t pixels[320 * 100];
	struct ink ink;

	(void)state;
	ink_take(pixels, SCREEN, (struct rect){-50, -50, 1000, 1000}, &ink);
	ink_take(pixels, SCREEN, (struct rect){400, 400, 10, 10}, &ink);
	for (int i = 0; i < INK_COLUMNS; i++)
		assert_int_equal(ink.columns[i], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_was_written_is_known_again),
		cmocka_unit_test(test_where_nothing_was_written),
		cmocka_unit_test(test_outside_of_the_screen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
