/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The screen's pixels and its changes.
 *
 * Damage is told once and then not again until it is taken back. It is taken back only when somebody looks, so that a screen that nobody
 * looks at costs nothing; where it was is asked then.
 */
#include "display/screen.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/param.h>
#include <unistd.h>
#include <xcb/damage.h>
#include <xcb/xinput.h>

#include "display/cursor.h"
#include "display/rect.h"
#include "session/base/util.h"

#define MANY_PIECES 2048 /* of damage */

static void on_event(void *arg, const xcb_generic_event_t *event)
{
	struct display *display = arg;
	uint8_t type = event->response_type & 0x7F;

	if (type == display->damage_event) {
		/* What came before the request that took it back is in what that request brings. */
		if ((int32_t)(event->full_sequence - display->asked) < 0)
			return;
		if (!display->told)
			display->told_ms = util_now_ms();
		display->told = true;
		co_signal(&display->drawn);
		screen_attend(display);
		screen_tell_followers(display);
	} else if (type == XCB_CONFIGURE_NOTIFY) {
		resize_on_event(display, event);
	} else if (cursor_is_news(display, event)) {
		display->moves++;
		screen_tell_followers(display);
	} else if (type == XCB_PROPERTY_NOTIFY && ((const xcb_property_notify_event_t *)event)->window == display->x->root) {
		display->n_properties++;
		co_signal(&display->properties);
	}
}

static bool counts(const struct display_quiet *quiet, struct rect rect)
{
	if (quiet->region.width > 0 && !rect_touch(rect, quiet->region))
		return false;
	for (size_t i = 0; i < quiet->n_masks; i++)
		if (rect_is_inside(rect, quiet->masks[i]))
			return false;
	return true;
}

/* What one update has found. */
struct finding {
	struct display *display;
	uint64_t frame;
	int64_t now_ms;
	bool changed;
};

static void note_change(void *arg, struct rect rect)
{
	struct finding *finding = arg;

	finding->changed = true;
	tiles_mark(&finding->display->tiles, rect, finding->frame);
	blinks_mark(&finding->display->blinks, rect, finding->frame);
	for (struct screen_watch *watch = finding->display->watches; watch; watch = watch->next)
		if (watch->drawn_ms < finding->now_ms && counts(watch->quiet, rect))
			watch->drawn_ms = finding->now_ms;
}

/* The server copies what was damaged, and nothing is drawn between the taking back and the copy: nobody else is served in between. */
static unsigned int ask(struct display *display, bool all)
{
	xcb_connection_t *xcb = display->x->xcb;
	unsigned int sequence;

	xcb_grab_server(xcb);
	display->asked = xcb_damage_subtract(xcb, display->damage, XCB_NONE, display->region).sequence;
	xcb_xfixes_set_gc_clip_region(xcb, display->gc, all ? XCB_NONE : display->region, 0, 0);
	xcb_copy_area(xcb, display->x->root, display->copy, display->gc, 0, 0, 0, 0, (uint16_t)display->native.width_px,
	              (uint16_t)display->native.height_px);
	sequence = xcb_xfixes_fetch_region(xcb, display->region).sequence;
	xcb_ungrab_server(xcb);
	return sequence;
}

/* Where nobody may look now. */
static void ask_blanks(struct display *display, struct blanks *blanks)
{
	if (display->blanks)
		blanks->n += display->blanks(display->blanks_arg, blanks->list + blanks->n);
}

void display_use_blanks(struct display *display, display_blanks_fn *fn, void *arg)
{
	display->blanks = fn;
	display->blanks_arg = arg;
}

/* Regions are rectangles that do not overlap. */
bool display_drawn_over(const struct display *display, struct rect rect)
{
	const xcb_rectangle_t *list = display->damaged ? xcb_xfixes_fetch_region_rectangles(display->damaged) : NULL;
	int n = display->damaged ? xcb_xfixes_fetch_region_rectangles_length(display->damaged) : 0;
	int64_t left = (int64_t)rect.width * rect.height;

	for (int i = 0; i < n; i++) {
		int width = MIN(list[i].x + list[i].width, rect.x + rect.width) - MAX(list[i].x, rect.x);
		int height = MIN(list[i].y + list[i].height, rect.y + rect.height) - MAX(list[i].y, rect.y);

		left -= width > 0 && height > 0 ? (int64_t)width * height : 0;
	}
	return n > 0 && left == 0;
}

/* Where nothing was damaged the segment is as it was. */
bool display_ink(const struct display *display, struct rect rect, struct ink *out)
{
	if (!display->damaged)
		return false;
	ink_take(display->shared, display->native, rect, out);
	return true;
}

/* As if something was drawn: it is asked before anything is seen. */
void display_blanks_changed(struct display *display)
{
	if (!display->told)
		display->told_ms = util_now_ms();
	display->told = true;
	co_signal(&display->drawn);
	screen_attend(display);
	screen_tell_followers(display);
}

/* What is new was drawn after `since_ms`. */
static void take_over(struct display *display, const xcb_xfixes_fetch_region_reply_t *reply, const struct blanks *blanks, bool all, int64_t since_ms)
{
	struct finding finding = {.display = display, .frame = display->frame + 1, .now_ms = util_now_ms()};
	const struct rect whole = {0, 0, display->native.width_px, display->native.height_px};
	const xcb_rectangle_t *list = xcb_xfixes_fetch_region_rectangles(reply);
	int n = xcb_xfixes_fetch_region_rectangles_length(reply);
	const struct blank_take take = {&display->shown, display->shared, blanks, note_change, &finding};

	blank_cover(&take, &display->blanked);
	display->blanked = *blanks;
	/* Where nothing was damaged the segment is as it was: to compare all of it is quicker than many small pieces. */
	if (all || n > MANY_PIECES)
		blank_take(&take, whole);
	else
		for (int i = 0; i < n; i++)
			blank_take(&take, (struct rect){list[i].x, list[i].y, list[i].width, list[i].height});
	if (!finding.changed)
		return;
	display->frame = finding.frame;
	display->changed_ms = finding.now_ms;
	blinks_learn(&display->blinks, &display->shown, finding.frame, (struct blinks_time){since_ms, finding.now_ms});
	co_signal(&display->drawn);
	screen_tell_followers(display);
}

static int update(struct display *display, struct err *e)
{
	auto_free void *reply = NULL;
	bool all = display->unsure;
	int64_t since_ms = display->told ? display->told_ms : util_now_ms();
	struct blanks blanks = {.n = 0};
	unsigned int sequence;

	ask_blanks(display, &blanks);
	sequence = ask(display, all);
	/* Also what the ones that failed would have brought. */
	if (all)
		since_ms = MIN(since_ms, display->since_ms);
	display->since_ms = since_ms;
	/* It is taken back and not told again, whatever becomes of this wait. */
	display->told = false;
	display->unsure = true;
	if (xconn_reply(display->x, sequence, &reply, e) < 0)
		return -1;
	/* Where it is may have changed while the server copied. */
	display->damaged = reply;
	ask_blanks(display, &blanks);
	display->damaged = NULL;
	display->unsure = false;
	take_over(display, reply, &blanks, all, since_ms);
	return 0;
}

static int wait_idle(struct display *display, struct err *e)
{
	while (display->updating)
		if (co_wait_event(&display->updated, CO_FOREVER, e) < 0)
			return -1;
	if (display->x->lost)
		return err_set(e, ERR_GONE, NULL, "the display of this session is gone");
	display->updating = true;
	return 0;
}

static void end_idle(struct display *display)
{
	display->updating = false;
	co_signal(&display->updated);
}

int screen_update_locked(struct display *display, struct err *e)
{
	int rc = update(display, e);

	display->updated_ms = util_now_ms();
	return rc;
}

int screen_update(struct display *display, struct err *e)
{
	int rc;

	if (wait_idle(display, e) < 0)
		return -1;
	rc = screen_update_locked(display, e);
	end_idle(display);
	return rc;
}

int screen_lock(struct display *display, struct err *e)
{
	if (screen_take_turn(&display->look, e) < 0)
		return -1;
	if (wait_idle(display, e) == 0)
		return 0;
	screen_give_turn(&display->look);
	return -1;
}

void screen_unlock(struct display *display)
{
	end_idle(display);
	screen_give_turn(&display->look);
}

bool screen_has_news(const struct display *display)
{
	return display->told || display->unsure || display->updating;
}

int display_update(struct display *display, struct err *e)
{
	return screen_update(display, e);
}

/* 24 bits of colour in 32 bits of memory, blue first: what Xvfb has, and the only thing that the rest of this folder knows. */
static int check_pixels(struct xconn *x, struct space maximum, struct err *e)
{
	const xcb_setup_t *setup = xcb_get_setup(x->xcb);
	const xcb_screen_t *screen = xcb_setup_roots_iterator(setup).data;
	xcb_format_iterator_t format = xcb_setup_pixmap_formats_iterator(setup);

	if (screen->width_in_pixels != maximum.width_px || screen->height_in_pixels != maximum.height_px)
		return err_set(e, ERR_UNSUPPORTED, NULL, "the display has %dx%d pixels, not %dx%d", screen->width_in_pixels,
		               screen->height_in_pixels, maximum.width_px, maximum.height_px);
	for (; format.rem > 0; xcb_format_next(&format))
		if (format.data->depth == screen->root_depth && format.data->depth == 24 && format.data->bits_per_pixel == 32 &&
		    setup->image_byte_order == XCB_IMAGE_ORDER_LSB_FIRST)
			return 0;
	return err_set(e, ERR_UNSUPPORTED, NULL, "the display's pixels are not 24 bits in 32");
}

/* Extensions must be told the version that is spoken before anything else is asked of them. */
static int agree_versions(struct xconn *x, struct err *e)
{
	auto_free xcb_shm_query_version_reply_t *shm = NULL;
	auto_free void *fixes = NULL;
	auto_free void *damage = NULL;
	auto_free void *input = NULL;

	if (xconn_reply(x, xcb_shm_query_version(x->xcb).sequence, (void **)&shm, e) < 0 ||
	    xconn_reply(x, xcb_xfixes_query_version(x->xcb, 5, 0).sequence, &fixes, e) < 0 ||
	    xconn_reply(x, xcb_damage_query_version(x->xcb, 1, 1).sequence, &damage, e) < 0 ||
	    xconn_reply(x, xcb_input_xi_query_version(x->xcb, 2, 2).sequence, &input, e) < 0)
		return -1;
	if (shm->major_version == 1 && shm->minor_version < 2)
		return err_set(e, ERR_UNSUPPORTED, NULL, "the display's MIT-SHM cannot attach descriptors");
	if (!shm->shared_pixmaps)
		return err_set(e, ERR_UNSUPPORTED, NULL, "the display's MIT-SHM cannot share pixmaps");
	return 0;
}

/* The segment is ours and sealed: a server that is taken over cannot take it away under our reads. */
static int make_segment(struct display *display, struct err *e)
{
	struct xconn *x = display->x;
	size_t bytes = (size_t)display->maximum.width_px * (size_t)display->maximum.height_px * sizeof(uint32_t);
	auto_fd fd = memfd_create("picture", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	const void *shared;

	/* Made longer, not cut to length: the stage's filter has no call that could cut its journal. */
	if (fd < 0 || fallocate(fd, 0, 0, (off_t)bytes) < 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		return err_sys(e, "making the picture segment");
	shared = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
	if (shared == MAP_FAILED)
		return err_sys(e, "mapping the picture segment");
	display->shared = shared;
	display->shared_bytes = bytes;
	display->segment = xcb_generate_id(x->xcb);
	xcb_shm_attach_fd(x->xcb, display->segment, steal_fd(&fd), 0); /* xcb closes it when it is sent */
	return 0;
}

/* That the pixmap is there is asked: the requests that use it have no answer. */
int screen_make_copy(struct display *display, struct err *e)
{
	xcb_connection_t *xcb = display->x->xcb;
	auto_free void *reply = NULL;

	if (display->copy)
		xcb_free_pixmap(xcb, display->copy);
	display->copy = xcb_generate_id(xcb);
	xcb_shm_create_pixmap(xcb, display->copy, display->x->root, (uint16_t)display->native.width_px, (uint16_t)display->native.height_px, 24,
	                      display->segment, 0);
	return xconn_reply(display->x, xcb_get_geometry(xcb, display->copy).sequence, &reply, e);
}

/* What the server keeps for us. */
static int make_server_side(struct display *display, struct err *e)
{
	xcb_connection_t *xcb = display->x->xcb;
	const uint32_t values[] = {XCB_SUBWINDOW_MODE_INCLUDE_INFERIORS, 0};

	display->region = xcb_generate_id(xcb);
	xcb_xfixes_create_region(xcb, display->region, 0, NULL);
	display->gc = xcb_generate_id(xcb);
	xcb_create_gc(xcb, display->gc, display->x->root, XCB_GC_SUBWINDOW_MODE | XCB_GC_GRAPHICS_EXPOSURES, values);
	display->damage = xcb_generate_id(xcb);
	display->damage_event = (uint8_t)(xcb_get_extension_data(xcb, &xcb_damage_id)->first_event + XCB_DAMAGE_NOTIFY);
	xcb_damage_create(xcb, display->damage, display->x->root, XCB_DAMAGE_REPORT_LEVEL_NON_EMPTY);
	return screen_make_copy(display, e);
}

static void paint_background(struct xconn *x)
{
	const uint32_t colour = SCREEN_BACKGROUND;

	xcb_change_window_attributes(x->xcb, x->root, XCB_CW_BACK_PIXEL, &colour);
	xcb_clear_area(x->xcb, 0, x->root, 0, 0, 0, 0);
}

/* Memory of this size, of which nothing is known. */
static void forget_all(struct display *display, struct space native)
{
	free(display->shown.pixels);
	blinks_finish(&display->blinks);
	tiles_finish(&display->tiles);
	display->native = native;
	display->shown = image_create(native.width_px, native.height_px);
	memset(display->shown.pixels, 0, (size_t)native.width_px * (size_t)native.height_px * sizeof(uint32_t));
	display->unsure = true;
	tiles_init(&display->tiles, native);
	blinks_init(&display->blinks, &display->tiles);
}

void screen_adopt(struct display *display, struct space native)
{
	const struct rect whole = {0, 0, native.width_px, native.height_px};

	forget_all(display, native);
	for (size_t i = 0; i < ARRAY_LEN(display->kept); i++)
		kept_finish(&display->kept[i]);
	display_parts_finish(&display->last_told.parts);
	display->resizing.frame = ++display->frame;
	display->changed_ms = util_now_ms();
	tiles_mark(&display->tiles, whole, display->frame);
	for (struct screen_watch *watch = display->watches; watch; watch = watch->next)
		watch->drawn_ms = display->changed_ms;
	for (struct display_follower *follower = display->followers; follower; follower = follower->next)
		display_follow_anew(display, follower, &follower->asked);
	if (display->resizing.fn)
		display->resizing.fn(display->resizing.arg, native);
	co_signal(&display->drawn);
	screen_tell_followers(display);
}

/* The server as it is before any app: its screen is as large as it can be. */
static int begin(struct display *display, struct space native, struct err *e)
{
	if (make_segment(display, e) < 0 || resize_begin(display, e) < 0)
		return -1;
	if (!space_is_same(native, display->maximum) && resize_server(display, native, e) < 0)
		return -1;
	return make_server_side(display, e);
}

int display_create(struct display **out, struct xconn *x, struct space maximum, struct space native, struct err *e)
{
	struct display *display;

	if (check_pixels(x, maximum, e) < 0 || agree_versions(x, e) < 0)
		return -1;
	display = util_zalloc(sizeof(*display));
	display->x = x;
	display->maximum = display->resizing.actual = maximum;
	forget_all(display, native);
	display->resizing.running = true;
	xconn_listen(x, &display->listener, on_event, display);
	if (begin(display, native, e) < 0) {
		display_destroy(display);
		return -1;
	}
	display->resizing.running = false;
	display->fixes_event = xcb_get_extension_data(x->xcb, &xcb_xfixes_id)->first_event;
	display->input_opcode = xcb_get_extension_data(x->xcb, &xcb_input_id)->major_opcode;
	paint_background(x);
	xconn_flush(x);
	*out = display;
	return 0;
}

void display_destroy(struct display *display)
{
	if (!display)
		return;
	xconn_unlisten(display->x, &display->listener);
	resize_end(display);
	if (display->shared)
		(void)munmap((void *)(uintptr_t)display->shared, display->shared_bytes);
	free(display->shown.pixels);
	for (size_t i = 0; i < ARRAY_LEN(display->kept); i++)
		kept_finish(&display->kept[i]);
	loop_cancel(display->attend);
	blinks_finish(&display->blinks);
	display_parts_finish(&display->last_told.parts);
	tiles_finish(&display->tiles);
	free(display);
}

uint64_t display_frame(const struct display *display)
{
	return display->frame;
}

bool display_changed(const struct display *display, struct rect rect, uint64_t since)
{
	return blinks_changed(&display->blinks, rect, since);
}

size_t display_changes(const struct display *display, uint64_t since, struct rect *out, size_t max)
{
	return tiles_list(&display->tiles, since, out, max);
}

/* On the stack of who waits. */
struct screen_waiter {
	struct screen_waiter *next;
	struct co_event given;
	bool has_turn;
};

int screen_take_turn(struct screen_turn *turn, struct err *e)
{
	struct screen_waiter self = {.next = NULL}, **place = &turn->waiters;
	int rc = 0;

	if (!turn->taken) {
		turn->taken = true;
		return 0;
	}
	while (*place)
		place = &(*place)->next;
	*place = &self;
	while (!self.has_turn && rc == 0)
		rc = co_wait_event(&self.given, CO_FOREVER, e);
	if (rc == 0)
		return 0;
	/* It leaves: the turn that it was given just now is the next one's. */
	if (self.has_turn) {
		screen_give_turn(turn);
		return -1;
	}
	for (place = &turn->waiters; *place != &self; place = &(*place)->next)
		;
	*place = self.next;
	return -1;
}

/* Whoever asks again at once comes after those that wait. */
void screen_give_turn(struct screen_turn *turn)
{
	struct screen_waiter *first = turn->waiters;

	if (!first) {
		turn->taken = false;
		return;
	}
	turn->waiters = first->next;
	first->has_turn = true;
	co_signal(&first->given);
}
