/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: display */
/* What nobody may see, on a real X server: in no picture, no part of a stream, and no change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "display/screen.h"
#include "session/base/util.h"
#include "tests/x/painter.h"

#define WIDTH 321
#define HEIGHT 203
#define RED 0xFF0000U
#define BLUE 0x0000FFU

struct desk {
	struct painter painter;
	struct rect answers[2]; /* to the question before and after the server has copied; width 0: nothing is blank */
	int n_asked;
	uint64_t frame;
};

static size_t where(void *arg, struct rect out[LIMIT_BLANKS])
{
	struct desk *desk = arg;

	out[0] = desk->answers[desk->n_asked++ % 2];
	return out[0].width > 0;
}

static int set_up(void **state)
{
	struct desk *desk = util_zalloc(sizeof(*desk));

	painter_start(&desk->painter, WIDTH, HEIGHT);
	display_use_blanks(desk->painter.display, where, desk);
	*state = desk;
	return 0;
}

static int tear_down(void **state)
{
	struct desk *desk = *state;

	painter_stop(&desk->painter);
	free(desk);
	return 0;
}

static void hide(struct desk *desk, struct rect before, struct rect after)
{
	desk->answers[0] = before;
	desk->answers[1] = after;
}

static uint32_t pixel_at(struct desk *desk, int x, int y)
{
	struct display_picture picture = painter_look(&desk->painter, (struct display_request){.format = ENCODE_PNG, .no_cursor = true});
	auto_free uint32_t *pixels = painter_decode(&picture);
	uint32_t pixel = pixels[y * WIDTH + x];

	display_picture_drop(&picture);
	return pixel;
}

static void update(void *arg)
{
	struct desk *desk = arg;
	struct err e = {0};

	if (display_update(desk->painter.display, &e) < 0)
		fail_msg("%s", e.msg);
	desk->frame = display_frame(desk->painter.display);
}

static uint64_t frame_now(struct desk *desk)
{
	xserver_run(desk->painter.loop, update, desk);
	return desk->frame;
}

static void test_is_in_no_picture(void **state)
{
	const struct rect field = {100, 80, 60, 20};
	struct desk *desk = *state;

	hide(desk, field, field);
	painter_rect(&desk->painter, 90, 70, 90, 50, RED);
	for (enum encode_format format = 0; format < ENCODE_N_FORMATS; format++) {
		struct display_picture picture =
			painter_look(&desk->painter, (struct display_request){.x = field.x, .y = field.y, .width = field.width, .height = field.height,
		                                                        .out_width = 30, .out_height = 10, .format = format, .no_cursor = true});
		auto_free uint32_t *pixels = painter_decode(&picture);

		for (int i = 0; i < 300; i++)
			assert_true((pixels[i] >> 16 & 0xFF) < 0x80);
		display_picture_drop(&picture);
	}
	assert_int_equal(pixel_at(desk, 99, 80), RED);
	assert_int_equal(pixel_at(desk, 100, 80), BLANK_COLOUR);
	assert_int_equal(pixel_at(desk, 159, 99), BLANK_COLOUR);
	assert_int_equal(pixel_at(desk, 160, 99), RED);
	assert_int_equal(pixel_at(desk, 159, 100), RED);
}

/* Not even that something is drawn there is told. */
static void test_is_no_change(void **state)
{
	const struct rect field = {33, 40, 90, 21};
	struct desk *desk = *state;
	struct rect changes[4];
	uint64_t before;

	hide(desk, field, field);
	before = frame_now(desk);
	painter_rect(&desk->painter, 40, 45, 10, 10, RED);
	painter_rect(&desk->painter, 60, 45, 10, 10, BLUE);
	assert_int_equal(frame_now(desk), before);
	assert_int_equal(display_changes(desk->painter.display, before, changes, 4), 0);
	painter_rect(&desk->painter, 200, 100, 10, 10, BLUE);
	assert_int_equal(frame_now(desk), before + 1);
}

static void test_moves_and_ends(void **state)
{
	const struct rect here = {20, 20, 40, 20}, there = {20, 60, 40, 20}, none = {0, 0, 0, 0};
	struct desk *desk = *state;

	painter_rect(&desk->painter, 0, 0, 100, 100, RED);
	hide(desk, here, here);
	assert_int_equal(pixel_at(desk, 30, 30), BLANK_COLOUR);
	/* It moved while the server copied: nobody knows on which side of that. */
	hide(desk, here, there);
	(void)frame_now(desk);
	assert_int_equal(desk->painter.display->shown.pixels[30 * WIDTH + 30], BLANK_COLOUR);
	assert_int_equal(desk->painter.display->shown.pixels[70 * WIDTH + 30], BLANK_COLOUR);
	hide(desk, there, there);
	(void)frame_now(desk);
	assert_int_equal(desk->painter.display->shown.pixels[30 * WIDTH + 30], RED);
	assert_int_equal(desk->painter.display->shown.pixels[70 * WIDTH + 30], BLANK_COLOUR);
	hide(desk, none, none);
	(void)frame_now(desk);
	assert_int_equal(desk->painter.display->shown.pixels[70 * WIDTH + 30], RED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_is_in_no_picture, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_is_no_change, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_moves_and_ends, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
