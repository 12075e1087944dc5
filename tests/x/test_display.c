/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: display */
/* The display folder and the X connection against a real X server: what it sees, and what happens when the server does not answer. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <poll.h>
#include <string.h>

#include <X11/extensions/XTest.h>
#include <cmocka.h>
#include <png.h>
#include <xcb/xtest.h>

#include "display/display.h"
#include "display/screen.h"
#include "session/base/util.h"
#include "tests/x/xserver.h"

#define WIDTH 640
#define HEIGHT 400

struct fixture {
	struct xserver server;
	struct loop *loop;
	struct xconn x;
	struct display *display;
	xcb_connection_t *painter; /* another client */
	bool lost;
};

static void on_lost(void *arg)
{
	((struct fixture *)arg)->lost = true;
}

static void create(void *arg)
{
	struct fixture *f = arg;
	struct err e = {0};

	if (display_create(&f->display, &f->x, (struct space){WIDTH, HEIGHT}, (struct space){WIDTH, HEIGHT}, &e) < 0)
		fail_msg("%s", e.msg);
}

static int set_up(void **state)
{
	struct fixture *f = util_zalloc(sizeof(*f));
	struct err e = {0};

	xserver_start(&f->server, WIDTH, HEIGHT);
	f->loop = loop_create(&e);
	if (xconn_open(&f->x, f->loop, f->server.display, NULL, on_lost, f, &e) < 0)
		fail_msg("%s", e.msg);
	xserver_run(f->loop, create, f);
	f->painter = xcb_connect(f->server.display, NULL);
	*state = f;
	return 0;
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

/* The painter's requests so far have been handled. */
static void painter_sync(struct fixture *f)
{
	free(xcb_get_input_focus_reply(f->painter, xcb_get_input_focus(f->painter), NULL));
}

/* A window without manager, of one colour. */
static void paint(struct fixture *f, int x, int y, int width, int height, uint32_t colour)
{
	xcb_screen_t *screen = xcb_setup_roots_iterator(xcb_get_setup(f->painter)).data;
	const uint32_t values[] = {colour, 1};
	xcb_window_t window = xcb_generate_id(f->painter);

	xcb_create_window(f->painter, XCB_COPY_FROM_PARENT, window, screen->root, (int16_t)x, (int16_t)y, (uint16_t)width, (uint16_t)height, 0,
	                  XCB_WINDOW_CLASS_INPUT_OUTPUT, screen->root_visual, XCB_CW_BACK_PIXEL | XCB_CW_OVERRIDE_REDIRECT, values);
	xcb_map_window(f->painter, window);
	painter_sync(f);
}

static void warp(struct fixture *f, int x, int y)
{
	xcb_warp_pointer(f->painter, XCB_NONE, xcb_setup_roots_iterator(xcb_get_setup(f->painter)).data->root, 0, 0, 0, 0, (int16_t)x,
	                 (int16_t)y);
	painter_sync(f);
}

struct shot {
	struct fixture *f;
	struct display_request request;
	struct display_picture picture;
	struct err e;
	int rc;
	int64_t took_ms;
};

static void take(void *arg)
{
	struct shot *shot = arg;
	int64_t start = util_now_ms();

	shot->rc = display_picture(shot->f->display, &shot->request, &shot->picture, &shot->e);
	shot->took_ms = util_now_ms() - start;
}

/* A picture that must succeed, decoded as 0x00RRGGBB. The caller's pixels. */
static uint32_t *look(struct fixture *f, struct display_request request, struct display_picture *kept)
{
	struct shot shot = {.f = f, .request = request};
	png_image png = {.version = PNG_IMAGE_VERSION};

	xserver_run(f->loop, take, &shot);
	if (shot.rc < 0)
		fail_msg("%s", shot.e.msg);
	assert_true(png_image_begin_read_from_memory(&png, shot.picture.bytes->data, shot.picture.bytes->len));
	assert_int_equal(png.format, PNG_FORMAT_RGB);
	assert_int_equal(png.width, shot.picture.width);
	assert_int_equal(png.height, shot.picture.height);
	png.format = PNG_FORMAT_BGRA;
	uint32_t *pixels = util_alloc((size_t)png.width * png.height * 4);

	assert_true(png_image_finish_read(&png, NULL, pixels, 0, NULL));
	for (size_t i = 0; i < (size_t)png.width * png.height; i++)
		pixels[i] &= 0xFFFFFF;
	if (kept)
		*kept = shot.picture;
	else
		display_picture_drop(&shot.picture);
	return pixels;
}

static void test_known_content(void **state)
{
	struct fixture *f = *state;

	paint(f, 100, 50, 30, 20, 0xFFCC00);
	paint(f, WIDTH - 1, HEIGHT - 1, 5, 5, 0x00FF7F); /* the last pixel */
	auto_free uint32_t *pixels = look(f, (struct display_request){.no_cursor = true}, NULL);

	for (int y = 0; y < HEIGHT; y++)
		for (int x = 0; x < WIDTH; x++) {
			bool in = x >= 100 && x < 130 && y >= 50 && y < 70;
			bool last = x == WIDTH - 1 && y == HEIGHT - 1;

			assert_int_equal(pixels[y * WIDTH + x], in ? 0xFFCC00 : last ? 0x00FF7F : SCREEN_BACKGROUND);
		}
}

static void test_region_and_scale(void **state)
{
	struct fixture *f = *state;

	paint(f, 100, 50, 30, 20, 0xFFCC00);
	auto_free uint32_t *part = look(f, (struct display_request){.x = 99, .y = 49, .width = 32, .height = 22, .no_cursor = true}, NULL);

	for (int y = 0; y < 22; y++)
		for (int x = 0; x < 32; x++)
			assert_int_equal(part[y * 32 + x], x > 0 && x < 31 && y > 0 && y < 21 ? 0xFFCC00 : SCREEN_BACKGROUND);
	auto_free uint32_t *half = look(f, (struct display_request){.out_width = WIDTH / 2, .out_height = HEIGHT / 4, .no_cursor = true}, NULL);

	assert_int_equal(half[(50 / 4) * (WIDTH / 2) + 49], SCREEN_BACKGROUND);
	assert_int_equal(half[(56 / 4) * (WIDTH / 2) + 50], 0xFFCC00);
}

/* A cursor of one red 16x16 square with its hot spot at (5, 7). */
static void set_cursor(struct fixture *f)
{
	xcb_screen_t *screen = xcb_setup_roots_iterator(xcb_get_setup(f->painter)).data;
	xcb_pixmap_t pixmap = xcb_generate_id(f->painter);
	xcb_gcontext_t gc = xcb_generate_id(f->painter);
	uint32_t cursor = xcb_generate_id(f->painter);
	const uint32_t one = 1;

	xcb_create_pixmap(f->painter, 1, pixmap, screen->root, 16, 16);
	xcb_create_gc(f->painter, gc, pixmap, XCB_GC_FOREGROUND, &one);
	xcb_poly_fill_rectangle(f->painter, pixmap, gc, 1, &(xcb_rectangle_t){0, 0, 16, 16});
	xcb_create_cursor(f->painter, cursor, pixmap, pixmap, 0xFFFF, 0, 0, 0, 0, 0, 5, 7);
	xcb_change_window_attributes(f->painter, screen->root, XCB_CW_CURSOR, &cursor);
	painter_sync(f);
}

static void check_cursor(struct fixture *f, int x, int y)
{
	warp(f, x, y);
	auto_free uint32_t *pixels = look(f, (struct display_request){0}, NULL);

	for (int row = 0; row < HEIGHT; row++)
		for (int column = 0; column < WIDTH; column++) {
			bool in = column >= x - 5 && column < x + 11 && row >= y - 7 && row < y + 9;

			assert_int_equal(pixels[row * WIDTH + column], in ? 0xFF0000 : SCREEN_BACKGROUND);
		}
}

static void test_pointer_with_hot_spot(void **state)
{
	struct fixture *f = *state;

	set_cursor(f);
	check_cursor(f, 300, 200);
	check_cursor(f, 0, 0);
	check_cursor(f, WIDTH - 1, HEIGHT - 1);
	auto_free uint32_t *without = look(f, (struct display_request){.no_cursor = true}, NULL);

	assert_int_equal(without[(HEIGHT - 1) * WIDTH + WIDTH - 1], SCREEN_BACKGROUND);
	/* The pointer is cut where the region is. */
	auto_free uint32_t *part = look(f, (struct display_request){.x = WIDTH - 3, .y = HEIGHT - 20, .width = 3, .height = 20}, NULL);

	assert_int_equal(part[0], SCREEN_BACKGROUND);
	assert_int_equal(part[3 * 19], 0xFF0000);
}

static void test_same_frame_same_bytes(void **state)
{
	struct fixture *f = *state;
	struct display_picture first, second, third;

	free(look(f, (struct display_request){0}, &first));
	free(look(f, (struct display_request){0}, &second));
	assert_int_equal(first.frame, second.frame);
	assert_int_equal(first.bytes->len, second.bytes->len);
	assert_memory_equal(first.bytes->data, second.bytes->data, first.bytes->len);
	assert_int_equal(display_frame(f->display), first.frame); /* looking does not change the picture */
	paint(f, 10, 10, 10, 10, 0x123456);
	auto_free uint32_t *pixels = look(f, (struct display_request){0}, &third);

	assert_true(third.frame > second.frame);
	assert_int_equal(pixels[10 * WIDTH + 10], 0x123456);
	display_picture_drop(&first);
	display_picture_drop(&second);
	display_picture_drop(&third);
}

static void test_pointer_makes_a_frame(void **state)
{
	struct fixture *f = *state;
	struct display_picture first, second, third;

	warp(f, 20, 20);
	free(look(f, (struct display_request){0}, &first));
	warp(f, 40, 20);
	free(look(f, (struct display_request){0}, &second));
	free(look(f, (struct display_request){0}, &third));
	assert_true(second.frame > first.frame);
	assert_int_equal(second.frame, third.frame);
	display_picture_drop(&first);
	display_picture_drop(&second);
	display_picture_drop(&third);
}

/* What another client drew before the call is always in the picture, however the events come. */
static void test_never_stale(void **state)
{
	struct fixture *f = *state;

	for (uint32_t i = 0; i < 200; i++) {
		paint(f, 10, 10, 10, 10, 0x010000 + i);
		auto_free uint32_t *pixels = look(f, (struct display_request){.x = 10, .y = 10, .width = 2, .height = 2}, NULL);

		assert_int_equal(pixels[0], 0x010000 + i);
	}
}

struct settle {
	struct fixture *f;
	int quiet_ms, limit_ms;
	struct display_quiet quiet;
	bool settled;
	int rc;
	int64_t took_ms;
	struct err e;
};

static void settle(void *arg)
{
	struct settle *s = arg;
	int64_t start = util_now_ms();

	s->quiet.quiet_ms = s->quiet_ms;
	s->rc = display_settle(s->f->display, &s->quiet, start + s->limit_ms, &s->settled, &s->e);
	s->took_ms = util_now_ms() - start;
}

struct animation {
	struct fixture *f;
	int left, every_ms;
	bool same; /* each time */
	struct loop_timer *timer;
};

static void animate(void *arg)
{
	struct animation *a = arg;

	a->timer = NULL;
	paint(a->f, 5, 5, 5, 5, a->same ? 7 : (uint32_t)a->left);
	if (--a->left > 0)
		a->timer = loop_at(a->f->loop, util_now_ms() + a->every_ms, animate, a);
}

static void test_settle_quiet(void **state)
{
	struct settle s = {.f = *state, .quiet_ms = 60, .limit_ms = 2000};

	xserver_run(s.f->loop, settle, &s);
	assert_int_equal(s.rc, 0);
	assert_true(s.settled);
	assert_true(s.took_ms >= 60 && s.took_ms < 2000);
}

static void test_settle_after_drawing(void **state)
{
	struct settle s = {.f = *state, .quiet_ms = 100, .limit_ms = 5000};
	struct animation a = {.f = *state, .left = 6, .every_ms = 50};

	a.timer = loop_at(s.f->loop, util_now_ms(), animate, &a);
	xserver_run(s.f->loop, settle, &s);
	assert_int_equal(s.rc, 0);
	assert_true(s.settled);
	assert_int_equal(a.left, 0);
	assert_true(s.took_ms >= 350 && s.took_ms < 5000);
}

static void test_settle_gives_up_at_the_limit(void **state)
{
	struct settle s = {.f = *state, .quiet_ms = 200, .limit_ms = 600};
	struct animation a = {.f = *state, .left = 1000, .every_ms = 30};

	a.timer = loop_at(s.f->loop, util_now_ms(), animate, &a);
	xserver_run(s.f->loop, settle, &s);
	loop_cancel(a.timer);
	assert_int_equal(s.rc, 0);
	assert_false(s.settled);
	assert_true(s.took_ms >= 600 && s.took_ms < 5000);
}

/* Draws in one place and asks where. */
struct changes {
	struct fixture *f;
	struct rect list[4];
	size_t n;
	uint64_t since; /* of the question; then the frame that is over */
};

static void ask_changes(void *arg)
{
	struct changes *c = arg;

	assert_int_equal(display_update(c->f->display, NULL), 0);
	c->n = display_changes(c->f->display, c->since, c->list, ARRAY_LEN(c->list));
	c->since = display_frame(c->f->display);
}

static void test_changes(void **state)
{
	struct changes c = {.f = *state};

	xserver_run(c.f->loop, ask_changes, &c);
	xserver_run(c.f->loop, ask_changes, &c);
	assert_int_equal(c.n, 0);
	uint64_t before = c.since;

	paint(c.f, 100, 50, 30, 20, 0xFFCC00);
	xserver_run(c.f->loop, ask_changes, &c);
	assert_true(c.since > before);
	assert_int_equal(c.n, 1);
	const struct rect *r = &c.list[0];

	assert_true(r->x == 96 && r->y == 48 && r->width == 48 && r->height == 32);
	assert_true(display_changed(c.f->display, (struct rect){100, 50, 1, 1}, before));
	assert_false(display_changed(c.f->display, (struct rect){100, 50, 1, 1}, c.since));
	assert_false(display_changed(c.f->display, (struct rect){200, 50, 1, 1}, before));
	/* The pointer makes a frame and no change. */
	before = c.since;
	warp(c.f, 300, 300);
	free(look(c.f, (struct display_request){0}, NULL));
	xserver_run(c.f->loop, ask_changes, &c);
	assert_true(c.since > before);
	assert_int_equal(c.n, 0);
}

/* What is drawn again as it was is no change: no frame, the same picture, and quiet. */
static void test_the_same_again(void **state)
{
	struct changes c = {.f = *state};
	struct display_picture first, second;
	struct settle s = {.f = *state, .quiet_ms = 100, .limit_ms = 5000};
	struct animation a = {.f = *state, .left = 1000, .every_ms = 30, .same = true};

	paint(c.f, 5, 5, 200, 100, 0xFFCC00);
	free(look(c.f, (struct display_request){0}, &first));
	uint64_t before = c.since = display_frame(c.f->display);

	paint(c.f, 5, 5, 200, 100, 0xFFCC00);
	xserver_run(c.f->loop, ask_changes, &c);
	assert_int_equal(c.n, 0);
	assert_int_equal(c.since, before);
	free(look(c.f, (struct display_request){0}, &second));
	assert_int_equal(second.frame, first.frame);
	assert_memory_equal(first.bytes->data, second.bytes->data, first.bytes->len);
	display_picture_drop(&first);
	display_picture_drop(&second);
	/* One pixel of it is one. */
	paint(c.f, 5, 5, 200, 100, 0xFFCC00);
	paint(c.f, 50, 17, 1, 1, 0xFFCC01);
	xserver_run(c.f->loop, ask_changes, &c);
	assert_int_equal(c.n, 1);
	assert_true(c.list[0].x == 48 && c.list[0].y == 16 && c.list[0].width == 16 && c.list[0].height == 16);
	paint(c.f, 5, 5, 5, 5, 7);
	a.timer = loop_at(s.f->loop, util_now_ms(), animate, &a);
	xserver_run(s.f->loop, settle, &s);
	loop_cancel(a.timer);
	assert_true(s.rc == 0 && s.settled);
	assert_true(a.left < 1000);
}

/* What is drawn after a frame was told always counts as later, however the events come. */
static void test_no_change_is_missed(void **state)
{
	struct changes c = {.f = *state};

	for (uint32_t i = 0; i < 200; i++) {
		paint(c.f, 10, 10, 10, 10, i);
		if (i % 2)
			loop_turn(c.f->loop, 100); /* the damage is told, and not taken back yet */
		uint64_t told = display_frame(c.f->display);

		paint(c.f, 40, 40, 10, 10, i);
		xserver_run(c.f->loop, ask_changes, &c);
		assert_true(display_changed(c.f->display, (struct rect){40, 40, 1, 1}, told));
	}
}

static void test_settle_in_a_region(void **state)
{
	struct settle s = {.f = *state, .quiet_ms = 100, .limit_ms = 5000, .quiet.region = {200, 200, 50, 50}};
	struct animation a = {.f = *state, .left = 1000, .every_ms = 30};

	a.timer = loop_at(s.f->loop, util_now_ms(), animate, &a); /* at 5,5 to 10,10 */
	xserver_run(s.f->loop, settle, &s);
	assert_true(s.rc == 0 && s.settled);
	s.quiet.region = (struct rect){9, 9, 50, 50};
	s.limit_ms = 400;
	xserver_run(s.f->loop, settle, &s);
	loop_cancel(a.timer);
	assert_true(s.rc == 0 && !s.settled);
}

static void test_settle_with_a_mask(void **state)
{
	static const struct rect around[] = {{100, 100, 5, 5}, {5, 5, 5, 5}}, part[] = {{5, 5, 4, 5}};
	struct settle s = {.f = *state, .quiet_ms = 100, .limit_ms = 5000, .quiet = {.masks = around, .n_masks = ARRAY_LEN(around)}};
	struct animation a = {.f = *state, .left = 1000, .every_ms = 30};

	a.timer = loop_at(s.f->loop, util_now_ms(), animate, &a);
	xserver_run(s.f->loop, settle, &s);
	assert_true(s.rc == 0 && s.settled);
	s.quiet.masks = part;
	s.quiet.n_masks = ARRAY_LEN(part);
	s.limit_ms = 400;
	xserver_run(s.f->loop, settle, &s);
	loop_cancel(a.timer);
	assert_true(s.rc == 0 && !s.settled);
}

struct ready {
	struct fixture *f;
	int limit_ms;
	int rc;
	struct err e;
};

static void wait_ready(void *arg)
{
	struct ready *ready = arg;

	ready->rc = display_wait_ready(ready->f->display, util_now_ms() + ready->limit_ms, &ready->e);
}

static void test_ready_needs_a_manager(void **state)
{
	struct ready ready = {.f = *state, .limit_ms = 200};

	xserver_run(ready.f->loop, wait_ready, &ready);
	assert_int_equal(ready.rc, -1);
	assert_int_equal(ready.e.code, ERR_SESSION_FAILED);
	assert_non_null(strstr(ready.e.msg, "window manager"));
	xserver_start_manager(&ready.f->server);
	ready.limit_ms = 10000;
	xserver_run(ready.f->loop, wait_ready, &ready);
	if (ready.rc < 0)
		fail_msg("%s", ready.e.msg);
	/* It is ready when it says so: the first picture is painted. */
	auto_free uint32_t *pixels = look(ready.f, (struct display_request){.no_cursor = true}, NULL);

	assert_int_equal(pixels[0], SCREEN_BACKGROUND);
}

static void test_ready_needs_paint(void **state)
{
	struct ready ready = {.f = *state, .limit_ms = 10000};

	xserver_start_manager(&ready.f->server);
	xserver_run(ready.f->loop, wait_ready, &ready);
	assert_int_equal(ready.rc, 0);
	paint(ready.f, 0, 0, 1, 1, 0);
	ready.limit_ms = 200;
	xserver_run(ready.f->loop, wait_ready, &ready);
	assert_int_equal(ready.rc, -1);
	assert_non_null(strstr(ready.e.msg, "painted"));
}

struct race {
	struct ready ready;
	xcb_atom_t names[2];
	int n_before; /* requests of the manager before it says that it is there */
};

static xcb_atom_t atom_of(xcb_connection_t *client, const char *name)
{
	auto_free xcb_intern_atom_reply_t *reply =
		xcb_intern_atom_reply(client, xcb_intern_atom(client, 0, (uint16_t)strlen(name), name), NULL);

	assert_non_null(reply);
	return reply->atom;
}

/* Says so in the same moment in which it is looked for, and never again. */
static void appear(void *arg)
{
	struct race *race = arg;
	xcb_connection_t *manager = race->ready.f->painter;
	xcb_window_t root = race->ready.f->x.root;

	for (int i = 0; i < race->n_before; i++)
		xcb_no_operation(manager);
	for (size_t i = 0; i < ARRAY_LEN(race->names); i++)
		xcb_change_property(manager, XCB_PROP_MODE_REPLACE, root, race->names[i], XCB_ATOM_WINDOW, 32, 1, &root);
	xcb_flush(manager);
	wait_ready(&race->ready);
}

static void test_ready_misses_no_manager(void **state)
{
	struct race race = {.ready = {.f = *state, .limit_ms = 3000}};
	xcb_connection_t *manager = race.ready.f->painter;

	race.names[0] = atom_of(manager, "_NET_SUPPORTING_WM_CHECK");
	race.names[1] = atom_of(manager, "_NET_CLIENT_LIST");
	for (race.n_before = 0; race.n_before < 2000; race.n_before += 5) {
		for (size_t i = 0; i < ARRAY_LEN(race.names); i++)
			xcb_delete_property(manager, race.ready.f->x.root, race.names[i]);
		(void)atom_of(manager, "A"); /* it is done */
		xserver_run(race.ready.f->loop, appear, &race);
		if (race.ready.rc < 0)
			fail_msg("%d requests before: %s", race.n_before, race.ready.e.msg);
	}
}

static void test_silent_server(void **state)
{
	struct shot shot = {.f = *state};
	struct fixture *f = shot.f;

	(void)kill(f->server.pid, SIGSTOP);
	xserver_run(f->loop, take, &shot);
	assert_int_equal(shot.rc, -1);
	assert_int_equal(shot.e.code, ERR_X_SILENT);
	assert_true(shot.took_ms >= LIMIT_X_WAIT_MS && shot.took_ms < LIMIT_X_WAIT_MS + 3000);
	assert_false(f->lost);
	(void)kill(f->server.pid, SIGCONT);
	free(look(f, (struct display_request){0}, NULL));
}

struct flood {
	struct fixture *f;
	int batches;
	int rc;
	struct err e;
};

/* Many more requests than Xlib counts without a reply. */
static void flood(void *arg)
{
	struct flood *flood = arg;

	for (; flood->batches > 0; flood->batches--) {
		flood->rc = xconn_room(&flood->f->x, &flood->e);
		if (flood->rc < 0)
			return;
		for (int i = 0; i < XCONN_BATCH_BYTES / 36; i++)
			XTestFakeMotionEvent(flood->f->x.dpy, -1, i % WIDTH, i % HEIGHT, 0);
	}
	flood->rc = xconn_sync(&flood->f->x, &flood->e);
}

static void test_requests_without_reply(void **state)
{
	struct flood run = {.f = *state, .batches = 200};

	xserver_run(run.f->loop, flood, &run);
	if (run.rc < 0)
		fail_msg("%s", run.e.msg);
	assert_int_equal(run.batches, 0);
}

/* A server that reads nothing stops the sender after a bounded wait; it never blocks in a write. */
static void test_full_server(void **state)
{
	struct flood run = {.f = *state, .batches = 200};
	int64_t start = util_now_ms();

	(void)kill(run.f->server.pid, SIGSTOP);
	xserver_run(run.f->loop, flood, &run);
	assert_int_equal(run.rc, -1);
	assert_int_equal(run.e.code, ERR_X_SILENT);
	assert_true(run.batches >= 199);
	assert_true(util_now_ms() - start < LIMIT_X_WAIT_MS + 3000);
	(void)kill(run.f->server.pid, SIGCONT);
	run.batches = 1;
	xserver_run(run.f->loop, flood, &run);
	assert_int_equal(run.rc, 0);
}

static void test_dead_server(void **state)
{
	struct shot shot = {.f = *state};
	struct fixture *f = shot.f;

	(void)kill(f->server.pid, SIGKILL);
	xserver_run(f->loop, take, &shot);
	assert_int_equal(shot.rc, -1);
	assert_int_equal(shot.e.code, ERR_GONE);
	while (!f->lost)
		loop_turn(f->loop, 1000);
	/* By xcb, as all requests after the opening: those of Xlib crash on a connection that it knows to be lost. */
	xcb_test_fake_input(f->x.xcb, XCB_MOTION_NOTIFY, 0, XCB_CURRENT_TIME, f->x.root, 1, 1, 0);
	xconn_flush(&f->x);
	xserver_run(f->loop, take, &shot);
	assert_int_equal(shot.e.code, ERR_GONE);
}

struct waiter {
	struct fixture *f;
	bool done;
};

static void wait_sync(void *arg)
{
	struct waiter *waiter = arg;

	assert_int_equal(xconn_sync(&waiter->f->x, NULL), -1);
	waiter->done = true;
}

/* Two waiters for one server, both asleep while it is silent: neither wakes the other for nothing. */
static void test_two_waiters_sleep(void **state)
{
	struct waiter waiters[2] = {{.f = *state}, {.f = *state}};
	struct fixture *f = *state;
	int turns = 0;

	(void)kill(f->server.pid, SIGSTOP);
	for (int i = 0; i < 2; i++)
		(void)co_start(f->loop, wait_sync, &waiters[i]);
	for (; !waiters[0].done || !waiters[1].done; turns++)
		loop_turn(f->loop, -1);
	assert_true(turns < 20);
	(void)kill(f->server.pid, SIGCONT);
}

/* xcb reads while it writes: a reply that came in passing wakes its waiter all the same. */
static void test_reply_read_in_passing(void **state)
{
	struct flood run = {.f = *state};
	struct fixture *f = *state;
	struct pollfd p = {.fd = xcb_get_file_descriptor(f->x.xcb), .events = POLLIN};
	int64_t start_ms;

	run.rc = 1;
	(void)kill(f->server.pid, SIGSTOP);
	(void)co_start(f->loop, flood, &run);
	for (int i = 0; i < 5; i++)
		loop_turn(f->loop, 10);
	assert_int_equal(run.rc, 1);
	(void)kill(f->server.pid, SIGCONT);
	assert_int_equal(poll(&p, 1, 5000), 1); /* the reply is there, and the loop does not know */
	start_ms = util_now_ms();
	XTestFakeMotionEvent(f->x.dpy, -1, 1, 1, 0);
	xconn_flush(&f->x);
	p.events = POLLIN;
	assert_int_equal(poll(&p, 1, 0), 0); /* it was read */
	while (run.rc == 1)
		loop_turn(f->loop, -1);
	assert_int_equal(run.rc, 0);
	assert_true(util_now_ms() - start_ms < 1000);
}

static void many_syncs(void *arg)
{
	struct flood *run = arg;

	for (int i = 0; i < 20000 && run->rc == 0; i++)
		run->rc = xconn_sync(&run->f->x, &run->e);
}

/* A reply that comes between the question for it and the reading of events is not slept over: one such would fail after 2 s. */
static void test_no_reply_is_slept_over(void **state)
{
	struct flood run = {.f = *state};

	xserver_run(run.f->loop, many_syncs, &run);
	if (run.rc < 0)
		fail_msg("%s", run.e.msg);
}

static void count_properties(void *arg, const xcb_generic_event_t *event)
{
	*(int *)arg += (event->response_type & 0x7f) == XCB_PROPERTY_NOTIFY;
}

#define BATCH 10

static void take_batch(void *arg)
{
	struct flood *run = arg;
	struct xconn *x = &run->f->x;
	struct xconn_listener listener;
	unsigned int sequences[BATCH];
	xcb_window_t window;
	int told = 0;

	assert_int_equal(xconn_hidden_window(x, &window, NULL), 0);
	xconn_listen(x, &listener, count_properties, &told);
	for (uint32_t i = 0; i < BATCH; i++) {
		xcb_change_property(x->xcb, XCB_PROP_MODE_REPLACE, window, XCB_ATOM_WM_NAME, XCB_ATOM_STRING, 8, 1, "x");
		sequences[i] = xcb_get_geometry(x->xcb, i == BATCH / 2 ? XCB_NONE : window).sequence;
	}
	/* All is read, and nothing of it handed out. */
	free(xcb_get_input_focus_reply(x->xcb, xcb_get_input_focus(x->xcb), NULL));
	assert_int_equal(told, 0);
	for (int i = 0; i < BATCH; i++) {
		auto_free void *reply = NULL;
		int rc = xconn_next_reply(x, sequences[i], &reply, &run->e);

		assert_true(told > i);
		assert_int_equal(rc, i == BATCH / 2 ? -1 : 0);
		assert_true(rc == 0 ? reply != NULL : run->e.code == ERR_CONFLICT);
	}
	xconn_unlisten(x, &listener);
	xcb_destroy_window(x->xcb, window);
	run->rc = 0;
}

/* Replies of a batch come behind the events that were sent before them, and an error in its place. */
static void test_replies_of_a_batch(void **state)
{
	struct flood run = {.f = *state, .rc = -1};

	xserver_run(run.f->loop, take_batch, &run);
	assert_int_equal(run.rc, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_known_content),         TEST(test_region_and_scale),     TEST(test_pointer_with_hot_spot),
		TEST(test_same_frame_same_bytes), TEST(test_pointer_makes_a_frame), TEST(test_never_stale),
		TEST(test_settle_quiet),          TEST(test_settle_after_drawing), TEST(test_settle_gives_up_at_the_limit),
		TEST(test_settle_in_a_region),    TEST(test_settle_with_a_mask),   TEST(test_changes),
		TEST(test_no_change_is_missed),   TEST(test_the_same_again),
		TEST(test_ready_needs_a_manager), TEST(test_ready_needs_paint),    TEST(test_ready_misses_no_manager),
		TEST(test_silent_server),
		TEST(test_requests_without_reply), TEST(test_full_server),         TEST(test_dead_server),
		TEST(test_two_waiters_sleep),     TEST(test_reply_read_in_passing),
		TEST(test_no_reply_is_slept_over), TEST(test_replies_of_a_batch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
