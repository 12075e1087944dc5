/* SPDX-License-Identifier: GPL-2.0-or-later */
/* MIT-SHM with a descriptor that is passed. */
#include "tests/perf/frame.h"

#include <err.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xcb/shm.h>

#include "session/base/util.h"

void frame_open(struct frame *frame)
{
	int fd = memfd_create("frame", MFD_CLOEXEC);
	auto_free xcb_shm_query_version_reply_t *version = NULL;

	frame->xcb = xcb_connect(NULL, NULL);
	if (xcb_connection_has_error(frame->xcb))
		errx(1, "no display");
	frame->screen = xcb_setup_roots_iterator(xcb_get_setup(frame->xcb)).data;
	frame->width = frame->screen->width_in_pixels;
	frame->height = frame->screen->height_in_pixels;
	frame->len = 4U * (size_t)frame->width * (size_t)frame->height;
	if (fd < 0 || ftruncate(fd, (off_t)frame->len) < 0)
		err(1, "memfd");
	frame->data = mmap(NULL, frame->len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (frame->data == MAP_FAILED)
		err(1, "mmap");
	version = xcb_shm_query_version_reply(frame->xcb, xcb_shm_query_version(frame->xcb), NULL);
	if (!version)
		errx(1, "the display has no MIT-SHM");
	frame->segment = xcb_generate_id(frame->xcb);
	xcb_shm_attach_fd(frame->xcb, frame->segment, fd, 0); /* xcb closes it */
}

void frame_close(struct frame *frame)
{
	xcb_disconnect(frame->xcb);
	(void)munmap(frame->data, frame->len);
}

void frame_get(const struct frame *frame, int x, int y, int width, int height)
{
	xcb_shm_get_image_cookie_t cookie = xcb_shm_get_image(frame->xcb, frame->screen->root, (int16_t)x, (int16_t)y, (uint16_t)width,
	                                                      (uint16_t)height, ~0U, XCB_IMAGE_FORMAT_Z_PIXMAP, frame->segment, 0);
	auto_free xcb_shm_get_image_reply_t *reply = xcb_shm_get_image_reply(frame->xcb, cookie, NULL);

	if (!reply)
		errx(1, "no pixels by MIT-SHM");
}

void frame_round_trip(const struct frame *frame)
{
	auto_free xcb_get_input_focus_reply_t *reply = xcb_get_input_focus_reply(frame->xcb, xcb_get_input_focus(frame->xcb), NULL);

	if (!reply)
		errx(1, "the display is gone");
}
