/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: display */
/* Callers that keep a picture of their own, on a real X server: what they are told makes it what a picture shows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <xcb/xtest.h>

#include "display/screen.h"
#include "session/base/util.h"
#include "tests/x/painter.h"

#define WIDTH 641 /* odd, as is the last tile */
#define HEIGHT 403
#define CHANGES 400
#define WAIT_MS 5000

static int set_up(void **state)
{
	struct painter *painter = util_zalloc(sizeof(*painter));

	painter_start(painter, WIDTH, HEIGHT);
	*state = painter;
	return 0;
}

static int tear_down(void **state)
{
	painter_stop(*state);
	free(*state);
	return 0;
}

static uint32_t random_state = 1;

static int between(int low, int high)
{
	random_state = random_state * 1664525 + 1013904223;
	return low + (int)((random_state >> 8) % (uint32_t)(high - low + 1));
}

/* One that follows, and its picture. */
struct mirror {
	struct painter *painter;
	struct display_follower follower;
	struct co_event news;
	struct display_parts parts; /* the last ones */
	bool whole;                 /* of them */
	uint32_t *pixels;
	int width, height;
};

static struct mirror *mirror_create(struct painter *painter, const struct display_request *request)
{
	struct mirror *mirror = util_zalloc(sizeof(*mirror));

	mirror->painter = painter;
	display_follow_begin(painter->display, request, &mirror->news, &mirror->follower);
	mirror->width = mirror->follower.request.out_width;
	mirror->height = mirror->follower.request.out_height;
	mirror->pixels = util_zalloc((size_t)mirror->width * (size_t)mirror->height * sizeof(uint32_t));
	return mirror;
}

static void mirror_destroy(struct mirror *mirror)
{
	display_follow_end(mirror->painter->display, &mirror->follower);
	free(mirror->pixels);
	free(mirror);
}

static void paste(struct mirror *mirror, const struct display_part *part)
{
	const struct display_picture picture = {.bytes = part->bytes, .width = part->rect.width, .height = part->rect.height,
	                                        .format = mirror->follower.request.format};
	auto_free uint32_t *pixels = painter_decode(&picture);

	assert_true(part->rect.x >= 0 && part->rect.x + part->rect.width <= mirror->width);
	assert_true(part->rect.y >= 0 && part->rect.y + part->rect.height <= mirror->height);
	for (int row = 0; row < part->rect.height; row++)
		memcpy(&mirror->pixels[(part->rect.y + row) * mirror->width + part->rect.x], &pixels[row * part->rect.width],
		       (size_t)part->rect.width * sizeof(uint32_t));
}

static void follow(void *arg)
{
	struct mirror *mirror = arg;
	struct err e;

	if (display_follow(mirror->painter->display, &mirror->follower, &mirror->parts, &e) < 0)
		fail_msg("%s", e.msg);
}

/* Returns how many parts it was told. */
static size_t mirror_follow(struct mirror *mirror)
{
	size_t n;

	xserver_run(mirror->painter->loop, follow, mirror);
	n = mirror->parts.n;
	mirror->whole = mirror->parts.whole;
	for (size_t i = 0; i < n; i++)
		paste(mirror, &mirror->parts.list[i]);
	display_parts_finish(&mirror->parts);
	return n;
}

static void mirror_check(struct mirror *mirror)
{
	struct display_picture picture = painter_look(mirror->painter, mirror->follower.request);
	auto_free uint32_t *pixels = painter_decode(&picture);

	assert_int_equal(picture.frame, mirror->follower.has.frame);
	for (int i = 0; i < mirror->width * mirror->height; i++)
		if (pixels[i] != mirror->pixels[i])
			fail_msg("the pixel %d, %d is %06x, not %06x", i % mirror->width, i / mirror->width, mirror->pixels[i], pixels[i]);
	display_picture_drop(&picture);
}

/* Moves what is on the screen, as scrolling does. */
static void scroll(struct painter *painter)
{
	const uint32_t inferiors = XCB_SUBWINDOW_MODE_INCLUDE_INFERIORS;
	xcb_gcontext_t gc = xcb_generate_id(painter->xcb);

	xcb_create_gc(painter->xcb, gc, painter->root, XCB_GC_SUBWINDOW_MODE, &inferiors);
	xcb_copy_area(painter->xcb, painter->root, painter->root, gc, (int16_t)between(0, 300), (int16_t)between(0, 300), (int16_t)between(0, 400),
	              (int16_t)between(0, 300), (uint16_t)between(1, 300), (uint16_t)between(1, 200));
	xcb_free_gc(painter->xcb, gc);
	painter_sync(painter);
}

static void change(struct painter *painter)
{
	uint32_t pixels[24 * 24];

	for (size_t i = 0; i < ARRAY_LEN(pixels); i++)
		pixels[i] = (uint32_t)between(0, 0xFFFFFF);
	switch (between(0, 5)) {
	case 0:
		painter_rect(painter, between(-20, WIDTH), between(-20, HEIGHT), between(1, 90), between(1, 90), pixels[0]);
		break;
	case 1:
		painter_pixels(painter, between(-20, WIDTH), between(-20, HEIGHT), 24, 24, pixels);
		break;
	case 2:
		scroll(painter);
		break;
	case 3:
		for (size_t i = 0; i < ARRAY_LEN(pixels); i++)
			pixels[i] = (uint32_t)between(0, 255) * 0x01010101U;
		painter_set_pointer(painter, 24, 24, between(0, 23), between(0, 23), pixels);
		break;
	default:
		painter_move_pointer(painter, between(0, WIDTH - 1), between(0, HEIGHT - 1));
		break;
	}
}

static void test_random_changes(void **state)
{
	static const struct display_request requests[] = {
		{.format = ENCODE_RAW},
		{.format = ENCODE_PNG, .no_cursor = true},
		{.format = ENCODE_WEBP, .out_width = 320, .out_height = 200},
		{.format = ENCODE_RAW, .out_width = 911, .out_height = 77},
		{.format = ENCODE_RAW, .x = 37, .y = 61, .width = 200, .height = 130},
		{.format = ENCODE_RAW, .x = 7, .y = 9, .width = 601, .height = 333, .out_width = 411, .out_height = 309},
	};
	struct painter *painter = *state;
	struct mirror *mirrors[ARRAY_LEN(requests)];
	size_t n_parts = 0, n_whole = 0;

	for (size_t i = 0; i < ARRAY_LEN(requests); i++) {
		mirrors[i] = mirror_create(painter, &requests[i]);
		assert_int_equal(mirror_follow(mirrors[i]), 1);
	}
	for (int n = 0; n < CHANGES; n++) {
		struct mirror *mirror = mirrors[between(0, (int)ARRAY_LEN(requests) - 1)];

		for (int i = between(1, 3); i > 0; i--)
			change(painter);
		n_parts += mirror_follow(mirror);
		n_whole += mirror->whole;
		mirror_check(mirror);
	}
	assert_true(n_parts > CHANGES);
	assert_true(n_whole < CHANGES / 4);
	for (size_t i = 0; i < ARRAY_LEN(requests); i++)
		mirror_destroy(mirrors[i]);
}

static void test_the_same_again(void **state)
{
	struct painter *painter = *state;
	struct mirror *mirror = mirror_create(painter, &(struct display_request){.format = ENCODE_RAW});

	painter_rect(painter, 100, 100, 50, 50, 0xFFCC00);
	assert_true(display_follow_has_news(painter->display, &mirror->follower));
	assert_int_equal(mirror_follow(mirror), 1);
	assert_false(display_follow_has_news(painter->display, &mirror->follower));
	painter_rect(painter, 100, 100, 50, 50, 0xFFCC00);
	assert_int_equal(mirror_follow(mirror), 0);
	painter_rect(painter, 110, 110, 1, 1, 0xFFCC01);
	assert_int_equal(mirror_follow(mirror), 1);
	assert_int_equal(mirror_follow(mirror), 0);
	mirror_check(mirror);
	mirror_destroy(mirror);
}

/* As many places as there are tiles share the rectangles that one event may have; most of the picture is all of it. */
static void test_many_places(void **state)
{
	struct painter *painter = *state;
	struct mirror *mirror = mirror_create(painter, &(struct display_request){.format = ENCODE_RAW, .no_cursor = true});

	(void)mirror_follow(mirror);
	for (int y = 0; y < HEIGHT / 2; y += 40)
		for (int x = 0; x < WIDTH / 2; x += 40)
			painter_rect(painter, x, y, 3, 3, 0x123456);
	xserver_run(painter->loop, follow, mirror);
	assert_true(mirror->parts.n > 1 && mirror->parts.n <= LIMIT_CHANGED && !mirror->parts.whole);
	for (size_t i = 0; i < mirror->parts.n; i++)
		paste(mirror, &mirror->parts.list[i]);
	display_parts_finish(&mirror->parts);
	mirror_check(mirror);
	painter_rect(painter, 0, 0, WIDTH, HEIGHT - 60, 0x654321);
	xserver_run(painter->loop, follow, mirror);
	assert_true(mirror->parts.n == 1 && mirror->parts.whole);
	display_parts_finish(&mirror->parts);
	mirror_destroy(mirror);
}

/* Two that had the same are told the same when they come right after each other, and nothing is missed for it. */
static void test_two_of_the_same(void **state)
{
	struct painter *painter = *state;
	const struct display_request request = {.format = ENCODE_RAW};
	struct mirror *one = mirror_create(painter, &request), *other = mirror_create(painter, &request);
	const struct screen_told *told = &painter->display->last_told;

	(void)mirror_follow(one);
	(void)mirror_follow(other);
	for (int i = 0; i < 20; i++) {
		bool late = i % 3 == 0, differs = i % 4 == 0;

		painter_rect(painter, between(0, 600), between(0, 300), 20, 20, (uint32_t)between(1, 0xFFFFFF));
		assert_true(mirror_follow(one) > 0);
		painter->display->last_told.at_ms = util_now_ms() + (late ? -WAIT_MS : WAIT_MS);
		if (differs)
			painter_rect(painter, between(0, 600), between(0, 300), 20, 20, (uint32_t)between(1, 0xFFFFFF));
		assert_true(told->parts.n > 0);
		const struct bytes *shared = told->parts.list[0].bytes;

		xserver_run(painter->loop, follow, other);
		assert_int_equal(other->parts.list[0].bytes == shared, !late);
		for (size_t n = 0; n < other->parts.n; n++)
			paste(other, &other->parts.list[n]);
		display_parts_finish(&other->parts);
		assert_int_equal(other->follower.has.frame == one->follower.has.frame, !late || !differs);
		painter->display->last_told.at_ms = 0;
		(void)mirror_follow(other);
		(void)mirror_follow(one);
		mirror_check(one);
		mirror_check(other);
	}
	mirror_destroy(one);
	mirror_destroy(other);
}

static void wait_news(void *arg)
{
	struct mirror *mirror = arg;
	int64_t until_ms = util_now_ms() + WAIT_MS;

	while (!display_follow_has_news(mirror->painter->display, &mirror->follower))
		assert_int_equal(co_wait_event(&mirror->news, until_ms, NULL), 0);
}

static void fake_motion(struct painter *painter, int x, int y)
{
	xcb_test_fake_input(painter->xcb, XCB_MOTION_NOTIFY, 0, 0, painter->root, (int16_t)x, (int16_t)y, 0);
	painter_sync(painter);
}

/* Nobody asks for it: the server tells that the pointer has moved, or is another one, as it tells what was drawn. */
static void test_news(void **state)
{
	struct painter *painter = *state;
	struct mirror *mirror = mirror_create(painter, &(struct display_request){.format = ENCODE_RAW});
	struct mirror *without = mirror_create(painter, &(struct display_request){.format = ENCODE_RAW, .no_cursor = true});
	const uint32_t pixel = 0xFFFF0000;

	fake_motion(painter, 300, 200);
	assert_int_equal(mirror_follow(mirror), 1);
	assert_int_equal(mirror_follow(without), 1);
	assert_false(display_follow_has_news(painter->display, &mirror->follower));
	fake_motion(painter, 100, 100);
	xserver_run(painter->loop, wait_news, mirror);
	assert_false(display_follow_has_news(painter->display, &without->follower));
	assert_int_equal(mirror_follow(mirror), 2);
	painter_set_pointer(painter, 1, 1, 0, 0, &pixel);
	xserver_run(painter->loop, wait_news, mirror);
	assert_true(mirror_follow(mirror) > 0);
	mirror_check(mirror);
	assert_int_equal(mirror_follow(without), 0);
	painter_rect(painter, 1, 1, 1, 1, 0xFFFFFF);
	xserver_run(painter->loop, wait_news, mirror);
	xserver_run(painter->loop, wait_news, without);
	mirror_destroy(mirror);
	mirror_destroy(without);
	assert_int_equal(painter->display->n_cursors, 0);
}

static void follow_told(void *arg)
{
	struct mirror *mirror = arg;
	struct err e;

	if (display_follow_told(mirror->painter->display, &mirror->follower, &mirror->parts, &e) < 0)
		fail_msg("%s", e.msg);
}

/* Follows as far as was told. How many parts that is; *asked: the server was asked for something. */
static size_t mirror_follow_told(struct mirror *mirror, bool *asked)
{
	xcb_connection_t *xcb = mirror->painter->x.xcb;
	unsigned before = xcb_no_operation(xcb).sequence;
	size_t n;

	xserver_run(mirror->painter->loop, follow_told, mirror);
	*asked = xcb_no_operation(xcb).sequence != before + 1;
	n = mirror->parts.n;
	for (size_t i = 0; i < n; i++)
		paste(mirror, &mirror->parts.list[i]);
	display_parts_finish(&mirror->parts);
	return n;
}

/* Without news the server is not asked; what it has told of is there, also when another one has looked meanwhile. */
static void test_as_told(void **state)
{
	struct painter *painter = *state;
	struct mirror *mirror = mirror_create(painter, &(struct display_request){.format = ENCODE_PNG, .no_cursor = true});
	struct mirror *other = mirror_create(painter, &(struct display_request){.format = ENCODE_RAW});
	bool asked;

	assert_int_equal(mirror_follow_told(mirror, &asked), 1);
	assert_true(asked);
	mirror_check(mirror);
	assert_int_equal(mirror_follow_told(mirror, &asked), 0);
	assert_false(asked);
	painter_rect(painter, 30, 40, 20, 10, 0x00FF00);
	xserver_run(painter->loop, wait_news, mirror);
	assert_int_equal(mirror_follow_told(mirror, &asked), 1);
	assert_true(asked);
	mirror_check(mirror);
	/* What another one has fetched is known. */
	painter_rect(painter, 300, 40, 20, 10, 0x0000FF);
	(void)mirror_follow(other);
	assert_int_equal(mirror_follow_told(mirror, &asked), 1);
	assert_false(asked);
	mirror_check(mirror);
	display_follow_anew(painter->display, &mirror->follower, NULL);
	xserver_run(painter->loop, follow_told, mirror);
	assert_true(mirror->parts.n == 1 && mirror->parts.whole);
	display_parts_finish(&mirror->parts);
	mirror_destroy(mirror);
	mirror_destroy(other);
}

/* A frame that takes long, and others that look while it is made. */
struct slow_frame {
	struct mirror *mirror;
	bool done;
	int n_others;
};

static void follow_slowly(void *arg)
{
	struct slow_frame *slow = arg;

	follow(slow->mirror);
	slow->done = true;
}

static void look_meanwhile(void *arg)
{
	struct slow_frame *slow = arg;
	struct painter *painter = slow->mirror->painter;

	/* It waits for its turn to look, and has it before the others. */
	assert_int_equal(screen_take_turn(&painter->display->look, NULL), 0);
	(void)co_start(painter->loop, follow_slowly, slow);
	while (!painter->display->look.waiters)
		(void)co_wait_until(util_now_ms(), NULL);
	screen_give_turn(&painter->display->look);
	while (!slow->done) {
		struct display_picture other;

		assert_int_equal(display_picture(painter->display, &(struct display_request){.width = 0}, &other, NULL), 0);
		display_picture_drop(&other);
		slow->n_others += !slow->done;
		/* Under the pointer: it is drawn nowhere but in pictures. */
		painter_rect(painter, 290 + slow->n_others % 5, 190, 30, 30, (uint32_t)between(1, 0xFFFFFF));
	}
}

/* It shows one moment, whole or in parts, and others do not wait for it. */
static void test_slow_format(void **state)
{
	struct painter *painter = *state;
	struct mirror *mirror = mirror_create(painter, &(struct display_request){.format = ENCODE_PNG_SMALL, .out_width = 1500, .out_height = 900});
	auto_free uint32_t *noise = util_alloc(WIDTH * HEIGHT * sizeof(*noise));

	for (int parts = 0; parts < 2; parts++) {
		const struct display_request same = {.format = ENCODE_RAW, .out_width = 1500, .out_height = 900};
		struct slow_frame slow = {.mirror = mirror};

		for (int i = 0; i < WIDTH * HEIGHT; i++)
			noise[i] = (uint32_t)between(0, 0xFFFFFF);
		painter_pixels(painter, 0, 0, WIDTH, parts ? HEIGHT / 2 : HEIGHT, noise);
		painter_move_pointer(painter, 300, 200);
		struct display_picture before = painter_look(painter, same);
		auto_free uint32_t *right = painter_decode(&before);

		xserver_run(painter->loop, look_meanwhile, &slow);
		assert_true(slow.n_others > 2);
		assert_int_equal(mirror->parts.whole, !parts);
		for (size_t i = 0; i < mirror->parts.n; i++)
			paste(mirror, &mirror->parts.list[i]);
		display_parts_finish(&mirror->parts);
		assert_memory_equal(mirror->pixels, right, 1500 * 900 * sizeof(*right));
		display_picture_drop(&before);
		(void)mirror_follow(mirror);
		mirror_check(mirror);
	}
	mirror_destroy(mirror);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_random_changes), TEST(test_the_same_again), TEST(test_many_places), TEST(test_two_of_the_same),
		TEST(test_news), TEST(test_as_told), TEST(test_slow_format),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
