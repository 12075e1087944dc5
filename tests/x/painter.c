/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A display and who paints on it. */
#include "tests/x/painter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/param.h>

#include <cmocka.h>
#include <png.h>
#include <turbojpeg.h>
#include <webp/decode.h>
#include <xcb/render.h>

#include "session/base/util.h"

#define CHUNK_BYTES 65536 /* of one request with pixels */

static void create(void *arg)
{
	struct painter *painter = arg;
	struct err e = {0};

	if (display_create(&painter->display, &painter->x, (struct space){painter->width, painter->height}, (struct space){painter->width, painter->height}, &e) < 0)
		fail_msg("%s", e.msg);
}

void painter_start(struct painter *painter, int width, int height)
{
	struct err e = {0};

	*painter = (struct painter){.width = width, .height = height};
	xserver_start(&painter->server, width, height);
	painter->loop = loop_create(&e);
	if (xconn_open(&painter->x, painter->loop, painter->server.display, NULL, NULL, NULL, &e) < 0)
		fail_msg("%s", e.msg);
	xserver_run(painter->loop, create, painter);
	painter->xcb = xcb_connect(painter->server.display, NULL);
	painter->root = xcb_setup_roots_iterator(xcb_get_setup(painter->xcb)).data->root;
}

void painter_stop(struct painter *painter)
{
	xcb_disconnect(painter->xcb);
	display_destroy(painter->display);
	xconn_close(&painter->x);
	loop_destroy(painter->loop);
	xserver_stop(&painter->server);
}

void painter_sync(struct painter *painter)
{
	free(xcb_get_input_focus_reply(painter->xcb, xcb_get_input_focus(painter->xcb), NULL));
}

static void show_window(struct painter *painter, int x, int y, int width, int height, uint32_t what, uint32_t value)
{
	const uint32_t values[] = {value, 1};
	xcb_window_t window = xcb_generate_id(painter->xcb);

	xcb_create_window(painter->xcb, XCB_COPY_FROM_PARENT, window, painter->root, (int16_t)x, (int16_t)y, (uint16_t)width, (uint16_t)height, 0,
	                  XCB_WINDOW_CLASS_INPUT_OUTPUT, XCB_COPY_FROM_PARENT, what | XCB_CW_OVERRIDE_REDIRECT, values);
	xcb_map_window(painter->xcb, window);
	painter_sync(painter);
}

void painter_rect(struct painter *painter, int x, int y, int width, int height, uint32_t colour)
{
	show_window(painter, x, y, width, height, XCB_CW_BACK_PIXEL, colour);
}

static xcb_pixmap_t put_pixels(struct painter *painter, uint8_t depth, int width, int height, const uint32_t *pixels)
{
	xcb_pixmap_t pixmap = xcb_generate_id(painter->xcb);
	xcb_gcontext_t gc = xcb_generate_id(painter->xcb);
	const int row_bytes = width * 4, rows = MAX(1, CHUNK_BYTES / row_bytes);

	xcb_create_pixmap(painter->xcb, depth, pixmap, painter->root, (uint16_t)width, (uint16_t)height);
	xcb_create_gc(painter->xcb, gc, pixmap, 0, NULL);
	for (int y = 0; y < height; y += rows) {
		int n = MIN(rows, height - y);

		xcb_put_image(painter->xcb, XCB_IMAGE_FORMAT_Z_PIXMAP, pixmap, gc, (uint16_t)width, (uint16_t)n, 0, (int16_t)y, 0, depth,
		              (uint32_t)(n * row_bytes), (const uint8_t *)(pixels + (size_t)y * (size_t)width));
	}
	xcb_free_gc(painter->xcb, gc);
	return pixmap;
}

void painter_pixels(struct painter *painter, int x, int y, int width, int height, const uint32_t *pixels)
{
	xcb_pixmap_t pixmap = put_pixels(painter, 24, width, height, pixels);

	show_window(painter, x, y, width, height, XCB_CW_BACK_PIXMAP, pixmap);
	xcb_free_pixmap(painter->xcb, pixmap);
}

void painter_move_pointer(struct painter *painter, int x, int y)
{
	xcb_warp_pointer(painter->xcb, XCB_NONE, painter->root, 0, 0, 0, 0, (int16_t)x, (int16_t)y);
	painter_sync(painter);
}

/* The format with eight bits of alpha. */
static xcb_render_pictformat_t argb_format(struct painter *painter)
{
	xcb_render_query_pict_formats_reply_t *reply =
		xcb_render_query_pict_formats_reply(painter->xcb, xcb_render_query_pict_formats(painter->xcb), NULL);
	xcb_render_pictforminfo_iterator_t each = xcb_render_query_pict_formats_formats_iterator(reply);
	xcb_render_pictformat_t found = XCB_NONE;

	for (; each.rem > 0; xcb_render_pictforminfo_next(&each))
		if (each.data->depth == 32 && each.data->direct.alpha_mask == 0xFF && each.data->direct.alpha_shift == 24 &&
		    each.data->direct.red_shift == 16)
			found = each.data->id;
	free(reply);
	assert_true(found != XCB_NONE);
	return found;
}

static uint32_t make_pointer(struct painter *painter, int width, int height, int hot_x, int hot_y, const uint32_t *pixels)
{
	xcb_pixmap_t pixmap = put_pixels(painter, 32, width, height, pixels);
	xcb_render_picture_t picture = xcb_generate_id(painter->xcb);
	uint32_t cursor = xcb_generate_id(painter->xcb);

	xcb_render_create_picture(painter->xcb, picture, pixmap, argb_format(painter), 0, NULL);
	xcb_render_create_cursor(painter->xcb, cursor, picture, (uint16_t)hot_x, (uint16_t)hot_y);
	xcb_render_free_picture(painter->xcb, picture);
	xcb_free_pixmap(painter->xcb, pixmap);
	return cursor;
}

void painter_set_pointer(struct painter *painter, int width, int height, int hot_x, int hot_y, const uint32_t *pixels)
{
	uint32_t cursor = make_pointer(painter, width, height, hot_x, hot_y, pixels);

	xcb_change_window_attributes(painter->xcb, painter->root, XCB_CW_CURSOR, &cursor);
	painter_sync(painter);
}

void painter_animate_pointer(struct painter *painter, int side, uint32_t one, uint32_t other, int every_ms)
{
	auto_free uint32_t *pixels = util_alloc((size_t)side * (size_t)side * sizeof(*pixels));
	xcb_render_animcursorelt_t steps[2];
	uint32_t cursor = xcb_generate_id(painter->xcb);

	for (size_t step = 0; step < 2; step++) {
		for (int i = 0; i < side * side; i++)
			pixels[i] = step == 0 ? one : other;
		steps[step] = (xcb_render_animcursorelt_t){make_pointer(painter, side, side, 0, 0, pixels), (uint32_t)every_ms};
	}
	xcb_render_create_anim_cursor(painter->xcb, cursor, 2, steps);
	xcb_change_window_attributes(painter->xcb, painter->root, XCB_CW_CURSOR, &cursor);
	painter_sync(painter);
}

struct look {
	struct painter *painter;
	struct display_request request;
	struct display_picture picture;
	struct err e;
	int rc;
};

static void look(void *arg)
{
	struct look *look = arg;

	look->rc = display_picture(look->painter->display, &look->request, &look->picture, &look->e);
}

struct display_picture painter_look(struct painter *painter, struct display_request request)
{
	struct look one = {.painter = painter, .request = request};

	xserver_run(painter->loop, look, &one);
	if (one.rc < 0)
		fail_msg("%s", one.e.msg);
	return one.picture;
}

static void decode_png(const struct display_picture *picture, uint32_t *pixels)
{
	png_image png = {.version = PNG_IMAGE_VERSION};

	assert_true(png_image_begin_read_from_memory(&png, picture->bytes->data, picture->bytes->len));
	assert_int_equal(png.format, PNG_FORMAT_RGB); /* no alpha */
	assert_int_equal(png.width, picture->width);
	assert_int_equal(png.height, picture->height);
	png.format = PNG_FORMAT_BGRA;
	assert_true(png_image_finish_read(&png, NULL, pixels, 0, NULL));
}

static void decode_jpeg(const struct display_picture *picture, uint32_t *pixels)
{
	const unsigned char *bytes = (const unsigned char *)picture->bytes->data;
	tjhandle jpeg = tjInitDecompress();
	int width, height, sampling, colours;

	assert_int_equal(tjDecompressHeader3(jpeg, bytes, picture->bytes->len, &width, &height, &sampling, &colours), 0);
	assert_int_equal(width, picture->width);
	assert_int_equal(height, picture->height);
	assert_int_equal(tjDecompress2(jpeg, bytes, picture->bytes->len, (unsigned char *)pixels, width, 0, height, TJPF_BGRX, 0), 0);
	tjDestroy(jpeg);
}

static void decode_webp(const struct display_picture *picture, uint32_t *pixels)
{
	const uint8_t *bytes = (const uint8_t *)picture->bytes->data;
	size_t size = (size_t)picture->width * (size_t)picture->height * sizeof(*pixels);
	int width, height;

	assert_true(WebPGetInfo(bytes, picture->bytes->len, &width, &height));
	assert_int_equal(width, picture->width);
	assert_int_equal(height, picture->height);
	assert_non_null(WebPDecodeBGRAInto(bytes, picture->bytes->len, (uint8_t *)pixels, size, width * 4));
}

static void decode_raw(const struct display_picture *picture, uint32_t *pixels)
{
	const uint8_t *rgb = (const uint8_t *)picture->bytes->data;
	size_t n = (size_t)picture->width * (size_t)picture->height;

	assert_int_equal(picture->bytes->len, n * 3);
	for (size_t i = 0; i < n; i++, rgb += 3)
		pixels[i] = (uint32_t)rgb[0] << 16 | (uint32_t)rgb[1] << 8 | rgb[2];
}

uint32_t *painter_decode(const struct display_picture *picture)
{
	static void (*const decoders[])(const struct display_picture *picture, uint32_t *pixels) = {
		[ENCODE_PNG] = decode_png,   [ENCODE_PNG_SMALL] = decode_png, [ENCODE_JPEG] = decode_jpeg,
		[ENCODE_WEBP] = decode_webp, [ENCODE_RAW] = decode_raw,
	};
	size_t n = (size_t)picture->width * (size_t)picture->height;
	uint32_t *pixels = util_alloc(n * sizeof(*pixels));

	decoders[picture->format](picture, pixels);
	for (size_t i = 0; i < n; i++)
		pixels[i] &= 0xFFFFFF;
	return pixels;
}
