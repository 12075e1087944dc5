/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Windows that actions go to. */
#include "apps/place.h"

#include <string.h>

#include "apps/state.h"
#include "apps/windows.h"

static void copy(char out[LIMIT_TITLE_BYTES + 1], const char *text)
{
	size_t len = strnlen(text, LIMIT_TITLE_BYTES);

	memcpy(out, text, len);
	out[len] = '\0';
}

static void fill(const struct apps *apps, const struct window *window, struct place *out)
{
	out->window = window->id;
	out->pid = owner_pid(&apps->proc, window->outer_pid);
	out->app = out->pid > 0 ? apps_name_of(apps, out->pid) : NULL;
	out->rect = (struct rect){window->x, window->y, window->width, window->height};
	copy(out->title, window->title);
	copy(out->class_name, window->class_name);
	copy(out->instance, window->instance);
}

/* The first of them that is there and an app's; of one alone nobody asks whose it is. */
static int describe(struct apps *apps, const xcb_window_t *ids, size_t n, struct place *out, struct err *e)
{
	struct windows found;

	if (windows_describe(apps->x, ids, n, &found, e) < 0)
		return -1;
	for (size_t i = 0; i < found.n && out->window == XCB_NONE; i++)
		if (!found.list[i].gone && (n == 1 || owner_pid(&apps->proc, found.list[i].outer_pid) > 0))
			fill(apps, &found.list[i], out);
	windows_finish(&found);
	return 0;
}

int place_of(struct apps *apps, uint32_t window, struct place *out, struct err *e)
{
	struct windows none;

	*out = (struct place){.window = XCB_NONE};
	if (window == XCB_NONE) {
		if (windows_describe(apps->x, NULL, 0, &none, e) < 0)
			return -1;
		window = none.active;
		windows_finish(&none);
	}
	return window == XCB_NONE ? 0 : describe(apps, &window, 1, out, e);
}

int place_at(struct apps *apps, int x, int y, struct place *out, struct err *e)
{
	struct access_under under;

	*out = (struct place){.window = XCB_NONE};
	if (access_windows_under(apps, x, y, &under, e) < 0)
		return -1;
	return under.n > 0 ? describe(apps, under.ids, under.n, out, e) : 0;
}
