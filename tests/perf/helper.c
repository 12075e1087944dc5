/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An X client beside the bench, on the same display:
 *   helper repaint   covers the screen and, for each byte that it reads, changes every pixel of it: what was on the screen when it started,
 *                    in slightly other colours and back
 *   helper watch     notes when a pixel changed, whoever drew it; what is drawn anew as it was before is no change
 * It writes eight bytes when it is ready and for each byte that it reads: the CLOCK_MONOTONIC nanoseconds of when the repaint was done,
 * or of the last change. It ends with its standard input.
 */
#include <err.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/param.h>
#include <time.h>
#include <unistd.h>
#include <xcb/damage.h>

#include "session/base/util.h"
#include "tests/perf/frame.h"

#define OTHER_COLOURS 0x030303

struct helper {
	struct frame frame;
	xcb_window_t window;
	xcb_gcontext_t gc;
	xcb_pixmap_t pictures[2];
	unsigned int turn;
	uint8_t damage_event;
	char *known; /* the frame as it was last seen */
	int64_t drawn_ns;
};

static int64_t now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static xcb_gcontext_t make_gc(const struct helper *h, uint32_t function)
{
	const uint32_t values[] = {function, OTHER_COLOURS, XCB_SUBWINDOW_MODE_INCLUDE_INFERIORS, 0};
	xcb_gcontext_t gc = xcb_generate_id(h->frame.xcb);

	xcb_create_gc(h->frame.xcb, gc, h->frame.screen->root, XCB_GC_FUNCTION | XCB_GC_FOREGROUND | XCB_GC_SUBWINDOW_MODE | XCB_GC_GRAPHICS_EXPOSURES, values);
	return gc;
}

static void start_repaint(struct helper *h)
{
	const uint16_t width = h->frame.screen->width_in_pixels, height = h->frame.screen->height_in_pixels;
	const uint32_t on_top[] = {1};
	const xcb_gcontext_t other = make_gc(h, XCB_GX_XOR);

	h->gc = make_gc(h, XCB_GX_COPY);
	for (int i = 0; i < 2; i++) {
		h->pictures[i] = xcb_generate_id(h->frame.xcb);
		xcb_create_pixmap(h->frame.xcb, h->frame.screen->root_depth, h->pictures[i], h->frame.screen->root, width, height);
		xcb_copy_area(h->frame.xcb, h->frame.screen->root, h->pictures[i], h->gc, 0, 0, 0, 0, width, height);
	}
	xcb_poly_fill_rectangle(h->frame.xcb, h->pictures[1], other, 1, &(xcb_rectangle_t){0, 0, width, height});
	h->window = xcb_generate_id(h->frame.xcb);
	xcb_create_window(h->frame.xcb, XCB_COPY_FROM_PARENT, h->window, h->frame.screen->root, 0, 0, width, height, 0, XCB_WINDOW_CLASS_INPUT_OUTPUT,
	                  XCB_COPY_FROM_PARENT, XCB_CW_OVERRIDE_REDIRECT, on_top);
	xcb_map_window(h->frame.xcb, h->window);
	frame_round_trip(&h->frame);
}

static void repaint(struct helper *h)
{
	xcb_copy_area(h->frame.xcb, h->pictures[++h->turn % 2], h->window, h->gc, 0, 0, 0, 0, h->frame.screen->width_in_pixels, h->frame.screen->height_in_pixels);
	frame_round_trip(&h->frame);
	h->drawn_ns = now_ns();
}

struct box {
	int left, top, right, bottom; /* right and bottom are outside */
};

/* Takes the box of the screen over into what is known: did it change? */
static bool take(struct helper *h, const struct box *box)
{
	size_t row = 4U * (size_t)(box->right - box->left), stride = 4U * (size_t)h->frame.width;
	bool changed = false;

	frame_get(&h->frame, box->left, box->top, box->right - box->left, box->bottom - box->top);
	for (int y = box->top; y < box->bottom; y++) {
		char *known = h->known + (size_t)y * stride + 4U * (size_t)box->left;
		const char *shown = h->frame.data + (size_t)(y - box->top) * row;

		changed = changed || memcmp(known, shown, row) != 0;
		memcpy(known, shown, row);
	}
	return changed;
}

static void start_watch(struct helper *h)
{
	const xcb_query_extension_reply_t *damage = xcb_get_extension_data(h->frame.xcb, &xcb_damage_id);
	auto_free xcb_damage_query_version_reply_t *version = NULL;

	if (!damage || !damage->present)
		errx(1, "the display has no DAMAGE");
	version = xcb_damage_query_version_reply(h->frame.xcb, xcb_damage_query_version(h->frame.xcb, 1, 1), NULL);
	h->damage_event = damage->first_event;
	xcb_damage_create(h->frame.xcb, xcb_generate_id(h->frame.xcb), h->frame.screen->root, XCB_DAMAGE_REPORT_LEVEL_RAW_RECTANGLES);
	h->known = util_alloc(h->frame.len);
	(void)take(h, &(struct box){0, 0, h->frame.width, h->frame.height});
}

/* All that has been drawn before this is known after it. */
static void watch(struct helper *h)
{
	struct box box = {INT_MAX, INT_MAX, 0, 0};
	int64_t drawn_ns = now_ns();
	xcb_generic_event_t *event;

	while ((event = xcb_poll_for_event(h->frame.xcb))) {
		const xcb_damage_notify_event_t *damage = (const xcb_damage_notify_event_t *)event;

		if ((event->response_type & 0x7f) == h->damage_event + XCB_DAMAGE_NOTIFY) {
			box.left = MIN(box.left, MAX(damage->area.x, 0));
			box.top = MIN(box.top, MAX(damage->area.y, 0));
			box.right = MAX(box.right, MIN(damage->area.x + damage->area.width, h->frame.width));
			box.bottom = MAX(box.bottom, MIN(damage->area.y + damage->area.height, h->frame.height));
		}
		free(event);
	}
	if (xcb_connection_has_error(h->frame.xcb))
		errx(1, "the display is gone");
	if (box.left < box.right && box.top < box.bottom && take(h, &box))
		h->drawn_ns = drawn_ns;
}

static const struct mode {
	const char *name;
	void (*start)(struct helper *h);
	void (*turn)(struct helper *h); /* for a byte */
	void (*events)(struct helper *h);
} modes[] = {{"repaint", start_repaint, repaint, NULL}, {"watch", start_watch, watch, watch}};

static void tell(const struct helper *h)
{
	if (util_write_all(STDOUT_FILENO, &h->drawn_ns, sizeof(h->drawn_ns)) < 0)
		err(1, "standard output");
}

static void run(struct helper *h, const struct mode *mode)
{
	struct pollfd fds[] = {{STDIN_FILENO, POLLIN, 0}, {mode->events ? xcb_get_file_descriptor(h->frame.xcb) : -1, POLLIN, 0}};
	char byte;

	mode->start(h);
	tell(h);
	for (;;) {
		if (poll(fds, ARRAY_LEN(fds), -1) < 0)
			err(1, "poll");
		if (fds[1].revents)
			mode->events(h);
		if (!fds[0].revents)
			continue;
		if (read(STDIN_FILENO, &byte, 1) != 1)
			return;
		mode->turn(h);
		tell(h);
	}
}

int main(int argc, char **argv)
{
	struct helper h = {0};

	frame_open(&h.frame);
	for (size_t i = 0; i < ARRAY_LEN(modes); i++)
		if (argc == 2 && strcmp(argv[1], modes[i].name) == 0) {
			run(&h, &modes[i]);
			frame_close(&h.frame);
			free(h.known);
			return 0;
		}
	errx(2, "usage: helper repaint|watch");
}
