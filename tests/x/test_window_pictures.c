/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: apps display */
/* Pictures of a window alone: its own pixels, those of its menus and dialogs, and nobody else's. */
#include <string.h>
#include <xcb/shape.h>

#include "display/display.h"
#include "display/screen.h"
#include "session/base/limits.h"
#include "session/base/util.h"
#include "tests/x/desk.h"

#define RED 0xD02010U
#define GREEN 0x20C030U
#define BLUE 0x1030E0U
#define YELLOW 0xE0D020U

static const struct space SCREEN = {DESK_WIDTH, DESK_HEIGHT};

struct shot {
	struct desk *desk;
	struct display *display;
	struct display_request request;
	struct display_picture picture;
	int rc;
	struct err e;
};

static int part_of(void *arg, uint32_t window, struct part *out, struct err *e)
{
	return apps_part(((struct desk *)arg)->apps, SCREEN, window, out, e);
}

static void open_display(void *arg)
{
	struct shot *shot = arg;

	if (display_create(&shot->display, &shot->desk->x, SCREEN, SCREEN, &shot->e) < 0)
		fail_msg("%s", shot->e.msg);
	display_use_windows(shot->display, part_of, shot->desk);
}

static struct shot begin(struct desk *desk)
{
	struct shot shot = {.desk = desk};

	xserver_run(desk->loop, open_display, &shot);
	shot.request = (struct display_request){.no_cursor = true, .format = ENCODE_RAW, .scale = SCREEN};
	return shot;
}

static void end(struct shot *shot)
{
	display_picture_drop(&shot->picture);
	display_destroy(shot->display);
}

static void take_in_coroutine(void *arg)
{
	struct shot *shot = arg;

	shot->rc = display_picture(shot->display, &shot->request, &shot->picture, &shot->e);
}

static void try_take(struct shot *shot, xcb_window_t window)
{
	display_picture_drop(&shot->picture);
	shot->request.window = window;
	xserver_run(shot->desk->loop, take_in_coroutine, shot);
}

static void take(struct shot *shot, xcb_window_t window)
{
	try_take(shot, window);
	if (shot->rc < 0)
		fail_msg("%s: %s", shot->e.path, shot->e.msg);
}

/* The colour at a place of the screen. */
static uint32_t at(const struct shot *shot, int x, int y)
{
	const struct rect region = shot->picture.part->region;
	const uint8_t *rgb;

	assert_true(x >= region.x && y >= region.y && x < region.x + region.width && y < region.y + region.height);
	rgb = (const uint8_t *)shot->picture.bytes->data + 3 * ((y - region.y) * shot->picture.width + x - region.x);
	return (uint32_t)rgb[0] << 16 | (uint32_t)rgb[1] << 8 | rgb[2];
}

/* How many pixels of the picture have this colour. */
static size_t count(const struct shot *shot, uint32_t colour)
{
	const uint8_t *rgb = (const uint8_t *)shot->picture.bytes->data;
	size_t n = 0;

	for (size_t i = 0; i + 2 < shot->picture.bytes->len; i += 3)
		n += ((uint32_t)rgb[i] << 16 | (uint32_t)rgb[i + 1] << 8 | rgb[i + 2]) == colour;
	return n;
}

static const struct desk_look MAIN = {.x = 100, .y = 100, .width = 200, .height = 150, .at_place = true, .colour = RED};

/* A menu that hangs over the edge makes the picture larger; beside it is nobody's. */
static void with_its_menu(void **state)
{
	struct desk *desk = *state;
	struct shot shot = begin(desk);
	const struct desk_look beside = {.x = 310, .y = 90, .width = 100, .height = 60, .at_place = true, .colour = BLUE};
	xcb_window_t window, menu;

	desk_show(desk, desk->client, &beside);
	window = desk_show(desk, desk->client, &MAIN);
	const json_t *told = desk_window(desk, window);
	const int x = desk_int(told, "x"), y = desk_int(told, "y");

	take(&shot, window);
	assert_int_equal(shot.picture.part->region.x, desk_int(json_object_get(told, "frame"), "x"));
	assert_int_equal(shot.picture.width, desk_int(json_object_get(told, "frame"), "width"));
	assert_int_equal(count(&shot, RED), 200 * 150);

	const struct desk_look look = {.x = 260, .y = 180, .width = 120, .height = 200, .alone = true, .of = window, .colour = GREEN, .type = "POPUP_MENU"};

	menu = desk_show(desk, desk->client, &look);
	take(&shot, window);
	assert_int_equal(shot.picture.part->n_windows, 2);
	assert_int_equal(shot.picture.part->windows[0], window);
	assert_int_equal(shot.picture.part->windows[1], menu);
	assert_int_equal(shot.picture.part->region.x + shot.picture.part->region.width, 380);
	assert_int_equal(shot.picture.part->region.y + shot.picture.part->region.height, 380);
	assert_int_equal(shot.picture.part->n_covered, 0);
	assert_int_equal(at(&shot, x + 10, y + 10), RED);
	assert_int_equal(count(&shot, GREEN), 120 * 200);
	assert_int_equal(count(&shot, BLUE), 0);
	assert_int_equal(at(&shot, 350, 130), SCREEN_BACKGROUND);
	/* Half the scale, and a size. */
	shot.request.scale = (struct space){DESK_WIDTH / 2, DESK_HEIGHT / 2};
	take(&shot, window);
	assert_int_equal(shot.picture.width, (shot.picture.part->region.width + 1) / 2);
	shot.request.out_width = 64;
	shot.request.out_height = 48;
	take(&shot, window);
	assert_int_equal(shot.picture.width, 64);
	assert_int_equal(shot.picture.height, 48);
	end(&shot);
}

/* What lies over it is another's: flat in the picture, and said. */
static void covered(void **state)
{
	struct desk *desk = *state;
	struct shot shot = begin(desk);
	const struct desk_look over = {.x = 200, .y = 150, .width = 300, .height = 50, .alone = true, .colour = BLUE};
	const struct desk_look all = {.x = 0, .y = 0, .width = DESK_WIDTH, .height = DESK_HEIGHT, .alone = true, .colour = YELLOW};
	xcb_window_t window = desk_show(desk, desk->client, &MAIN), other;
	pid_t pid = desk_other_program(desk, &over, &other);
	const json_t *frame = json_object_get(desk_window(desk, window), "frame");
	const int right = desk_int(frame, "x") + desk_int(frame, "width");

	take(&shot, window);
	assert_int_equal(count(&shot, BLUE), 0);
	assert_int_equal(at(&shot, 210, 160), SCREEN_BACKGROUND);
	assert_int_equal(shot.picture.part->n_covered, 1);
	assert_int_equal(shot.picture.part->covered[0].x, 200);
	assert_int_equal(shot.picture.part->covered[0].y, 150);
	assert_int_equal(shot.picture.part->covered[0].width, right - 200);
	assert_int_equal(shot.picture.part->covered[0].height, 50);
	desk_end_program(desk, pid);
	/* Another program's word that it is a menu of this window is not believed. */
	struct desk_look liar = over;

	liar.of = window;
	pid = desk_other_program(desk, &liar, &other);
	take(&shot, window);
	assert_int_equal(count(&shot, BLUE), 0);
	assert_int_equal(shot.picture.part->n_windows, 1);
	desk_end_program(desk, pid);
	pid = desk_other_program(desk, &all, &other);
	try_take(&shot, window);
	assert_int_equal(shot.rc, -1);
	assert_int_equal(shot.e.code, ERR_CONFLICT);
	assert_string_equal(shot.e.path, "/window");
	assert_non_null(strstr(shot.e.msg, "other windows lie over all"));
	desk_end_program(desk, pid);
	end(&shot);
}

/* A dialog of a dialog, one beyond the edge of the screen. */
static void with_its_dialogs(void **state)
{
	struct desk *desk = *state;
	struct shot shot = begin(desk);
	xcb_window_t window = desk_show(desk, desk->client, &MAIN), dialog, deeper;
	const struct desk_look first = {.x = 150, .y = 300, .width = 150, .height = 80, .at_place = true, .of = window, .type = "DIALOG", .colour = GREEN};

	dialog = desk_show(desk, desk->client, &first);

	const struct desk_look second = {.x = 200, .y = 500, .width = 150, .height = 300, .at_place = true, .of = dialog, .type = "DIALOG", .colour = BLUE};

	deeper = desk_show(desk, desk->client, &second);
	desk_act_on(desk, "\"action\":\"move_window\",\"x\":200,\"y\":500", deeper);
	take(&shot, window);
	assert_int_equal(shot.picture.part->n_windows, 3);
	assert_int_equal(count(&shot, GREEN), 150 * 80);
	assert_true(count(&shot, BLUE) > 0 && count(&shot, BLUE) < 150 * 300);
	assert_int_equal(shot.picture.part->region.y + shot.picture.part->region.height, DESK_HEIGHT);
	/* The dialog alone has its own, and not its window. */
	take(&shot, dialog);
	assert_int_equal(shot.picture.part->n_windows, 2);
	assert_int_equal(count(&shot, RED), 0);
	desk_act_on(desk, "\"action\":\"show_window\",\"state\":\"minimized\"", window);
	try_take(&shot, window);
	assert_int_equal(shot.e.code, ERR_CONFLICT);
	assert_non_null(strstr(shot.e.msg, "minimized"));
	try_take(&shot, 12345);
	assert_int_equal(shot.e.code, ERR_NO_WINDOW);
	end(&shot);
}

/* A menu with round corners: what shows through them is not the menu's. */
static void shaped(void **state)
{
	struct desk *desk = *state;
	struct shot shot = begin(desk);
	xcb_window_t window = desk_show(desk, desk->client, &MAIN), under, menu;
	const struct desk_look below = {.x = 500, .y = 300, .width = 200, .height = 200, .alone = true, .colour = YELLOW};
	const struct desk_look look = {.x = 550, .y = 320, .width = 100, .height = 100, .alone = true, .of = window, .colour = GREEN};
	const xcb_rectangle_t cross[] = {{40, 0, 20, 100}, {0, 40, 40, 20}, {60, 40, 40, 20}};
	pid_t pid = desk_other_program(desk, &below, &under);

	menu = desk_create(desk->client, desk->root, &look);
	xcb_shape_rectangles(desk->client, XCB_SHAPE_SO_SET, XCB_SHAPE_SK_BOUNDING, 0, menu, 0, 0, ARRAY_LEN(cross), cross);
	xcb_map_window(desk->client, menu);
	desk_sync(desk->client);
	take(&shot, window);
	assert_int_equal(shot.picture.part->n_windows, 2);
	assert_int_equal(count(&shot, GREEN), 20 * 100 + 2 * 40 * 20);
	assert_int_equal(count(&shot, YELLOW), 0);
	assert_int_equal(at(&shot, 552, 322), SCREEN_BACKGROUND);
	desk_end_program(desk, pid);
	end(&shot);
}

#define ON_DESK(test) cmocka_unit_test_setup_teardown(test, desk_set_up, desk_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {ON_DESK(with_its_menu), ON_DESK(covered), ON_DESK(with_its_dialogs), ON_DESK(shaped)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
