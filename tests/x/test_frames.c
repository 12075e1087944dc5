/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: display */
/* The private copy of the screen: always one moment's, while another client paints all the time; whole again after whatever went wrong. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <xcb/shape.h>

#include "display/screen.h"
#include "session/base/util.h"
#include "tests/x/xserver.h"

#define N_LOOKS 300
#define N_FRAMES 50 /* of them that must differ */
#define PERIOD 64 /* of the stripes */

struct fixture {
	struct xserver server;
	struct loop *loop;
	struct xconn x;
	struct display *display;
	struct space space;
	xcb_connection_t *painter;
	xcb_window_t window; /* over all of the screen */
	xcb_gcontext_t gc;
	xcb_pixmap_t stripes; /* once they are painted */
};

static void on_lost(void *arg)
{
	(void)arg;
}

static void create(void *arg)
{
	struct fixture *f = arg;
	struct err e = {0};

	if (display_create(&f->display, &f->x, f->space, f->space, &e) < 0)
		fail_msg("%s", e.msg);
}

static void painter_sync(struct fixture *f)
{
	free(xcb_get_input_focus_reply(f->painter, xcb_get_input_focus(f->painter), NULL));
}

static void connect_painter(struct fixture *f)
{
	f->painter = xcb_connect(f->server.display, NULL);
	f->gc = xcb_generate_id(f->painter);
	f->stripes = XCB_NONE;
	xcb_create_gc(f->painter, f->gc, xcb_setup_roots_iterator(xcb_get_setup(f->painter)).data->root, 0, NULL);
}

static void open_window(struct fixture *f)
{
	xcb_screen_t *screen = xcb_setup_roots_iterator(xcb_get_setup(f->painter)).data;
	const uint32_t values[] = {0, 1};

	f->window = xcb_generate_id(f->painter);
	xcb_create_window(f->painter, XCB_COPY_FROM_PARENT, f->window, screen->root, 0, 0, (uint16_t)f->space.width_px,
	                  (uint16_t)f->space.height_px, 0, XCB_WINDOW_CLASS_INPUT_OUTPUT, screen->root_visual,
	                  XCB_CW_BACK_PIXEL | XCB_CW_OVERRIDE_REDIRECT, values);
	xcb_map_window(f->painter, f->window);
	painter_sync(f);
}

static int set_up_sized(void **state, struct space space)
{
	struct fixture *f = util_zalloc(sizeof(*f));
	struct err e = {0};

	f->space = space;
	xserver_start(&f->server, space.width_px, space.height_px);
	f->loop = loop_create(&e);
	if (xconn_open(&f->x, f->loop, f->server.display, NULL, on_lost, f, &e) < 0)
		fail_msg("%s", e.msg);
	xserver_run(f->loop, create, f);
	connect_painter(f);
	open_window(f);
	*state = f;
	return 0;
}

static int set_up(void **state)
{
	return set_up_sized(state, (struct space){1280, 800});
}

static int set_up_4k(void **state)
{
	return set_up_sized(state, (struct space){3840, 2160});
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	xcb_disconnect(f->painter);
	display_destroy(f->display);
	xconn_close(&f->x);
	loop_destroy(f->loop);
	xserver_stop(&f->server);
	free(f);
	return 0;
}

static void fill(struct fixture *f, struct rect rect, uint32_t colour)
{
	const xcb_rectangle_t r = {(int16_t)rect.x, (int16_t)rect.y, (uint16_t)rect.width, (uint16_t)rect.height};

	xcb_change_gc(f->painter, f->gc, XCB_GC_FOREGROUND, &colour);
	xcb_poly_fill_rectangle(f->painter, f->window, f->gc, 1, &r);
}

static struct rect whole(const struct fixture *f)
{
	return (struct rect){0, 0, f->space.width_px, f->space.height_px};
}

struct update {
	struct fixture *f;
	int rc;
	struct err e;
};

static void run_update(void *arg)
{
	struct update *u = arg;

	u->rc = screen_update(u->f->display, &u->e);
}

static void update(struct fixture *f)
{
	struct update u = {.f = f};

	xserver_run(f->loop, run_update, &u);
	if (u.rc < 0)
		fail_msg("%s", u.e.msg);
}

static uint32_t pixel(const struct fixture *f, int x, int y)
{
	return image_row(&f->display->shown, y)[x];
}

/* Another process paints in the window, all the time. */
static pid_t start_painter(struct fixture *f, void (*paint)(struct fixture *f, uint32_t i))
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	struct fixture own = *f;

	connect_painter(&own);
	for (uint32_t i = 0;; i++) {
		paint(&own, i);
		/* Not far ahead of the server: or else it would have painted for long when the test is over. */
		if (i % 16 == 0)
			painter_sync(&own);
	}
}

static void end_painter(pid_t pid)
{
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
}

/* One request paints all of the screen, so it is always of one colour. */
static void paint_solid(struct fixture *f, uint32_t i)
{
	fill(f, whole(f), i * 0x010305);
}

/* Squares in the colour of the screen: mostly what is damaged is small, and a repaint that comes while that is fetched must be seen whole or not
 * at all. */
static void paint_mixed(struct fixture *f, uint32_t i)
{
	static uint32_t colour;

	if (i % 512 == 0)
		fill(f, whole(f), colour = i * 0x010305);
	else
		fill(f, (struct rect){(int)(i * 37 % 1000), (int)(i * 91 % 700), 40, 20}, colour);
}

static void check_solid(const struct fixture *f)
{
	uint32_t colour = pixel(f, 0, 0);

	for (int y = 0; y < f->space.height_px; y++)
		for (int x = 0; x < f->space.width_px; x++)
			if (pixel(f, x, y) != colour)
				fail_msg("%06x at 0,0 and %06x at %d,%d", colour, pixel(f, x, y), x, y);
}

/* Stripes from corner to corner in one request; from one to the next they move by a pixel. */
static void paint_diagonal(struct fixture *f, uint32_t i)
{
	if (!f->stripes) {
		f->stripes = xcb_generate_id(f->painter);
		xcb_create_pixmap(f->painter, 24, f->stripes, f->window, PERIOD, PERIOD);
		for (int y = 0; y < PERIOD; y++)
			for (int x = 0; x < PERIOD; x++) {
				uint32_t colour = (uint32_t)((x + y) % PERIOD) * 0x030201;

				xcb_change_gc(f->painter, f->gc, XCB_GC_FOREGROUND, &colour);
				xcb_poly_point(f->painter, XCB_COORD_MODE_ORIGIN, f->stripes, f->gc, 1, &(xcb_point_t){(int16_t)x, (int16_t)y});
			}
		xcb_change_gc(f->painter, f->gc, XCB_GC_FILL_STYLE | XCB_GC_TILE, (const uint32_t[]){XCB_FILL_STYLE_TILED, f->stripes});
	}
	xcb_change_gc(f->painter, f->gc, XCB_GC_TILE_STIPPLE_ORIGIN_X, &(uint32_t){i % PERIOD});
	xcb_poly_fill_rectangle(f->painter, f->window, f->gc, 1, &(xcb_rectangle_t){0, 0, (uint16_t)f->space.width_px, (uint16_t)f->space.height_px});
}

static void check_diagonal(const struct fixture *f)
{
	uint32_t first = pixel(f, 0, 0) / 0x030201;

	for (int y = 0; y < f->space.height_px; y++)
		for (int x = 0; x < f->space.width_px; x++)
			if (pixel(f, x, y) != (first + (uint32_t)(x + y)) % PERIOD * 0x030201)
				fail_msg("%06x at %d,%d with %06x at 0,0", pixel(f, x, y), x, y, pixel(f, 0, 0));
}

static void never_torn(struct fixture *f, void (*paint)(struct fixture *f, uint32_t i), void (*check)(const struct fixture *f))
{
	pid_t pid = start_painter(f, paint);
	uint64_t first = f->display->frame;

	for (int i = 0; i < N_LOOKS || f->display->frame < first + N_FRAMES; i++) {
		update(f);
		check(f);
	}
	end_painter(pid);
}

static void test_solid(void **state)
{
	never_torn(*state, paint_solid, check_solid);
}

static void test_mixed(void **state)
{
	never_torn(*state, paint_mixed, check_solid);
}

static void test_diagonal(void **state)
{
	struct fixture *f = *state;

	fill(f, whole(f), 0);
	paint_diagonal(f, 0);
	painter_sync(f);
	update(f);
	check_diagonal(f);
	never_torn(f, paint_diagonal, check_diagonal);
}

/* What is drawn is in the next update, and nothing else has changed. */
static void test_each_drawing(void **state)
{
	struct fixture *f = *state;
	const int right = f->space.width_px - 1, bottom = f->space.height_px - 1;
	const struct rect places[] = {{0, 0, 1, 1}, {right, bottom, 1, 1}, {right, 0, 1, 1}, {0, bottom, 1, 1}, {17, 31, 50, 2}, {15, 15, 2, 2}};
	auto_free uint32_t *want = util_zalloc((size_t)f->space.width_px * (size_t)f->space.height_px * sizeof(uint32_t));

	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		uint64_t before = f->display->frame;
		const struct rect *r = &places[i];

		fill(f, *r, (uint32_t)i + 1);
		painter_sync(f);
		for (int y = r->y; y < r->y + r->height; y++)
			for (int x = r->x; x < r->x + r->width; x++)
				want[y * f->space.width_px + x] = (uint32_t)i + 1;
		update(f);
		assert_int_equal(f->display->frame, before + 1);
		assert_memory_equal(f->display->shown.pixels, want, (size_t)f->space.width_px * (size_t)f->space.height_px * sizeof(uint32_t));
		for (size_t tile = 0; tile < tiles_count(&f->display->tiles); tile++) {
			struct rect t = tiles_rect(&f->display->tiles, tile);
			bool touched = r->x < t.x + t.width && t.x < r->x + r->width && r->y < t.y + t.height && t.y < r->y + r->height;

			assert_int_equal(f->display->tiles.frames[tile] > before, touched);
		}
	}
}

/* Much damage in many pieces. */
static void test_many_rectangles(void **state)
{
	struct fixture *f = *state;

	update(f);
	for (int y = 0; y < f->space.height_px; y += 4)
		for (int x = 0; x < f->space.width_px; x += 4)
			fill(f, (struct rect){x, y, 2, 2}, 0xABCDEF);
	painter_sync(f);
	update(f);
	for (int y = 0; y < f->space.height_px; y++)
		for (int x = 0; x < f->space.width_px; x++)
			assert_int_equal(pixel(f, x, y), x % 4 < 2 && y % 4 < 2 ? 0xABCDEF : 0);
}

/* A window of 64,000 dots is damaged in as many pieces by one request. */
static void test_dots(void **state)
{
	struct fixture *f = *state;
	xcb_pixmap_t mask = xcb_generate_id(f->painter);
	xcb_gcontext_t gc = xcb_generate_id(f->painter);

	xcb_create_pixmap(f->painter, 1, mask, f->window, (uint16_t)f->space.width_px, (uint16_t)f->space.height_px);
	xcb_create_gc(f->painter, gc, mask, XCB_GC_FOREGROUND, (const uint32_t[]){0});
	xcb_poly_fill_rectangle(f->painter, mask, gc, 1, &(xcb_rectangle_t){0, 0, (uint16_t)f->space.width_px, (uint16_t)f->space.height_px});
	xcb_change_gc(f->painter, gc, XCB_GC_FOREGROUND, (const uint32_t[]){1});
	for (int y = 0; y < f->space.height_px; y += 4) {
		xcb_rectangle_t row[4096];
		uint32_t n = 0;

		for (int x = 0; x < f->space.width_px; x += 4)
			row[n++] = (xcb_rectangle_t){(int16_t)x, (int16_t)y, 1, 1};
		xcb_poly_fill_rectangle(f->painter, mask, gc, n, row);
	}
	xcb_shape_mask(f->painter, XCB_SHAPE_SO_SET, XCB_SHAPE_SK_BOUNDING, f->window, 0, 0, mask);
	painter_sync(f);
	update(f);
	for (int i = 1; i < 4; i++) {
		fill(f, whole(f), (uint32_t)i * 0x123456);
		painter_sync(f);
		update(f);
		for (int y = 0; y < f->space.height_px; y++)
			for (int x = 0; x < f->space.width_px; x++)
				if (pixel(f, x, y) != (x % 4 || y % 4 ? SCREEN_BACKGROUND : (uint32_t)i * 0x123456))
					fail_msg("%d,%d is %06x", x, y, pixel(f, x, y));
	}
}

/* What was taken back and not heard of is in the next update all the same. */
static void test_after_silence(void **state)
{
	struct fixture *f = *state;
	struct update u = {.f = f};
	uint64_t before;

	update(f);
	before = f->display->frame;
	fill(f, (struct rect){100, 100, 50, 50}, 0xFFCC00);
	painter_sync(f);
	(void)kill(f->server.pid, SIGSTOP);
	xserver_run(f->loop, run_update, &u);
	(void)kill(f->server.pid, SIGCONT);
	assert_int_equal(u.rc, -1);
	assert_int_equal(u.e.code, ERR_X_SILENT);
	assert_int_equal(f->display->frame, before);
	painter_sync(f);
	update(f);
	assert_int_equal(f->display->frame, before + 1);
	assert_int_equal(pixel(f, 149, 149), 0xFFCC00);
	assert_int_equal(pixel(f, 150, 149), 0);
}

/* The same for who was cancelled, at once and without harm to who looks next. */
static void test_after_a_cancel(void **state)
{
	struct fixture *f = *state;
	struct update u = {.f = f, .rc = 1};
	const struct blink *blink;
	struct co *co;
	int64_t left_ms;

	update(f);
	fill(f, (struct rect){100, 100, 50, 50}, 0xFFCC00);
	painter_sync(f);
	(void)kill(f->server.pid, SIGSTOP);
	co = co_start(f->loop, run_update, &u);
	loop_turn(f->loop, 0);
	co_cancel(co);
	while (u.rc == 1)
		loop_turn(f->loop, -1);
	assert_int_equal(u.e.code, ERR_CANCELLED);
	(void)kill(f->server.pid, SIGCONT);
	left_ms = util_now_ms();
	while (util_now_ms() == left_ms)
		;
	update(f);
	assert_int_equal(pixel(f, 149, 149), 0xFFCC00);
	/* It was drawn before who was cancelled had left, and is not taken for newer. */
	blink = &f->display->blinks.list[tiles_index(&f->display->tiles, 149, 149)];
	assert_in_range(blink->changed.from_ms, 0, left_ms);
}

/* An X error in the middle of an update. */
static void test_after_an_error(void **state)
{
	struct fixture *f = *state;
	struct update u = {.f = f};
	xcb_xfixes_region_t region = f->display->region;

	update(f);
	fill(f, (struct rect){100, 100, 50, 50}, 0xFFCC00);
	painter_sync(f);
	f->display->region = 1; /* there is none */
	xserver_run(f->loop, run_update, &u);
	assert_int_equal(u.rc, -1);
	assert_int_equal(u.e.code, ERR_CONFLICT);
	f->display->region = region;
	update(f);
	assert_int_equal(pixel(f, 149, 149), 0xFFCC00);
	fill(f, (struct rect){0, 0, 1, 1}, 0xFFCC01);
	painter_sync(f);
	update(f);
	assert_int_equal(pixel(f, 0, 0), 0xFFCC01);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#define TEST_4K(name) cmocka_unit_test_setup_teardown(name, set_up_4k, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_solid),           TEST(test_mixed),          TEST(test_diagonal),       TEST(test_each_drawing), TEST(test_many_rectangles), TEST(test_dots),
		TEST(test_after_silence),   TEST(test_after_a_cancel), TEST(test_after_an_error), TEST_4K(test_each_drawing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
