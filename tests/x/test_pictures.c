/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: display */
/* Pictures of a real X server: formats, what is kept of them, limits of bytes, the pointer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include <cmocka.h>
#include <xcb/xfixes.h>

#include "display/cursor.h"
#include "display/screen.h"
#include "session/base/util.h"
#include "tests/x/painter.h"

#define WIDTH 641 /* odd, as are the last stripe and tile */
#define HEIGHT 403

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

static uint32_t next_random(void)
{
	random_state = random_state * 1664525 + 1013904223;
	return random_state >> 8;
}

static int between(int low, int high)
{
	return low + (int)(next_random() % (uint32_t)(high - low + 1));
}

/* A screen full of noise: the worst for every encoder. */
static void paint_noise(struct painter *painter)
{
	auto_free uint32_t *pixels = util_alloc(WIDTH * HEIGHT * sizeof(*pixels));

	for (int i = 0; i < WIDTH * HEIGHT; i++)
		pixels[i] = next_random() & 0xFFFFFF;
	painter_pixels(painter, 0, 0, WIDTH, HEIGHT, pixels);
}

static void forget(struct painter *painter)
{
	for (size_t i = 0; i < LIMIT_KEPT_PICTURES; i++)
		kept_finish(&painter->display->kept[i]);
}

static int distance(uint32_t a, uint32_t b)
{
	int most = 0;

	for (int shift = 0; shift < 24; shift += 8)
		most = MAX(most, abs((int)(a >> shift & 0xFF) - (int)(b >> shift & 0xFF)));
	return most;
}

/* Requests of every kind; those without loss have the same pixels as the first. */
static const struct display_request requests[] = {
	{0},
	{.format = ENCODE_PNG_SMALL},
	{.format = ENCODE_WEBP},
	{.format = ENCODE_RAW},
	{.any_format = true, .max_bytes = LIMIT_PICTURE_USUAL_BYTES},
	{.format = ENCODE_JPEG, .quality = 95},
	{.format = ENCODE_WEBP, .quality = 95},
	{.no_cursor = true},
	{.x = 37, .y = 61, .width = 200, .height = 130},
	{.out_width = 320, .out_height = 200},
	{.out_width = 900, .out_height = 700, .format = ENCODE_RAW},
	{.x = 600, .y = 300, .width = 41, .height = 103, .out_width = 333, .out_height = 30},
};
#define N_SAME 5

static void test_formats(void **state)
{
	struct painter *painter = *state;
	struct display_picture first = painter_look(painter, requests[0]);
	auto_free uint32_t *right = painter_decode(&first);

	painter_rect(painter, 100, 50, 300, 200, 0xFFCC00);
	display_picture_drop(&first);
	first = painter_look(painter, requests[0]);
	free(right);
	right = painter_decode(&first);
	assert_int_equal(right[60 * WIDTH + 110], 0xFFCC00);
	for (size_t i = 1; i < 7; i++) {
		struct display_picture other = painter_look(painter, requests[i]);
		auto_free uint32_t *pixels = painter_decode(&other);

		assert_int_equal(other.fell_back, false);
		long all = 0;

		for (int at = 0; at < WIDTH * HEIGHT; at++)
			all += distance(pixels[at], right[at]);
		if (all > (i < N_SAME ? 0 : 2 * WIDTH * HEIGHT))
			fail_msg("request %zu is off by %ld", i, all);
		display_picture_drop(&other);
	}
	display_picture_drop(&first);
}

static void change_something(struct painter *painter)
{
	switch (between(0, 5)) {
	case 0:
	case 1:
		painter_rect(painter, between(-5, WIDTH), between(-5, HEIGHT), between(1, 40), between(1, 40), next_random() & 0xFFFFFF);
		break;
	case 2:
		painter_rect(painter, between(0, WIDTH), between(0, HEIGHT), 1, 1, next_random() & 0xFFFFFF);
		break;
	case 3:
	case 4:
		painter_move_pointer(painter, between(0, WIDTH - 1), between(0, HEIGHT - 1));
		break;
	default:
		break;
	}
}

/* What is made from the last picture and what has changed is what is made from nothing. */
static void test_kept_is_never_wrong(void **state)
{
	struct painter *painter = *state;

	for (int round = 0; round < 400; round++) {
		/* A few requests at a time, so that they are kept for some rounds. */
		const struct display_request *request = &requests[(size_t)(round / 40 + between(0, 2)) % ARRAY_LEN(requests)];

		change_something(painter);
		struct display_picture kept = painter_look(painter, *request), again = painter_look(painter, *request);

		assert_ptr_equal(kept.bytes, again.bytes);
		forget(painter);
		struct display_picture fresh = painter_look(painter, *request);

		assert_int_equal(fresh.frame, kept.frame);
		assert_int_equal(fresh.bytes->len, kept.bytes->len);
		assert_memory_equal(fresh.bytes->data, kept.bytes->data, kept.bytes->len);
		display_picture_drop(&kept);
		display_picture_drop(&again);
		display_picture_drop(&fresh);
	}
}

/* The same, but nothing is forgotten in between: against the pixels of a raw picture, which are the screen's. */
static void test_kept_over_many_changes(void **state)
{
	struct painter *painter = *state;

	for (int round = 0; round < 300; round++) {
		for (int i = between(0, 3); i > 0; i--)
			change_something(painter);
		struct display_picture png = painter_look(painter, (struct display_request){0});
		struct display_picture raw = painter_look(painter, (struct display_request){.format = ENCODE_RAW});
		auto_free uint32_t *one = painter_decode(&png), *other = painter_decode(&raw);

		assert_memory_equal(one, other, WIDTH * HEIGHT * sizeof(*one));
		display_picture_drop(&png);
		display_picture_drop(&raw);
	}
}

/* What changes elsewhere is a new frame of the screen, and leaves a region's picture as it is. */
static void test_change_elsewhere(void **state)
{
	struct painter *painter = *state;
	const struct display_request corner = {.x = 0, .y = 0, .width = 100, .height = 100};

	painter_move_pointer(painter, 300, 300);
	struct display_picture first = painter_look(painter, corner);

	painter_rect(painter, 200, 200, 50, 50, 0x00FF7F);
	painter_move_pointer(painter, 320, 310);
	struct display_picture second = painter_look(painter, corner);

	assert_ptr_equal(first.bytes, second.bytes);
	assert_int_equal(first.made, second.made);
	assert_true(second.frame > first.frame);
	painter_rect(painter, 50, 50, 1, 1, 0x00FF7F);
	struct display_picture third = painter_look(painter, corner);

	assert_ptr_not_equal(third.bytes, second.bytes);
	assert_true(third.made > second.made);
	display_picture_drop(&first);
	display_picture_drop(&second);
	display_picture_drop(&third);
}

/* Requests that differ in one field are kept apart. */
static void test_every_field_counts(void **state)
{
	static const struct display_request base = {.x = 10, .y = 20, .width = 100, .height = 50, .out_width = 90, .out_height = 40,
	                                            .format = ENCODE_JPEG, .quality = 70, .max_bytes = 100000};
	struct display_request others[11];

	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		others[i] = base;
	others[0].x = 11;
	others[1].y = 21;
	others[2].width = 101;
	others[3].height = 51;
	others[4].out_width = 91;
	others[5].out_height = 41;
	others[6].no_cursor = true;
	others[7].format = ENCODE_RAW;
	others[8].quality = 71;
	others[9].max_bytes = 100001;
	others[10].any_format = true;
	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		struct display_picture one = painter_look(*state, base), other = painter_look(*state, others[i]);

		if (one.bytes == other.bytes)
			fail_msg("%zu: it is the same picture", i);
		assert_memory_equal(&other.asked, &others[i], sizeof(other.asked));
		display_picture_drop(&one);
		display_picture_drop(&other);
	}
}

static size_t n_kept(struct painter *painter, size_t *cost)
{
	size_t n = 0;

	*cost = 0;
	for (size_t i = 0; i < LIMIT_KEPT_PICTURES; i++) {
		n += painter->display->kept[i].used > 0;
		*cost += kept_cost(&painter->display->kept[i]);
	}
	return n;
}

static void test_what_is_kept_is_bounded(void **state)
{
	struct painter *painter = *state;
	size_t cost;

	for (int i = 0; i < 3 * LIMIT_KEPT_PICTURES; i++) {
		struct display_picture picture = painter_look(painter, (struct display_request){.out_width = 100 + i, .out_height = 100});

		display_picture_drop(&picture);
	}
	assert_int_equal(n_kept(painter, &cost), LIMIT_KEPT_PICTURES);
	/* One that is too large by itself is sent and forgotten, with all that was not asked for since. */
	struct display_picture large = painter_look(painter, (struct display_request){.out_width = 4096, .out_height = 2500});

	assert_int_equal(large.width, 4096);
	assert_int_equal(n_kept(painter, &cost), 0);
	assert_int_equal(cost, 0);
	assert_memory_equal(large.bytes->data, "\x89PNG", 4);
	display_picture_drop(&large);
}

/* A picture that takes long, and others while it is made. */
struct slow_look {
	struct painter *painter;
	struct display_request request;
	struct display_picture picture;
	struct co *co;
	bool cancels, done;
	int n_others; /* pictures that were taken meanwhile */
	int rc;
	struct err e;
};

static void look_slowly(void *arg)
{
	struct slow_look *slow = arg;

	slow->rc = display_picture(slow->painter->display, &slow->request, &slow->picture, &slow->e);
	slow->done = true;
}

static void look_meanwhile(void *arg)
{
	struct slow_look *slow = arg;
	struct display *display = slow->painter->display;
	struct err e;

	/* It waits for its turn to look, and has it before the others. */
	assert_int_equal(screen_take_turn(&display->look, NULL), 0);
	slow->co = co_start(slow->painter->loop, look_slowly, slow);
	while (!display->look.waiters)
		(void)co_wait_until(util_now_ms(), NULL);
	screen_give_turn(&display->look);
	while (!slow->done) {
		struct display_picture other;

		if (display_picture(display, &requests[0], &other, &e) < 0)
			fail_msg("%s", e.msg);
		display_picture_drop(&other);
		if (slow->done)
			break;
		slow->n_others++;
		painter_rect(slow->painter, 7 * slow->n_others % WIDTH, 9 * slow->n_others % HEIGHT, 30, 30, 0xFFCC00);
		if (slow->cancels && slow->n_others == 3)
			co_cancel(slow->co);
	}
}

/* It shows one moment, however much is drawn while it is made; the others do not wait for it; and its caller may leave. */
static void test_slow_pictures(void **state)
{
	static const enum encode_format formats[] = {ENCODE_PNG_SMALL, ENCODE_WEBP};
	struct painter *painter = *state;

	paint_noise(painter);
	for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
		struct slow_look slow = {.painter = painter, .request = {.out_width = 1300, .out_height = 900, .format = formats[i]}};
		struct display_request same = slow.request;

		same.format = ENCODE_RAW;
		struct display_picture before = painter_look(painter, same);

		xserver_run(painter->loop, look_meanwhile, &slow);
		assert_int_equal(slow.rc, 0);
		assert_true(slow.n_others > 2);
		auto_free uint32_t *right = painter_decode(&before), *pixels = painter_decode(&slow.picture);

		assert_memory_equal(pixels, right, 1300 * 900 * sizeof(*pixels));
		assert_true(slow.picture.frame < display_frame(painter->display));
		display_picture_drop(&before);
		display_picture_drop(&slow.picture);
		struct slow_look left = {.painter = painter, .request = slow.request, .cancels = true};

		paint_noise(painter);
		xserver_run(painter->loop, look_meanwhile, &left);
		assert_int_equal(left.rc, -1);
		assert_int_equal(left.e.code, ERR_CANCELLED);
		assert_true(left.n_others >= 3);
	}
}

/* Slow ones are made one after the other, so that no more memory is taken than one needs: who asks for the same gets the same. */
static void test_slow_ones_take_turns(void **state)
{
	struct painter *painter = *state;
	struct slow_look looks[6];

	paint_noise(painter);
	for (size_t i = 0; i < ARRAY_LEN(looks); i++) {
		looks[i] = (struct slow_look){.painter = painter, .request = {.format = i % 2 ? ENCODE_WEBP : ENCODE_PNG_SMALL}};
		looks[i].co = co_start(painter->loop, look_slowly, &looks[i]);
	}
	for (size_t i = 0; i < ARRAY_LEN(looks); i++) {
		while (!looks[i].done)
			loop_turn(painter->loop, -1);
		assert_int_equal(looks[i].rc, 0);
		assert_ptr_equal(looks[i].picture.bytes, looks[i % 2].picture.bytes);
	}
	for (size_t i = 0; i < ARRAY_LEN(looks); i++)
		display_picture_drop(&looks[i].picture);
	assert_false(painter->display->slow.taken || painter->display->look.taken);
}

struct limit {
	struct display_request request;
	enum encode_format format;
	int quality;
	bool is_smaller; /* in pixels */
};

/* On noise of 641x403 (775 KB): which format, quality and scale come of which limit. */
static const struct limit limits[] = {
	{{.any_format = true, .max_bytes = LIMIT_PICTURE_USUAL_BYTES}, ENCODE_PNG, 0, false},
	{{.any_format = true, .max_bytes = 300000}, ENCODE_JPEG, 80, false},
	{{.any_format = true, .max_bytes = 130000}, ENCODE_JPEG, 50, false},
	{{.any_format = true, .max_bytes = 30000}, ENCODE_JPEG, 50, true},
	{{.any_format = true, .max_bytes = LIMIT_PICTURE_MIN_BYTES}, ENCODE_JPEG, 50, true},
	{{.max_bytes = 300000}, ENCODE_PNG, 0, true},
	{{.max_bytes = LIMIT_PICTURE_MIN_BYTES}, ENCODE_PNG, 0, true},
	{{.format = ENCODE_PNG_SMALL, .max_bytes = 300000}, ENCODE_PNG_SMALL, 0, true},
	{{.format = ENCODE_JPEG, .max_bytes = 300000}, ENCODE_JPEG, 80, false},
	{{.format = ENCODE_JPEG, .quality = 100, .max_bytes = 300000}, ENCODE_JPEG, 80, false},
	{{.format = ENCODE_JPEG, .quality = 30, .max_bytes = 30000}, ENCODE_JPEG, 30, true},
	{{.format = ENCODE_WEBP, .max_bytes = 450000}, ENCODE_WEBP, 80, false},
	{{.format = ENCODE_WEBP, .quality = 90, .max_bytes = LIMIT_PICTURE_MIN_BYTES}, ENCODE_WEBP, 50, true},
	{{.format = ENCODE_RAW, .max_bytes = 300000}, ENCODE_RAW, 0, true},
	{{.format = ENCODE_RAW, .max_bytes = LIMIT_PICTURE_MIN_BYTES}, ENCODE_RAW, 0, true},
	{{.any_format = true, .x = 3, .y = 5, .width = 400, .height = 7, .max_bytes = LIMIT_PICTURE_MIN_BYTES}, ENCODE_JPEG, 50, true},
};

static void check_limit(struct painter *painter, size_t i)
{
	const struct limit *limit = &limits[i];
	struct display_picture picture = painter_look(painter, limit->request);
	const struct display_request *asked = &picture.asked;
	bool is_as_asked = picture.format == asked->format && !limit->is_smaller &&
	                   picture.quality == (asked->quality ? asked->quality : encode_of(asked->format)->quality);
	json_t *json;

	if (picture.format != limit->format || picture.quality != limit->quality || picture.bytes->len > (size_t)limit->request.max_bytes)
		fail_msg("limit %zu: format %d, quality %d, %zu bytes", i, picture.format, picture.quality, picture.bytes->len);
	free(painter_decode(&picture));
	assert_int_equal(picture.width < asked->out_width, limit->is_smaller);
	/* Of the same shape, as near as whole pixels allow. */
	assert_true(abs(picture.width * asked->out_height - picture.height * asked->out_width) <= asked->out_width + asked->out_height);
	assert_int_equal(picture.fell_back, !is_as_asked);
	assert_int_equal(display_picture_json(&picture, &json, NULL), 0);
	assert_string_equal(form_string(json, "format", ""), display_format_name(limit->format));
	assert_int_equal(form_int(json, "width", 0), picture.width);
	assert_int_equal(form_int(json, "quality", 0), limit->quality);
	const json_t *fallback = json_object_get(json, "fallback"), *wanted = json_object_get(fallback, "asked");

	assert_int_equal(fallback != NULL, picture.fell_back);
	if (fallback) {
		assert_string_equal(form_string(fallback, "reason", ""), "max_bytes");
		assert_int_equal(form_int(fallback, "max_bytes", 0), limit->request.max_bytes);
		assert_string_equal(form_string(wanted, "format", ""), display_format_name(limit->request.format));
		assert_int_equal(form_int(wanted, "width", 0), asked->out_width);
		assert_int_equal(form_int(wanted, "height", 0), asked->out_height);
	}
	json_decref(json);
	display_picture_drop(&picture);
}

static void test_limits_of_bytes(void **state)
{
	paint_noise(*state);
	for (size_t i = 0; i < ARRAY_LEN(limits); i++)
		check_limit(*state, i);
}

/* A pointer 16 px wide and 12 high, of one premultiplied colour, but for its first pixel, which is clear. */
#define POINTER_WIDTH 16
#define POINTER_HEIGHT 12
#define HOT_X 5
#define HOT_Y 7

static void set_pointer(struct painter *painter, uint32_t colour)
{
	uint32_t pixels[POINTER_WIDTH * POINTER_HEIGHT];

	for (size_t i = 0; i < ARRAY_LEN(pixels); i++)
		pixels[i] = i == 0 ? 0 : colour;
	painter_set_pointer(painter, POINTER_WIDTH, POINTER_HEIGHT, HOT_X, HOT_Y, pixels);
}

static void check_pointer(struct painter *painter, int x, int y, uint32_t background, uint32_t colour)
{
	painter_move_pointer(painter, x, y);
	struct display_picture picture = painter_look(painter, (struct display_request){0});
	auto_free uint32_t *pixels = painter_decode(&picture);

	for (int row = 0; row < HEIGHT; row++)
		for (int column = 0; column < WIDTH; column++) {
			int at_x = column - (x - HOT_X), at_y = row - (y - HOT_Y);
			bool in = at_x >= 0 && at_x < POINTER_WIDTH && at_y >= 0 && at_y < POINTER_HEIGHT && (at_x > 0 || at_y > 0);
			uint32_t right = in ? colour : background;

			if (pixels[row * WIDTH + column] != right)
				fail_msg("pointer at %d, %d: at %d, %d there is %06x and not %06x", x, y, column, row, pixels[row * WIDTH + column],
				         right);
		}
	display_picture_drop(&picture);
}

/* Case S02. The hot spot is where the pointer is said to be; what hangs over an edge is cut; alpha is premultiplied. */
static void test_pointer(void **state)
{
	static const int places[][2] = {{300, 200}, {0, 0}, {WIDTH - 1, HEIGHT - 1}, {0, HEIGHT - 1}, {WIDTH - 1, 0}, {4, 6}, {5, 7}, {31, 33}};
	struct painter *painter = *state;

	painter_rect(painter, 0, 0, WIDTH, HEIGHT, 0x204060);
	set_pointer(painter, 0xFF102030);
	for (size_t i = 0; i < ARRAY_LEN(places); i++)
		check_pointer(painter, places[i][0], places[i][1], 0x204060, 0x102030);
	/* Half of 0xFF0000, premultiplied, over 0x204060. */
	set_pointer(painter, 0x80800000);
	check_pointer(painter, 100, 100, 0x204060, 0x902030);
	/* More colour than alpha does not run over. */
	set_pointer(painter, 0x01FF8000);
	check_pointer(painter, 100, 100, 0x204060, 0xFFC060);
}

/* The pointer that a window has: one shape over a text field, another beside it. */
static void test_pointer_of_a_window(void **state)
{
	struct painter *painter = *state;
	const uint32_t bar[] = {0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF};

	painter_rect(painter, 0, 0, WIDTH, HEIGHT, 0x204060);
	painter_set_pointer(painter, 1, 5, 0, 2, bar);
	painter_move_pointer(painter, 50, 60);
	struct display_picture picture = painter_look(painter, (struct display_request){.x = 49, .y = 57, .width = 3, .height = 7});
	auto_free uint32_t *pixels = painter_decode(&picture);

	for (int row = 0; row < 7; row++)
		for (int column = 0; column < 3; column++)
			assert_int_equal(pixels[row * 3 + column], column == 1 && row >= 1 && row <= 5 ? 0xFFFFFF : 0x204060);
	display_picture_drop(&picture);
}

static void check_plain(struct painter *painter, struct display_request request)
{
	struct display_picture picture = painter_look(painter, request);
	auto_free uint32_t *pixels = painter_decode(&picture);

	for (int i = 0; i < picture.width * picture.height; i++)
		assert_int_equal(pixels[i], 0x204060);
	display_picture_drop(&picture);
}

/* An empty pointer, as apps set it to hide it; and none asked for. */
static void test_no_pointer(void **state)
{
	struct painter *painter = *state;

	painter_rect(painter, 0, 0, WIDTH, HEIGHT, 0x204060);
	set_pointer(painter, 0xFFFFFFFF);
	check_plain(painter, (struct display_request){.no_cursor = true});
	set_pointer(painter, 0);
	check_plain(painter, (struct display_request){0});
}

static void look_at_pointer(void *arg)
{
	struct display *display = arg;
	xcb_xfixes_get_cursor_image_reply_t *cursor = (void *)arg;
	struct err e;

	if (cursor_look(display, &cursor, &e) < 0)
		fail_msg("%s", e.msg);
	assert_null(cursor);
}

/* A server that refuses to tell the pointer's image has none: here since this client has not said which version it speaks. */
static void test_pointer_is_refused(void **state)
{
	struct painter *painter = *state;
	struct display display = {.native = {WIDTH, HEIGHT}};
	struct xconn x;
	struct err e = {0};

	if (xconn_open(&x, painter->loop, painter->server.display, NULL, NULL, NULL, &e) < 0)
		fail_msg("%s", e.msg);
	display.x = &x;
	xserver_run(painter->loop, look_at_pointer, &display);
	xconn_close(&x);
}

/* A pointer that moves by itself is drawn as one of its images, whole, and each is a frame. */
static void test_animated_pointer(void **state)
{
	struct painter *painter = *state;
	const struct display_request place = {.x = 100, .y = 100, .width = 8, .height = 8};
	bool seen[2] = {false, false};
	uint64_t last = 0;

	painter_animate_pointer(painter, 8, 0xFFFF0000, 0xFF0000FF, 20);
	painter_move_pointer(painter, 100, 100);
	for (int64_t end = util_now_ms() + 5000; util_now_ms() < end && !(seen[0] && seen[1]);) {
		struct display_picture picture = painter_look(painter, place);
		auto_free uint32_t *pixels = painter_decode(&picture);

		display_picture_drop(&picture);
		for (int i = 0; i < 64; i++)
			assert_int_equal(pixels[i], pixels[0]);
		/* The server shows the first one when its time has come. */
		if (last == 0 && pixels[0] == SCREEN_BACKGROUND)
			continue;
		assert_true(pixels[0] == 0xFF0000 || pixels[0] == 0x0000FF);
		if (!seen[pixels[0] == 0x0000FF])
			assert_true(picture.made > last);
		seen[pixels[0] == 0x0000FF] = true;
		last = picture.made;
	}
	assert_true(seen[0] && seen[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TEST(test_formats),        TEST(test_kept_is_never_wrong), TEST(test_kept_over_many_changes), TEST(test_change_elsewhere),
		TEST(test_what_is_kept_is_bounded), TEST(test_limits_of_bytes), TEST(test_every_field_counts), TEST(test_slow_pictures), TEST(test_slow_ones_take_turns), TEST(test_pointer), TEST(test_pointer_of_a_window),
		TEST(test_no_pointer), TEST(test_pointer_is_refused), TEST(test_animated_pointer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
