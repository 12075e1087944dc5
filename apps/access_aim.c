/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which X window a question is about, and whose it is by the server's and the kernel's word. */
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "apps/state.h"
#include "apps/windows.h"
#include "session/base/util.h"

static int32_t in_reach(int value)
{
	return MAX(MIN(value, ACCESS_PLACE_MAX), -ACCESS_PLACE_MAX);
}

static void fill(const struct apps *apps, const struct window *window, struct access_target *out)
{
	*out = (struct access_target){
		.window = window->id,
		.pid = owner_pid(&apps->proc, window->outer_pid),
		.x = in_reach(window->x),
		.y = in_reach(window->y),
		.width = in_reach(window->width),
		.height = in_reach(window->height),
		.popup = window->above == apps->x->root,
	};
	if (strlen(window->title) == window->title_len)
		memcpy(out->title, window->title, window->title_len + 1);
}

/* The active window; if another client's has the keys, nobody is said to have them. */
static int aim_active(struct apps *apps, struct access_target *out, struct err *e)
{
	auto_free xcb_get_input_focus_reply_t *focus = NULL;
	struct windows active = {.n = 0}, keys;
	void *reply;
	int rc;

	if (xconn_reply(apps->x, xcb_get_input_focus(apps->x->xcb).sequence, &reply, e) < 0)
		return -1;
	focus = reply;
	if (focus->focus <= XCB_INPUT_FOCUS_POINTER_ROOT || focus->focus == apps->x->root)
		return err_set(e, ERR_NO_WINDOW, NULL, "no window has the keys");
	if (windows_describe(apps->x, &focus->focus, 1, &keys, e) < 0)
		return -1;
	rc = keys.active != XCB_NONE ? windows_describe(apps->x, &keys.active, 1, &active, e) : 0;
	if (rc == 0 && keys.list[0].gone)
		rc = err_set(e, ERR_NO_WINDOW, NULL, "no window has the keys");
	if (rc == 0) {
		const struct window *window = active.n > 0 && !active.list[0].gone ? &active.list[0] : &keys.list[0];

		fill(apps, window, out);
		if (owner_pid(&apps->proc, keys.list[0].outer_pid) != out->pid)
			out->pid = 0;
	}
	windows_finish(&active);
	windows_finish(&keys);
	return rc;
}

int access_aim(struct apps *apps, xcb_window_t window, struct access_target *out, struct err *e)
{
	struct windows found;
	int rc = 0;

	if (window == XCB_NONE)
		return aim_active(apps, out, e);
	if (windows_describe(apps->x, &window, 1, &found, e) < 0)
		return -1;
	if (found.list[0].gone)
		rc = err_set(e, ERR_NO_WINDOW, "/window", "there is no window %u (any more); the action windows lists those that there are", window);
	else
		fill(apps, &found.list[0], out);
	windows_finish(&found);
	return rc;
}

static unsigned int ask_child(const struct apps *apps, xcb_window_t window, int x, int y)
{
	return xcb_translate_coordinates(apps->x->xcb, apps->x->root, window, (int16_t)x, (int16_t)y).sequence;
}

/*
 * Asks about all windows at once that were there the last time, most often the same ones: a round trip and not one for each. What of them is there again goes
 * into *now; *is_all when it ends there.
 */
static int ask_as_before(const struct apps *apps, int x, int y, struct access_under *now, bool *is_all, struct err *e)
{
	const struct access_under before = apps->under;
	unsigned int sequences[ACCESS_DEEP + 1];
	void *replies[ACCESS_DEEP + 1] = {NULL};
	bool same = true;
	int rc;

	for (size_t i = 0; i <= before.n; i++)
		sequences[i] = ask_child(apps, i == 0 ? apps->x->root : before.ids[i - 1], x, y);
	rc = windows_take_replies(apps->x, sequences, before.n + 1, replies, e);
	for (size_t i = 0; rc == 0 && same && i <= before.n && now->n < ACCESS_DEEP; i++) {
		const xcb_translate_coordinates_reply_t *reply = replies[i];

		*is_all = reply && reply->child == XCB_NONE;
		same = reply && i < before.n && reply->child == before.ids[i];
		if (reply && !*is_all)
			now->ids[now->n++] = reply->child;
	}
	for (size_t i = 0; i <= before.n; i++)
		free(replies[i]);
	return rc;
}

int access_windows_under(struct apps *apps, int x, int y, struct access_under *out, struct err *e)
{
	struct access_under now = {.n = 0};
	bool is_all = false;

	if (apps->x->lost)
		return xconn_sync(apps->x, e);
	if (ask_as_before(apps, x, y, &now, &is_all, e) < 0)
		return -1;
	while (!is_all && now.n < ACCESS_DEEP) {
		auto_free xcb_translate_coordinates_reply_t *reply = NULL;
		void *got;

		if (xconn_reply(apps->x, ask_child(apps, now.n > 0 ? now.ids[now.n - 1] : apps->x->root, x, y), &got, e) < 0)
			return -1;
		reply = got;
		is_all = reply->child == XCB_NONE;
		if (!is_all)
			now.ids[now.n++] = reply->child;
	}
	apps->under = *out = now;
	return 0;
}

int access_aim_at(struct apps *apps, int x, int y, struct access_target *out, struct err *e)
{
	struct access_under under;
	struct windows found;

	*out = (struct access_target){0};
	if (access_windows_under(apps, x, y, &under, e) < 0)
		return -1;
	if (under.n == 0)
		return 0;
	if (windows_describe(apps->x, under.ids, under.n, &found, e) < 0)
		return -1;
	/* Frames are the window manager's, which is not in the app jail. */
	for (size_t i = 0; i < found.n && out->pid == 0; i++)
		if (!found.list[i].gone)
			fill(apps, &found.list[i], out);
	windows_finish(&found);
	return 0;
}
