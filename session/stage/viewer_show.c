/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a viewer is shown: published when something has changed, it has taken what was published before, and it may look. Nothing runs while the screen
 * is still. One that may not look any more keeps the picture that it had; what it must not see was never written for it.
 */
#include <string.h>
#include <sys/param.h>

#include "session/base/ipc.h"
#include "session/base/log.h"
#include "session/base/util.h"
#include "session/stage/lease.h"
#include "session/stage/viewer.h"

/* Another copy of the pointer's image, cut to what there is room for. */
static void put_cursor(struct viewer *viewer, const struct display_copy *copy, struct view_news *news)
{
	const struct space most = viewer->stage->ends.maximum;
	uint32_t *to = viewer->segment + view_cursor_at(most.width_px, most.height_px) / sizeof(uint32_t);
	int width = MIN(copy->cursor_width, VIEW_CURSOR_SIDE_PX), height = MIN(copy->cursor_height, VIEW_CURSOR_SIDE_PX);

	news->what |= VIEW_NEWS_CURSOR;
	news->cursor_width = (uint16_t)width;
	news->cursor_height = (uint16_t)height;
	news->hot_x = (uint16_t)MIN(copy->hot_x, VIEW_CURSOR_SIDE_PX - 1);
	news->hot_y = (uint16_t)MIN(copy->hot_y, VIEW_CURSOR_SIDE_PX - 1);
	for (int y = 0; y < height; y++)
		memcpy(to + y * width, copy->cursor + y * copy->cursor_width, (size_t)width * sizeof(uint32_t));
}

static void put_copy(struct viewer *viewer, const struct display_copy *copy, struct view_news *news)
{
	for (size_t i = 0; i < copy->n; i++) {
		const struct rect *r = &copy->rects[i];

		news->rects[i] = (struct view_rect){(uint16_t)r->x, (uint16_t)r->y, (uint16_t)r->width, (uint16_t)r->height};
	}
	news->n_rects = (uint32_t)copy->n;
	news->what |= copy->n > 0 ? VIEW_NEWS_PIXELS : 0;
	news->width_px = (uint16_t)copy->native.width_px;
	news->height_px = (uint16_t)copy->native.height_px;
	if (copy->has_new_cursor)
		put_cursor(viewer, copy, news);
	if (copy->pointer_x != viewer->pointer_x || copy->pointer_y != viewer->pointer_y || copy->has_new_cursor)
		news->what |= VIEW_NEWS_POINTER;
	viewer->pointer_x = copy->pointer_x;
	viewer->pointer_y = copy->pointer_y;
	news->pointer_x = (int16_t)copy->pointer_x;
	news->pointer_y = (int16_t)copy->pointer_y;
}

static bool may_see(void *arg)
{
	const struct viewer *viewer = arg;

	return !viewer->gone && lease_may_look(viewer->stage, viewer->number);
}

static int look(struct viewer *viewer, struct view_news *news, struct err *e)
{
	struct display_copy copy = {.may = may_see, .arg = viewer};

	viewer->next_ms = util_now_ms() + LIMIT_VIEW_EVERY_MS;
	if (display_copy(viewer->stage->display, &viewer->follower, viewer->segment, &copy, e) < 0)
		return -1;
	put_copy(viewer, &copy, news);
	display_copy_finish(&copy);
	return 0;
}

static char *text_at(const struct viewer *viewer)
{
	const struct space most = viewer->stage->ends.maximum;

	return (char *)viewer->segment + view_cut_at(most.width_px, most.height_px);
}

/* What was copied in the session, for the holder alone; that it cannot be had is no news. */
static void put_text(struct viewer *viewer, struct view_news *news)
{
	auto_free char *text = NULL;
	size_t len = 0;

	viewer->has_copied = false;
	if (!lease_may_input(viewer->stage, viewer->number) || input_remote_read(viewer->stage->input, &text, &len, NULL) < 0 || !text)
		return;
	if (len <= LIMIT_CUT_BYTES && lease_may_input(viewer->stage, viewer->number)) {
		memcpy(text_at(viewer), text, len);
		viewer->has_cut = true;
		news->what |= VIEW_NEWS_CUT;
		news->cut_len = (uint32_t)len;
	}
	explicit_bzero(text, len);
}

static void wipe_text(struct viewer *viewer)
{
	if (viewer->has_cut)
		explicit_bzero(text_at(viewer), LIMIT_CUT_BYTES);
	viewer->has_cut = false;
}

static bool is_due(const struct viewer *viewer)
{
	const struct stage *stage = viewer->stage;

	if (!viewer->taken)
		return false;
	if (!viewer->was_shown || viewer->answers > 0 || viewer->has_copied)
		return true;
	return lease_may_look(stage, viewer->number) && (!viewer->may_look || display_follow_has_news(stage->display, &viewer->follower));
}

static void put_answer(struct viewer *viewer, struct view_news *news)
{
	if (viewer->answers == 0)
		return;
	news->what |= VIEW_NEWS_RESIZED;
	news->resize_refused = viewer->refusals > 0;
	viewer->answers = viewer->refusals = 0;
}

/* Who could not see for a while gets all of it. */
static int put_pixels(struct viewer *viewer, struct view_news *news, struct err *e)
{
	if (!may_see(viewer)) {
		viewer->may_look = false;
		return 0;
	}
	if (!viewer->may_look)
		display_follow_anew(viewer->stage->display, &viewer->follower, NULL);
	viewer->may_look = true;
	return look(viewer, news, e);
}

/* All that there is to tell, in one go. The text comes first: for it may be waited, and nothing is between the look and its sending. */
static int publish(struct viewer *viewer, struct err *e)
{
	const struct space size = viewer->was_shown ? viewer->shown : viewer->stage->native;
	struct view_news news;

	memset(&news, 0, sizeof(news));
	/* Its own picture stays as large as it was, if it is not to see another. */
	news.width_px = (uint16_t)size.width_px;
	news.height_px = (uint16_t)size.height_px;
	wipe_text(viewer);
	if (viewer->has_copied)
		put_text(viewer, &news);
	if (put_pixels(viewer, &news, e) < 0 || viewer->gone)
		return -1;
	put_answer(viewer, &news);
	if (viewer->was_shown && news.what == 0)
		return 0;
	viewer->was_shown = true;
	viewer->shown = (struct space){news.width_px, news.height_px};
	viewer->taken = false;
	return ipc_send(viewer->ends[VIEWER_SOCKET], &news, sizeof(news), NULL, 0, e);
}

/* Until there may be something to do; -1: it is over. */
static int wait_news(struct viewer *viewer, struct err *e)
{
	int rc = co_wait_event(&viewer->news, CO_FOREVER, e);

	return viewer->gone ? -1 : rc;
}

static int show(struct viewer *viewer, struct err *e)
{
	int rc = 0;

	while (rc == 0 && !viewer->gone) {
		int64_t now_ms = util_now_ms();

		/* The view has it: nobody needs it here. */
		if (viewer->taken)
			wipe_text(viewer);
		if (!is_due(viewer)) {
			rc = wait_news(viewer, e);
		} else if (now_ms < viewer->next_ms && viewer->was_shown) {
			rc = co_wait_until(viewer->next_ms, e);
		} else if (publish(viewer, e) < 0 && !viewer->gone) {
			/* A display that does not answer may do so again; and what it may not see now it may see later. */
			viewer->next_ms = util_now_ms() + (e->code == ERR_FORBIDDEN ? 0 : LIMIT_X_WAIT_MS);
			rc = e->code == ERR_X_SILENT || e->code == ERR_CONFLICT || e->code == ERR_FORBIDDEN ? 0 : -1;
		}
	}
	return rc;
}

void viewer_show(void *arg)
{
	struct viewer *viewer = arg;
	const struct display_request all = {.width = 0};
	struct err e = {0};

	if (!viewer->gone) {
		display_follow_begin(viewer->stage->display, &all, &viewer->news, &viewer->follower);
		(void)show(viewer, &e);
		display_follow_end(viewer->stage->display, &viewer->follower);
		wipe_text(viewer);
		viewer_leave(viewer);
	}
	viewer_done(viewer);
}
