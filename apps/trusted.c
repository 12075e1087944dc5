/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Windows by their ids: where they are, and whether a trusted app of the catalogue is behind them. */
#include "apps/state.h"
#include "apps/whose.h"
#include "apps/windows.h"
#include "session/base/util.h"

/* One window that is there; *number is the process of its X client in the session's pid namespace. */
static int look_at(struct apps *apps, uint32_t id, struct rect *rect, int *number, struct err *e)
{
	const xcb_window_t window = id;
	struct windows found;
	int rc = 0;

	if (windows_describe(apps->x, &window, 1, &found, e) < 0)
		return -1;
	if (found.list[0].gone)
		rc = err_set(e, ERR_NO_WINDOW, NULL, "the window is gone");
	*rect = (struct rect){found.list[0].x, found.list[0].y, found.list[0].width, found.list[0].height};
	*number = found.list[0].outer_pid;
	windows_finish(&found);
	return rc;
}

int apps_place(struct apps *apps, uint32_t window, struct rect *out, struct err *e)
{
	struct rect rect;
	int number;

	if (look_at(apps, window, &rect, &number, e) < 0)
		return -1;
	*out = rect;
	return 0;
}

/* The number of the process is the window's as long as its client is there: it is asked for again. */
int apps_trusted(struct apps *apps, uint32_t window, const char **name, int *pid, struct err *e)
{
	struct rect rect;
	struct whose whose;
	int number, again;

	if (look_at(apps, window, &rect, &number, e) < 0)
		return -1;
	whose_read(apps, number, &whose);
	if (look_at(apps, window, &rect, &again, e) < 0)
		return -1;
	*name = number == again && number != 0 && whose.group == INIT_GROUP_APPS && whose.app && whose.app->trusted ? whose.app->name : NULL;
	*pid = whose.pid;
	return 0;
}
