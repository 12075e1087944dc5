/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a viewer asks for, one thing after another: keys, pointer, texts, a size. It happens when the lease is the viewer's own at that moment, and is
 * nothing otherwise. A view is not believed: what breaks the form ends it.
 */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/param.h>

#include "session/base/ipc.h"
#include "session/base/util.h"
#include "session/stage/lease.h"
#include "session/stage/spots.h"
#include "session/stage/viewer.h"

#define RESIZE_MS 1000 /* for the apps to follow; what comes next waits for that */
#define AT_ONCE 32     /* things that are taken before others have a turn */

static bool may_input(const struct viewer *viewer)
{
	return !viewer->gone && viewer->stage->state == STAGE_IS_READY && lease_may_input(viewer->stage, viewer->number);
}

/* Its hands are the ones that hold something from now on. */
static void take_hands(struct viewer *viewer)
{
	struct stage *stage = viewer->stage;

	if (stage->viewers.hands != viewer)
		viewers_release(stage);
	stage->viewers.hands = viewer;
	lease_touch(stage);
	spots_stir(stage);
}

/* Each of these: 0, or -1 when it breaks the form. What X makes of it is nobody's fault. */
static int take_key(struct viewer *viewer, const struct view_ask *ask)
{
	if (ask->down > 1)
		return -1;
	if (!may_input(viewer))
		return 0;
	take_hands(viewer);
	(void)input_remote_key(viewer->stage->input, ask->keysym, ask->down, NULL);
	return 0;
}

static int take_pointer(struct viewer *viewer, const struct view_ask *ask)
{
	const struct space native = viewer->stage->native;

	if (!may_input(viewer))
		return 0;
	take_hands(viewer);
	(void)input_remote_pointer(viewer->stage->input, ask->mask, ask->x, ask->y, ask->x < native.width_px && ask->y < native.height_px, NULL);
	return 0;
}

static void drop_cut(struct viewer *viewer)
{
	if (viewer->cut)
		explicit_bzero(viewer->cut, viewer->cut_total);
	free(viewer->cut);
	viewer->cut = NULL;
}

static int take_cut(struct viewer *viewer, const struct view_ask *ask)
{
	if (ask->total > LIMIT_CUT_BYTES || (ask->at > 0 && (!viewer->cut || ask->at != viewer->cut_len || ask->total != viewer->cut_total)) ||
	    ask->len > ask->total - ask->at || (ask->len == 0 && ask->total > 0))
		return -1;
	if (ask->at == 0) {
		drop_cut(viewer);
		viewer->cut = util_alloc(ask->total + 1);
		viewer->cut_total = ask->total;
		viewer->cut_len = 0;
	}
	memcpy(viewer->cut + viewer->cut_len, ask->data, ask->len);
	viewer->cut_len += ask->len;
	if (viewer->cut_len < viewer->cut_total)
		return 0;
	if (util_utf8_valid(viewer->cut, viewer->cut_len) && may_input(viewer)) {
		lease_touch(viewer->stage);
		(void)input_remote_copy(viewer->stage->input, viewer->cut, viewer->cut_len, NULL);
	}
	drop_cut(viewer);
	return 0;
}

static bool resize(struct viewer *viewer, struct space size)
{
	struct stage *stage = viewer->stage;
	bool settled;

	if (!may_input(viewer) || size.width_px < LIMIT_SIDE_MIN_PX || size.height_px < LIMIT_SIDE_MIN_PX ||
	    display_check_size(stage->display, size, NULL) < 0)
		return false;
	return display_resize(stage->display, size, util_now_ms() + RESIZE_MS, &settled, NULL) == 0;
}

static int take_resize(struct viewer *viewer, const struct view_ask *ask)
{
	bool done = resize(viewer, (struct space){ask->x, ask->y});

	viewer->answers++;
	viewer->refusals += !done;
	co_signal(&viewer->news);
	return 0;
}

static int take(struct viewer *viewer, const struct view_ask *ask, size_t n)
{
	static int (*const takers[])(struct viewer *viewer, const struct view_ask *ask) = {
		[VIEW_ASK_KEY] = take_key, [VIEW_ASK_POINTER] = take_pointer, [VIEW_ASK_CUT] = take_cut, [VIEW_ASK_RESIZE] = take_resize};

	if (n < VIEW_ASK_HEAD || ask->len > VIEW_CUT_PIECE || n != VIEW_ASK_HEAD + ask->len || ask->kind >= ARRAY_LEN(takers) ||
	    !takers[ask->kind] || (ask->len > 0 && ask->kind != VIEW_ASK_CUT))
		return -1;
	return takers[ask->kind](viewer, ask);
}

/* One thing, if there is one; -1: it is over. */
static int take_next(struct viewer *viewer)
{
	struct view_ask *ask = util_zalloc(sizeof(*ask));
	size_t n_fds = 0;
	ssize_t n = ipc_recv(viewer->ends[VIEWER_SOCKET], ask, sizeof(*ask), NULL, 0, &n_fds, NULL);
	int rc = -1;

	if (n > 0)
		rc = take(viewer, ask, (size_t)n);
	else if (n < 0 && errno == EAGAIN)
		viewer->is_ready = false, rc = 0;
	explicit_bzero(ask, sizeof(*ask));
	free(ask);
	return rc;
}

static int wait_asked(struct viewer *viewer)
{
	if (viewer->closing)
		return -1;
	loop_modify(viewer->socket, EPOLLIN | EPOLLRDHUP);
	return co_wait_event(&viewer->asked, CO_FOREVER, NULL);
}

void viewer_take(void *arg)
{
	struct viewer *viewer = arg;
	int rc = 0;

	for (unsigned int n = 1; rc == 0 && !viewer->gone; n++) {
		rc = viewer->is_ready ? take_next(viewer) : wait_asked(viewer);
		/* A view can say more than anybody could take. */
		if (rc == 0 && n % AT_ONCE == 0)
			rc = co_wait_until(util_now_ms(), NULL);
	}
	drop_cut(viewer);
	viewer_leave(viewer);
	viewer_done(viewer);
}
