/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pointer. */
#include "display/cursor.h"

#include <string.h>
#include <sys/param.h>
#include <xcb/xinput.h>

#include "session/base/util.h"

/* The server's answer; NULL with 0 when it has no pointer, which it says by a refusal. */
static int ask(struct display *display, xcb_xfixes_get_cursor_image_reply_t **reply, struct err *e)
{
	void *got = NULL;
	struct err why;

	if (xconn_reply(display->x, xcb_xfixes_get_cursor_image(display->x->xcb).sequence, &got, &why) < 0 && why.code != ERR_CONFLICT) {
		if (e)
			*e = why;
		return -1;
	}
	*reply = got;
	return 0;
}

int cursor_look(struct display *display, xcb_xfixes_get_cursor_image_reply_t **cursor, struct err *e)
{
	xcb_xfixes_get_cursor_image_reply_t *reply;

	if (display->x->lost)
		return err_set(e, ERR_GONE, NULL, "the display of this session is gone");
	if (ask(display, &reply, e) < 0)
		return -1;
	/* The sizes are the server's word, the length is what was read. */
	if (reply && (uint64_t)reply->width * reply->height > reply->length) {
		free(reply);
		return err_set(e, ERR_INTERNAL, NULL, "the display sent a cursor that is cut off");
	}
	uint32_t serial = reply ? reply->cursor_serial : 0;
	int x = reply ? reply->x : 0, y = reply ? reply->y : 0;

	if (serial != display->cursor_serial || x != display->cursor_x || y != display->cursor_y) {
		display->cursor_serial = serial;
		display->cursor_x = x;
		display->cursor_y = y;
		display->frame++;
		screen_tell_followers(display);
	}
	*cursor = reply;
	return 0;
}

int display_pointer(struct display *display, int *x, int *y, struct err *e)
{
	const xcb_query_pointer_reply_t *reply;
	auto_free void *got = NULL;

	if (display->x->lost)
		return err_set(e, ERR_GONE, NULL, "the display of this session is gone");
	if (xconn_reply(display->x, xcb_query_pointer(display->x->xcb, display->x->root).sequence, &got, e) < 0)
		return -1;
	reply = got;
	*x = reply->root_x;
	*y = reply->root_y;
	return 0;
}

struct rect cursor_rect(const xcb_xfixes_get_cursor_image_reply_t *cursor)
{
	return (struct rect){cursor->x - cursor->xhot, cursor->y - cursor->yhot, cursor->width, cursor->height};
}

void cursor_draw(xcb_xfixes_get_cursor_image_reply_t *cursor, struct image *image, int x, int y)
{
	struct rect rect = cursor_rect(cursor);
	struct image over = {
		.width = rect.width, .height = rect.height, .stride = rect.width, .pixels = xcb_xfixes_get_cursor_image_cursor_image(cursor)};

	image_blend(image, &over, rect.x - x, rect.y - y);
}

static void copy_rows(const struct image *from, struct image *to)
{
	for (int row = 0; row < to->height; row++)
		memcpy(image_row(to, row), image_row(from, row), (size_t)to->width * sizeof(uint32_t));
}

void cursor_put(xcb_xfixes_get_cursor_image_reply_t *cursor, struct image *screen, struct cursor_under *under)
{
	struct rect all = cursor_rect(cursor);
	struct rect r = {MAX(all.x, 0), MAX(all.y, 0), 0, 0};

	r.width = MAX(MIN(all.x + all.width, screen->width) - r.x, 0);
	r.height = MAX(MIN(all.y + all.height, screen->height) - r.y, 0);
	*under = (struct cursor_under){.rect = r};
	if (r.width == 0 || r.height == 0)
		return;
	const struct image part = image_part(screen, r.x, r.y, r.width, r.height);

	under->pixels = image_create(r.width, r.height);
	copy_rows(&part, &under->pixels);
	cursor_draw(cursor, screen, 0, 0);
}

void cursor_take_away(struct image *screen, struct cursor_under *under)
{
	if (!under->pixels.pixels)
		return;
	struct image part = image_part(screen, under->rect.x, under->rect.y, under->rect.width, under->rect.height);

	copy_rows(&under->pixels, &part);
	free(under->pixels.pixels);
	*under = (struct cursor_under){.rect = {0, 0, 0, 0}};
}

void cursor_listen(struct display *display, bool on)
{
	struct {
		xcb_input_event_mask_t head;
		uint32_t events;
	} mask = {{.deviceid = XCB_INPUT_DEVICE_ALL_MASTER, .mask_len = 1}, on ? XCB_INPUT_XI_EVENT_MASK_RAW_MOTION : 0};

	if (display->x->lost)
		return;
	xcb_xfixes_select_cursor_input(display->x->xcb, display->x->root, on ? XCB_XFIXES_CURSOR_NOTIFY_MASK_DISPLAY_CURSOR : 0);
	xcb_input_xi_select_events(display->x->xcb, display->x->root, 1, &mask.head);
	xconn_flush(display->x);
}

bool cursor_is_news(const struct display *display, const xcb_generic_event_t *event)
{
	uint8_t type = event->response_type & 0x7F;
	const xcb_ge_generic_event_t *generic = (const xcb_ge_generic_event_t *)event;

	return type == display->fixes_event + XCB_XFIXES_CURSOR_NOTIFY ||
	       (type == XCB_GE_GENERIC && generic->extension == display->input_opcode && generic->event_type == XCB_INPUT_RAW_MOTION);
}
