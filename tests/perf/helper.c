/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An X client beside the bench, on the same display:
 *   helper repaint   covers the screen and, for each byte that it reads, changes every pixel of it: what was on the screen when it started,
 *                    in slightly other colours and back
 *   helper watch     notes when something was drawn, whoever drew it
 * It writes eight bytes when it is ready and for each byte that it reads: the CLOCK_MONOTONIC nanoseconds of when the repaint was done,
 * or of the last drawing that it knows of. It ends with its standard input.
 */
#include <err.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <xcb/damage.h>
#include <xcb/xcb.h>

#include "session/base/util.h"

#define OTHER_COLOURS 0x030303

struct helper {
	xcb_connection_t *xcb;
	const xcb_screen_t *screen;
	xcb_window_t window;
	xcb_gcontext_t gc;
	xcb_pixmap_t pictures[2];
	unsigned int turn;
	uint8_t damage_event;
	int64_t drawn_ns;
};

static int64_t now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* What was sent before is done when this returns. */
static void round_trip(const struct helper *h)
{
	auto_free xcb_get_input_focus_reply_t *reply = xcb_get_input_focus_reply(h->xcb, xcb_get_input_focus(h->xcb), NULL);

	if (!reply)
		errx(1, "the display is gone");
}

static xcb_gcontext_t make_gc(const struct helper *h, uint32_t function)
{
	const uint32_t values[] = {function, OTHER_COLOURS, XCB_SUBWINDOW_MODE_INCLUDE_INFERIORS, 0};
	xcb_gcontext_t gc = xcb_generate_id(h->xcb);

	xcb_create_gc(h->xcb, gc, h->screen->root, XCB_GC_FUNCTION | XCB_GC_FOREGROUND | XCB_GC_SUBWINDOW_MODE | XCB_GC_GRAPHICS_EXPOSURES, values);
	return gc;
}

static void start_repaint(struct helper *h)
{
	const uint16_t width = h->screen->width_in_pixels, height = h->screen->height_in_pixels;
	const uint32_t on_top[] = {1};
	const xcb_gcontext_t other = make_gc(h, XCB_GX_XOR);

	h->gc = make_gc(h, XCB_GX_COPY);
	for (int i = 0; i < 2; i++) {
		h->pictures[i] = xcb_generate_id(h->xcb);
		xcb_create_pixmap(h->xcb, h->screen->root_depth, h->pictures[i], h->screen->root, width, height);
		xcb_copy_area(h->xcb, h->screen->root, h->pictures[i], h->gc, 0, 0, 0, 0, width, height);
	}
	xcb_poly_fill_rectangle(h->xcb, h->pictures[1], other, 1, &(xcb_rectangle_t){0, 0, width, height});
	h->window = xcb_generate_id(h->xcb);
	xcb_create_window(h->xcb, XCB_COPY_FROM_PARENT, h->window, h->screen->root, 0, 0, width, height, 0, XCB_WINDOW_CLASS_INPUT_OUTPUT,
	                  XCB_COPY_FROM_PARENT, XCB_CW_OVERRIDE_REDIRECT, on_top);
	xcb_map_window(h->xcb, h->window);
	round_trip(h);
}

static void repaint(struct helper *h)
{
	xcb_copy_area(h->xcb, h->pictures[++h->turn % 2], h->window, h->gc, 0, 0, 0, 0, h->screen->width_in_pixels, h->screen->height_in_pixels);
	round_trip(h);
	h->drawn_ns = now_ns();
}

static void start_watch(struct helper *h)
{
	const xcb_query_extension_reply_t *damage = xcb_get_extension_data(h->xcb, &xcb_damage_id);
	auto_free xcb_damage_query_version_reply_t *version = NULL;

	if (!damage || !damage->present)
		errx(1, "the display has no DAMAGE");
	version = xcb_damage_query_version_reply(h->xcb, xcb_damage_query_version(h->xcb, 1, 1), NULL);
	h->damage_event = damage->first_event;
	xcb_damage_create(h->xcb, xcb_generate_id(h->xcb), h->screen->root, XCB_DAMAGE_REPORT_LEVEL_RAW_RECTANGLES);
	round_trip(h);
}

/* All that has been drawn before this is known after it. */
static void watch(struct helper *h)
{
	xcb_generic_event_t *event;

	while ((event = xcb_poll_for_event(h->xcb))) {
		if ((event->response_type & 0x7f) == h->damage_event + XCB_DAMAGE_NOTIFY)
			h->drawn_ns = now_ns();
		free(event);
	}
	if (xcb_connection_has_error(h->xcb))
		errx(1, "the display is gone");
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
	struct pollfd fds[] = {{STDIN_FILENO, POLLIN, 0}, {mode->events ? xcb_get_file_descriptor(h->xcb) : -1, POLLIN, 0}};
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
	struct helper h = {.xcb = xcb_connect(NULL, NULL)};

	if (xcb_connection_has_error(h.xcb))
		errx(1, "no display");
	h.screen = xcb_setup_roots_iterator(xcb_get_setup(h.xcb)).data;
	for (size_t i = 0; i < ARRAY_LEN(modes); i++)
		if (argc == 2 && strcmp(argv[1], modes[i].name) == 0) {
			run(&h, &modes[i]);
			xcb_disconnect(h.xcb);
			return 0;
		}
	errx(2, "usage: helper repaint|watch");
}
