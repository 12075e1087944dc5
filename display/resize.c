/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Another size of the screen, by RandR. Xvfb takes every size from 1x1 to the one that it started with, odd ones too. It has one output on one
 * CRTC, which must lie inside of the screen: to go from one size to another the screen is first as large as both, then the CRTC gets a mode of
 * the new size, then the screen. Others see the end alone, for the server is grabbed meanwhile.
 */
#include <stdio.h>
#include <string.h>
#include <sys/param.h>
#include <xcb/randr.h>

#include "display/screen.h"
#include "session/base/log.h"
#include "session/base/util.h"

#define DPI 96         /* as Xvfb is started */
#define MM_PER_10_INCH 254
#define QUIET_MS 100   /* nothing drawn for so long: the windows have followed */

/* --- the server --- */

int resize_begin(struct display *display, struct err *e)
{
	struct xconn *x = display->x;
	auto_free xcb_randr_query_version_reply_t *version = NULL;
	auto_free xcb_randr_get_screen_resources_current_reply_t *resources = NULL;

	if (xconn_reply(x, xcb_randr_query_version(x->xcb, 1, 4).sequence, (void **)&version, e) < 0)
		return -1;
	if (version->major_version == 1 && version->minor_version < 3)
		return err_set(e, ERR_UNSUPPORTED, NULL, "the display's RANDR is too old");
	/* Before any app runs, so that there is nothing in it but the server's own. */
	if (xconn_reply(x, xcb_randr_get_screen_resources_current(x->xcb, x->root).sequence, (void **)&resources, e) < 0)
		return -1;
	if (resources->num_crtcs != 1 || resources->num_outputs != 1 || resources->length < 2)
		return err_set(e, ERR_UNSUPPORTED, NULL, "the display has %u CRTCs and %u outputs, not one of each", resources->num_crtcs,
		               resources->num_outputs);
	display->resizing.crtc = *xcb_randr_get_screen_resources_current_crtcs(resources);
	display->resizing.output = *xcb_randr_get_screen_resources_current_outputs(resources);
	xconn_select_root(x, XCB_EVENT_MASK_STRUCTURE_NOTIFY);
	return wm_init(&display->resizing.wm, x, e);
}

static uint32_t mm(int px)
{
	return (uint32_t)MAX(1, (px * MM_PER_10_INCH + DPI * 5) / (DPI * 10));
}

static void set_screen_mm(struct display *display, struct space size, uint32_t width_mm, uint32_t height_mm)
{
	xcb_randr_set_screen_size(display->x->xcb, display->x->root, (uint16_t)size.width_px, (uint16_t)size.height_px, width_mm, height_mm);
}

static void set_screen(struct display *display, struct space size)
{
	set_screen_mm(display, size, mm(size.width_px), mm(size.height_px));
}

void resize_tell_again(struct display *display)
{
	const uint32_t width_mm = mm(display->native.width_px), height_mm = mm(display->native.height_px);

	if (display->x->lost)
		return;
	xcb_grab_server(display->x->xcb);
	set_screen_mm(display, display->native, width_mm + 1, height_mm);
	set_screen_mm(display, display->native, width_mm, height_mm);
	xcb_ungrab_server(display->x->xcb);
	xconn_flush(display->x);
}

/* A mode of this size; its name is like none that a program could have taken. */
static int make_mode(struct display *display, struct space size, uint32_t *mode, struct err *e)
{
	xcb_randr_mode_info_t info = {.width = (uint16_t)size.width_px, .height = (uint16_t)size.height_px};
	auto_free xcb_randr_create_mode_reply_t *reply = NULL;
	uint64_t number;
	char name[48];

	util_random(&number, sizeof(number));
	info.name_len = (uint16_t)snprintf(name, sizeof(name), "%dx%d-%016llx", size.width_px, size.height_px, (unsigned long long)number);
	if (xconn_reply(display->x, xcb_randr_create_mode(display->x->xcb, display->x->root, info, info.name_len, name).sequence,
	                (void **)&reply, e) < 0)
		return -1;
	*mode = reply->mode;
	return 0;
}

static void drop_mode(const struct display *display, uint32_t mode)
{
	if (mode == 0)
		return;
	xcb_randr_delete_output_mode(display->x->xcb, display->resizing.output, mode);
	xcb_randr_destroy_mode(display->x->xcb, mode);
}

/* What it answers: has it the size now? The mode that is not used any more goes; one that is used the server keeps. */
static int check_answers(struct display *display, struct space size, unsigned int set, unsigned int looked, struct err *e)
{
	auto_free xcb_randr_set_crtc_config_reply_t *config = NULL;
	auto_free xcb_get_geometry_reply_t *root = NULL;

	if (xconn_reply(display->x, set, (void **)&config, e) < 0) {
		xcb_discard_reply(display->x->xcb, looked);
		return -1;
	}
	if (xconn_reply(display->x, looked, (void **)&root, e) < 0)
		return -1;
	if (config->status == XCB_RANDR_SET_CONFIG_SUCCESS && root->width == size.width_px && root->height == size.height_px)
		return 0;
	return err_set(e, ERR_CONFLICT, NULL, "the display did not take the size %dx%d: it has %ux%u", size.width_px, size.height_px, root->width,
	               root->height);
}

int resize_server(struct display *display, struct space size, struct err *e)
{
	xcb_connection_t *xcb = display->x->xcb;
	struct resizing *resizing = &display->resizing;
	const struct space both = {MAX(resizing->actual.width_px, size.width_px), MAX(resizing->actual.height_px, size.height_px)};
	uint32_t mode, old = resizing->mode;
	unsigned int set, looked;

	if (make_mode(display, size, &mode, e) < 0)
		return -1;
	xcb_grab_server(xcb);
	xcb_randr_add_output_mode(xcb, resizing->output, mode);
	if (!space_is_same(both, resizing->actual))
		set_screen(display, both);
	set = xcb_randr_set_crtc_config(xcb, resizing->crtc, XCB_CURRENT_TIME, XCB_CURRENT_TIME, 0, 0, mode, XCB_RANDR_ROTATION_ROTATE_0, 1,
	                                &resizing->output).sequence;
	if (!space_is_same(both, size))
		set_screen(display, size);
	looked = xcb_get_geometry(xcb, display->x->root).sequence;
	xcb_ungrab_server(xcb);
	/* Whatever becomes of the wait, what was sent is done. */
	resizing->mode = mode;
	drop_mode(display, old);
	if (check_answers(display, size, set, looked, e) == 0) {
		resizing->actual = size;
		return 0;
	}
	return -1;
}

/* --- others who do so --- */

static void schedule_restore(struct display *display);

static void restore(void *arg)
{
	struct display *display = arg;
	struct err e = {0};

	if (screen_lock(display, &e) == 0) {
		display->resizing.running = true;
		if (resize_server(display, display->native, &e) < 0)
			log_err(LOG_DEBUG, &e, "giving the screen its size back");
		display->resizing.running = false;
		display->unsure = true;
		screen_unlock(display);
	}
	display->resizing.restoring = false;
	display->resizing.restored_ms = util_now_ms();
	if (!space_is_same(display->resizing.actual, display->native))
		schedule_restore(display);
	else
		screen_tell_followers(display);
}

static void on_restore(void *arg)
{
	struct display *display = arg;

	display->resizing.restore = NULL;
	if (display->x->lost || space_is_same(display->resizing.actual, display->native))
		return;
	display->resizing.restoring = true;
	(void)co_start(display->x->loop, restore, display);
}

/* Not at once: who takes it again and again is not to have all of our time. */
static void schedule_restore(struct display *display)
{
	struct resizing *resizing = &display->resizing;

	if (resizing->restore || resizing->restoring || resizing->running || display->x->lost)
		return;
	resizing->restore = loop_at(display->x->loop, MAX(util_now_ms(), resizing->restored_ms + LIMIT_RESTORE_MS), on_restore, display);
}

void resize_on_event(struct display *display, const xcb_generic_event_t *event)
{
	const xcb_configure_notify_event_t *configured = (const xcb_configure_notify_event_t *)event;

	/* The uppermost bit: another client has sent it. */
	if (event->response_type != XCB_CONFIGURE_NOTIFY || configured->window != display->x->root)
		return;
	display->resizing.actual = (struct space){configured->width, configured->height};
	if (!space_is_same(display->resizing.actual, display->native))
		schedule_restore(display);
}

void resize_end(struct display *display)
{
	loop_cancel(display->resizing.restore);
	wm_finish(&display->resizing.wm);
}

/* --- whoever may --- */

struct space display_native(const struct display *display)
{
	return display->native;
}

uint64_t display_resized(const struct display *display)
{
	return display->resizing.frame;
}

void display_on_resize(struct display *display, void (*fn)(void *arg, struct space native), void *arg)
{
	display->resizing.fn = fn;
	display->resizing.arg = arg;
}

int display_check_size(const struct display *display, struct space size, struct err *e)
{
	bool is_wide = size.width_px > display->maximum.width_px;

	if (!is_wide && size.height_px <= display->maximum.height_px)
		return 0;
	return err_set(e, ERR_DISPLAY_MAX, is_wide ? "/width" : "/height",
	               "%dx%d is more than this display can have, which is %dx%d: max_width and max_height of the session's display are given when it is made",
	               size.width_px, size.height_px, display->maximum.width_px, display->maximum.height_px);
}

static int change(struct display *display, struct space size, struct err *e)
{
	int rc;

	if (screen_lock(display, e) < 0)
		return -1;
	display->resizing.running = true;
	rc = resize_server(display, size, e);
	display->resizing.running = false;
	if (rc == 0) {
		screen_adopt(display, size);
		rc = screen_make_copy(display, e);
	}
	if (rc == 0)
		rc = screen_update_locked(display, e);
	screen_unlock(display);
	if (!space_is_same(display->resizing.actual, display->native))
		schedule_restore(display);
	return rc;
}

/* The window manager has handled what the server told it, and the apps what it told them. That it cannot be waited for any longer is no failure. */
static int wait_followed(struct display *display, int64_t deadline_ms, bool *settled, struct err *e)
{
	const struct display_quiet quiet = {.quiet_ms = QUIET_MS};
	struct err why;

	*settled = false;
	if (ready_wait_geometry(display, deadline_ms, &why) < 0) {
		if (why.code == ERR_TIMEOUT)
			return 0;
		if (e)
			*e = why;
		return -1;
	}
	if (wm_wait(&display->resizing.wm, deadline_ms, e) < 0)
		return -1;
	return display_settle(display, &quiet, deadline_ms, settled, e);
}

int display_resize(struct display *display, struct space size, int64_t deadline_ms, bool *settled, struct err *e)
{
	if (!space_is_same(size, display->native) && change(display, size, e) < 0)
		return -1;
	return wait_followed(display, MIN(deadline_ms, util_now_ms() + LIMIT_RESIZE_MS), settled, e);
}
